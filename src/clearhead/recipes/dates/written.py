"""One date: every way English writes it, and the one Chinese form that each way determines.

What does not determine a date is left out: 03/04/2021 is in March for some and in April for others,
and 3 March 21 may be of any century. Weekdays and months are those of CLDR, which babel brings.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

from ...foundation.errors import InputError
from ...foundation.optional import need
from .spelled import cardinal, in_pairs, nth, ordinal

FIRST_YEAR, LAST_YEAR = 1000, date.max.year  # four digits
STYLES = ("full", "long", "medium", "short")
SKELETON = "yMMMEd"  # CLDR's style with a short weekday

# CLDR's letters -> our words. A style with other letters (yy, dd) is left out.
FIELDS = {
    "EEEE": "weekday",
    "E": "weekday_short",
    "MMMM": "month",
    "MMM": "month_short",
    "M": "month_number",
    "d": "day",
    "y": "year",
}
BESIDE_CLDR = (
    "{month} {nth}, {year}",
    "{nth} {month} {year}",
    "the {nth} of {month} {year}",
    "the {nth} of {month}, {year}",
    "{month} {ordinal}, {year}",
    "the {ordinal} of {month}, {year}",
    "{month} {ordinal}, {year_in_pairs}",
    "the {ordinal} of {month}, {year_in_pairs}",
    "{month} {ordinal}, {year_american}",
    "the {ordinal} of {month}, {year_british}",
)
MORE = ("{iso}", "{weekday} {day} {month} {year}", "{weekday} the {nth} of {month} {year}")


@dataclass(frozen=True)
class Form:
    """One way of writing a date, "{weekday}, {day} {month} {year}", with the names of a locale."""

    template: str
    locale: str

    @property
    def has_weekday(self) -> bool:
        """Whether the weekday is said."""
        return "{weekday" in self.template


def ways(day: date) -> dict[str, str]:
    """Every way English writes the date → the Chinese form of it, with a weekday if it has one."""
    if day.year < FIRST_YEAR:
        raise InputError(
            f"{day} has a year below {FIRST_YEAR}, and years are written in four digits here. "
            "Choose a later date."
        )
    return dict(translated(day, form) for form in english_forms())


def translated(day: date, form: Form) -> tuple[str, str]:
    """A date in one English form, and in Chinese."""
    return written(day, form), written(day, chinese_form(weekday=form.has_weekday))


def written(day: date, form: Form) -> str:
    """A date in this form."""
    names = names_in(form.locale)
    return form.template.format_map(
        {
            "weekday": names.weekdays[day.weekday()],
            "weekday_short": names.weekdays_short[day.weekday()],
            "month": names.months[day.month - 1],
            "month_short": names.months_short[day.month - 1],
            "month_number": day.month,
            "day": day.day,
            "nth": nth(day.day),
            "ordinal": ordinal(day.day),
            "year": day.year,
            "year_in_pairs": in_pairs(day.year),
            "year_british": cardinal(day.year),
            "year_american": cardinal(day.year, joined=""),
            "iso": day.isoformat(),
        }
    )


@cache
def english_forms() -> tuple[Form, ...]:
    """Every way English writes a date, so far as it determines the date."""
    found = [
        Form(template, locale)
        for locale in ("en_US", "en_GB")
        for template in styles_of(locale).values()
        if "{month_number}" not in template
    ]
    ours = (*BESIDE_CLDR, *(f"{{weekday}}, {template}" for template in BESIDE_CLDR), *MORE)
    return (*found, *(Form(template, "en_GB") for template in ours))


@cache
def chinese_form(*, weekday: bool) -> Form:
    """The one way Chinese writes a date here: CLDR's full style, or its long one."""
    return Form(styles_of("zh_Hans")["full" if weekday else "long"], "zh_Hans")


@dataclass(frozen=True)
class Names:
    """What a locale calls the weekdays, from Monday on, and the months."""

    weekdays: tuple[str, ...]
    weekdays_short: tuple[str, ...]
    months: tuple[str, ...]
    months_short: tuple[str, ...]


@cache
def names_in(locale: str) -> Names:
    """The names of a locale, asked of babel once."""
    found = of_babel(locale)

    def listed(names: Mapping[str, Mapping[int, str]], width: str) -> tuple[str, ...]:
        return tuple(with_plain_spaces(name) for _, name in sorted(names[width].items()))

    weekdays, months = found.days["format"], found.months["format"]
    return Names(
        weekdays=listed(weekdays, "wide"),
        weekdays_short=listed(weekdays, "abbreviated"),
        months=listed(months, "wide"),
        months_short=listed(months, "abbreviated"),
    )


@cache
def styles_of(locale: str) -> dict[str, str]:
    """CLDR's styles of a locale as templates, without those that our words cannot say."""
    found = of_babel(locale)
    patterns = {style: found.date_formats[style].format for style in STYLES}
    patterns[SKELETON] = found.datetime_skeletons[SKELETON].format
    made = {style: template_of(pattern) for style, pattern in patterns.items()}
    return {style: template for style, template in made.items() if template}


def template_of(pattern: str) -> str | None:
    """A pattern of babel, `%(d)s %(MMMM)s`, in our words; None when they cannot say it."""
    letters = re.findall(r"%\((\w+)\)s", pattern)
    if not set(letters) <= set(FIELDS):
        return None
    said = re.sub(r"%\((\w+)\)s", lambda found: f"{{{FIELDS[found[1]]}}}", pattern)
    return with_plain_spaces(said)


def with_plain_spaces(text: str) -> str:
    """The text with a plain space for each narrow or unbreakable one."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def of_babel(locale: str) -> Any:
    """What babel knows of a locale."""
    return need("babel", extra="demo", purpose="Writing dates").Locale.parse(locale)

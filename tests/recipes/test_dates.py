"""Dates in two languages: babel and Python's calendar are the judges, and a reader of English."""

import calendar
import re
import sys
from datetime import date, datetime, timedelta
from types import SimpleNamespace

import pytest
from babel import Locale
from babel.dates import format_date

from clearhead.foundation.errors import ConfigError, InputError, MissingPartError
from clearhead.recipes.dates import is_held_out, pairs, ways, write
from clearhead.recipes.dates import written as written_module
from clearhead.recipes.dates.corpus import HELD_OUT, YEARS
from clearhead.recipes.dates.spelled import cardinal, in_pairs, nth, ordinal

CACHES = ("english_forms", "chinese_form", "names_in", "styles_of")
SOME_YEARS = (1900, 2000, 2028)  # no leap year, by exception; one, by exception; one as usual
WEEKDAYS = "一二三四五六日"

UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
TEENS = ("sixteen", "seventeen", "eighteen", "nineteen")
TIES = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VALUES = {
    **{word: value for value, word in enumerate(UNITS.split(), start=1)},
    **{word: value for value, word in enumerate(TEENS, start=16)},
    **{word: 10 * value for value, word in enumerate(TIES, start=2)},
}
DAYS = {
    **{f"{word}th": value for word, value in VALUES.items()},
    **{word: value for value, word in enumerate(PLACES.split(), start=1)},
    **{"twentieth": 20, "thirtieth": 30},
}


def all_days(*years):
    for year in years:
        first = date(year, 1, 1)
        yield from (first + timedelta(days=n) for n in range(365 + calendar.isleap(year)))


def plain(text):
    return re.sub(r"\s", " ", text)


def number(words):
    """A number a reader of English finds in these words; years may be said in pairs."""
    if words[0][0].isdigit():
        assert len(words) == 1
        return int(re.sub(r"(st|nd|rd|th)$", "", words[0]))
    whole, part = 0, 0
    for word in words:
        value = VALUES.get(word) or DAYS.get(word, 0)
        if word == "thousand":
            whole, part = 1000 * part, 0
        elif word in ("hundred", "oh") or (value >= 10 and 0 < part < 100):
            part = 100 * part + value
        else:
            assert value or word == "and"
            part += value
    return whole + part


def understood(source):
    """The date and the weekday (or None) in a text, as a reader of English finds them."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", source):
        return date.fromisoformat(source), None
    words = [word for word in re.findall(r"[A-Za-z0-9]+", source) if word not in ("the", "of")]
    shorts = [name[:3] for name in calendar.day_name]
    weekday = shorts.index(words.pop(0)[:3]) if words[0][:3] in shorts else None
    (at,) = (place for place, word in enumerate(words) if word[0].isupper())
    month = [name[:3] for name in calendar.month_name].index(words[at][:3])
    if at == 0:
        ends = [n for n, word in enumerate(words) if word[0].isdigit() or word in DAYS]
        day, year = words[1 : ends[0] + 1], words[ends[0] + 1 :]
    else:
        day, year = words[:at], words[at + 1 :]
    return date(number(year), month, number(day)), weekday


@pytest.fixture
def nothing_remembered():
    """What was asked of babel is forgotten before and after."""
    for name in CACHES:
        getattr(written_module, name).cache_clear()
    yield
    for name in CACHES:
        getattr(written_module, name).cache_clear()


def test_a_reader_of_english_finds_the_very_day_and_its_true_weekday():
    for day in all_days(*SOME_YEARS):
        for source in ways(day):
            found, weekday = understood(source)
            assert found == day, source
            assert weekday in (None, day.weekday()), source


def test_every_target_is_what_babel_writes_with_a_weekday_where_the_source_has_one():
    for day in all_days(*SOME_YEARS):
        bare, full = (format_date(day, style, locale="zh_Hans") for style in ("long", "full"))
        assert full == f"{bare}星期{WEEKDAYS[day.weekday()]}"
        for source, target in ways(day).items():
            assert target == (bare if understood(source)[1] is None else full), source


@pytest.mark.parametrize("locale", ["en_US", "en_GB"])
@pytest.mark.parametrize("style", ["full", "long", "medium", "E, MMM d, y"])
def test_every_style_of_babel_that_names_the_month_is_among_the_ways(style, locale):
    pattern = "E, d MMM y" if style.startswith("E") and locale == "en_GB" else style
    for day in all_days(2000, 2026):
        assert plain(format_date(day, pattern, locale=locale)) in ways(day)


@pytest.mark.parametrize("locale", ["en_US", "en_GB"])
def test_the_short_style_is_left_out_because_it_does_not_say_which_number_is_the_month(locale):
    for day in all_days(2026):
        assert format_date(day, "short", locale=locale) not in ways(day)
    assert not [source for source in ways(date(2026, 3, 4)) if "/" in source]


def test_the_ways_of_one_day():
    bare = [
        "September 12, 2005",
        "Sep 12, 2005",
        "12 September 2005",
        "12 Sept 2005",
        "September 12th, 2005",
        "12th September 2005",
        "the 12th of September 2005",
        "the 12th of September, 2005",
        "September twelfth, 2005",
        "the twelfth of September, 2005",
        "September twelfth, twenty oh five",
        "the twelfth of September, twenty oh five",
        "September twelfth, two thousand five",
        "the twelfth of September, two thousand and five",
        "2005-09-12",
    ]
    with_weekday = [f"Monday, {source}" for source in bare if not source.startswith(("2", "Sep "))]
    with_weekday.remove("Monday, 12 Sept 2005")
    with_weekday += ["Mon, Sep 12, 2005", "Mon, 12 Sept 2005"]
    with_weekday += ["Monday 12 September 2005", "Monday the 12th of September 2005"]
    found = ways(date(2005, 9, 12))
    assert {source for source, target in found.items() if target == "2005年9月12日"} == set(bare)
    assert {source for source, target in found.items() if target == "2005年9月12日星期一"} == set(
        with_weekday
    )
    assert len(found) == len(bare) + len(with_weekday)


def test_no_source_has_two_targets():
    known = {}
    drawn = [*pairs(25_000, seed=1, held_out=False), *pairs(25_000, seed=1, held_out=True)]
    listed = [pair for day in all_days(*SOME_YEARS) for pair in ways(day).items()]
    for source, target in drawn + listed:
        assert known.setdefault(source, target) == target, source


def test_a_year_below_four_digits_is_refused():
    with pytest.raises(InputError, match=r"^0999-12-31 has a year below 1000, .* a later date\.$"):
        ways(date(999, 12, 31))
    assert ways(date(1000, 1, 1))["January first, one thousand"] == "1000年1月1日"
    assert "31 December 9999" in ways(date.max)


@pytest.mark.parametrize(
    ("year", "paired", "british", "american"),
    [
        (1000, "one thousand", "one thousand", "one thousand"),
        (1066, "ten sixty-six", "one thousand and sixty-six", "one thousand sixty-six"),
        (1900, "nineteen hundred", "one thousand nine hundred", "one thousand nine hundred"),
        (
            *(1905, "nineteen oh five"),
            *("one thousand nine hundred and five", "one thousand nine hundred five"),
        ),
        (2000, "two thousand", "two thousand", "two thousand"),
        (2001, "twenty oh one", "two thousand and one", "two thousand one"),
        (2013, "twenty thirteen", "two thousand and thirteen", "two thousand thirteen"),
        (2090, "twenty ninety", "two thousand and ninety", "two thousand ninety"),
    ],
)
def test_years_are_said_as_people_say_them(year, paired, british, american):
    assert (in_pairs(year), cardinal(year), cardinal(year, joined="")) == (
        *(paired, british),
        american,
    )


def test_every_year_said_is_understood():
    for year in range(1000, 10_000):
        for said in (in_pairs(year), cardinal(year), cardinal(year, joined="")):
            assert number(re.split("[ -]", said)) == year, said


def test_places_and_small_numbers_in_words_and_figures():
    for figures in ("1st 2nd 3rd 4th 10th", "11th 12th 13th 20th", "21st 22nd 23rd 31st 111th"):
        assert " ".join(nth(int(place[:-2])) for place in figures.split()) == figures
    said = {1: "first", 9: "ninth", 12: "twelfth", 20: "twentieth", 31: "thirty-first"}
    assert {n: ordinal(n) for n in said} == said
    assert [cardinal(n) for n in (0, 7, 40, 99)] == ["zero", "seven", "forty", "ninety-nine"]


def test_of_a_babel_that_writes_otherwise_spaces_become_plain_and_bare_numbers_stay_out(
    monkeypatch, nothing_remembered
):
    def other(code):
        known = Locale.parse(code)
        months, days = ({"format": dict(of["format"])} for of in (known.months, known.days))
        months["format"]["abbreviated"] = {n: f"M\u00a0{n}" for n in range(1, 13)}
        styles = {style: known.date_formats[style].format for style in written_module.STYLES}
        if code == "en_GB":
            styles |= {"short": "%(d)s/%(M)s/%(y)s", "long": "%(d)s\u202f%(MMM)s\u00a0%(y)s"}
        if code == "zh_Hans":
            styles["long"] = "%(y)s年\u202f%(M)s月%(d)s日"
        styles = {style: SimpleNamespace(format=pattern) for style, pattern in styles.items()}
        skeletons = known.datetime_skeletons
        return SimpleNamespace(
            months=months, days=days, date_formats=styles, datetime_skeletons=skeletons
        )

    monkeypatch.setattr(written_module, "of_babel", other)
    found = ways(date(2026, 3, 25))
    assert found["25 M 3 2026"] == "2026年 3月25日"
    assert not [
        text for pair in found.items() for text in pair if re.search("[\u202f\u00a0/]", text)
    ]


def test_no_text_has_a_space_that_is_not_plain():
    for pair in pairs(10_000, seed=3, held_out=False):
        assert not re.search(r"[^\S ]", "".join(pair)), pair


def test_without_babel_the_remedy_is_named(monkeypatch, nothing_remembered):
    monkeypatch.setitem(sys.modules, "babel", None)
    expected = (
        r"^Writing dates needs the package babel, which is not installed: "
        r"pip install 'clearhead\[demo\]'$"
    )
    with pytest.raises(MissingPartError, match=expected):
        ways(date(2026, 3, 3))
    with pytest.raises(MissingPartError, match=expected):
        pairs(1, seed=0, held_out=False)


def a_year_with_one_held_out_month():
    """The first day of such a month, alone in its year, and all its days."""
    for year in range(*YEARS):
        months = [month for month in range(1, 13) if is_held_out(year, month)]
        if len(months) == 1:
            break
    days = [day for day in all_days(year) if day.month == months[0]]
    return days[0], days


def months_of(found):
    days = (datetime.strptime(re.split("日", target)[0], "%Y年%m月%d") for _, target in found)
    return {(day.year, day.month) for day in days}


def test_training_never_sees_a_held_out_month_and_judging_sees_no_other():
    months = {(year, month) for year in range(YEARS[0], YEARS[1] + 1) for month in range(1, 13)}
    held_out = {month for month in months if is_held_out(*month)}
    assert 0.8 * len(months) < HELD_OUT * len(held_out) < 1.2 * len(months)
    assert len({year for year, _ in held_out}) > 100  # neither whole years
    assert {month for _, month in held_out} == set(range(1, 13))  # nor whole months
    assert months_of(pairs(50_000, seed=5, held_out=False)) == months - held_out
    assert months_of(pairs(10_000, seed=5, held_out=True)) == held_out


def test_every_way_of_every_day_is_drawn_in_the_end_and_nothing_else():
    month, days = a_year_with_one_held_out_month()
    expected = {pair for day in days for pair in ways(day).items()}
    drawn = pairs(30 * len(expected), seed=0, held_out=True, years=(month.year, month.year))
    assert set(drawn) == expected


@pytest.mark.parametrize("held_out", [False, True])
def test_the_same_seed_draws_the_same_and_more_leave_the_first_as_they_are(held_out):
    first = list(pairs(5000, seed=7, held_out=held_out))
    assert len(first) == 5000
    assert list(pairs(9, seed=7, held_out=held_out)) == first[:9]
    other = list(pairs(5000, seed=8, held_out=held_out))
    assert len(set(first) & set(other)) < 500  # held out there are 230,000 to draw from
    assert list(pairs(0, seed=7, held_out=held_out)) == []


def lines_of(path):
    """The lines below the header."""
    text = path.read_bytes().decode("utf-8")
    assert "\r" not in text
    assert text.startswith("source\ttarget\n")
    assert text.endswith("\n")
    return text.split("\n")[1:-1]


def test_the_files_are_what_they_say(tmp_path):
    write(tmp_path / "new" / "folder", seed=4, train=3000, valid=400, test=300)
    sources = {}
    for name, count in (("train", 3000), ("valid", 400), ("test", 300)):
        lines = lines_of(tmp_path / "new" / "folder" / f"{name}.tsv")
        found = [tuple(line.split("\t")) for line in lines]
        assert len(found) == count
        assert {is_held_out(*month) for month in months_of(found)} == {name != "train"}
        sources[name] = [source for source, _ in found]
        if name == "train":
            assert found == list(pairs(3000, seed=4, held_out=False))
    assert len({*sources["valid"], *sources["test"]}) == 700


def test_the_same_seed_writes_the_same_bytes_and_another_seed_others(tmp_path):
    def written(seed):
        sizes = {"train": 50, "valid": 30, "test": 30}
        write(tmp_path, seed=seed, **sizes, years=(2000, 2009))
        return [(tmp_path / f"{name}.tsv").read_bytes() for name in sizes]

    first = written(1)
    assert written(1) == first
    assert all(one != other for one, other in zip(first, written(2), strict=True))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"years": (1999, 1900)}, r"^The years 1999 to 1900 cannot .* earlier one first\.$"),
        ({"years": (999, 2000)}, r"^The years 999 to 2000 cannot .* from 1000 to 9999,"),
        ({"years": (2000, 10_000)}, r"^The years 2000 to 10000 cannot .* from 1000 to 9999,"),
        ({"train": -1}, r"^-1 pairs cannot be drawn\. Choose a whole number from 0 on\.$"),
        ({"valid": -2}, r"^-2 pairs cannot"),
        ({"test": -3}, r"^-3 pairs cannot"),
        ({"seed": -4}, r"^-4 cannot be a seed"),
    ],
)
def test_what_cannot_be_written_is_refused_before_there_is_a_file(asked, said, tmp_path):
    sizes = {"seed": 1, "train": 5, "valid": 5, "test": 5}
    with pytest.raises(ConfigError, match=said):
        write(tmp_path / "none", **sizes | asked)
    assert not (tmp_path / "none").exists()


def test_of_held_out_pairs_half_can_be_had_and_more_are_refused(tmp_path):
    month, days = a_year_with_one_held_out_month()
    year = month.year
    half = len(days) * len(written_module.english_forms()) // 2
    write(tmp_path, seed=0, train=0, valid=half - 1, test=1, years=(year, year))
    assert (tmp_path / "train.tsv").read_bytes() == b"source\ttarget\n"
    found = [line for name in ("valid", "test") for line in lines_of(tmp_path / f"{name}.tsv")]
    assert len(set(found)) == len(found) == half
    assert set(found) <= {"\t".join(pair) for day in days for pair in ways(day).items()}
    said = (
        rf"^{half} pairs for valid\.tsv and 1 for test\.tsv were asked for, and the held-out "
        rf"months of {year} to {year} give {half} together\. Ask for fewer, or for more years\.$"
    )
    with pytest.raises(ConfigError, match=said):
        write(tmp_path, seed=0, train=0, valid=half, test=1, years=(year, year))


def test_years_without_a_held_out_month_are_refused_where_one_is_wanted():
    (year, *_) = (
        year for year in range(*YEARS) if not any(is_held_out(year, m) for m in range(1, 13))
    )
    with pytest.raises(ConfigError, match=rf"^No month of the years {year} to {year} is held out"):
        pairs(1, seed=0, held_out=True, years=(year, year))
    assert len(list(pairs(5, seed=0, held_out=False, years=(year, year)))) == 5


def test_a_bad_question_is_refused_before_the_first_pair_is_asked_for():
    with pytest.raises(ConfigError, match=r"^-1 pairs cannot"):
        pairs(-1, seed=0, held_out=False)
    with pytest.raises(ConfigError, match=r"^-1 cannot be a seed"):
        pairs(1, seed=-1, held_out=False)

"""Numbers in English words, as far as dates need them: days up to 99, years up to 9999."""

from functools import cache

ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def nth(number: int) -> str:
    """A place in figures: 3rd, 11th, 22nd."""
    if number // 10 % 10 == 1:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


@cache
def ordinal(number: int) -> str:
    """A place in words, below 100: third, twenty-first, thirtieth."""
    before, hyphen, last = below_hundred(number).rpartition("-")
    if last.endswith("y"):
        return f"{last[:-1]}ieth"
    return f"{before}{hyphen}{ORDINALS.get(last, f'{last}th')}"


@cache
def cardinal(number: int, *, joined: str = "and ") -> str:
    """A number below 10,000: two thousand and five.

    British English says "and" before the tens; American English, `joined=""`, does not.
    """
    thousands, hundreds, rest = number // 1000, number // 100 % 10, number % 100
    words = [f"{ONES[thousands]} thousand"] * bool(thousands)
    words += [f"{ONES[hundreds]} hundred"] * bool(hundreds)
    if rest or not words:
        words.append(f"{joined if words else ''}{below_hundred(rest)}")
    return " ".join(words)


@cache
def in_pairs(year: int) -> str:
    """A year from 1000 on, as it is said: nineteen oh five, nineteen hundred, twenty twenty-one."""
    century, rest = divmod(year, 100)
    if century % 10 == 0 and rest == 0:
        return cardinal(year)
    if rest == 0:
        return f"{below_hundred(century)} hundred"
    return f"{below_hundred(century)} {f'oh {ONES[rest]}' if rest < 10 else below_hundred(rest)}"


def below_hundred(number: int) -> str:
    """A number below 100: nineteen, twenty, twenty-one."""
    if number < len(ONES):
        return ONES[number]
    tens, ones = TENS[number // 10 - 2], number % 10
    return f"{tens}-{ONES[ones]}" if ones else tens

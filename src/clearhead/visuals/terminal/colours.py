"""Numbers as colours: blue for above zero, orange for below, the stronger the larger."""

from rich.color import Color
from rich.style import Style

ABOVE, BELOW, PAPER = (33, 102, 172), (178, 88, 24), (247, 247, 247)


def tinted(number: float, largest: float) -> Style:
    """The style of a cell whose number lies between -largest and largest."""
    if largest <= 0 or abs(number) == float("inf"):
        return Style(dim=True)
    share = min(abs(number) / largest, 1.0) ** 0.7
    end = ABOVE if number > 0 else BELOW
    red, green, blue = (
        round(paper + share * (full - paper)) for paper, full in zip(PAPER, end, strict=True)
    )
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 140
    return Style(
        color=Color.from_rgb(255, 255, 255) if dark else Color.from_rgb(20, 20, 20),
        bgcolor=Color.from_rgb(red, green, blue),
    )


def light(amounts: tuple[float, float, float]) -> Style:
    """The colour of these amounts of red, green and blue light."""
    red, green, blue = (round(255 * min(max(amount, 0.0), 1.0)) for amount in amounts)
    return Style(color=Color.from_rgb(red, green, blue))

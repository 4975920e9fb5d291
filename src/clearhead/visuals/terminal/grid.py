"""An array as lines of coloured cells: every line fits, whatever the width."""

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from ...traces import Array, Trace
from ..numbers import aligned
from .bars import bar
from .colours import light, tinted
from .excerpt import Excerpt, excerpt_of

MARK = "▸"
BARS = range(8, 2, -1)  # cells of the bar behind a weight, the longest that fits


def grid(trace: Trace, name: str, width: int, *, more_rows: str) -> list[Text]:
    """The array, or the part of it that fits, with the chosen query marked.

    Where not all queries fit, the chosen one stands alone.
    """
    array = trace[name]
    if array.values.ndim == 1:
        array = Array(array.values[None], ("", *array.axes))
    part = excerpt_of(trace, array, width)
    lines = [_headings(part, named=array.axes[1] in trace.labels)]
    largest = max((abs(number) for number in part.values.ravel() if abs(number) < 1e300), default=0)
    swatch = name in trace.about.get("colours", ())
    for place, row in enumerate(part.rows):
        chosen = array.axes[0] == "query" and row == int(trace.about["query"])
        line = _label(part, place, chosen=chosen)
        for number in part.values[place]:
            digits = aligned(float(number), part.places).rjust(part.cell)
            line.append(f" {digits} ", style=tinted(float(number), float(largest)))
        if part.more_columns:
            line.append(f" … +{part.more_columns}", style="dim")
        if swatch:
            red, green, blue = map(float, array.values[row])
            line.append("  ██", style=light((red, green, blue)))
        lines.append(line)
    if part.more_rows and array.axes[0] != "query":
        lines.append(Text("  " + more_rows.format(count=part.more_rows), style="dim"))
    return lines


def shares_grid(trace: Trace, width: int, *, ascii_only: bool) -> list[Text] | None:
    """All weights, each with its bar; None when they do not all fit."""
    array = trace["weights"]
    for cells in BARS:
        part = excerpt_of(trace, array, width, beside=cells + 1)
        if not part.more_rows and not part.more_columns:
            break
    else:
        return None
    lines = [_headings(part, named=True)]
    for place, row in enumerate(part.rows):
        chosen = row == int(trace.about["query"])
        line = _label(part, place, chosen=chosen)
        for share in part.values[place]:
            digits = aligned(float(share), part.places).rjust(part.cell - cells - 1)
            line.append(f" {digits} ", style="bold" if chosen else "")
            line.append(f"{bar(float(share), cells, ascii_only=ascii_only)} ", style="blue")
        lines.append(line)
    return lines


def _headings(part: Excerpt, *, named: bool) -> Text:
    line = Text(" " * (part.label + 3))
    for name in part.column_names:
        heading = cut(name, part.cell)
        line.append(" " * (part.cell - cell_len(heading) + 1) + f"{heading} ")
    line.stylize("" if named else "dim")
    return line


def cut(text: str, cells: int) -> str:
    """The text, or its beginning and an ellipsis, in at most so many cells."""
    return text if cell_len(text) <= cells else set_cell_size(text, max(cells - 1, 0)) + "…"


def _label(part: Excerpt, place: int, *, chosen: bool) -> Text:
    name = set_cell_size(cut(part.row_names[place], part.label), part.label)
    return Text(f"{MARK if chosen else ' '} {name} ", style="bold" if chosen else "")

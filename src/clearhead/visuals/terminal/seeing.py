"""Seen attention on the screen: every head by name, one head as a heat map, where tokens look."""

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from ...traces import Trace
from ..heads import Gaze, Head, chosen, gazes, heads_of, labels_of, place_of, sites_of
from ..words.seeing import says_in
from .bars import bar
from .grid import cut

SHADES = " ░▒▓█"
ASCII = " .:-=+*#%@"
MARKS = {
    "previous": "←",
    "next": "→",
    "self": "·",
    "first": "▌",
    "local": "≈",
    "induction": "↻",
    "duplicate": "=",
    "diagonal": "╲",
    "stripe": "|",
    "broad": "▒",
    "mixed": "?",
    "": " ",
}
# Where the terminal has ASCII alone: the rest are in it.
PLAIN_MARKS = {
    "previous": "<",
    "next": ">",
    "self": ".",
    "first": "1",
    "local": "~",
    "induction": "@",
    "diagonal": "\\",
    "broad": "#",
}
LABEL = 12  # cells a token's name may take


def show_seen(
    trace: Trace,
    *,
    console: Console,
    site: str | None = None,
    head: int | None = None,
    rows: slice = slice(0, 24),
    language: str = "en",
) -> None:
    """Print what was seen, as wide as the console is."""
    screen = Screen(trace, console, language)
    picked = chosen(trace, site, head)
    screen.opening()
    screen.heads()
    screen.one(picked)
    screen.map(picked)
    screen.gazes(picked, rows)


class Screen:
    """What the parts of one picture share."""

    def __init__(self, trace: Trace, console: Console, language: str) -> None:
        self.trace, self.console, self.says = trace, console, says_in(language)
        self.width = max(console.width, 24)
        self.ascii_only = console.options.ascii_only
        self.sites = sites_of(trace)

    def opening(self) -> None:
        """Say what was watched."""
        facts = list(self.sites.values())
        model = self.trace.about.get("model") or self.says["model"]
        self._say(self.says["title"].format(model=model), "bold")
        counts = self.says["counts"].format(
            sites=len(facts),
            heads=sum(each["heads"] for each in facts),
            queries=max(each["queries"] for each in facts),
            keys=max(each["keys"] for each in facts),
            kernel=facts[0].get("kernel", ""),
        )
        self._say(counts, "dim")
        if facts[0]["batch"] > 1:
            self._say(self.says["batch"].format(batch=facts[0]["batch"]), "dim")
        without = self.trace.about.get("without")
        if without:
            self._say(self.says["none"].format(layers=", ".join(without)), "dim")

    def heads(self) -> None:
        """Every head of the model as one mark, and what the marks mean."""
        found = heads_of(self.trace)
        self.console.print()
        self._say(self.says["heads"], "bold")
        label = max(cell_len(site) for site in self.sites) + 2
        for site in self.sites:
            line = Text(site.ljust(label), style="dim")
            for each in found:
                if each.site == site:
                    line.append(f" {self._mark(each)}", style=Style(bold=each.name != "mixed"))
            self.console.print(line, no_wrap=True, overflow="ellipsis")
        names = [name for name in MARKS if name and any(each.name == name for each in found)]
        signs = [f"{self._sign(name)} {self.says[name]}" for name in names]
        for legend in packed(signs, self.width):
            self._say(legend, "dim")

    def _mark(self, head: Head) -> str:
        return self._sign(head.name)

    def _sign(self, name: str) -> str:
        mark = MARKS.get(name, "?")
        return PLAIN_MARKS.get(name, mark) if self.ascii_only else mark

    def one(self, head: Head) -> None:
        """The head that is looked at, in numbers."""
        self.console.print()
        told = self.says["site"].format(site=head.site, head=head.head)
        if head.name:
            named = self.says[head.name]
            if head.score is not None:
                named = self.says["named"].format(name=named, score=head.score)
            told = f"{told} · {named}"
        self._say(told, "bold cyan")
        numbers = {"entropy": head.entropy, "sink": head.sink, "distance": head.distance}
        self._say(self.says["numbers"].format(**numbers), "dim")

    def map(self, head: Head) -> None:
        """The head's map: a cell is the mean of a block, or one weight where there is room."""
        cells = self.trace[f"{head.site}.map_mean"].values[0, place_of(self.trace, head)]
        facts = self.sites[head.site]
        height, width = cells.shape
        fits = 2 * width + LABEL + 2 <= self.width
        one_to_one = height == facts["queries"] and width == facts["keys"]
        if not fits:
            cells = pooled(cells, (self.width - LABEL - 2) // 2)
            height, width = cells.shape
        largest = float(cells.max()) or 1.0
        labels: Sequence[str] = [""] * height
        if one_to_one and fits:
            labels = labels_of(self.trace, head.site, "entropy", facts["queries"])
        for row, label in zip(cells, labels, strict=True):
            line = Text(cut(label, LABEL).rjust(LABEL) + " ", style="dim")
            for value in row:
                line.append_text(self._cell(float(value) / largest))
            self.console.print(line, no_wrap=True, overflow="crop")
        told = self.says["exact"]
        if not (one_to_one and fits):
            rows, columns = facts["queries"] / height, facts["keys"] / width
            told = self.says["pooled"].format(
                rows=f"{rows:.3g}", columns=f"{columns:.3g}", largest=largest
            )
        self._say(self.says["map"].format(told=told, down=self.says["down"]), "dim")

    def _cell(self, share: float) -> Text:
        share = min(max(share, 0.0), 1.0) ** 0.5
        if self.ascii_only:
            return Text(ASCII[round(share * (len(ASCII) - 1))] * 2)
        if self.console.color_system in (None, "standard", "windows"):
            return Text(SHADES[round(share * (len(SHADES) - 1))] * 2)
        red, green, blue = heat(share)
        return Text("  ", style=Style(bgcolor=f"rgb({red},{green},{blue})"))

    def gazes(self, head: Head, rows: slice) -> None:
        """Where each token looks."""
        found = gazes(self.trace, head, rows)
        self.console.print()
        shown = max((len(gaze.keys[: self.room]) for gaze in found), default=0)
        self._say(self.says["top"].format(top=shown), "bold")
        for gaze in found:
            self.console.print(self._gaze(gaze), no_wrap=True, overflow="ellipsis")
        left_out = self.sites[head.site]["left_out"]
        padded = sum(1 for example, _ in left_out if example == 0)
        rest = self.sites[head.site]["queries"] - padded - len(found)
        if rest > 0:
            self._say(self.says["more"].format(count=rest), "dim")
        if padded:
            self._say(self.says["padding"].format(count=padded), "dim")

    @property
    def room(self) -> int:
        """How many keys of a query a line has room for."""
        return max((self.width - LABEL - 7 - len(self.says["rest"])) // (LABEL + 9), 1)

    def _gaze(self, gaze: Gaze) -> Text:
        """One query with as many of its keys as the line has room for."""
        line = Text(pad(gaze.query, LABEL) + " ", style="bold")
        left_out = gaze.left_out + sum(weight for _, weight in gaze.keys[self.room :])
        for key, weight in gaze.keys[: self.room]:
            line.append(pad(key, LABEL - 2) + f"{weight:5.0%} ", style="")
            line.append(bar(weight, 4, ascii_only=self.ascii_only) + " ", style="bright_blue")
        line.append(f"{self.says['rest']} {max(left_out, 0.0):.0%}", style="dim")
        return line

    def _say(self, text: str, style: str) -> None:
        self.console.print(Text(text, style=style))


def packed(items: Sequence[str], width: int, gap: str = "   ") -> list[str]:
    """The items side by side, in as many lines as they need; none is broken."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}{gap}{item}" if lines else item
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(item)
    return lines


def pad(label: str, cells: int) -> str:
    """The label in exactly so many cells, its end where it is short."""
    short = cut(printable(label), cells)
    return " " * (cells - cell_len(short)) + short


def printable(label: str) -> str:
    """A token's name without letters that would break a line."""
    return "".join(letter if letter.isprintable() else "␣" for letter in label)


def pooled(cells: np.ndarray, most: int) -> np.ndarray:
    """The cells in at most `most` by `most` blocks of the same size, each the mean of its part."""
    step = max(-(-cells.shape[0] // most), -(-cells.shape[1] // most), 1)
    rows = [cells[at : at + step] for at in range(0, cells.shape[0], step)]
    return np.array(
        [[row[:, at : at + step].mean() for at in range(0, cells.shape[1], step)] for row in rows]
    )


def heat(share: float) -> tuple[int, int, int]:
    """Dark blue to yellow, each step lighter than the last, so that it reads without colour too."""
    stops = [(13, 8, 60), (70, 30, 110), (160, 50, 100), (235, 110, 60), (252, 230, 120)]
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    part = place - low
    red, green, blue = (
        round(a + part * (b - a)) for a, b in zip(stops[low], stops[low + 1], strict=True)
    )
    return red, green, blue

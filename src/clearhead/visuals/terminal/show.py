"""An explanation on the screen: every step with its formula, its sizes, its reason, its numbers."""

from rich.console import Console
from rich.text import Text

from ...traces import Trace
from ..numbers import aligned
from ..steps import names_of
from ..words import FORMULAS, Words, words_in
from ..worked import worked
from .bars import bar
from .excerpt import top_keys
from .grid import grid, shares_grid
from .wrapped import wrapped

LONGEST = 100  # lines of text longer than this are hard to read
WORTH_SAYING = 0.005  # a smaller share is left out of the last line
BARS = 8  # keys that get a bar when not all of them fit
# A step that may change nothing, and the step before it that it then repeats.
UNCHANGED = {
    "inputs": "embeddings",
    "scaled": "scores",
    "masked": "scaled",
    "joined": "mixed",
    "output": "joined",
}
MATRICES = {"q": "W_q", "k": "W_k", "v": "W_v", "output": "W_o"}


def show(trace: Trace, *, console: Console | None = None, language: str = "en") -> None:
    """Print an explanation, step by step, as wide as the console is."""
    screen = Screen(trace, console or Console(), words_in(language))
    screen.opening()
    for number, name in enumerate(names_of(trace), start=1):
        screen.step(number, name)
    screen.ending()


class Screen:
    """What the steps of one explanation share while they are printed."""

    def __init__(self, trace: Trace, console: Console, words: Words) -> None:
        self.trace, self.console, self.words = trace, console, words
        self.width = max(console.width, 12)
        self.ascii_only = console.options.ascii_only
        self.queries, self.chosen = trace.labels["query"], int(trace.about["query"])

    def opening(self) -> None:
        """Say what is explained, and which query is followed."""
        about, screen = self.trace.about, self.words.screen
        title = f"{screen['title']} · {about.get('title', '')}"
        self._say(title, style="bold")
        facts = {
            "site": about.get("site", ""),
            "head": about["head"],
            "heads": about["heads"],
            "query": f"{self.queries[self.chosen]} ({self.chosen})",
        }
        where = "site" if "site" in about else "head" if int(about["heads"]) > 1 else "query"
        self._say(screen[where].format(**facts), style="dim")
        if "site" in about:
            self._tokens()

    def _tokens(self) -> None:
        line = Text()
        for place, label in enumerate(self.queries):
            line.append(label, style="bold reverse" if place == self.chosen else "")
            line.append(" ")
        self.console.print(line)

    def step(self, number: int, name: str) -> None:
        """Print one step."""
        self.console.print()
        self._heading(number, name)
        if name in self.trace:
            self._say(self.words.why.get(name, ""))
            self._numbers(name)
        for note in self.trace.notes_about(name):
            style = "bold red" if note.says == "disagrees" else "dim"
            self._say(self.words.sentence(note), style=style)

    def _heading(self, number: int, name: str) -> None:
        title = self.words.titles.get(name, name)
        line = Text.assemble((f"{number:2} ", "dim"), (title, "bold cyan"))
        if FORMULAS.get(name):
            line.append(f"  {FORMULAS[name]}", style="bold")
        sizes = self._sizes(name)
        gap = self.width - line.cell_len - Text(sizes).cell_len
        if gap < 2:
            self.console.print(line)
            line, gap = Text("   "), 0
        line.append(" " * gap + sizes, style="dim")
        self.console.print(line)

    def _sizes(self, name: str) -> str:
        if name not in self.trace:
            return self.words.screen["absent"]
        array = self.trace[name]
        parts = [
            f"{size} {self.words.axes.get(axis, axis)}"
            for size, axis in zip(array.values.shape, array.axes, strict=True)
        ]
        return " × ".join(parts)

    def _numbers(self, name: str) -> None:
        same = self._same_as(name)
        if same is not None:
            title = self.words.titles[same]
            self._say(self.words.screen["same"].format(step=title), style="dim")
            return
        if name == "weights":
            lines = shares_grid(self.trace, self.width, ascii_only=self.ascii_only)
            self._print_lines(self._bars() if lines is None else lines)
        else:
            self._grid(name)
        matrix = MATRICES.get(name, "")
        if matrix in self.trace:
            self._say(matrix, style="dim")
            self._grid(matrix)
        line = worked(self.trace, name)
        if line:
            self._say(self.words.screen["by_hand"].format(line=line), style="green")

    def _same_as(self, name: str) -> str | None:
        """The step that had the very same numbers just before, if this one changes nothing."""
        before = UNCHANGED.get(name, "")
        if before not in self.trace:
            return None
        one, other = self.trace[before].values, self.trace[name].values
        return before if one.shape == other.shape and bool((one == other).all()) else None

    def _grid(self, name: str) -> None:
        more = self.words.screen["more_rows"]
        self._print_lines(grid(self.trace, name, self.width, more_rows=more))

    def _bars(self) -> list[Text]:
        """The chosen query's weights, largest first, and what the others have together."""
        weights, names = self.trace["weights"].values[self.chosen], self.trace.labels["key"]
        top = top_keys(self.trace, BARS)
        told = [(names[key], float(weights[key])) for key in top]
        others = len(weights) - len(top)
        if others:
            rest = float(weights.sum() - weights[top].sum())
            told.append((self.words.screen["others"].format(count=others), rest))
        label = min(max(Text(name).cell_len for name, _ in told), max(self.width // 3, 4))
        cells = max(self.width - label - 12, 4)
        lines = []
        for name, share in told:
            line = Text("  " + name)
            line.truncate(label + 2, overflow="ellipsis", pad=True)
            line.append(f" {aligned(share, 4)} ")
            line.append(bar(share, cells, ascii_only=self.ascii_only), style="blue")
            lines.append(line)
        return lines

    def ending(self) -> None:
        """Say in one line where the chosen query looked."""
        weights, names = self.trace["weights"].values[self.chosen], self.trace.labels["key"]
        shares = self.words.screen["comma"].join(
            f"{names[key]} {100 * weights[key]:.0f}%"
            for key in top_keys(self.trace, 3)
            if weights[key] >= WORTH_SAYING
        )
        seen = int((weights > 0).sum())
        end = self.words.screen["end" if shares else "end_spread" if seen else "end_blind"]
        facts = {"query": self.queries[self.chosen], "shares": shares, "count": seen}
        self.console.print()
        self._say(end.format(**facts), style="bold")

    def _say(self, text: str, style: str = "") -> None:
        for line in wrapped(text, min(self.width, LONGEST)):
            self.console.print(Text(line, style=style), no_wrap=True, overflow="crop")

    def _print_lines(self, lines: list[Text]) -> None:
        for line in lines:
            self.console.print(line, no_wrap=True, overflow="crop", crop=True)

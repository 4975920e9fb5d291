"""A run as it goes by, on the terminal: a bar, what was measured, a few answers."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..training import Note

SMOOTH = 0.9  # how much of the loss shown is that of the steps before
EVERY = 5.0  # seconds between two lines where there is no terminal to draw a bar on


class Learning:
    """Shows every note of a run. Where nobody looks (no terminal), a line now and then."""

    def __init__(self, steps: int) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.loss = self.weight = self.seconds = self.tokens = self.said = 0.0
        self.progress = Progress(
            TextColumn("{task.completed}/{task.total}"),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.bar = self.progress.add_task("", total=steps)
        self.steps = steps

    def __enter__(self) -> "Learning":
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.progress.stop()

    def __call__(self, note: Note) -> None:
        """Show one note."""
        if note.kind == "step":
            self._step(note)
        elif note.kind == "valid":
            self._valid(note)
        elif note.kind == "begin":
            self._say(note.text, style="dim")
            self.progress.update(self.bar, completed=note.step)
        elif note.kind == "end":
            self._say(f"→ {note.text}")
        elif note.kind == "ended":
            self._say(f"ended at step {note.step} of {self.steps}: the same command goes on")

    def _step(self, note: Note) -> None:
        numbers = note.numbers
        self.loss = SMOOTH * self.loss + (1 - SMOOTH) * numbers["loss"]
        self.weight = SMOOTH * self.weight + (1 - SMOOTH)
        self.seconds += numbers["seconds"]
        self.tokens += numbers["tokens"]
        rate = self.tokens / max(self.seconds, 1e-9)
        told = f"loss of late {self.loss / self.weight:.3f}  {rate:,.0f} tokens/s"
        self.progress.update(self.bar, completed=note.step, description=told)
        if not self.console.is_terminal and (
            time.monotonic() - self.said > EVERY or note.step == self.steps
        ):
            self.said = time.monotonic()
            self._say(f"{note.step}/{self.steps}  {told}")

    def _valid(self, note: Note) -> None:
        if note.numbers:
            told = "  ".join(f"{name} {value:.4g}" for name, value in note.numbers.items())
            self._say(f"{note.step}  {told}", style="bold")
        for read, answered, wanted in note.samples:
            mark = "=" if answered == wanted else "≠"
            self._say(f"  {read} → {answered} {mark} {wanted}")

    def _say(self, text: str, style: str = "") -> None:
        """One line as it is: what stands in brackets is text, and no line is broken."""
        self.console.print(text, style=style or None, markup=False, soft_wrap=True)

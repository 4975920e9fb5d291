"""A run as it goes by, on the terminal: a bar, what was measured, a few answers."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..training import Note

SMOOTH = 0.95  # how much of the loss shown is that of the steps before


class Learning:
    """Shows every note of a run. Where nobody looks (no terminal), a line now and then."""

    def __init__(self, steps: int) -> None:
        self.console = Console(stderr=True, highlight=False)
        self.loss = self.seconds = self.tokens = 0.0
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
            self.console.print(f"[dim]{note.text}[/dim]")
            self.progress.update(self.bar, completed=note.step)
        elif note.kind == "end":
            self.console.print(f"→ {note.text}")

    def _step(self, note: Note) -> None:
        numbers = note.numbers
        self.loss = (
            SMOOTH * self.loss + (1 - SMOOTH) * numbers["loss"] if self.loss else (numbers["loss"])
        )
        self.seconds += numbers["seconds"]
        self.tokens += numbers["tokens"]
        rate = self.tokens / max(self.seconds, 1e-9)
        told = f"loss {self.loss:.3f}  {rate:,.0f} tokens/s"
        self.progress.update(self.bar, completed=note.step, description=told)
        if not self.console.is_terminal and note.step % max(self.steps // 20, 1) == 0:
            self.console.print(f"{note.step}/{self.steps}  {told}")

    def _valid(self, note: Note) -> None:
        if note.numbers:
            told = "  ".join(f"{name} {value:.4g}" for name, value in note.numbers.items())
            self.console.print(f"[bold]{note.step}[/bold]  {told}")
        for read, answered, wanted in note.samples:
            mark = "=" if answered == wanted else "≠"
            self.console.print(f"  {read} → {answered} {mark} {wanted}", markup=False)

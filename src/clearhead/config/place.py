"""Where in a configuration something stands, so that every error can point at it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A source (a file, the command line) and the keys that lead to one value in it."""

    source: str
    keys: tuple[str, ...] = ()

    def at(self, key: str) -> "Place":
        """Return the place one key further in."""
        return Place(self.source, (*self.keys, key))

    def __str__(self) -> str:
        """Name a value: `run.toml: train.steps`."""
        return f"{self.source}: {'.'.join(self.keys)}" if self.keys else self.source

    @property
    def table(self) -> str:
        """Name a table: `run.toml: [train]`, or the source alone for the outermost one."""
        return f"{self.source}: [{'.'.join(self.keys)}]" if self.keys else self.source

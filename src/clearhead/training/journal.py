"""What happened in a run, a line of JSON each; cut back to a checkpoint when a run goes on."""

import json
import os
from pathlib import Path
from typing import Any


class Journal:
    """Appends to a file. What is behind `size` bytes, from a run that was ended, is cut off."""

    def __init__(self, path: Path, size: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("ab")
        self.file.truncate(min(size, path.stat().st_size))
        self.file.seek(0, os.SEEK_END)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.file.tell()

    def add(self, **entry: Any) -> None:
        """Write one line."""
        self.file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        self.file.flush()

    def settle(self) -> int:
        """Make sure that all of it is on disk; says how many bytes."""
        os.fsync(self.file.fileno())
        return self.size

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


def entries(path: Path) -> list[dict[str, Any]]:
    """All lines of a journal; one that was cut short by a crash is left out."""
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found

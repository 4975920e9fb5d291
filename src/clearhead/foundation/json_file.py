"""JSON files that hold settings: read whole, and refused in a sentence when they are damaged."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import FileError


def read_json(path: Path) -> dict[str, Any]:
    """The settings in a JSON file."""
    if not path.is_file():
        raise FileError(f"{path} is missing: {path.name} was wanted there. Copy it there.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} is not JSON ({error}): the file is damaged. Copy it again."
        ) from error
    if not isinstance(found, dict):
        raise FileError(
            f"{path} holds {type(found).__name__} where settings were wanted, in braces. "
            "Use the file that came with the model."
        )
    return found


def read_json_if_there(path: Path) -> dict[str, Any]:
    """The settings in a JSON file; none when there is no such file."""
    return read_json(path) if path.is_file() else {}


def write_json(path: Path, settings: Mapping[str, Any]) -> None:
    """Write settings for people to read too."""
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

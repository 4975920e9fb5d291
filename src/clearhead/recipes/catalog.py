"""Every run that is ready, by name. Each is a function of a folder that returns the whole run."""

from collections.abc import Callable
from pathlib import Path

from ..data import Corpus
from ..foundation.errors import ConfigError, FileError, nearest
from ..models.sized import Shape
from ..tasks.translation import Translation
from ..tokens import Learned
from ..training import Run
from ..training.run import Data, Train
from ..training.schedule import Cosine, InverseRoot
from .dates import write

PAIRS = 60_000  # of dates: far more than a short run reads


def dates(folder: str = "runs/dates/data") -> Run:
    """English dates to Chinese ones; the files are written where they are not there yet."""
    place = Path(folder)
    files = {name: place / f"{name}.tsv" for name in ("train", "valid", "test")}
    if not all(file.is_file() for file in files.values()):
        write(place, seed=0, train=PAIRS, valid=500, test=500)
    return Run(
        into="runs/dates",
        task=Translation(
            source=Learned(cut="words", size=400),
            target=Learned(cut="characters", size=64),
            smoothing=0.0,
        ),
        model=Shape(size="tiny", dropout=0.0),
        data=Data(train=table(files["train"]), valid=table(files["valid"]), longest=64),
        train=Train(
            steps=750,
            tokens=2048,
            rate=2e-3,
            schedule=Cosine(warmup=50),
            save_every=250,
            valid_every=250,
            valid_rows=100,
        ),
    )


MULTI30K = (
    "https://github.com/multi30k/dataset (data/task1/raw), for research: train.en, train.de, "
    "val.en and val.de, packed (.gz, .xz) or not"
)


def multi30k(folder: str = "multi30k") -> Run:
    """English captions of pictures to German ones."""
    sides = {
        name: tuple(str(found(Path(folder), f"{name}.{side}")) for side in ("en", "de"))
        for name in ("train", "val")
    }
    return Run(
        into="runs/multi30k",
        task=Translation(source=Learned(cut="bpe", size=10_000)),
        model=Shape(size="tiny", width=128, layers=4, heads=4, dropout=0.3),
        data=Data(train=Corpus(files=sides["train"]), valid=Corpus(files=sides["val"])),
        train=Train(
            steps=8000,
            tokens=4096,
            rate=5e-3,
            schedule=InverseRoot(warmup=2000),
            save_every=1000,
            valid_every=1000,
        ),
    )


def table(path: Path) -> Corpus:
    """One table as a corpus."""
    return Corpus(files=(str(path),))


def found(folder: Path, name: str) -> Path:
    """A file that must be there, packed or not."""
    for ending in ("", ".gz", ".xz"):
        if (folder / f"{name}{ending}").is_file():
            return folder / f"{name}{ending}"
    raise FileError(
        f"{folder} has no {name}. This recipe downloads nothing; its files are from {MULTI30K}. "
        "Say where they are with folder=…."
    )


RECIPES: dict[str, Callable[..., Run]] = {"dates": dates, "multi30k": multi30k}


def recipe_of(name: str, folder: str | None = None) -> Run:
    """The run of this name, over the files in a folder."""
    if name not in RECIPES:
        raise ConfigError(
            f"There is no recipe {name!r}.{nearest(name, RECIPES)} There are: {', '.join(RECIPES)}."
        )
    return RECIPES[name]() if folder is None else RECIPES[name](folder)

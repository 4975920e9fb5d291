"""Files to a vocabulary and stored examples, made once for each data, vocabulary and settings."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from itertools import islice
from pathlib import Path

from ..config import to_plain
from ..data import Corpus, Store, open_store, paths_of, rows_of, write_store
from ..foundation.errors import ConfigError, FileError, InputError
from ..foundation.log import log
from ..tasks.task import Ids, Task
from ..tokens import Vocabulary, read_vocabulary
from .notes import Note, Onlooker
from .run import Run

AT_ONCE = 10_000  # rows that become ids together
DONE = "done"  # a file that is there when all others are


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What a run learns from, ready.

    Args:
        made_from: A name for its files and the settings for reading them.
        words: A name for its vocabulary.
    """

    made_from: str
    words: str
    vocabulary: Vocabulary
    train: Store
    valid: Store | None
    valid_rows: Sequence[Sequence[str]]


def prepare(run: Run, look: Onlooker) -> Prepared:
    """Find what was made before from the same files and settings, or make it."""
    corpora = {"train": run.data.train} | ({"valid": run.data.valid} if run.data.valid else {})
    made_from = fingerprint(run, corpora)
    folder = Path(run.into) / "data" / made_from
    if not (folder / DONE).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        _make(run, corpora, folder, look)
    vocabulary = read_vocabulary(folder / "vocabulary")
    if vocabulary is None:
        raise FileError(f"{folder} lost its vocabulary: remove the folder, and it is made again.")
    stores = {name: open_store(folder / f"{name}.arrow") for name in corpora}
    refuse_too_long(run, stores)
    rows = list(rows_of(run.data.valid, run.task.columns)) if run.data.valid else []
    return Prepared(
        made_from=made_from,
        words=name_of(folder / "vocabulary"),
        vocabulary=vocabulary,
        train=stores["train"],
        valid=stores.get("valid"),
        valid_rows=[row.fields for row in rows],
    )


def refuse_too_long(run: Run, stores: Mapping[str, Store]) -> None:
    """Refuse now what would end the run later: an example that no batch has room for."""
    for name, store in stores.items():
        if store.longest > run.train.tokens:
            raise ConfigError(
                f"An example of data.{name} has {store.longest} tokens and a batch may have "
                f"{run.train.tokens} (train.tokens): raise that, or leave such examples out with a "
                f"smaller data.longest than {run.data.longest}."
            )


def name_of(folder: Path) -> str:
    """A name that changes with any file in a folder."""
    digest = sha256()
    for file in sorted(folder.iterdir()):
        digest.update(f"{file.name}/".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def fingerprint(run: Run, corpora: dict[str, Corpus]) -> str:
    """A name that changes with the files' content and with every setting that matters to it."""
    task = to_plain(run.task)
    task.pop("smoothing", None)
    digest = sha256(json.dumps([task, run.data.longest], sort_keys=True).encode())
    for name, corpus in corpora.items():
        digest.update(f"{name}/{corpus.columns}/{corpus.flaws}".encode())
        for path in paths_of(corpus):
            digest.update(f"/{path.suffix}".encode())
            with path.open("rb") as opened:
                digest.update(file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:16]


def _make(run: Run, corpora: dict[str, Corpus], folder: Path, look: Onlooker) -> None:
    task: Task = run.task
    look(Note(kind="begin", step=0, text="vocabulary"))
    vocabulary = task.learn(row.fields for row in rows_of(run.data.train, task.columns))
    vocabulary.save(folder / "vocabulary")
    for name, corpus in corpora.items():
        look(Note(kind="begin", step=0, text=name))
        counted = Counted(run.data.longest)
        rows = (row.fields for row in rows_of(corpus, task.columns))
        examples = counted.short_enough(_encoded(task, vocabulary, rows))
        count = write_store(folder / f"{name}.arrow", task.columns, examples)
        counted.tell(corpus)
        if not count:
            raise InputError(
                f"{', '.join(corpus.files)} have no example that can be used: give more data, or "
                f"a larger data.longest than {run.data.longest}."
            )
    (folder / DONE).touch()


def _encoded(
    task: Task, vocabulary: Vocabulary, rows: Iterator[Sequence[str]]
) -> Iterator[Sequence[Ids]]:
    while part := list(islice(rows, AT_ONCE)):
        yield from task.encode(vocabulary, part)


class Counted:
    """Leaves out what is too long, and counts it."""

    def __init__(self, longest: int) -> None:
        self.longest, self.left_out = longest, 0

    def short_enough(self, examples: Iterator[Sequence[Ids]]) -> Iterator[Sequence[Ids]]:
        """The examples of which no side is too long."""
        for example in examples:
            if max(len(ids) for ids in example) <= self.longest:
                yield example
            else:
                self.left_out += 1

    def tell(self, corpus: Corpus) -> None:
        """Say how many were left out."""
        if self.left_out:
            log("training").warning(
                f"{self.left_out} examples of {', '.join(corpus.files)} have more than "
                f"{self.longest} tokens and were left out (data.longest)."
            )

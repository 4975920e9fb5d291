"""Every refusal says where, what came, and what was wanted."""

from dataclasses import dataclass
from typing import Literal

import pytest

from clearhead.config import check, from_plain, from_toml, read, setting, to_plain
from clearhead.foundation.errors import ConfigError, FileError, ShapeError


@dataclass(frozen=True, kw_only=True)
class Adam:
    kind: Literal["adam"] = "adam"
    decay: float = setting(0.1, minimum=0, below=1)


@dataclass(frozen=True, kw_only=True)
class Plain:
    kind: Literal["plain"] = "plain"


@dataclass(frozen=True, kw_only=True)
class Nothing:
    pass


@dataclass(frozen=True, kw_only=True)
class Train:
    rate: float = setting(0.1, above=0)
    warmup: int = 0
    fast: bool = False
    norm: Literal["layer", "rms"] = "layer"
    until: int | Literal["end"] = "end"
    optimizer: Adam | Plain | None = None
    widths: tuple[int, ...] = setting((), minimum=1)
    pair: tuple[int, str] = (1, "one")
    labels: dict[str, str] = setting({})
    name: str | None = "nobody"
    nothing: Nothing = Nothing()
    steps: int = setting(help="how long", minimum=1, maximum=9)

    def __post_init__(self):
        if self.warmup > self.steps:
            raise ShapeError(f"{self.warmup} warm-up steps do not fit into {self.steps}.")

    def without_effect(self):
        return {"warmup": "'fast' needs none", "steps": "it is required"} if self.fast else {}


@dataclass(frozen=True, kw_only=True)
class Run:
    train: Train


REFUSALS = {
    "unknown": ("stpes = 1", "[train] has no 'stpes'. Did you mean 'steps'? It has: rate,"),
    "unlike": ("zzz = 1", "[train] has no 'zzz'. It has: rate, warmup"),
    "empty": ("nothing.x = 1", "[train.nothing] has no 'x'. It has no settings."),
    "missing": ("", "[train] lacks 'steps' (how long), which has no default. Add it: a whole "),
    "text": ('steps = "many"', "train.steps is 'many', but it wants a whole number, at least 1 "),
    "fraction": ("steps = 1.5", "train.steps is 1.5, but it wants a whole number"),
    "truth": ("steps = true", "train.steps is true, but it wants a whole number"),
    "low": (
        "steps = 0",
        "train.steps is 0, but it wants a whole number, at least 1 and at most 9.",
    ),
    "high": ("steps = 10", "train.steps is 10, but it wants a whole number, at least 1 and at mo"),
    "edge": ("steps = 1\nrate = 0", "train.rate is 0.0, but it wants a number, above 0."),
    "nan": ("steps = 1\nrate = nan", "train.rate is nan, but it wants a number, above 0."),
    "number": ("steps = 1\nfast = 1", "train.fast is 1, but it wants true or false."),
    "choice": (
        "norm = 'rns'",
        "norm is 'rns', but it wants one of 'layer', 'rms'. Did you mean 'rms'?",
    ),
    "odd": ("norm = 3", "train.norm is 3, but it wants one of 'layer', 'rms'."),
    "either": ("until = 'x'", "train.until is 'x', but it wants a whole number or 'end'."),
    "kind": (
        "optimizer.kind = 'adan'",
        "kind is 'adan', which is unknown. Did you mean 'adam'? Known",
    ),
    "number kind": ("optimizer.kind = 3", "kind is 3, which is unknown. Known: 'adam', 'plain'."),
    "no kind": (
        "optimizer.decay = 0",
        "lacks 'kind', which says what it is. Add one of: 'adam', 'pl",
    ),
    "word": ("optimizer = 'adan'", "a table of kind 'plain' or \"none\". Did you mean 'adam'?"),
    "inside": (
        "optimizer = {kind = 'adam', decay = 1}",
        "train.optimizer.decay is 1.0, but it wants a n",
    ),
    "items": ("widths = [1, 0]", "train.widths.1 is 0, but it wants a whole number, at least 1."),
    "no list": (
        "widths = 3",
        "train.widths is 3, but it wants a list, each item a whole number, at",
    ),
    "length": ("pair = [1]", "train.pair is [1], but it wants a list of 2: a whole number, text."),
    "no table": ("labels = 3", "train.labels is 3, but it wants a table, each value text."),
    "value": ("labels = {a = 1}", "train.labels.a is 1, but it wants text."),
    "scalar": (
        "nothing = 3",
        "nothing is 3, but it wants a table. Write [train.nothing] with its se",
    ),
    "idle": (
        "steps = 1\nfast = true\nwarmup = 0",
        "train.warmup has no effect: 'fast' needs none. Le",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_says_where_what_and_why(case):
    lines, message = REFUSALS[case]
    with pytest.raises(ConfigError) as refused:
        from_toml(Run, f"[train]\n{lines}", source="run.toml")
    assert str(refused.value).startswith("run.toml: ")
    assert message in str(refused.value)


def test_what_a_class_itself_refuses_is_told_with_its_place():
    message = r"^run.toml: \[train\]: 5 warm-up steps do not fit into 1\.$"
    with pytest.raises(ShapeError, match=message):
        from_toml(Run, "[train]\nsteps = 1\nwarmup = 5", source="run.toml")


def test_a_required_setting_may_be_given_even_where_it_does_nothing():
    assert from_plain(Train, {"steps": 1, "fast": True}).steps == 1


def test_text_that_is_not_toml_is_refused_with_its_line():
    with pytest.raises(ConfigError, match=r"run.toml is not TOML: .*line 2.* Text wants quotes"):
        from_toml(Run, "[train]\nname = nobody", source="run.toml")


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path):
    with pytest.raises(FileError, match=r"run.toml cannot be read: No such file.* Give the path"):
        read(Run, tmp_path / "run.toml")
    (tmp_path / "run.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match=r"run.toml is not UTF-8 text. Save it as UTF-8\."):
        read(Run, tmp_path / "run.toml")


def test_a_value_made_in_python_is_refused_like_one_that_was_read():
    good = Train(steps=1, name=None)
    assert check(good) is good
    with pytest.raises(ConfigError, match=r"^Train: steps is 0, but it wants"):
        check(Train(steps=0))
    with pytest.raises(ConfigError, match=r"^Train: warmup has no effect"):
        to_plain(Train(steps=1, fast=True, warmup=1))
    with pytest.raises(
        ConfigError, match=r"would read back as .*Give each setting the type it asks"
    ):
        to_plain(Train(steps=1, widths=[1]))
    with pytest.raises(ConfigError, match=r"the text 'none' stands for nothing"):
        to_plain(Train(steps=1, name="none"))


def test_an_annotation_no_setting_can_have_is_our_own_mistake():
    @dataclass(frozen=True, kw_only=True)
    class Wrong:
        things: set[int]

    with pytest.raises(TypeError, match="A setting cannot be set"):
        from_plain(Wrong, {"things": 3})

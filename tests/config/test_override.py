"""`key=value` changes one setting, wherever it stands, and is read as what the setting wants."""

from dataclasses import dataclass
from typing import Literal

import pytest

from clearhead.config import override, setting
from clearhead.foundation.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Rotary:
    kind: Literal["rotary"] = "rotary"
    theta: float = 10.0


@dataclass(frozen=True, kw_only=True)
class Learned:
    kind: Literal["learned"] = "learned"
    longest: int = setting(512, minimum=1)


@dataclass(frozen=True, kw_only=True)
class Block:
    width: int = 1
    positions: Rotary | Learned | None = None


@dataclass(frozen=True, kw_only=True)
class Model:
    steps: int
    name: str = "a"
    nickname: str | None = None
    rate: float | str = 0.5
    on: bool = False
    norm: Literal["layer", "rms"] = "layer"
    widths: tuple[int, ...] = (1, 2)
    labels: dict[str, str] = setting({})
    blocks: tuple[Block, ...] = (Block(), Block(positions=Rotary(theta=3.0)))
    rank: int = 8

    def without_effect(self):
        return {} if self.on else {"rank": "'on' is false"}


MODEL = Model(steps=1)
CHANGES = {
    "number": (["steps=3"], {"steps": 3}),
    "spaces": ([" steps = 3 "], {"steps": 3}),
    "last": (["steps=3", "steps=4"], {"steps": 4}),
    "default": (["name=b", "name="], {"name": "a"}),
    "text": (["name=b c"], {"name": "b c"}),
    "quoted": (['name=""'], {"name": ""}),
    "digits": (["name=3"], {"name": "3"}),
    "date": (["name=2024-01-01"], {"name": "2024-01-01"}),
    "equals": (["name=a=b"], {"name": "a=b"}),
    "some": (["nickname=true"], {"nickname": "true"}),
    "none": (["nickname=b", "nickname=none"], {"nickname": None}),
    "number first": (["rate=3"], {"rate": 3.0}),
    "text last": (["rate=fast"], {"rate": "fast"}),
    "truth": (["on=true", "rank=3"], {"on": True, "rank": 3}),
    "word": (["norm=rms"], {"norm": "rms"}),
    "list": (["widths=[3]"], {"widths": (3,)}),
    "item": (["widths.1=3"], {"widths": (1, 3)}),
    "dict": (["labels.x=5"], {"labels": {"x": "5"}}),
    "deep": (["blocks.0.width=3"], {"blocks": (Block(width=3), MODEL.blocks[1])}),
    "tables": (['blocks=[{positions="learned"}]'], {"blocks": (Block(positions=Learned()),)}),
    "inside a given list": (["blocks.0.width=3", "blocks=[{}]"], {"blocks": (Block(width=3),)}),
}
POSITIONS = {
    "same kind": (["positions.theta=4"], Rotary(theta=4.0)),
    "kind again": (["positions.kind=rotary"], Rotary(theta=3.0)),
    "other kind": (["positions.longest=4", "positions.kind=learned"], Learned(longest=4)),
    "kind alone": (["positions=rotary"], Rotary()),
    "kind first": (["positions.longest=4", "positions=learned"], Learned(longest=4)),
    "table": (['positions={kind="learned"}', "positions.longest=4"], Learned(longest=4)),
    "none": (["positions=none"], None),
    "from none": (["positions=none", "positions.kind=learned"], Learned()),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_reaches_its_setting(case):
    changes, fields = CHANGES[case]
    assert override(MODEL, changes) == Model(**{"steps": 1, **fields})


@pytest.mark.parametrize("case", POSITIONS)
def test_a_change_reaches_a_table_of_several_kinds(case):
    changes, positions = POSITIONS[case]
    changed = override(MODEL, [f"blocks.1.{change}" for change in changes])
    assert changed.blocks == (Block(), Block(positions=positions))


REFUSALS = {
    "steps": "'steps' is not a change. Write key=value, for example train.steps=100.",
    "=3": "'=3' is not a change. Write key=value",
    "stpes=3": "the command line has no 'stpes'. Did you mean 'steps'?",
    "block.0.width=3": "the command line has no 'block'. Did you mean 'blocks'?",
    "steps=many": "the command line: steps is 'many', but it wants a whole number.",
    "steps=": "the command line lacks 'steps', which has no default. Add it: a whole number.",
    "steps.x=3": "steps.x leads into 1, which has no settings inside.",
    "steps.x.y=3": "steps.x leads into 1, which has no settings inside.",
    "rank=8": "the command line: rank has no effect: 'on' is false. Leave 'rank' out.",
    "widths.2=3": "widths.2 names no item: the list has 2, counted from 0.",
    "widths.x=3": "widths.x names no item: the list has 2",
    "blocks.9.width=3": "blocks.9 names no item: the list has 2, counted from 0.",
    "widths.0=": "widths.0= means the default, and an item of a list has none.",
    "blocks.1.positions.longest=3": "[blocks.1.positions] has no 'longest'. It has: kind, theta.",
    "blocks.0.positions.kind=linear": "positions.kind is 'linear', which is unknown. Did you mean",
}


@pytest.mark.parametrize("change", REFUSALS)
def test_a_change_that_cannot_be_made_says_why(change):
    with pytest.raises(ConfigError) as refused:
        override(MODEL, [change])
    assert REFUSALS[change] in str(refused.value)


def test_leaving_a_method_behind_asks_to_leave_its_settings_too():
    lora = Model(steps=1, on=True, rank=3)
    with pytest.raises(ConfigError, match=r"^run.toml: rank has no effect"):
        override(lora, ["on=false"], source="run.toml")
    assert override(lora, ["on=false", "rank="]) == MODEL

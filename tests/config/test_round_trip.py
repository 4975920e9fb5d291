"""What is written reads back the same, whatever it holds."""

from dataclasses import dataclass
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.config import check, from_plain, from_toml, read, setting, to_plain, to_toml


@dataclass(frozen=True, kw_only=True)
class Rotary:
    kind: Literal["rotary"] = "rotary"
    theta: float = setting(10_000.0, help="longest wavelength", above=0)


@dataclass(frozen=True, kw_only=True)
class Learned:
    kind: Literal["learned"] = "learned"
    longest: int = setting(512, minimum=1)


@dataclass(frozen=True, kw_only=True)
class Block:
    width: int = setting(help="width of\n  the block", minimum=1, maximum=9)
    norm: Literal["layer", "rms"] | None = "layer"
    positions: tuple[Rotary | Learned, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Everything:
    first: Block
    on: bool = False
    count: int = 3
    rate: float | Literal["auto"] = setting(0.5, help="how fast", minimum=0, below=1)
    name: str = setting("", help="anything")
    nickname: str | None = None
    window: int | None = setting(4, help="how far", minimum=0)
    pair: tuple[int, str] = (1, "one")
    grid: tuple[tuple[int | None, ...], ...] = ()
    positions: Rotary | Learned | None = setting(Rotary(), help="how order is known")
    blocks: tuple[Block, ...] = setting((), help="from the first to the last")
    labels: dict[str, str] = setting({"0": "no"}, help="what a class means")
    rank: int = 8

    def without_effect(self) -> dict[str, str]:
        return {} if self.on else {"rank": "'on' is false"}


# TOML holds 64-bit whole numbers, and any text but half a character.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
whole = st.integers(-(2**63), 2**63 - 1)
positions = st.one_of(
    st.builds(Rotary, theta=st.floats(min_value=0, exclude_min=True, allow_nan=False)),
    st.builds(Learned, longest=st.integers(1, 2**40)),
)
block = st.builds(
    Block,
    width=st.integers(1, 9),
    norm=st.sampled_from(["layer", "rms", None]),
    positions=st.lists(positions, max_size=2).map(tuple),
)
everything = st.booleans().flatmap(
    lambda on: st.builds(
        Everything,
        first=block,
        on=st.just(on),
        count=whole,
        rate=st.floats(0, 1, exclude_max=True) | st.just("auto"),
        name=text,
        nickname=text.filter(lambda name: name != "none") | st.none(),
        window=st.integers(0, 2**40) | st.none(),
        pair=st.tuples(whole, text),
        grid=st.lists(st.lists(whole | st.none(), max_size=3).map(tuple), max_size=3).map(tuple),
        positions=positions | st.none(),
        blocks=st.lists(block, max_size=3).map(tuple),
        labels=st.dictionaries(text, text, max_size=3),
        rank=whole if on else st.just(8),
    )
)


@settings(max_examples=50)
@given(everything)
def test_toml_and_plain_values_read_back_the_same(value):
    assert from_toml(Everything, to_toml(value)) == value
    assert from_plain(Everything, to_plain(value)) == value
    assert read(Everything, to_plain(value)) == check(value) == value


def test_what_is_written_explains_itself():
    blocks = (Block(width=1), Block(width=2, positions=(Learned(),)))
    value = Everything(first=Block(width=3), window=None, blocks=blocks)
    assert to_toml(value) == EXPLAINED


def test_the_kind_alone_means_its_defaults_and_may_be_left_out_where_one_is_possible():
    given = {"first": {"width": 1}, "positions": "learned"}
    assert from_plain(Everything, given).positions == Learned()

    @dataclass(frozen=True, kw_only=True)
    class One:
        rotary: Rotary | None = None

    assert from_plain(One, {"rotary": {"theta": 3}}) == One(rotary=Rotary(theta=3.0))
    assert from_plain(One, {"rotary": None}) == One()


def test_two_values_never_share_a_dict():
    first, second = (Everything(first=Block(width=1)) for _ in range(2))
    first.labels["1"] = "yes"
    assert second.labels == {"0": "no"}


def test_a_whole_number_will_do_as_a_number_and_becomes_one():
    theta = from_plain(Rotary, {"theta": 3}).theta
    assert type(theta) is float


def test_a_file_reads_like_its_text(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('first = { width = 2 }\nname = "注意力"\n', encoding="utf-8")
    assert read(Everything, path) == Everything(first=Block(width=2), name="注意力")
    assert read(Everything, str(path)).first.width == 2


EXPLAINED = """\
on = false
count = 3
rate = 0.5 # how fast; a number or 'auto', at least 0 and below 1
name = "" # anything
window = "none" # how far; at least 0
pair = [1, "one"]
grid = []

[first]
width = 3 # width of the block; at least 1 and at most 9
norm = "layer" # one of 'layer', 'rms' or "none"
positions = []

[positions] # how order is known
kind = "rotary"
theta = 10000.0 # longest wavelength; above 0

[[blocks]] # from the first to the last
width = 1 # width of the block; at least 1 and at most 9
norm = "layer" # one of 'layer', 'rms' or "none"
positions = []

[[blocks]]
width = 2 # width of the block; at least 1 and at most 9
norm = "layer" # one of 'layer', 'rms' or "none"

[[blocks.positions]]
kind = "learned"
longest = 512 # at least 1

[labels] # what a class means
0 = "no"
"""

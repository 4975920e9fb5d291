"""What a user may import is decided here, and importing it costs next to nothing."""

import subprocess
import sys
import time
from importlib import import_module

import pytest
from project import PACKAGE, ROOMS

import clearhead

HOMES = sorted(clearhead.HOMES)
TORCHLESS = [room for room in ("config", "traces", "visuals") if room in ROOMS]
SECONDS_TO_IMPORT = 0.3


def started(script: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_a_room_exports_exactly_what_it_says(room):
    names = getattr(import_module(f"clearhead.{room}".rstrip(".")), "__all__", [])
    assert names == sorted(set(names))
    if room:
        home = import_module(f"clearhead.{room}")
        assert [name for name in names if not hasattr(home, name)] == []


def test_the_package_promises_every_name_it_has_a_home_for():
    assert clearhead.__all__ == HOMES


@pytest.mark.parametrize("name", HOMES)
def test_every_name_of_the_package_is_where_it_says(name):
    room = clearhead.HOMES[name].lstrip(".").partition(".")[0]
    if room not in ROOMS:
        pytest.skip(f"the room {room!r} of {name!r} is not built yet")
    assert getattr(clearhead, name) is not None


def test_a_name_the_package_lacks_is_answered_with_those_it_has():
    with pytest.raises(AttributeError, match=r"clearhead has no 'atend'.* It has: Model, "):
        _ = clearhead.atend


@pytest.mark.parametrize(
    "room", ["", "config.toml", *TORCHLESS, "foundation.errors", "foundation.log"]
)
def test_what_needs_no_torch_starts_without_it(room):
    module = f"clearhead.{room}".rstrip(".")
    ran = started(
        f"import sys, {module}; sys.exit('torch' in sys.modules or 'rich' in sys.modules)"
    )
    assert ran.returncode == 0, f"import {module} loads torch or rich. {ran.stderr}"


def test_importing_the_package_costs_next_to_nothing():
    def seconds(script: str) -> float:
        start = time.perf_counter()
        started(script)
        return time.perf_counter() - start

    empty = min(seconds("") for _ in range(5))
    assert min(seconds("import clearhead") for _ in range(5)) - empty < SECONDS_TO_IMPORT

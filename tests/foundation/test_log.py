"""The log is Python's own; showing it is asked for, on standard error."""

import logging

import pytest

from clearhead.foundation.errors import ConfigError
from clearhead.foundation.log import log, show_log


@pytest.fixture(autouse=True)
def untouched():
    ours = log()
    before = ours.handlers[:], ours.level, ours.propagate
    yield
    ours.handlers[:], ours.propagate = before[0], before[2]
    ours.setLevel(before[1])


def test_importing_sets_nothing_up():
    assert log().handlers == []
    assert log("lens").name == "clearhead.lens"


def test_what_is_shown_goes_to_standard_error_from_the_level_up(capsys):
    show_log("info")
    log("lens").debug("too little")
    log("lens").info("three heads look back")
    shown = capsys.readouterr()
    assert "three heads look back" in shown.err
    assert "too little" not in shown.err
    assert shown.out == ""


def test_showing_twice_says_everything_once(capsys):
    show_log("error")
    show_log("debug")
    log().debug("once")
    assert capsys.readouterr().err.count("once") == 1


def test_the_root_log_of_the_program_is_left_alone():
    before = logging.getLogger().handlers[:]
    show_log()
    assert logging.getLogger().handlers == before


def test_an_unknown_level_names_the_nearest():
    with pytest.raises(
        ConfigError, match=r"no log level 'debgu'. Did you mean 'debug'\? Choose: d"
    ):
        show_log("debgu")

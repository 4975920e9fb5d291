"""The command line as people use it: what was typed, what came back."""

import subprocess
import sys
from dataclasses import dataclass

import pytest
from project import PACKAGE

from clearhead.cli import main
from clearhead.foundation.log import log


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def typed(capsys: pytest.CaptureFixture[str], *words: object) -> Answer:
    """Run `clearhead` with these words in this process; the log is as it was when it ends."""
    before = log().handlers[:], log().level, log().propagate
    capsys.readouterr()
    try:
        main([str(word) for word in words])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    log().handlers[:], log().propagate = before[0], before[2]
    log().setLevel(before[1])
    return Answer(code, *capsys.readouterr())


def started(*words: object) -> Answer:
    """Run `python -m clearhead` with these words in a process of its own."""
    command = [sys.executable, "-m", "clearhead", *(str(word) for word in words)]
    ran = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=False)
    return Answer(ran.returncode, ran.stdout, ran.stderr)


def refused(answer: Answer) -> str:
    """The one sentence with which a command ended; fails when it did not end that way."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("clearhead: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    return answer.err.removeprefix("clearhead: ").rstrip("\n")

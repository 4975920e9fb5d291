"""Every Python block of these pages stands alone: a reader may copy just the one they came for."""

import re

import pytest
from project import ROOT, title

PAGES = [ROOT / "docs" / name for name in ("mistakes.md", "explain.md")]
BLOCK = re.compile(r"^```python *\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            line = text[: found.start()].count("\n") + 1
            yield pytest.param(found[1], id=f"{title(page)}:{line}")


@pytest.mark.parametrize("code", list(blocks()))
def test_a_snippet_runs_by_itself_and_checks_itself(code, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert "assert " in code
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})

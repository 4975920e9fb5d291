"""Files hold nothing of the machine they were written on, and lists that must agree do."""

import re
import subprocess
import tomllib

import pytest
from project import PACKAGE, ROOMS, ROOT

from clearhead.cli.main import app

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# Said in pieces, so that this file passes its own test.
FOREIGN = [
    "/" + "work/",
    "/" + "root/",
    "/" + "home/",
    ".." + "/shared",
    "/opt/" + "wheels",
    "/opt/" + "pypi",
    "py" + "pi.org",
    "python" + "hosted",
    "download." + "pytorch.org",
    "index" + "-url",
    "find" + "-links",
]
# A path begins a word: "framework/" is none.
MACHINE = re.compile("|".join(rf"(?<![\w.])(?:{re.escape(words)})" for words in FOREIGN))


def project_files():
    """Every file git keeps or would keep."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip("this is no git checkout, so nobody knows which files belong to the project")
    return [ROOT / line for line in ran.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_file_names_a_machine_a_home_or_a_package_registry():
    found = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if match := MACHINE.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number} has {match[0]!r}")
    assert found == []


def test_every_room_without_torch_is_watched_by_the_import_contract():
    (contract,) = (
        contract
        for contract in PROJECT["tool"]["importlinter"]["contracts"]
        if contract.get("forbidden_modules") == ["torch"]
    )
    watched = {module.removeprefix("clearhead.") for module in contract["source_modules"]}
    assert watched == {"config", "traces", "visuals"} & set(ROOMS)


def test_a_room_that_is_built_is_no_longer_in_brackets():
    stack = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    waiting = {room for layer in stack for room in re.findall(r"\((\w+)\)", layer)}
    assert waiting & set(ROOMS) == set()


def test_what_is_installed_by_default_is_the_core_and_every_pin_is_asked_for():
    def names(requirements):
        return {re.split(r"[<>=\[ ;]", line)[0] for line in requirements}

    extras = PROJECT["project"]["optional-dependencies"]
    asked = names(PROJECT["project"]["dependencies"]).union(*map(names, extras.values()))
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("# weights")
    pins = re.findall(r"^([\w-]+)==[\d.]+$", lines[0], flags=re.MULTILINE)
    assert set(pins) <= asked
    assert names(PROJECT["project"]["dependencies"]) | names(extras["dev"]) - {"clearhead"} <= set(
        pins
    )


def test_every_room_and_every_verb_of_the_command_line_is_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    rooms = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert set(ROOMS) <= rooms
    (verbs,) = (row for row in rows if row.startswith("| `cli`"))
    named = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert named == set(re.findall(r"`(\w+)`", verbs.split("|")[2]))


def test_the_version_is_the_same_everywhere():
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    version = PROJECT["project"]["version"]
    assert f'__version__ = "{version}"' in text
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

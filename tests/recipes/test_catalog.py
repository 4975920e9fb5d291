"""Recipes: whole runs, by name, over the files they say they need."""

import lzma

import pytest

from clearhead.config import check
from clearhead.data import rows_of
from clearhead.foundation.errors import ConfigError, FileError
from clearhead.recipes import RECIPES, catalog, recipe_of


def test_dates_writes_its_files_once(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "PAIRS", 50)
    run = check(recipe_of("dates", str(tmp_path)))
    rows = [row.fields for row in rows_of(run.data.train, run.task.columns)]
    assert len(rows) == 50
    (tmp_path / "train.tsv").write_text("source\ttarget\na\tb\n")
    again = recipe_of("dates", str(tmp_path))
    assert [row.fields for row in rows_of(again.data.train, run.task.columns)] == [("a", "b")]


@pytest.mark.parametrize("ending", ["", ".xz"])
def test_multi30k_finds_its_files_packed_or_not(tmp_path, ending):
    for name in ("train", "val"):
        for side in ("en", "de"):
            data = f"{name} {side}\n".encode()
            packed = lzma.compress(data) if ending else data
            (tmp_path / f"{name}.{side}{ending}").write_bytes(packed)
    run = check(recipe_of("multi30k", str(tmp_path)))
    assert [row.fields for row in rows_of(run.data.valid, run.task.columns)] == [
        ("val en", "val de")
    ]
    assert run.model.settled().layers == 4


def test_what_is_not_there_is_said_with_where_it_is_from(tmp_path):
    with pytest.raises(FileError, match=r"has no train.en. .* its files are from https://github"):
        recipe_of("multi30k", str(tmp_path))
    with pytest.raises(ConfigError, match=r"no recipe 'dats'. Did you mean 'dates'"):
        recipe_of("dats")
    assert set(RECIPES) == {"dates", "multi30k"}

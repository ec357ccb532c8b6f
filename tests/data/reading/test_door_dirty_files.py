"""Files as people save them: each is read right, or refused or noted with the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indiff.data.table import Table, read_table
from indiff.errors import UserError
from tests.data.reading.dirty_files import Dirty, dirty_files

FILES = dirty_files()


def read(folder: Path, one: Dirty, **given: Any) -> Table:
    path = folder / one.name
    path.write_bytes(one.data)
    return read_table(path, sensitive="ill", missing="split", **given)


def test_there_are_many() -> None:
    assert len(FILES) >= 20
    assert len({one.name for one in FILES}) == len(FILES)


@pytest.mark.parametrize("one", FILES, ids=[one.name for one in FILES])
def test_nothing_is_read_wrong_in_silence(tmp_path: Path, one: Dirty) -> None:
    wrongly = {"encoding": "latin-1"} if one.name == "not_latin.csv" else {}
    if not one.asks:
        assert read(tmp_path, one).source.to_pydict() == one.truth
        return
    if one.is_noted:
        try:
            notes = " ".join(read(tmp_path, one, **wrongly).notes)
        except UserError as error:
            notes = str(error)
    else:
        with pytest.raises(UserError) as caught:
            read(tmp_path, one, **wrongly)
        notes = str(caught.value)
    assert one.asks in notes
    for values in people_values(one):
        assert values not in notes
    if one.given:
        assert read(tmp_path, one, **one.given).source.to_pydict() == one.truth


def people_values(one: Dirty) -> list[str]:
    """Texts of the table that no note may name."""
    return ["Köln", "Zürich", "1.234", *map(str, one.truth.get("birth", ())[:5])]

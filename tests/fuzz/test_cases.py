"""What is changed to try the program is accepted before it is changed."""

# ruff: noqa: E501 - a list of types

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.command_line import call
from tests.fuzz import cases, strange, tables, web
from tests.fuzz.cases import KINDS, make
from tests.fuzz.valid import RECORDS, arrow_columns


def unchanged(dice: random.Random) -> str:
    return "nothing"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("options", "expression")])
def test_every_kind_begins_with_what_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for module in (cases, strange, tables):
        monkeypatch.setattr(module, "strength", unchanged)
    for number in range(1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        words = make(kind, random.Random(number), folder)
        ended = call(*words)
        assert ended.code in (0, 1, 3), (words, ended.err)


def test_a_case_is_made_of_its_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for name in ("once", "again"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        words = [
            make(kind, random.Random(7), folder)
            for kind in KINDS
            if kind not in ("run folder", "report", "release, ours")  # they begin with a command
        ]
        files = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
        made.append((words, files))
    assert made[0] == made[1]


def test_a_server_accepts_what_is_not_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (strange, web):
        monkeypatch.setattr(module, "strength", unchanged)
    answers, broken = web.ask(random.Random(3), tmp_path)
    assert broken is None
    assert {status // 100 for _, status in answers} == {2}


def test_every_type_of_arrow_is_among_the_columns() -> None:
    """Each of PyArrow's type ids that a table can hold; a type is named by its text."""
    made = {str(make().type).split("(")[0].split("[")[0].split("<")[0]
            for make in arrow_columns(RECORDS, random.Random(1))}  # fmt: skip
    assert made >= {
        "null", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "halffloat",
        "float", "double", "decimal32", "decimal64", "decimal128", "decimal256", "string", "large_string",
        "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary", "date32", "date64",
        "timestamp", "time32", "time64", "duration", "month_day_nano_interval", "list", "large_list",
        "list_view", "large_list_view", "fixed_size_list", "struct", "map", "dictionary", "run_end_encoded",
        "sparse_union",
    }  # fmt: skip

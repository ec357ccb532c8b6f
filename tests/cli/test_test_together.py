"""``--together`` with other tables and columns on the command line, and what it notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indiff import differential_test, read_table
from tests.command_line import call

ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "identifier": ["id"]}
WORDS = (
    "--quasi", "age,sex", "--sensitive", "ill", "--individual", "id", "--model", "frequency",
    "--together", "--sanitizer", "mondrian:k=3", "--sanitizer",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, first in (("now", 0), ("last", 6)):
        rows = [
            f"p{one},{20 + one * 7 % 30},{'fm'[one % 2]},{'xyz'[one * one % (3 + (first > 0)) % 3]}"
            for one in range(first, first + 24)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,age,sex,ill", *rows]) + "\n")
    return tmp_path


def test_a_table_of_another_year(folder: Path) -> None:
    ended = call(
        "test", "now.csv", *WORDS, "mondrian:k=4", "--table", "2=last.csv", "--json", "o.json"
    )
    assert ended.code == 0, ended.err
    assert "6 of the people are not in the table of mondrian:k=4" in " ".join(ended.out.split())
    tables = [read_table(folder / f"{name}.csv", **ROLES) for name in ("now", "last")]
    expected = differential_test(
        tables, ["mondrian:k=3", "mondrian:k=4"], together=True, individual="id", model="frequency"
    )
    document = json.loads((folder / "o.json").read_text())
    assert document["delta"] == pytest.approx(expected.delta, abs=1e-12)


def test_other_quasi_identifiers(folder: Path) -> None:
    ended = call(
        "test", "now.csv", *WORDS, "mondrian:k=4", "--columns", "2=sex", "--json", "o.json"
    )
    assert ended.code == 0, ended.err
    tables = [
        read_table(folder / "now.csv", **ROLES | {"quasi": quasi})
        for quasi in (["age", "sex"], ["sex"])
    ]
    expected = differential_test(
        tables, ["mondrian:k=3", "mondrian:k=4"], together=True, individual="id", model="frequency"
    )
    document = json.loads((folder / "o.json").read_text())
    assert document["delta"] == pytest.approx(expected.delta, abs=1e-12)


def test_epsilon_adds_up_beside_delta(folder: Path) -> None:
    words = [word for word in WORDS[:-3] if word != "mondrian:k=3"]
    ended = call(
        "test", "now.csv", *words, "--sanitizer", "laplace:epsilon=0.5", "--sanitizer",
        "laplace:epsilon=0.25", "--runs", "20",
    )  # fmt: skip
    assert ended.code == 1  # the bounds of the table's columns are not declared: there is no ε
    assert "ε adds up to 0.5 + 0.25 = 0.75 (basic composition)" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--table", "3=last.csv"), "--table names the second of several sanitizers"),
        (("--columns", "1=age"), "--columns names the second of several sanitizers"),
        (("--columns", "2=height"), "no column 'height'"),
        (("--table", "last.csv"), "--table is written"),
    ],
)
def test_what_is_refused(folder: Path, words: tuple[str, ...], says: str) -> None:
    ended = call("test", "now.csv", *WORDS, "mondrian:k=4", *words)
    assert ended.code == 2
    assert says in " ".join(ended.err.split())

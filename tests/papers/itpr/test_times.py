"""Figure 6 of the ITPR paper: the large table, and what is timed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from indiff.papers.itpr import times as itpr_times
from indiff.papers.itpr.times import write_people
from indiff.papers.pages import Item, Page
from indiff.papers.run import Run
from tests.command_line import call


def test_the_table_has_120_ages_and_100_diseases_and_is_the_same_again(tmp_path: Path) -> None:
    table = pq.read_table(write_people(tmp_path / "a.parquet", 100_000))
    assert table.num_rows == 100_000
    assert set(table["age"].unique().to_pylist()) == set(range(120))
    assert len(table["disease"].unique()) == 100
    assert table.equals(pq.read_table(write_people(tmp_path / "b.parquet", 100_000)))
    assert not table.equals(pq.read_table(write_people(tmp_path / "c.parquet", 100_000, seed=1)))


def test_a_size_is_measured_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = itpr_times.timed(5000, repeats=1)
    assert found.rows == 5000
    assert found.seconds > 0
    assert 0 < found.itpr <= 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("billion", [False, True])
def test_the_largest_size_is_timed_on_request_only(
    billion: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def timed(rows: int, repeats: int = 3) -> itpr_times.Timed:
        asked.append((rows, repeats))
        return itpr_times.Timed(rows, rows / 1e8, rows / 1e8, 0.5)

    monkeypatch.setattr(itpr_times, "timed", timed)
    page = itpr_times.figure_6(Run(billion=billion))
    expected = [(10**n, 3) for n in (5, 6, 7, 8)] + ([(10**9, 1)] if billion else [])
    assert asked[1:] == expected  # the first call warms up
    assert page.timed
    rows = page.tables[0].rows
    assert [row[0] for row in rows] == [10**n for n in (5, 6, 7, 8, 9)]
    assert [row[-1] for row in rows] == ["1 s", "–", "–", "–", "19 s"]
    assert rows[-1][1] == ("10.00 s" if billion else "not asked for")


@pytest.mark.parametrize("words", [(), ("--billion",)])
def test_the_request_is_an_option_of_the_command(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def make(item: Item, run: Run) -> Page:
        asked.append(run.billion)
        return Page(status="reproduced", printed="Something.")

    monkeypatch.setattr(Item, "make", make)
    assert call("reproduce", "itpr:figure-6", *words, "--out", tmp_path).code == 0
    assert asked == [bool(words)]

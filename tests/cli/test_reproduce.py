"""``indiff reproduce``."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff.cli.reproduce import Clock
from indiff.papers import index
from indiff.papers.pages import Item, Page
from indiff.papers.run import Run, once
from tests.command_line import call


def test_the_list_names_every_item() -> None:
    ended = call("reproduce", "--list")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()] == [i.name for i in index.ITEMS]
    assert call("reproduce", "draft", "--list").out.splitlines()[0].startswith("draft:definition-1")


def test_one_item_becomes_a_page_and_an_index(tmp_path: Path) -> None:
    ended = call("reproduce", "dit-v2:table-1", "dit-v1:figure-2", "--out", tmp_path / "new" / "p")
    assert ended.code == 0
    assert ended.out.splitlines()[0].split() == ["dit-v2:table-1", "reproduced"]
    made = sorted(path.name for path in (tmp_path / "new" / "p").iterdir())
    assert made == ["README.md", "dit-v1-figure-2.md", "dit-v2-table-1.md"]
    assert "[2/2] dit-v1:figure-2, about 1 s left" in ended.err


def test_no_data_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDIFF_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sentence = (
        "the data file {} has no local copy; set INDIFF_DATA to the folder that holds it, or pass "
        "--download to fetch it."
    )
    for item, file in (
        ("dit-v1:table-1", "adult_education.txt"),
        ("dit-v2:table-3", "adult.data"),
    ):
        ended = call("reproduce", item, "--out", tmp_path)
        assert ended.code == 2
        assert ended.err.splitlines()[-1] == f"indiff: {sentence.format(file)}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dit-v3"], "no item 'dit-v3': did you mean 'dit-v"),
        ([], "name what to reproduce: all, a paper or an item; --list names them."),
        (["all", "--seeds", "0"], "--seeds must be at least 1; got 0."),
        (["all", "--out", "/dev/null/x"], "--out must be a folder that can be made"),
    ],
)
def test_bad_usage(words: list[str], message: str) -> None:
    ended = call("reproduce", *words)
    assert ended.code == 2
    assert message in ended.err


def test_an_interruption_keeps_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(item: Item, run: Run) -> Page:
        if item.number == "table-2":
            raise KeyboardInterrupt
        return Page(status="reproduced", printed="Something.")

    monkeypatch.setattr(Item, "make", make)
    ended = call("reproduce", "dit-v2", "--out", tmp_path)
    assert ended.code == 130
    assert "interrupted; 1 of 12 pages were made." in ended.err
    assert "[`dit-v2:table-1`](dit-v2-table-1.md)" in (tmp_path / "README.md").read_text("utf-8")


def test_time_left_follows_how_long_the_finished_part_took() -> None:
    items = [Item("draft", str(n), "", "", seconds=60.0) for n in range(3)]
    times = iter([0.0, 120.0])
    clock = Clock(items, now=lambda: next(times))
    clock.start(items[0])
    assert clock.left(0.0) == "about 3 min left"  # nothing done yet: as expected
    clock.finish(items[0])  # two minutes for what should take one
    assert clock.left(0.0) == "about 4 min left"


def test_results_are_measured_once() -> None:
    calls: list[int] = []

    @once
    def doubled(run: Run, number: int = 7) -> int:
        calls.append(number)
        return 2 * number

    run = Run()
    assert (doubled(run), doubled(run, 7), doubled(run, number=8)) == (14, 14, 16)
    assert calls == [7, 8]
    assert doubled(Run()) == 14
    assert calls == [7, 8, 7]

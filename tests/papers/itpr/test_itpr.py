"""The committed pages of the ITPR paper are what the command makes today."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff.papers.index import choose
from indiff.papers.pages import Item
from indiff.papers.run import Run
from tests.papers.test_pages import COMMITTED, compare


@pytest.mark.parametrize(
    "item",
    [item for item in choose(["itpr"]) if item.cost == "quick"],
    ids=lambda item: item.number,
)
def test_the_committed_page_is_what_the_command_makes(
    item: Item, itpr_run: Run, tmp_path: Path
) -> None:
    compare(item, itpr_run, tmp_path)


def test_the_page_with_times_is_marked_and_has_every_size() -> None:
    text = (COMMITTED / "itpr-figure-6.md").read_text("utf-8")
    assert "not compared" in text
    for rows in ("100,000", "1,000,000", "10,000,000", "100,000,000", "1,000,000,000"):
        assert f"\n| {rows} | " in text
    assert "\n| 100,000,000 | not asked" not in text

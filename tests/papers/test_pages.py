"""Pages: how they are written, and that the committed ones are what the command makes today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indiff.papers.index import ITEMS, choose
from indiff.papers.pages import (
    Chart,
    Grid,
    Item,
    Page,
    as_markdown,
    as_svg,
    status_of,
    write_index,
    write_page,
)
from indiff.papers.run import Run

COMMITTED = Path(__file__).parents[2] / "docs" / "papers"
NUMBER = re.compile(r"[-−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
# Compared at every run of the tests; the other quick ones take longer together.
ALWAYS = (
    "dit-v2:table-1", "dit-v2:table-2", "dit-v2:section-4.3", "dit-v2:figure-3", "dit-v1:figure-1",
    "dit-v1:figure-2", "dit-v1:section-3.4.1", "draft:figure-2",
)  # fmt: skip
QUICK = [item for item in ITEMS if item.cost == "quick"]


@pytest.fixture(scope="module")
def run(needs_data: Path) -> Run:
    return Run(folder=needs_data)


def same(text: str, other: str, relative: float, absolute: float) -> None:
    """Equal words, and numbers that differ by rounding alone."""
    assert NUMBER.sub("#", text) == NUMBER.sub("#", other)
    for one, two in zip(NUMBER.findall(text), NUMBER.findall(other), strict=True):
        first, second = (float(n.replace(",", "").replace("−", "-")) for n in (one, two))
        assert first == pytest.approx(second, rel=relative, abs=absolute)


def compare(item: Item, run: Run, folder: Path) -> None:
    page = item.make(run)
    assert not page.timed, "a page with times is no quick one"
    for file in write_page(item, page, folder):
        committed = (COMMITTED / file.name).read_text("utf-8")
        if file.suffix == ".md":
            same(file.read_text("utf-8"), committed, 2e-3, 0)
        else:
            same(file.read_text("utf-8"), committed, 0, 0.5)  # half a pixel


@pytest.mark.parametrize("name", ALWAYS)
def test_the_committed_page_is_what_the_command_makes(name: str, run: Run, tmp_path: Path) -> None:
    (item,) = choose([name])
    compare(item, run, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("item", QUICK, ids=lambda item: item.name)
def test_every_quick_page_is_what_the_command_makes(item: Item, run: Run, tmp_path: Path) -> None:
    compare(item, run, tmp_path)


def test_a_page_shows_numbers_beside_the_printed_ones(tmp_path: Path) -> None:
    item = Item("dit-v2", "table-9", "A table", home="nowhere")
    spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
    page = Page(
        status="differs because of a test",
        printed="Table 9.",
        tables=(Grid("Numbers", ("a|b", "ours"), (("x|y", 0.123456), ("z", None))),),
        charts=(Chart(spec, "a point", "a"),),
        notes=("One line.",),
        timed=True,
    )
    text = as_markdown(item, page)
    assert "| a\\|b | ours |\n| --- | ---: |\n| x\\|y | 0.1235 |\n| z | – |" in text
    assert "**Status:** differs because of a test" in text
    assert "![a point](dit-v2-table-9-a.svg)" in text
    assert "not compared" in text
    assert "- One line." in text
    files = write_page(item, page, tmp_path)
    assert [file.name for file in files] == ["dit-v2-table-9.md", "dit-v2-table-9-a.svg"]
    assert files[1].read_text("utf-8").startswith("<svg")
    assert status_of(item, tmp_path) == "differs because of a test"


def test_the_same_chart_gives_the_same_bytes() -> None:
    spec = {"data": {"values": [{"x": 1, "s": "a"}, {"x": 2, "s": "b"}]}, "mark": "line",
            "encoding": {"x": {"field": "x"}, "color": {"field": "s"}}}  # fmt: skip
    assert as_svg(spec) == as_svg(spec)


def test_the_index_tells_what_was_not_made(tmp_path: Path) -> None:
    items = [Item("draft", "figure-1", "A drawing", home="nowhere")]
    text = write_index(items, tmp_path).read_text("utf-8")
    assert "| `draft:figure-1` | A drawing | not made yet |" in text


def test_committed_charts_are_small_and_belong_to_a_page() -> None:
    pages = "".join(path.read_text("utf-8") for path in sorted(COMMITTED.glob("*.md")))
    charts = sorted(COMMITTED.glob("*.svg"))
    assert charts
    for chart in charts:
        assert f"({chart.name})" in pages
        assert chart.stat().st_size < 100_000

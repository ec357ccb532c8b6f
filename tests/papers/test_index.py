"""No table or figure of the papers is missing, and each has a page with a status."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from indiff import UserError
from indiff.papers.index import ITEMS, choose
from indiff.papers.pages import PAPERS, Item, status_of

PAGES = Path(__file__).parents[2] / "docs" / "papers"
# Counted in the papers: how many tables and figures each has, numbered from 1.
PRINTED = {"dit-v2": (4, 6), "dit-v1": (4, 10), "draft": (0, 2), "itpr": (7, 6)}
STATUS = re.compile(r"reproduced( \(.+\))?|reproduced with erratum|differs because .+")


@pytest.mark.parametrize("paper", PRINTED)
def test_every_table_and_figure_is_listed(paper: str) -> None:
    tables, figures = PRINTED[paper]
    expected = {f"table-{n}" for n in range(1, tables + 1)}
    expected |= {f"figure-{n}" for n in range(1, figures + 1)}
    numbers = [item.number for item in ITEMS if item.paper == paper]
    assert expected <= set(numbers)
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_has_a_function_and_a_committed_page_with_a_status(item: Item) -> None:
    home = importlib.import_module(f"indiff.papers.{item.home}")
    assert callable(getattr(home, item.function))
    status = status_of(item, PAGES)
    assert status is not None, f"no page of {item.name}: run indiff reproduce {item.name}"
    assert STATUS.fullmatch(status), status
    assert f"[`{item.name}`]({item.stem}.md)" in (PAGES / "README.md").read_text("utf-8")


def test_the_exact_ones_are_reproduced() -> None:
    statuses = {item.name: status_of(item, PAGES) for item in ITEMS}
    for name in (
        "dit-v2:table-1", "dit-v2:section-4.3", "dit-v1:figure-2", "itpr:table-1", "itpr:table-2",
    ):  # fmt: skip
        assert statuses[name] == "reproduced"
    assert statuses["dit-v2:table-2"] == "reproduced with erratum"  # its cell texts
    assert statuses["dit-v1:section-3.4.1"] == "reproduced with erratum"  # ¼
    assert statuses["dit-v2:table-3"] == "reproduced with erratum"  # intervals, not quantiles
    assert statuses["dit-v1:table-3"] == "reproduced with erratum"  # numbers compared as text
    assert statuses["dit-v1:table-4"] == "reproduced with erratum"  # the same
    assert statuses["itpr:table-4"] == "reproduced with erratum"  # two values of MIL
    assert statuses["itpr:table-5"] == "reproduced with erratum"  # the weights, a label


def test_items_are_chosen_by_paper_or_name_in_order_and_once() -> None:
    assert choose(["all"]) == list(ITEMS)
    assert {item.paper for item in choose(["draft"])} == {"draft"}
    both = choose(["dit-v2:table-2", "dit-v2:table-1", "dit-v2:table-2"])
    assert [item.name for item in both] == ["dit-v2:table-1", "dit-v2:table-2"]
    assert [item.stem for item in choose(["errata"])] == ["errata"]
    assert {item.paper for item in ITEMS} <= set(PAPERS)
    with pytest.raises(UserError, match="no item 'dit-v2:table-9': did you mean 'dit-v2:table-"):
        choose(["dit-v2:table-9"])

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from indiff import Recoding, Table, explain, read_table
from indiff.differential.explain.why import NodeChange
from tests.checker import Ground
from tests.reference_recoding import Node, Tried
from tests.sanitizers.recoding.test_recoding import any_recoding, any_sample


def plain(**columns: Any) -> Table:
    """Return a table of a few columns, ``ill`` the sensitive one."""
    quasi = [name for name in columns if name != "ill"]
    return read_table(pa.table(columns), quasi=quasi, sensitive="ill")


def why(table: Table, sanitizer: Recoding, row: int) -> str:
    """Return why a record makes a difference, before the belief is told."""
    (one,) = explain(table, sanitizer, row, model="frequency")
    assert one.node is not None
    return str(one).removeprefix(f"without record {row} ").split(":")[0]


@pytest.mark.parametrize("suppressed", ["keep", "drop"])
def test_a_group_of_k_is_suppressed_without_one(suppressed: Any) -> None:
    table = plain(sex=list("mmmffffffx"), ill=list("ynynnyynny"))
    sanitizer = Recoding(k=3, suppression=0.4, suppressed=suppressed)
    keeps = "every column keeps its level; "
    assert why(table, sanitizer, 0) == keeps + "the 2 others of its group are suppressed, not kept"
    assert why(table, sanitizer, 3) == keeps + "the 5 others of its group are still kept"
    assert why(table, sanitizer, 9) == keeps + "it was suppressed, alone in its group"
    (one,) = explain(table, sanitizer, 0, model="frequency")
    assert one.node == NodeChange(
        {"sex": 0}, {"sex": 0}, 1, 3, False, 2, 2, newly_suppressed=(1, 2), newly_kept=()
    )


def test_a_group_that_becomes_diverse_is_kept() -> None:
    table = plain(sex=list("mmmffff"), ill=list("yynynyn"))
    words = why(table, Recoding(l=2, suppression=0.5), 0)
    assert words.endswith("the 2 others of its group are kept, not suppressed")


def test_a_budget_that_leaves_with_the_record() -> None:
    # 0.2 of 10 records are 2, of 9 only 1: x and z cannot both be suppressed any more.
    table = plain(sex=list("mmmmffffxz"), ill=list("ynynnyynny"))
    sanitizer = Recoding(k=2, suppression=0.2)
    assert why(table, sanitizer, 0) == (
        "sex is recoded to level 1 instead of 0; the 3 others of its group are still kept; "
        "elsewhere 2 records need not be suppressed any more"
    )


def test_nothing_will_do_without_a_record() -> None:
    table = plain(sex=list("mmff"), ill=list("ynyn"))
    assert why(table, Recoding(k=4), 0) == (
        "no levels will do and everything is published as one group"
    )


def test_a_pair_is_spoken_of_as_one_other() -> None:
    table = plain(sex=list("mmffff"), ill=list("ynynyn"))
    words = why(table, Recoding(k=2, suppression=0.3), 0)
    assert words.endswith("the other record of its group is suppressed, not kept")


def chosen(table: Table, sanitizer: Recoding, ground: Ground) -> Node | None:
    """Return the best node that trying everything finds."""
    nodes = Tried(table, sanitizer, ground).nodes()
    return min(nodes, key=lambda node: (node.loss, sum(node.levels), node.levels), default=None)


def test_levels_and_suppression_are_those_of_trying_everything() -> None:
    dice = random.Random(3)
    seen = 0
    for _ in range(25):
        sample = any_sample(dice, most=16)
        loss = dice.choice(["height", "discernibility"])  # ties are exact
        sanitizer = any_recoding(dice, sample, loss=loss, weights=None)
        table = sample.table
        present = chosen(table, sanitizer, sample.ground)
        if present is None:
            continue
        for row, one in enumerate(explain(table, sanitizer, range(len(table)), model="frequency")):
            assert one.node is not None
            absent = chosen(table.without(row), sanitizer, sample.ground)
            assert tuple(one.node.levels.values()) == present.levels
            assert one.node.suppressed == len(present.suppressed)
            if absent is None:
                assert one.node.levels_without is None
                continue
            assert one.node.levels_without is not None
            assert tuple(one.node.levels_without.values()) == absent.levels
            hidden = {place + (place >= row) for place in absent.suppressed}
            assert one.node.suppressed_without == len(hidden)
            assert set(one.node.newly_suppressed) == hidden - present.suppressed - {row}
            assert set(one.node.newly_kept) == present.suppressed - hidden - {row}
            assert str(one.node)
            seen += bool(one.node.newly_suppressed or one.node.newly_kept)
    assert seen > 10

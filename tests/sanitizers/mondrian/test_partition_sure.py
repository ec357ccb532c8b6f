"""What a partition is sure of: a group without any one record decides so, partitioned anew."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from indiff import Mondrian
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.layout import Problem, Tree
from indiff.sanitizers.mondrian.mondrian import grow_anew, grow_parts, missing_parts
from tests.properties.random_tables import KINDS, make_sample


def allowed(values: list[int], k: int) -> bool:
    """Whether the cut of these values leaves k of them on both sides, by the definition."""
    cut = sorted(values)[max(1, len(values) // 2) - 1]
    left = sum(value <= cut for value in values)
    return min(left, len(values) - left) >= k


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), st.integers(1, 6), st.randoms())
def test_a_cut_that_sizes_forbid_stays_forbidden_while_the_cut_cannot_fall(
    values: list[int], k: int, dice: random.Random
) -> None:
    if len(values) < 2 * k or allowed(values, k):
        return
    below = sum(value < sorted(values)[max(1, len(values) // 2) - 1] for value in values)
    for size in range(max(2, 2 * k), len(values) + 1):
        if max(1, size // 2) > below:
            assert not allowed(dice.sample(values, size), k)


def decided(problem: Problem, tree: Tree, node: int, members: NDArray[np.int32]) -> tuple[int, int]:
    """The attribute and the cut of some records of a group, as if there were no group above."""
    ends, room = np.array([len(members)], np.int32), empty_room(problem, len(members))
    low, high = tree.low[node : node + 1].copy(), tree.high[node : node + 1].copy()
    root = grow_anew(problem, members, ends, low, high, room).nodes[0]
    return int(root[layout.ATTRIBUTE]), int(root[layout.CUT])


LIMITS = ({"k": 1}, {"k": 2}, {"k": 4}, {"k": 6, "l": 2}, {"k": 5, "distinct_l": 2})


@pytest.mark.parametrize("regions", ["tight", "cut"])
@pytest.mark.parametrize("place", range(len(LIMITS)))
def test_every_group_without_any_record_is_decided_as_its_row_says(
    place: int, regions: str
) -> None:
    steady = never = 0
    for seed in range(12):
        dice = random.Random(seed)
        kinds = [dice.choice(KINDS) for _ in range(dice.randint(2, 5))]
        table = make_sample(seed, dice.randint(30, 90), [*kinds, "ties"], 8).table
        limits: dict[str, int] = LIMITS[place]
        sanitizer = Mondrian(regions=regions, unmet="generalize", **limits)  # type: ignore[arg-type]
        problem = sanitizer.problem(table)
        tree = grow_parts(table, problem, missing_parts(table))
        boxes = tree._replace(low=np.zeros_like(tree.low), high=tree.high.copy())
        for a, attribute in enumerate(table.attributes):
            boxes.high[:, a] = len(attribute.values) - 1
        for node, row in enumerate(tree.nodes):
            members = tree.order[row[layout.START] : row[layout.END]]
            if len(members) - 1 < max(2, 2 * sanitizer.k):
                continue
            for left in range(len(members)):
                others = np.delete(members, left)
                if row[layout.SURE] & layout.STEADY:
                    steady += 1
                    own = int(row[layout.ATTRIBUTE]), int(row[layout.CUT])
                    assert decided(problem, boxes, node, others) == own
                for a in range(len(problem.codes)):
                    if row[layout.SURE] >> a & 1:
                        never += 1
                        alone = problem._replace(
                            codes=problem.codes[a : a + 1], meta=problem.meta[a : a + 1]
                        )
                        one = boxes._replace(low=boxes.low[:, [a]], high=boxes.high[:, [a]])
                        assert decided(alone, one, node, others)[0] == layout.LEAF
    assert never > 100
    assert (steady > 100) == ("l" not in limits and "distinct_l" not in limits)

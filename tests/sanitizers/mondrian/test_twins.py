"""A partition that is compared with another one is the partition that is grown anew."""

from __future__ import annotations

import random
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from indiff import Mondrian
from indiff.differential.mondrian.leave_one_out import in_order
from indiff.sanitizers.mondrian import layout
from indiff.sanitizers.mondrian.cuts import empty_room
from indiff.sanitizers.mondrian.layout import Problem, Tree, relative_to, total_extremes
from indiff.sanitizers.mondrian.mondrian import grow_anew, grow_parts, missing_parts
from indiff.sanitizers.mondrian.partition import grow
from tests.properties.random_tables import KINDS, make_sample

Ints = NDArray[np.int32]
Group = tuple[frozenset[int], tuple[int, ...], tuple[int, ...]]


def groups(tree: Tree, leaves: Ints) -> list[Group]:
    """Return the records and the region of each of these leaves."""
    found = []
    for leaf in leaves:
        start, end = tree.nodes[leaf, layout.START], tree.nodes[leaf, layout.END]
        records = frozenset(tree.order[start:end].tolist())
        found.append((records, tuple(tree.low[leaf].tolist()), tuple(tree.high[leaf].tolist())))
    return found


def base_of(seed: int, size: int, sanitizer: Mondrian, kinds: list[str]) -> tuple[Problem, Tree]:
    """Partition a random table; its records lie in the order of the partition."""
    table = make_sample(seed, size, kinds, 4).table
    problem = sanitizer.problem(table)
    tree = grow_parts(table, problem, missing_parts(table))
    return in_order(problem, tree.order), tree._replace(order=np.arange(size, dtype=np.int32))


def both(
    problem: Problem, tree: Tree, left: Ints, copied: int, spans: NDArray[np.float64]
) -> tuple[Tree, tuple[Tree, Ints, Ints]]:
    """Partition the records that are left, anew and with the root of the tree as a twin."""
    ends, box = np.array([len(left)], np.int32), (tree.low[:1], tree.high[:1])
    room = empty_room(problem, problem.codes.shape[1])
    anew = grow_anew(problem, left.copy(), ends, *box, room)
    twins = np.zeros(1, np.int32)
    return anew, grow(problem, left.copy(), ends, *box, tree, twins, spans, copied, room)


def check(problem: Problem, tree: Tree, left: Ints, spans: NDArray[np.float64]) -> int:
    """Check both ways of growing with a twin; return how many leaves of it were kept."""
    before = groups(tree, tree.leaves)
    anew, (copied, fresh, gone) = both(problem, tree, left, 1, spans)
    expected = groups(anew, anew.leaves)
    assert groups(copied, copied.leaves) == expected  # in this order
    lost = groups(tree, gone)
    kept = [group for group in before if group not in lost]
    assert len(set(lost)) == len(lost)
    assert sorted(map(repr, kept + groups(copied, fresh))) == sorted(map(repr, expected))
    inner = copied.nodes[:, layout.ATTRIBUTE] != layout.LEAF
    for node in np.flatnonzero(inner):
        first, count = copied.nodes[node, layout.CHILD], copied.nodes[node, layout.CHILDREN]
        children = copied.nodes[first : first + count]
        assert children[0, layout.START] == copied.nodes[node, layout.START]
        assert children[-1, layout.END] == copied.nodes[node, layout.END]
        assert (children[1:, layout.START] == children[:-1, layout.END]).all()
    bounds = copied.own_low, copied.own_high
    for place, (start, end) in enumerate(copied.nodes[:, : layout.END + 1]):
        held = problem.codes[:, copied.order[start:end]]
        assert (bounds[0][place] <= held.min(axis=1)).all()
        assert (held.max(axis=1) <= bounds[1][place]).all()
    _, (changed, only_new, gone_again) = both(problem, tree, left, 0, spans)
    assert groups(changed, only_new) == groups(copied, fresh)
    assert groups(changed, changed.leaves) == groups(copied, fresh)
    assert gone_again.tolist() == gone.tolist()
    return len(kept)


@pytest.mark.parametrize("regions", ["tight", "cut"])
@pytest.mark.parametrize("seed", range(30))
def test_what_a_group_and_its_twin_share_is_copied_and_the_rest_is_grown(
    seed: int, regions: Literal["tight", "cut"]
) -> None:
    dice = random.Random(seed)
    kinds = [dice.choice(KINDS) for _ in range(dice.randrange(1, 4))]
    size = dice.randrange(12, 60)
    sanitizer = Mondrian(k=dice.choice([1, 2, 3]), regions=regions, unmet="generalize")
    problem, tree = base_of(seed, size, sanitizer, kinds)
    everybody = np.arange(size, dtype=np.int32)
    assert check(problem, tree, everybody, np.empty(0)) == len(tree.leaves)
    for count in (1, 2, size // 2):
        gone = dice.sample(range(size), count)
        check(problem, tree, np.delete(everybody, gone), np.empty(0))


def test_most_of_a_partition_stays_when_one_record_of_many_leaves() -> None:
    problem, tree = base_of(3, 600, Mondrian(k=2), ["continuous", "continuous"])
    everybody = np.arange(600, dtype=np.int32)
    kept = [check(problem, tree, np.delete(everybody, one), np.empty(0)) for one in (7, 300, 599)]
    assert min(kept) > len(tree.leaves) / 2


@pytest.mark.parametrize("seed", range(30))
def test_other_ranges_of_the_table_change_what_they_change_and_no_more(seed: int) -> None:
    dice = random.Random(seed)
    kinds = [dice.choice(["continuous", "ties", "tail", "places"]) for _ in range(3)]
    table = make_sample(seed, 50, kinds, 4).table
    problem, tree = base_of(seed, 50, Mondrian(k=2), kinds)
    spans = problem.points[problem.meta[:, layout.RANGE_AT]]
    low, high = total_extremes(table)
    for narrower in range(3):  # ranges of which less and less is left
        shorter = np.maximum(low, high - (high - low) * narrower // 3).astype(np.int32)
        other = relative_to(problem, low, shorter)
        check(other, tree, np.arange(50, dtype=np.int32), spans)

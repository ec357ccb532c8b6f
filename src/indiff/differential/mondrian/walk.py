"""Walks all targets down one partition of D, and builds anew only what leaving changes.

So every f(D⁻ⁱ) comes from one partition; ``docs/leave-one-out.md`` has the proof. A *context* is a
forest that partitions some records, together with the counts N[a][v][c] of a whole release that
contains it. Targets walk down the forest as long as leaving would not change a decision. Where it
would, the targets with the same new decision get a new context: that decision forced on their
group, and everything below built anew, once for all of them. Where a walk ends, ``settle`` takes
the target out of the counts of its group (step 3 of the page).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.differential.mondrian.context import (
    complete,
    force,
    own_codes,
    rest_of,
    shrink,
)
from indiff.differential.mondrian.counts import (
    DONE,
    NAIVE_BAYES,
    STOP,
    Counted,
    add_leaves,
    believe,
    cover_one,
    leaves_under,
    locate,
)
from indiff.differential.mondrian.decisions import find_keys
from indiff.differential.mondrian.node import (
    ALONE,
    BECOMES_LEAF,
    CUT_A,
    HIGH_AT,
    HIGH_COUNT,
    LOOKED,
    LOW_AT,
    LOW_COUNT,
    NOBODY,
    OPEN,
    STAYS,
    extremes_without,
    look_at,
)
from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import layout, partition
from indiff.sanitizers.mondrian.cuts import top_node

ONE_BY_ONE = 64  # so many targets of one group are counted each for itself


@inner
def settle(
    problem: Any, adversary: Any, tree: Any, at: Any, ids: Any, keys: Any, key: Any, counted: Any,
    first: Any, last: Any, is_counted: Any, desk: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Write the beliefs about the targets with this key, which end in this group as a leaf.

    Each is taken out of the group; where it alone held an outer value, the region shrinks and no
    longer covers it. ``counted`` has the counts of the release, from which the leaves from
    ``first`` to before ``last`` are to be taken: then with this whole group, the target included,
    where the group was a leaf before (``is_counted``), and without any of it where it becomes one.
    What comes of it for an attribute: the counts without the group and, where the region still
    covers the target's value, the group without the target.
    """
    problem, adversary, outcome = borrow(problem), borrow(adversary), borrow(outcome)
    counted, desk, keys, ids = borrow(counted), borrow(desk), borrow(keys), borrow(ids)
    start, end = np.int64(tree.nodes[at, layout.START]), np.int64(tree.nodes[at, layout.END])
    codes, starts, table, meta = counted.codes, counted.starts, counted.counts, problem.meta
    d, classes, bayes = meta.shape[0], problem.class_count, adversary.models & NAIVE_BAYES
    counts, group, tally, ints = desk.counts, desk.group, desk.tally, desk.node.ints
    group[:] = 0
    for place in range(start, end):
        group[problem.classes[place]] += 1
    for a in range(d):
        if problem.tight and not ints[LOOKED, a]:
            look_at(problem.codes[a], start, end, a, ints)
        if meta[a, layout.LABEL] == layout.MEMBERS:
            for place in range(start, end):
                tally[meta[a, layout.POINTS] + problem.codes[a, place]] += 1
    for place in range(start, end):
        if keys[place] != key:
            continue
        own = problem.classes[place]
        everywhere: Any = True
        for a in range(d):
            code = problem.codes[a, place]
            covered = end - start > 1
            if covered and meta[a, layout.LABEL] == layout.MEMBERS:
                covered = tally[meta[a, layout.POINTS] + code] > 1
            elif (
                covered
                and problem.tight
                and (
                    (ints[LOW_COUNT, a] == 1 and ints[LOW_AT, a] == place)
                    or (ints[HIGH_COUNT, a] == 1 and ints[HIGH_AT, a] == place)
                )
            ):
                low, high = extremes_without(ints, a, place)
                if meta[a, layout.CUT_BY] == layout.BY_TREE:
                    row = meta[a, layout.LEAVES]
                    top = top_node(problem.path, problem.trees, row, low, high)
                    low, high = problem.trees[top, layout.FIRST], problem.trees[top, layout.LAST]
                covered = low <= code <= high
            everywhere = everywhere and covered
            if bayes:
                spot = locate(codes, starts[a], starts[a + 1], np.int64(code))
                times = np.int32((1 if covered else 0) - (1 if is_counted else 0))
                for c in range(classes):
                    counts[a, c] = table[spot, c] + times * group[c]
                if covered:
                    counts[a, own] -= 1
        if bayes and first < last:
            cover_one(problem, tree, first, last, np.int64(-1), place, counts, desk.spare)
        group[own] -= 1
        outcome.uncovered[ids[place]] = not everywhere
        outcome.ticker[DONE] += 1
        size = np.int64(end - start - 1 if everywhere else 0)
        believe(adversary, np.int64(own), counts, group, size, np.int64(ids[place]), outcome)
        group[own] += 1
    for a in range(d):
        if meta[a, layout.LABEL] == layout.MEMBERS:
            for place in range(start, end):
                tally[meta[a, layout.POINTS] + problem.codes[a, place]] = 0


@kernel
def finish_alone(
    problem: Any, adversary: Any, tree: Any, record: Any, row: Any, counts: Any, outcome: Any
) -> Any:
    """Write the beliefs about a target from a forest of the other records (``tree``).

    ``counts`` are those of the release outside the forest, for this record's values.
    """
    own = problem.classes[record]
    group = np.zeros(adversary.totals.shape[0], np.int32)
    every = np.int64(tree.leaves.shape[0])
    cover_one(problem, tree, np.int64(0), every, np.int64(1), np.int64(record), counts, group)
    size = np.int64(0)
    for c in range(group.shape[0]):
        size += group[c]
    outcome.uncovered[row] = size == 0
    outcome.ticker[DONE] += 1
    believe(adversary, np.int64(own), counts, group, size, np.int64(row), outcome)


@inline
def rebuild_alone(
    problem: Any, adversary: Any, tree: Any, node: Any, place: Any, row: Any, counted: Any,
    desk: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Partition one group anew without one record and write the beliefs about it."""
    counts = np.zeros((problem.codes.shape[0], adversary.totals.shape[0]), np.int32)
    if adversary.models & NAIVE_BAYES:
        starts = counted.starts
        for a in range(problem.codes.shape[0]):
            code = np.int64(problem.codes[a, place])
            spot = locate(counted.codes, starts[a], starts[a + 1], code)
            for c in range(counts.shape[1]):
                counts[a, c] = counted.counts[spot, c]
        first, last = leaves_under(tree, node)
        cover_one(problem, tree, first, last, np.int64(-1), place, counts, desk.spare)
    start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
    others = np.empty(end - start - 1, np.int32)
    for spot in range(end - start - 1):
        others[spot] = start + spot + (start + spot >= place)
    ends = np.empty(1, np.int32)
    ends[0] = others.shape[0]
    low, high = tree.low[node : node + 1], tree.high[node : node + 1]
    fresh = partition.grow(problem, others, ends, low, high, desk.room)
    finish_alone(problem, adversary, fresh, place, row, counts, outcome)


@inline
def send_down(problem: Any, tree: Any, node: Any, keys: Any, live: Any) -> Any:
    """Mark the children of a node into which targets walk on."""
    first = tree.nodes[node, layout.CHILD]
    for child in range(first, first + tree.nodes[node, layout.CHILDREN]):
        for place in range(tree.nodes[child, layout.START], tree.nodes[child, layout.END]):
            if keys[place] == STAYS:
                live[child] = 1
                break


@kernel
def walk(
    problem: Any, adversary: Any, tree: Any, roots: Any, ids: Any, target: Any, counted: Any,
    desk: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Walk the targets of a context, the records with a ``target`` that is not 0.

    The problem's records lie in the order of the tree, and record p is row ``ids[p]`` of the
    table. ``counted`` has the counts of the whole release that contains this forest.
    """
    if ids.shape[0] == 0:
        return 0
    problem, tree, adversary = borrow(problem), borrow(tree), borrow(adversary)
    ids, target, counted = borrow(ids), borrow(target), borrow(counted)
    desk, outcome = borrow(desk), borrow(outcome)
    d, nodes = problem.codes.shape[0], tree.nodes
    live = np.zeros(nodes.shape[0], np.int8)
    live[:roots] = 1
    keys = np.empty(ids.shape[0], np.int32)
    cut_of = np.empty((3, d), np.int32)
    for node in range(nodes.shape[0]):
        if outcome.ticker[STOP]:
            break
        if not live[node]:
            continue
        start, end = np.int64(nodes[node, layout.START]), np.int64(nodes[node, layout.END])
        attribute = nodes[node, layout.ATTRIBUTE]
        for place in range(start, end):
            keys[place] = OPEN if target[place] else NOBODY
        find_keys(
            problem, start, end, attribute, nodes[node, layout.CUT], tree.own_low[node],
            tree.own_high[node], desk.node, keys, desk.room,
        )  # fmt: skip
        leaves = others = 0
        for place in range(start, end):
            leaves += keys[place] == BECOMES_LEAF
            others += keys[place] >= 0 or keys[place] == ALONE
            if keys[place] != STAYS:
                target[place] = 0
        if attribute == layout.LEAF:
            settle(
                problem, adversary, tree, node, ids, keys, np.int64(STAYS), counted, np.int64(0),
                np.int64(0), np.int64(1), desk, outcome,
            )  # fmt: skip
        else:
            send_down(problem, tree, node, keys, live)
        if leaves > 0:
            first, last = leaves_under(tree, node)
            rest = counted
            if leaves > ONE_BY_ONE:
                first = last
                own, before, starts = shrink(problem, tree, node, counted, desk.pairs)
                rest = rest_of(problem, tree, node, counted, before, starts, adversary.models)
                complete(problem.meta, rest, counted)
            settle(
                problem, adversary, tree, node, ids, keys, np.int64(BECOMES_LEAF), rest, first,
                last, np.int64(0), desk, outcome,
            )  # fmt: skip
        if others == 0:
            continue
        for a in range(d):
            for which in range(3):
                cut_of[which, a] = desk.node.ints[CUT_A + which, a]
        for first in range(start, end):
            key = keys[first]
            if key != ALONE and key < 0:
                continue
            count = 0
            for place in range(first, end):
                count += keys[place] == key
            if key == ALONE or count == 1:
                rebuild_alone(
                    problem,
                    adversary,
                    tree,
                    node,
                    first,
                    np.int64(ids[first]),
                    counted,
                    desk,
                    outcome,
                )
                keys[first] = STAYS
                continue
            a = key // 2
            by_tree = problem.meta[a, layout.CUT_BY] == layout.BY_TREE
            cut = cut_of[2, a] if by_tree else cut_of[key % 2, a]
            own, forest, parts, before, starts = force(problem, tree, node, a, cut, counted, desk)
            rest = rest_of(problem, tree, node, counted, before, starts, adversary.models)
            fresh = Counted(own_codes(own.meta, before, starts), starts, rest.counts)
            if adversary.models & NAIVE_BAYES:
                every = np.int64(forest.leaves.shape[0])
                add_leaves(own, forest, np.int64(0), every, np.int64(1), fresh)
            complete(own.meta, rest, counted)
            own_ids = np.empty(end - start, np.int32)
            own_target = np.zeros(end - start, np.int8)
            for place in range(end - start):
                old = start + forest.order[place]
                own_ids[place] = ids[old]
                own_target[place] = keys[old] == key
            for place in range(end - start):
                forest.order[place] = place
            walk(own, adversary, forest, parts, own_ids, own_target, fresh, desk, outcome)
            for place in range(first, end):
                if keys[place] == key:
                    keys[place] = STAYS
    return 0

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

from indiff.differential.mondrian.context import force, rest_of, stretch
from indiff.differential.mondrian.counts import (
    COUNTING,
    DONE,
    SPOT,
    STOP,
    TIMES,
    TREE,
    believe,
    cover_one,
    locate,
    plain_terms,
)
from indiff.differential.mondrian.decisions import find_keys, may_change
from indiff.differential.mondrian.node import (
    ALL_STAY,
    ALONE,
    BECOMES_LEAF,
    CUT_A,
    HIGH,
    HIGH_COUNT,
    LOW,
    LOW_COUNT,
    SOME_CHANGE,
    STAYS,
    extremes_without,
    look_at,
)
from indiff.differential.mondrian.shown import FULL, GROUPS, PLACES
from indiff.differential.mondrian.tallies import add_cover, begin_tree, end_tree
from indiff.inference.tree import NO_SPLIT
from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian import layout, partition
from indiff.sanitizers.mondrian.cuts import top_node
from indiff.sanitizers.mondrian.twins import leaves_under

ONE_BY_ONE = 64  # so many targets of one group are counted each for itself
TOGETHER = 64  # so many leaves are settled in one call


@inline
def find_lonely(
    problem: Any, tree: Any, at: Any, start: Any, end: Any, was_leaf: Any, ints: Any, tally: Any
) -> Any:
    """Count who holds each outer value of a group, or each value where the region is a set."""
    meta, tight = problem.meta, problem.tight
    for a in range(meta.shape[0]):
        codes = problem.codes[a]
        if meta[a, layout.LABEL] == layout.MEMBERS:
            for place in range(start, end):
                tally[meta[a, layout.POINTS] + codes[place]] += 1
        elif tight and was_leaf and meta[a, layout.CUT_BY] != layout.BY_TREE:
            low, high = tree.own_low[at, a], tree.own_high[at, a]  # of a leaf, the extremes
            lows = highs = 0
            for place in range(start, end):
                lows += codes[place] == low
                highs += codes[place] == high
            ints[LOW, a], ints[HIGH, a], ints[LOW_COUNT, a], ints[HIGH_COUNT, a] = (
                low, high, lows, highs,
            )  # fmt: skip
        elif tight:
            look_at(codes, start, end, a, ints)


@inline
def still_covers(problem: Any, a: Any, place: Any, ints: Any, tally: Any) -> Any:
    """Whether the region of a group covers a record's value on a once the record has left."""
    meta, code = problem.meta, problem.codes[a, place]
    if meta[a, layout.LABEL] == layout.MEMBERS:
        return tally[meta[a, layout.POINTS] + code] > 1
    if not problem.tight:
        return True
    alone = ints[LOW, a] == code and ints[LOW_COUNT, a] == 1
    alone = alone or (ints[HIGH, a] == code and ints[HIGH_COUNT, a] == 1)
    if not alone or meta[a, layout.CUT_BY] != layout.BY_TREE:
        return not alone
    low, high = extremes_without(ints, a, place)
    top = top_node(problem.path, problem.trees, meta[a, layout.LEAVES], low, high)
    return problem.trees[top, layout.FIRST] <= code <= problem.trees[top, layout.LAST]


@inner
def ask_tree(
    problem: Any, adversary: Any, tree: Any, at: Any, place: Any, row: Any, was_leaf: Any,
    table: Any, terms: Any, group: Any, shown: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Write what a tree believes of a target that its own group, now a leaf, does not cover.

    The group has lost the target already. Where it was a leaf, it covered the target everywhere.
    """
    own, counts = np.int64(problem.classes[place]), shown.counts
    column = begin_tree(
        problem, adversary.totals, own, table, terms, was_leaf, group, row, shown, outcome
    )
    if column == NO_SPLIT:
        return
    pattern = 0
    for a in range(terms.shape[1]):
        pattern = 2 * pattern + terms[TIMES, a] + was_leaf
    if was_leaf:
        counts[counts.shape[0] - 1, own] -= 1.0
        for c in range(group.shape[0]):
            counts[counts.shape[0] - 1, c] -= group[c]
    else:
        first, last = leaves_under(tree, at)
        add_cover(problem, tree, tree.leaves[first:last], -1.0, place, counts)
    for c in range(group.shape[0]):
        counts[pattern, c] += group[c]
    end_tree(column, shown, outcome.tree[row])


@inner
def settle_all(
    problem: Any, adversary: Any, tree: Any, groups: Any, ids: Any, marks: Any, mark: Any,
    counted: Any, first: Any, last: Any, was_leaf: Any, desk: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Settle the targets of several groups in one call, of which all they need is handed over."""
    problem, adversary, outcome = borrow(problem), borrow(adversary), borrow(outcome)
    counted, desk, marks, ids = borrow(counted), borrow(desk), borrow(marks), borrow(ids)
    tree, groups = borrow(tree), borrow(groups)
    for place in range(groups.shape[0]):
        settle(
            problem, adversary, tree, groups[place], ids, marks, mark, counted, first, last,
            was_leaf, desk, outcome,
        )  # fmt: skip


@inline
def settle(
    problem: Any, adversary: Any, tree: Any, at: Any, ids: Any, marks: Any, mark: Any, counted: Any,
    first: Any, last: Any, was_leaf: Any, desk: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Write the beliefs about the targets with this mark, which end in this group as a leaf.

    Each is taken out of the group; where it alone held an outer value, the region shrinks and no
    longer covers it. ``counted`` has the counts of the release, from which the leaves from
    ``first`` to before ``last`` are to be taken: then with this whole group, the target included,
    where the group was a leaf before (``was_leaf``), and without any of it where it becomes one.
    What comes of it for an attribute: the counts without the group and, where the region still
    covers the target's value, the group without the target.
    """
    start, end = np.int64(tree.nodes[at, layout.START]), np.int64(tree.nodes[at, layout.END])
    starts, meta, counting = counted.starts, problem.meta, adversary.models & COUNTING
    d, table, terms = meta.shape[0], counted.counts, desk.terms
    counts, group, tally, ints = desk.counts, desk.group, desk.tally, desk.node.ints
    group[:] = 0
    for place in range(start, end):
        group[problem.classes[place]] += 1
    find_lonely(problem, tree, at, start, end, was_leaf, ints, tally)
    for place in range(start, end):
        if marks[place] != mark:
            continue
        own, everywhere = problem.classes[place], end - start > 1
        for a in range(d):
            covered = end - start > 1 and still_covers(problem, a, place, ints, tally)
            everywhere = everywhere and covered
            terms[TIMES, a] = (1 if covered else 0) - was_leaf
            if counting:
                code = np.int64(problem.codes[a, place])
                terms[SPOT, a] = locate(counted.codes, starts[a], starts[a + 1], code)
        rows = table
        if counting and first < last:
            for a in range(d):
                for c in range(counts.shape[1]):
                    counts[a, c] = table[terms[SPOT, a], c]
                terms[SPOT, a] = a
            under = tree.leaves[first:last]
            cover_one(problem, tree, under, np.int64(-1), place, counts, desk.spare)
            rows = counts
        group[own] -= 1
        outcome.uncovered[ids[place]] = not everywhere
        if adversary.models & TREE and not everywhere:
            ask_tree(
                problem, adversary, tree, at, place, np.int64(ids[place]), was_leaf, rows, terms,
                group, desk.shown, outcome,
            )  # fmt: skip
        outcome.ticker[DONE] += 1
        size = np.int64(end - start - 1 if everywhere else 0)
        believe(
            adversary, np.int64(own), rows, terms, was_leaf, group, size, np.int64(ids[place]),
            outcome,
        )  # fmt: skip
        group[own] += 1
    for a in range(d):
        if meta[a, layout.LABEL] == layout.MEMBERS:
            for place in range(start, end):
                tally[meta[a, layout.POINTS] + problem.codes[a, place]] = 0


@kernel
def rebuild_alone(
    problem: Any, adversary: Any, tree: Any, node: Any, last: Any, place: Any, row: Any,
    counted: Any, spans: Any, room: Any, shown: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Partition groups, from ``node`` to before ``last``, without one record; write its beliefs.

    Only what changes is partitioned. The groups that stay do not cover the record: a cut parts it
    from them. ``spans`` are the ranges of the whole table where its own are others without the
    record.
    """
    problem, adversary, tree = borrow(problem), borrow(adversary), borrow(tree)
    counted, room, outcome = borrow(counted), borrow(room), borrow(outcome)
    d, nodes, roots = problem.codes.shape[0], tree.nodes, last - node
    start, end = np.int64(nodes[node, layout.START]), np.int64(nodes[last - 1, layout.END])
    others = np.empty(end - start - 1, np.int32)
    for spot in range(end - start - 1):
        others[spot] = start + spot + (start + spot >= place)
    ends, twins = np.empty(roots, np.int32), np.empty(roots, np.int32)
    for root in range(roots):
        stop = nodes[node + root, layout.END]
        ends[root], twins[root] = stop - start - (stop > place), node + root
    low, high = tree.low[node:last], tree.high[node:last]
    fresh, new, gone = partition.grow(
        problem, others, ends, low, high, tree, twins, spans, np.int64(0), room
    )
    counts = np.zeros((d, adversary.totals.shape[0]), np.int32)
    group, spare = np.zeros(counts.shape[1], np.int32), np.zeros(counts.shape[1], np.int32)
    if adversary.models & COUNTING:
        for a in range(d):
            code, first = np.int64(problem.codes[a, place]), counted.starts[a]
            spot = locate(counted.codes, first, counted.starts[a + 1], code)
            for c in range(counts.shape[1]):
                counts[a, c] = counted.counts[spot, c]
        cover_one(problem, tree, gone, np.int64(-1), place, counts, spare)
    cover_one(problem, fresh, new, np.int64(1), place, counts, group)
    size = np.int64(0)
    for c in range(group.shape[0]):
        size += group[c]
    outcome.uncovered[row] = size == 0
    outcome.ticker[DONE] += 1
    own, terms = np.int64(problem.classes[place]), plain_terms(d)
    believe(adversary, own, counts, terms, np.int64(0), group, size, row, outcome)
    column = NO_SPLIT
    if adversary.models & TREE and size == 0:
        column = begin_tree(
            problem, adversary.totals, own, counts, terms, np.int64(0), group, row, shown, outcome
        )
    if column != NO_SPLIT:
        add_cover(problem, tree, gone, -1.0, place, shown.counts)
        add_cover(problem, fresh, new, 1.0, place, shown.counts)
        end_tree(column, shown, outcome.tree[row])


@inline
def send_down(tree: Any, node: Any, target: Any, live: Any) -> Any:
    """Mark the children of a node into which targets walk on."""
    first = tree.nodes[node, layout.CHILD]
    for child in range(first, first + tree.nodes[node, layout.CHILDREN]):
        for place in range(tree.nodes[child, layout.START], tree.nodes[child, layout.END]):
            if target[place]:
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
    cut_of, no_spans = np.empty((3, d), np.int32), np.empty(0)
    ends, waiting = np.empty(TOGETHER, np.int32), 0
    for node in range(nodes.shape[0] + 1):
        if waiting == TOGETHER or node == nodes.shape[0]:
            settle_all(
                problem, adversary, tree, ends[:waiting], ids, target, np.int64(1), counted,
                np.int64(0), np.int64(0), np.int64(1), desk, outcome,
            )  # fmt: skip
            waiting = 0
        if node == nodes.shape[0] or outcome.ticker[STOP]:
            break
        if not live[node]:
            continue
        start, end = np.int64(nodes[node, layout.START]), np.int64(nodes[node, layout.END])
        attribute, found = nodes[node, layout.ATTRIBUTE], ALL_STAY
        if may_change(problem.limits.k, nodes[node]):
            found = find_keys(
                problem, start, end, nodes[node], tree.own_low[node], tree.own_high[node],
                desk.node, target, keys, desk.room,
            )  # fmt: skip
        leaves = others = 0
        if found == SOME_CHANGE:
            for place in range(start, end):
                leaves += keys[place] == BECOMES_LEAF
                others += keys[place] >= 0 or keys[place] == ALONE
                target[place] = keys[place] == STAYS
        if attribute == layout.LEAF:
            ends[waiting] = node
            waiting += 1
        else:
            send_down(tree, node, target, live)
        if leaves > 0:
            first, last = leaves_under(tree, node)
            rest = counted
            if leaves > ONE_BY_ONE:
                first = last
                rest = rest_of(problem, tree, node, counted, adversary.models, desk.pairs)
            settle_all(
                problem, adversary, tree, stretch(node, node + 1), ids, keys,
                np.int64(BECOMES_LEAF), rest, first, last, np.int64(0), desk, outcome,
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
            if key != ALONE and count > 1:
                a = key // 2
                by_tree = problem.meta[a, layout.CUT_BY] == layout.BY_TREE
                cut = cut_of[2, a] if by_tree else cut_of[key % 2, a]
                used = desk.shown.used
                groups, spots, full = used[GROUPS], used[PLACES], used[FULL]
                own, forest, places, parts, fresh = force(
                    problem, tree, node, a, cut, ids, keys, key, counted, adversary.models, desk
                )
                own_ids, own_target = np.empty_like(places), np.empty_like(places)
                for place in range(places.shape[0]):
                    own_ids[place] = ids[places[place]]
                    own_target[place] = keys[places[place]] == key
                walk(own, adversary, forest, parts, own_ids, own_target, fresh, desk, outcome)
                used[GROUPS], used[PLACES], used[FULL] = groups, spots, full
                for place in range(first, end):
                    if keys[place] == key:
                        keys[place] = STAYS
                continue
            # Last, since another process compiles it meanwhile (``cli/warmup.py``).
            here = np.int64(node)
            rebuild_alone(
                problem, adversary, tree, here, here + 1, first, np.int64(ids[first]), counted,
                no_spans, desk.room, desk.shown, outcome,
            )  # fmt: skip
            keys[first] = STAYS
    return 0

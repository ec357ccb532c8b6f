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

from indiff.differential.mondrian.counts import (
    DONE,
    FINISHED,
    FREQUENCY,
    NAIVE_BAYES,
    STOP,
    add_forest,
    add_leaves,
    believe,
    codes_of,
    cover_one,
    leaves_under,
    sum_steps,
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
    STAYS,
    TREE_NODE,
    empty_node,
    extremes_without,
    look_outside,
)
from indiff.kernels import borrow, first_at_least, kernel
from indiff.sanitizers.mondrian import layout, partition


@kernel
def settle(
    problem: Any, adversary: Any, order: Any, start: Any, end: Any, places: Any, keys: Any,
    count: Any, key: Any, node: Any, counted: Any, is_counted: Any, totals: Any, tally: Any,
    outcome: Any,
) -> Any:  # fmt: skip
    """Write the beliefs about the targets with this key, which end in this group as a leaf.

    Each is taken out of the group; where it alone held an outer value, the region shrinks and no
    longer covers it. ``counted`` has the counts of the release: with this whole group, the target
    included, where the group was a leaf before (``is_counted``), and without any of it where it
    becomes one. What comes of it for an attribute: the counts without the group and, where the
    region still covers the target's value, the group without the target. ``tally`` is room for a
    count per value, all zero.
    """
    node, places, keys = borrow(node), borrow(places), borrow(keys)
    counted = borrow(counted)
    needed, starts, table = counted.codes, counted.starts, counted.counts
    d, classes = problem.codes.shape[0], totals.shape[0]
    counts = np.zeros((d, classes), np.int64)
    group = node.totals
    partition.group_counts(problem.classes, order, start, end, group)
    for a in range(d):
        if problem.tight and not node.ints[LOOKED, a]:
            look_outside(problem.codes[a], order, start, end, a, node.ints)
        if problem.meta[a, layout.LABEL] == layout.MEMBERS:
            base, codes = problem.meta[a, layout.POINTS], problem.codes[a]
            for place in range(start, end):
                tally[base + codes[order[place]]] += 1
    for t in range(count):
        if keys[t] != key:
            continue
        place = places[t]
        record = order[place]
        own = problem.classes[record]
        everywhere = True
        for a in range(d):
            code = problem.codes[a, record]
            covered = end - start > 1
            if covered and problem.meta[a, layout.LABEL] == layout.MEMBERS:
                covered = tally[problem.meta[a, layout.POINTS] + code] > 1
            elif (
                covered
                and problem.tight
                and (
                    (node.ints[LOW_COUNT, a] == 1 and node.ints[LOW_AT, a] == place)
                    or (node.ints[HIGH_COUNT, a] == 1 and node.ints[HIGH_AT, a] == place)
                )
            ):
                low, high = extremes_without(node, a, place)
                if problem.meta[a, layout.CUT_BY] == layout.BY_TREE:
                    row = problem.meta[a, layout.LEAVES]
                    top = partition.top_node(problem.path, problem.trees, row, low, high)
                    low, high = problem.trees[top, layout.FIRST], problem.trees[top, layout.LAST]
                covered = low <= code <= high
            everywhere = everywhere and covered
            if adversary.model == FREQUENCY:
                continue
            spot = starts[a] + code  # where all codes are counted
            if spot >= starts[a + 1] or needed[spot] != code:
                spot = first_at_least(needed, starts[a], starts[a + 1], code)
            times = (1 if covered else 0) - (1 if is_counted else 0)
            for c in range(classes):
                counts[a, c] = table[spot, c] + times * group[c]
            if covered:
                counts[a, own] -= 1
        totals[own] -= 1
        group[own] -= 1
        outcome.uncovered[record] = not everywhere
        outcome.ticker[DONE] += 1
        size = end - start - 1 if everywhere else 0
        believe(adversary, totals, counts, group, size, outcome.beliefs[record])
        group[own] += 1
        totals[own] += 1
    for a in range(d):
        if problem.meta[a, layout.LABEL] == layout.MEMBERS:
            base, codes = problem.meta[a, layout.POINTS], problem.codes[a]
            for place in range(start, end):
                tally[base + codes[order[place]]] = 0


@kernel
def finish_alone(
    problem: Any, adversary: Any, tree: Any, record: Any, counts: Any, totals: Any,
    outcome: Any,
) -> Any:  # fmt: skip
    """Write the belief about a target from a forest of the other records (``tree``).

    ``counts`` are those of the release outside the forest, for this record's values.
    """
    own = problem.classes[record]
    group = np.zeros(totals.shape[0], np.int64)
    cover_one(problem, tree, 0, tree.leaves.shape[0], 1, record, counts, group)
    size = group.sum()
    totals[own] -= 1
    outcome.uncovered[record] = size == 0
    outcome.ticker[DONE] += 1
    believe(adversary, totals, counts, group, size, outcome.beliefs[record])
    totals[own] += 1


@kernel
def rebuild_alone(
    problem: Any, adversary: Any, tree: Any, node: Any, place: Any, counted: Any, totals: Any,
    outcome: Any,
) -> Any:  # fmt: skip
    """Partition one group anew without one record and write the belief about it."""
    d = problem.codes.shape[0]
    record = tree.order[place]
    counts = np.zeros((d, totals.shape[0]), np.int64)
    if adversary.model == NAIVE_BAYES:
        codes, starts, table = counted.codes, counted.starts, counted.counts
        for a in range(d):
            spot = first_at_least(codes, starts[a], starts[a + 1], problem.codes[a, record])
            for c in range(totals.shape[0]):
                counts[a, c] = table[spot, c]
        first, last = leaves_under(tree, node)
        cover_one(problem, tree, first, last, -1, record, counts, np.zeros_like(totals))
    start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
    others = np.concatenate((tree.order[start:place], tree.order[place + 1 : end]))
    ends = np.full(1, others.shape[0], np.int32)
    fresh = partition.grow(
        problem, others, ends, tree.low[node : node + 1], tree.high[node : node + 1]
    )
    finish_alone(problem, adversary, fresh, record, counts, totals, outcome)


@kernel
def rest_for(problem: Any, adversary: Any, tree: Any, node: Any, records: Any, counted: Any) -> Any:
    """The counts of a release without the leaves below a node, for the codes of some records."""
    if adversary.model == FREQUENCY:
        return codes_of(problem, records[:0])
    rest = codes_of(problem, records)
    first, last = leaves_under(tree, node)
    add_leaves(problem, tree, first, last, -1, rest)
    sum_steps(rest)
    needed, starts, table = counted.codes, counted.starts, counted.counts
    codes, own_starts, counts = rest.codes, rest.starts, rest.counts
    for a in range(problem.codes.shape[0]):
        spot = starts[a]
        for place in range(own_starts[a], own_starts[a + 1]):
            spot = first_at_least(needed, spot, starts[a + 1], codes[place])
            for c in range(counts.shape[1]):
                counts[place, c] += table[spot, c]
    return rest


@kernel
def force(problem: Any, tree: Any, node: Any, a: Any, cut: Any) -> Any:
    """Copy a group and cut it on attribute a: the copy, the ends and the boxes of its parts."""
    start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
    order = tree.order[start:end].copy()
    size = end - start
    work = np.empty(size, np.int32)
    ends = np.empty(problem.path.shape[0] + 2, np.int32)
    if problem.meta[a, layout.CUT_BY] == layout.BY_TREE:
        parts = partition.split_by_tree(problem, order, 0, size, a, cut, ends, work)
    else:
        ends[0] = partition.split_on_line(problem.codes[a], order, 0, size, cut, work)
        ends[1] = size
        parts = 2
    low = np.empty((parts, problem.codes.shape[0]), np.int32)
    high = np.empty((parts, problem.codes.shape[0]), np.int32)
    for part in range(parts):
        low[part], high[part] = tree.low[node], tree.high[node]
        begin = ends[part - 1] if part > 0 else 0
        partition.narrow(problem, a, cut, part, order[begin], low[part], high[part])
    return order, ends[:parts].copy(), low, high


@kernel
def send_down(
    problem: Any, tree: Any, node: Any, places: Any, keys: Any, count: Any, live: Any
) -> Any:
    """Mark the children of a node into which targets walk on."""
    a, first = tree.nodes[node, layout.ATTRIBUTE], tree.nodes[node, layout.CHILD]
    codes = problem.codes[a]
    for t in range(count):
        if keys[t] != STAYS:
            continue
        code = codes[tree.order[places[t]]]
        child = first
        if problem.meta[a, layout.CUT_BY] != layout.BY_TREE:
            child += code > tree.nodes[node, layout.CUT]
        else:
            while not tree.low[child, a] <= code <= tree.high[child, a]:
                child += 1
        live[child] = 1


@kernel
def targets_with(keys: Any, count: Any, key: Any, places: Any, order: Any) -> Any:
    """The records of the targets with this key."""
    size = 0
    for t in range(count):
        size += keys[t] == key
    records = np.empty(size, np.int32)
    filled = 0
    for t in range(count):
        if keys[t] == key:
            records[filled] = order[places[t]]
            filled += 1
    return records


@kernel
def walk(
    problem: Any, adversary: Any, tree: Any, roots: Any, counted: Any, mark: Any, context: Any,
    totals: Any, tally: Any, outcome: Any,
) -> Any:  # fmt: skip
    """Walk the targets of a context, the records r with ``mark[r] == context``.

    ``counted`` has the counts of the whole release that contains this forest. Returns the last
    context number in use.
    """
    if tree.order.shape[0] == 0:
        return context
    problem, tree = borrow(problem), borrow(tree)
    adversary, outcome = borrow(adversary), borrow(outcome)
    counted, mark = borrow(counted), borrow(mark)
    totals, tally = borrow(totals), borrow(tally)
    order, last_context = tree.order, context
    live = np.zeros(tree.nodes.shape[0], np.int8)
    live[:roots] = 1
    room = empty_node(problem)
    work = np.empty(order.shape[0], np.int32)
    bins = np.empty(2 * order.shape[0], np.int32)
    places = np.empty(order.shape[0], np.int32)
    keys = np.empty(order.shape[0], np.int32)
    for node in range(tree.nodes.shape[0]):
        start, end = tree.nodes[node, layout.START], tree.nodes[node, layout.END]
        attribute = tree.nodes[node, layout.ATTRIBUTE]
        count = 0
        if outcome.ticker[STOP]:
            break
        if live[node]:
            for place in range(start, end):
                if mark[order[place]] == context:
                    places[count] = place
                    count += 1
        if count == 0:
            continue
        find_keys(
            problem, order, start, end, attribute, tree.nodes[node, layout.CUT], places, count,
            tree.own_low[node], tree.own_high[node], room, keys, work, bins,
        )  # fmt: skip
        if attribute == layout.LEAF:
            settle(
                problem, adversary, order, start, end, places, keys, count, STAYS, room, counted,
                True, totals, tally, outcome,
            )  # fmt: skip
        else:
            send_down(problem, tree, node, places, keys, count, live)
        for first in range(count):
            key = keys[first]
            if key == STAYS:
                continue
            records = targets_with(keys, count, key, places, order)
            if key == ALONE or (records.shape[0] == 1 and key != BECOMES_LEAF):
                mark[order[places[first]]] = FINISHED
                rebuild_alone(
                    problem, adversary, tree, node, places[first], counted, totals, outcome
                )
                keys[first] = STAYS
                continue
            rest = rest_for(problem, adversary, tree, node, records, counted)
            last_context += 1
            for place in range(records.shape[0]):
                mark[records[place]] = last_context
            if key == BECOMES_LEAF:
                settle(
                    problem, adversary, order, start, end, places, keys, count, key, room, rest,
                    False, totals, tally, outcome,
                )  # fmt: skip
            else:
                a = key // 2
                by_tree = problem.meta[a, layout.CUT_BY] == layout.BY_TREE
                cut = room.ints[TREE_NODE, a] if by_tree else room.ints[CUT_A + key % 2, a]
                parts, ends, low, high = force(problem, tree, node, a, cut)
                forest = partition.grow(problem, parts, ends, low, high)
                if adversary.model == NAIVE_BAYES:
                    add_forest(problem, forest, rest)
                last_context = walk(
                    problem, adversary, forest, ends.shape[0], rest, mark, last_context, totals,
                    tally, outcome,
                )  # fmt: skip
            for t in range(first, count):
                if keys[t] == key:
                    keys[t] = STAYS
    return last_context

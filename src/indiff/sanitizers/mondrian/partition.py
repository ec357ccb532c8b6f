"""Cuts groups of records as the class ``Mondrian`` says, compiled, on integer codes.

The leave-one-out engine uses the very same functions, so that a release and a release without one
record can never disagree about a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.kernels import borrow, inline, inner, kernel
from indiff.sanitizers.mondrian.cuts import (
    ENDS,
    LARGEST,
    SIZES,
    TOTALS,
    cut_rank,
    group_counts,
    line_cut,
    range_without,
    read_codes,
    top_node,
    tree_cut,
    two_too_few,
    width_between,
)
from indiff.sanitizers.mondrian.layout import (
    ATTRIBUTE,
    BY_TREE,
    CHILD,
    CHILDREN,
    CUT,
    CUT_BY,
    DEPTH,
    END,
    FIRST,
    LAST,
    LEAF,
    LEAVES,
    MOST_BITS,
    NEXT,
    PARTS,
    START,
    STEADY,
    SURE,
    Tree,
)
from indiff.sanitizers.mondrian.twins import (
    copy_twin,
    holds_the_same,
    leaves_under,
    stays_below,
)

# What is known of a group's extremes on an attribute, and that it is never cut there.
AT_MOST, KNOWN, TRIED, NEVER = 0, 1, 2, 3


@inline
def stays_widest(widths: Any, node: Any, known: Any, a: Any, width: Any) -> Any:
    """Whether attribute a, so wide at least, comes first of all that a group may be cut on."""
    for b in range(widths.shape[1]):
        other = widths[node, b]
        if b != a and known[b] != NEVER and (other > width or (other == width and b < a)):
            return False
    return True


@inner
def lie_between(codes: Any, one: Any, two: Any, low: Any, high: Any) -> Any:
    """Whether two records lie in a box."""
    codes, low, high = borrow(codes), borrow(low), borrow(high)
    for a in range(low.shape[0]):
        first, second = codes[a, one], codes[a, two]
        if min(first, second) < low[a] or max(first, second) > high[a]:
            return False
    return True


@inline
def decide(
    problem: Any, order: Any, start: Any, end: Any, low: Any, high: Any, widths: Any, why: Any,
    node: Any, room: Any,
) -> Any:  # fmt: skip
    """Decide a group: (attribute, cut code or tree node), or (LEAF, 0); and what is sure of it.

    ``low`` and ``high`` are codes between which its records lie on each attribute, and
    ``widths[node]`` how wide it would be between them. They become the extremes where these
    matter: an attribute that is narrower than the cut one even between its old bounds is not
    looked at. Of a leaf all are the extremes. Nor is an attribute looked at on which sizes forbid
    every cut of this group without any one of its records (``docs/leave-one-out.md``, Lemmas 4 and
    5). ``why[node]`` is what the group above hands down: how many records lay below the last cut
    that they forbade or, of a hierarchy, two records in parts that were too small.
    """
    d, limits, known = problem.codes.shape[0], problem.limits, room.known
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    attribute, key, held, rank = LEAF, 0, -1, cut_rank(end - start - 1)
    small = end - start < 2 * limits.k or end - start < 2
    by_size, steady = not (limits.l > 1 or limits.more), False
    if not small and not by_size:
        group_counts(problem.classes, order, start, end, room.counts[TOTALS])
    for a in range(d):
        known[a], one = AT_MOST, why[node, a]
        if low[a] == high[a]:
            known[a] = NEVER
        elif one < LARGEST and not small:
            never = one < rank
            if meta[a, CUT_BY] == BY_TREE:
                never = lie_between(problem.codes, one, why[node, d + a], low, high)
            known[a] = NEVER if never else AT_MOST
    while not small:
        a = -1
        for b in range(d):  # the widest, the first listed among equals
            if known[b] < TRIED and (a < 0 or widths[node, b] > widths[node, a]):
                a = b
        if a < 0:
            break
        codes = problem.codes[a]
        if known[a] == AT_MOST or held != a:
            low[a], high[a] = read_codes(codes, order, start, end, room.work)
            held = a
        if known[a] == AT_MOST:
            known[a] = NEVER if low[a] == high[a] else KNOWN
            widths[node, a] = width_between(meta, points, path, trees, a, low[a], high[a])
            continue
        known[a], held = TRIED, -1
        if meta[a, CUT_BY] == BY_TREE:
            key = top_node(path, trees, meta[a, LEAVES], low[a], high[a])
            allowed, few, least = tree_cut(problem, a, order, start, end, key, room.parts[SIZES])
            if allowed:
                attribute = a
                steady = by_size and least > max(1, limits.k)
                steady = steady and stays_widest(widths, node, known, a, widths[node, a])
                break
            if few > 1:
                known[a] = NEVER
                why[node, a], why[node, d + a] = two_too_few(
                    problem, a, order, start, end, key, room.parts[SIZES]
                )
        else:
            key, why[node, a], last = line_cut(
                codes, problem.classes, order, start, end, low[a], high[a], limits, room
            )
            if key >= 0:
                attribute = a
                if last >= 0:
                    lowest, highest = range_without(low[a], high[a], room.bins, last)
                    width = width_between(meta, points, path, trees, a, lowest, highest)
                    steady = stays_widest(widths, node, known, a, width)
                break
            if why[node, a] < rank:
                known[a] = NEVER
    sure = STEADY if steady else 0
    for a in range(d):
        if known[a] == NEVER and a < MOST_BITS:
            sure |= 1 << a
        if known[a] != TRIED and attribute == LEAF and low[a] < high[a]:
            low[a], high[a] = read_codes(problem.codes[a], order, start, end, room.work)
    return attribute, key, sure


@inline
def split_on_line(codes: Any, order: Any, start: Any, end: Any, cut: Any, work: Any) -> Any:
    """Reorder a group so that codes up to ``cut`` come first, each side in its old order."""
    left, right = start, 0
    for place in range(start, end):
        record = order[place]
        goes_left = codes[record] <= cut
        order[left] = record
        work[right] = record
        left += goes_left
        right += not goes_left
    for place in range(right):
        order[left + place] = work[place]
    return left


@inline
def split_by_tree(
    problem: Any, order: Any, start: Any, end: Any, a: Any, node: Any, room: Any
) -> Any:
    """Reorder a group by the children of ``node``; write where each part ends; count the parts.

    How many records each has is known, in ``room.parts``.
    """
    codes, path, row = problem.codes[a], problem.path, problem.meta[a, LEAVES]
    level, first = problem.trees[node, DEPTH] + 1, problem.trees[node, NEXT]
    sizes, ends, work = room.parts[SIZES], room.parts[ENDS], room.work
    parts, begin = 0, start
    for part in range(problem.trees[node, PARTS]):
        size = sizes[part]
        sizes[part] = begin
        if size > 0:
            begin += size
            ends[parts] = begin
            parts += 1
    for place in range(start, end):
        work[place - start] = order[place]
    for place in range(end - start):
        record = work[place]
        part = path[row + codes[record], level] - first
        order[sizes[part]] = record
        sizes[part] += 1
    return parts


@inline
def split(problem: Any, order: Any, start: Any, end: Any, a: Any, key: Any, room: Any) -> Any:
    """Reorder a group by its cut; write where each part ends; count the parts."""
    if problem.meta[a, CUT_BY] == BY_TREE:
        return split_by_tree(problem, order, start, end, a, key, room)
    room.parts[ENDS, 0] = split_on_line(problem.codes[a], order, start, end, key, room.work)
    room.parts[ENDS, 1] = end
    return 2


@inline
def narrow(problem: Any, a: Any, key: Any, part: Any, record: Any, low: Any, high: Any) -> Any:
    """Narrow a cut box to the part of a cut in which ``record`` lies."""
    if problem.meta[a, CUT_BY] == BY_TREE:
        row = problem.meta[a, LEAVES] + problem.codes[a, record]
        node = problem.path[row, problem.trees[key, DEPTH] + 1]
        low[a], high[a] = problem.trees[node, FIRST], problem.trees[node, LAST]
    elif part == 0:
        high[a] = key
    else:
        low[a] = key + 1


@kernel
def grow(
    problem: Any, order: Any, root_end: Any, root_low: Any, root_high: Any, old: Any, twins: Any,
    spans: Any, copied: Any, room: Any,
) -> Any:  # fmt: skip
    """Partition ``order`` (rearranged in place) from one or more roots.

    Root j is the segment that ends at ``root_end[j]`` and starts where the one before it ends;
    ``root_low[j]`` and ``root_high[j]`` are its cut box. Roots are nodes 0, 1, …, and a node's
    number is smaller than its children's.

    ``twins[j]`` is the node of another partition, ``old``, which has much the same records as root
    j (−1 for none); the records' numbers are their places there. A group that has the very records
    of its twin is partitioned as the twin is: it is copied, or left out where ``copied`` is 0.
    ``spans`` are the ranges that the old widths were relative to, where these are others.
    Returns the partition, its leaves that are new, and the leaves of ``old`` that are gone.
    """
    n, d, roots = order.shape[0], problem.codes.shape[0], root_end.shape[0]
    most = 2 * (n // max(1, problem.limits.k)) + 2 * roots + 3
    tree, leaves = np.zeros((most, SURE + 1), np.int32), np.empty(most, np.int32)
    low, high = np.empty((most, d), np.int32), np.empty((most, d), np.int32)
    widths, own_low, own_high = np.empty((most, d), np.float64), low, high
    if not problem.tight:
        own_low, own_high = np.empty((most, d), np.int32), np.empty((most, d), np.int32)
    why, fresh, undone = np.empty((most, 2 * d), np.int32), np.empty(most, np.int32), 0
    for root in range(roots):
        if twins[root] >= 0:
            first, last = leaves_under(old, twins[root])
            undone += last - first
    gone = np.empty(undone, np.int32)
    nodes, leaf_count, fresh_count, gone_count = fill(
        problem, order, root_end, root_low, root_high, old, twins, spans, copied, tree, low, high,
        own_low, own_high, widths, why, leaves, fresh, gone, room,
    )  # fmt: skip
    # Looked at once more, so that they are held as long as they are borrowed.
    nodes = min(nodes, widths.shape[0], why.shape[0])
    grown = Tree(
        order, tree[:nodes], low[:nodes], high[:nodes], own_low[:nodes], own_high[:nodes],
        leaves[:leaf_count],
    )  # fmt: skip
    return grown, fresh[:fresh_count], gone[:gone_count]


@inline
def fill(
    problem: Any, order: Any, root_end: Any, root_low: Any, root_high: Any, old: Any, twins: Any,
    spans: Any, copied: Any, tree: Any, low: Any, high: Any, own_low: Any, own_high: Any,
    widths: Any, why: Any, leaves: Any, fresh: Any, gone: Any, room: Any,
) -> Any:  # fmt: skip
    """Write the nodes of a partition into the room made for them; count nodes and leaves.

    As long as a node is not decided, CHILD is its twin's number and 1.
    """
    problem, order, tree, old = borrow(problem), borrow(order), borrow(tree), borrow(old)
    low, high, own_low, own_high = borrow(low), borrow(high), borrow(own_low), borrow(own_high)
    widths, why = borrow(widths), borrow(why)
    leaves, fresh, gone, room = borrow(leaves), borrow(fresh), borrow(gone), borrow(room)
    meta, points, path, trees = problem.meta, problem.points, problem.path, problem.trees
    d, roots, tight = problem.codes.shape[0], root_end.shape[0], problem.tight
    nodes, leaf_count, depth, fresh_count, gone_count = roots, 0, 0, 0, 0
    top = leaves.shape[0] - 1  # groups still to decide lie from there down, leaves from 0 up
    for root in range(roots - 1, -1, -1):
        tree[root, START] = root_end[root - 1] if root > 0 else 0
        tree[root, END], tree[root, CHILD] = root_end[root], twins[root] + 1
        for b in range(d):
            low[root, b], high[root, b] = root_low[root, b], root_high[root, b]
            own_low[root, b], own_high[root, b] = root_low[root, b], root_high[root, b]
            why[root, b] = LARGEST
            widths[root, b] = width_between(
                meta, points, path, trees, b, root_low[root, b], root_high[root, b]
            )
        leaves[top - depth] = root
        depth += 1
    while depth > 0:
        depth -= 1
        node = leaves[top - depth]
        s, e, twin = tree[node, START], tree[node, END], tree[node, CHILD] - 1
        first = last = 0
        if twin >= 0:
            first, last = leaves_under(old, twin)
            kept = holds_the_same(
                order, s, e, low[node], high[node], old.nodes, old.low, old.high, twin, tight
            )
            if kept and spans.shape[0] > 0:
                kept = stays_below(
                    meta, points, path, trees, old.nodes, old.own_low, old.own_high, twin, spans
                )
            if kept:
                if copied:
                    leaf_count, nodes = copy_twin(
                        old, twin, tree, low, high, own_low, own_high, order, leaves, node, nodes,
                        leaf_count, first, last,
                    )  # fmt: skip
                continue
        a, key, sure = LEAF, 0, 0
        if e > s:
            a, key, sure = decide(
                problem, order, s, e, own_low[node], own_high[node], widths, why, node, room
            )
        tree[node, ATTRIBUTE], tree[node, SURE], parts = a, sure, 0
        if a != LEAF:
            parts = split(problem, order, s, e, a, key, room)
        if twin >= 0:
            like = a != LEAF and old.nodes[twin, ATTRIBUTE] == a
            if not like or old.nodes[twin, CHILDREN] != parts:
                for position in range(first, last):
                    gone[gone_count] = old.leaves[position]
                    gone_count += 1
                twin = -1
        if a == LEAF:
            if e > s:
                leaves[leaf_count], fresh[fresh_count] = node, node
                leaf_count, fresh_count = leaf_count + 1, fresh_count + 1
            for b in range(d):
                if tight and e > s and problem.meta[b, CUT_BY] == BY_TREE:
                    row = problem.meta[b, LEAVES]
                    own = top_node(path, trees, row, low[node, b], high[node, b])
                    low[node, b], high[node, b] = trees[own, FIRST], trees[own, LAST]
            continue
        tree[node, CUT], tree[node, CHILD], tree[node, CHILDREN] = key, nodes, parts
        place = s
        for part in range(parts):
            new = nodes + part
            tree[new, START], tree[new, END] = place, room.parts[ENDS, part]
            tree[new, CHILD] = old.nodes[twin, CHILD] + part + 1 if twin >= 0 else 0
            for b in range(d):
                low[new, b], high[new, b] = low[node, b], high[node, b]
                widths[new, b] = widths[node, b]
                why[new, b], why[new, d + b] = why[node, b], why[node, d + b]
                if not tight:
                    own_low[new, b], own_high[new, b] = own_low[node, b], own_high[node, b]
            narrow(problem, a, key, part, order[place], low[new], high[new])
            if not tight:
                narrow(problem, a, key, part, order[place], own_low[new], own_high[new])
            widths[new, a] = width_between(
                meta, points, path, trees, a, own_low[new, a], own_high[new, a]
            )
            place = tree[new, END]
        nodes += parts
        for part in range(parts - 1, -1, -1):
            leaves[top - depth] = nodes - parts + part
            depth += 1
    return nodes, leaf_count, fresh_count, gone_count

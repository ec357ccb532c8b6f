"""Mondrian again, slowly: plain lists and dicts, written from the rules and nothing of indiff.

The rules: the cut of a group of m records is its max(1, m // 2)-th smallest value; values up to
the cut go left. With a hierarchy the group's node is the lowest one above all its values and its
cut is one part per child that has records. A cut is allowed if at least two parts have records and
every part meets every limit. Attributes are tried from widest to narrowest, first listed first
among equals. Records that lack a number or a rank are parts of their own before any cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests import checker

Rows = list[int]
Covers = Callable[[Any], bool]


@dataclass(frozen=True)
class Column:
    """One quasi-identifier. ``how`` is ``number``, ``ordinal``, ``set`` or ``tree``.

    ``ladder`` lists the values of an ordinal or a set from lowest to highest, a missing one last
    in a set. ``parents`` maps every label of a tree to the one above it, up to ``*``; ``leaves``
    are the values that a record may hold, the missing one (None) among them if it occurs.
    """

    how: str
    cells: Sequence[Any]
    ladder: Sequence[Any] = ()
    parents: Mapping[str, str] = field(default_factory=dict)
    leaves: Sequence[Any] = ()


@dataclass(frozen=True)
class Limits:
    """What every group must meet, and the ground distance of t."""

    k: int = 1
    l: int | None = None  # noqa: E741 - the literature's name
    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    t: float | None = None
    ground: checker.Ground = field(default_factory=checker.Equal)
    sensitive_ladder: Sequence[Any] = ()


@dataclass(frozen=True)
class Group:
    """The rows of one published group, and for each column whether its region covers a value."""

    rows: Rows
    covers: list[Covers]


def mondrian(
    columns: Sequence[Column],
    sensitive: Sequence[Hashable],
    rows: Rows,
    limits: Limits,
    *,
    tight: bool,
) -> list[Group] | None:
    """Partition ``rows``; None where the whole (or a part of missing values) breaks a limit."""
    whole = Counter(sensitive[row] for row in rows)
    parts: dict[tuple[bool, ...], Rows] = {}
    for row in rows:
        gaps = tuple(
            column.how in ("number", "ordinal") and column.cells[row] is None for column in columns
        )
        parts.setdefault(gaps, []).append(row)
    totals = [_extent(column, rows) for column in columns]
    if any(not _meets([sensitive[row] for row in part], whole, limits) for part in parts.values()):
        return None
    groups: list[Group] = []
    for part in parts.values():
        boxes: list[Any] = [_whole_box(column) for column in columns]
        _cut(columns, sensitive, part, limits, whole, totals, boxes, tight, groups)
    return groups


def _cut(
    columns: Sequence[Column],
    sensitive: Sequence[Hashable],
    rows: Rows,
    limits: Limits,
    whole: Counter[Hashable],
    totals: list[float],
    boxes: list[Any],
    tight: bool,
    groups: list[Group],
) -> None:
    widths = []
    for place, column in enumerate(columns):
        if column.how == "tree":
            node = _node(column, [column.cells[row] for row in rows])
            widths.append(len(_below(column, node)) / len(column.leaves))
        else:
            extent = _extent(column, rows)
            widths.append(extent / totals[place] if totals[place] > 0 else 0.0)
    for place in sorted(range(len(columns)), key=lambda place: (-widths[place], place)):
        column = columns[place]
        children = _parts(column, rows)
        if len(children) < 2 or not all(
            _meets([sensitive[row] for row in part], whole, limits) for part, _ in children
        ):
            continue
        for part, change in children:
            inner = list(boxes)
            inner[place] = change(boxes[place])
            _cut(columns, sensitive, part, limits, whole, totals, inner, tight, groups)
        return
    groups.append(
        Group(
            rows,
            [
                _region(column, [column.cells[row] for row in rows], box, tight)
                for column, box in zip(columns, boxes, strict=True)
            ],
        )
    )


def _parts(column: Column, rows: Rows) -> list[tuple[Rows, Callable[[Any], Any]]]:
    """Return the parts of the one cut of a group, and what each does to the cut box."""
    if column.how == "tree":
        node = _node(column, [column.cells[row] for row in rows])
        below: dict[Hashable, Rows] = {}
        for row in rows:
            chain = _chain(column, column.cells[row])
            place = chain.index(node)
            below.setdefault(chain[place - 1] if place else node, []).append(row)
        return [(part, _always(child)) for child, part in below.items()]
    if column.cells[rows[0]] is None and column.how != "set":
        return [(rows, lambda box: box)]
    ranks = sorted(_rank(column, column.cells[row]) for row in rows)
    cut = ranks[max(1, len(rows) // 2) - 1]
    left = [row for row in rows if _rank(column, column.cells[row]) <= cut]
    right = [row for row in rows if _rank(column, column.cells[row]) > cut]
    sides = [(left, lambda box: (box[0], min(box[1], cut))), (right, lambda box: (cut, box[1]))]
    return [(part, change) for part, change in sides if part]


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda box: value


def _region(column: Column, held: Sequence[Any], box: Any, tight: bool) -> Covers:
    if column.how == "tree":
        node = _node(column, held) if tight else box
        below = set(_below(column, node))
        return lambda value: value in below
    if column.how != "set" and held[0] is None:
        return lambda value: value is None
    if column.how == "set" and tight:
        values = set(held)
        return lambda value: value in values
    if tight:
        low, high = (bound(_rank(column, value) for value in held) for bound in (min, max))
        return lambda value: _has_rank(column, value) and low <= _rank(column, value) <= high
    above, up_to = box
    return lambda value: _has_rank(column, value) and above < _rank(column, value) <= up_to


def _has_rank(column: Column, value: Any) -> bool:
    return column.how == "set" or value is not None


def _rank(column: Column, value: Any) -> Any:
    return value if column.how == "number" else list(column.ladder).index(value)


def _extent(column: Column, rows: Rows) -> float:
    if column.how == "tree":
        return 0.0
    ranks = [
        _rank(column, column.cells[row]) for row in rows if _has_rank(column, column.cells[row])
    ]
    return float(max(ranks)) - float(min(ranks)) if ranks else 0.0


def _whole_box(column: Column) -> Any:
    return "*" if column.how == "tree" else (float("-inf"), float("inf"))


def _chain(column: Column, value: Any) -> list[Hashable]:
    """Return the nodes from a value up to the root; a value that is a node has a leaf below it."""
    if value is None:
        return [("leaf", None), "*"]
    chain: list[Hashable] = [("leaf", value), value]
    while chain[-1] != "*":
        chain.append(column.parents[str(chain[-1])])
    return chain


def _node(column: Column, held: Sequence[Any]) -> Hashable:
    chains = [_chain(column, value) for value in set(held)]
    return next(node for node in chains[0] if all(node in chain for chain in chains))


def _below(column: Column, node: Hashable) -> list[Any]:
    return [value for value in column.leaves if node in _chain(column, value)]


def _meets(values: Sequence[Hashable], whole: Counter[Hashable], limits: Limits) -> bool:
    counts = Counter(values)
    asked = [
        checker.too_small(counts, limits.k),
        limits.l is not None and checker.too_frequent(counts, limits.l),
        limits.distinct_l is not None and checker.too_few_values(counts, limits.distinct_l),
        limits.entropy_l is not None and checker.too_little_entropy(counts, limits.entropy_l),
        limits.recursive is not None and checker.too_skewed(counts, *limits.recursive),
        limits.t is not None and _too_far(counts, whole, limits),
    ]
    return not any(asked)


def _too_far(counts: Counter[Hashable], whole: Counter[Hashable], limits: Limits) -> bool:
    if not limits.sensitive_ladder:
        return checker.too_far(counts, whole, limits.t or 0, limits.ground) is not None
    # Ranks over m − 1, m the values of the full table: one that nobody holds any more counts too.
    size, total = sum(counts.values()), sum(whole.values())
    carried = work = Fraction(0)
    for value in limits.sensitive_ladder[:-1]:
        carried += Fraction(counts[value], size) - Fraction(whole[value], total)
        work += abs(carried)
    return work / max(1, len(limits.sensitive_ladder) - 1) > Fraction(str(limits.t))

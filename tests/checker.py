"""An independent check of releases, written from the papers' definitions and nothing of indiff.

Slow and plain on purpose: exact fractions, one group at a time, so that a disagreement with the
package is the package's fault. Parameters given as floats are read as the decimals they print as
(t=0.7 means 7/10), so a group exactly on its limit is judged by the limit that was written.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

Number: TypeAlias = int | float | Fraction
Counts: TypeAlias = Mapping[Any, int]


@dataclass(frozen=True)
class Violation:
    """One group that breaks one constraint."""

    group: Hashable
    constraint: str
    reason: str


@dataclass(frozen=True)
class Equal:
    """Ground distance 1 between any two different values (Li et al. 2007, categorical EMD)."""


@dataclass(frozen=True)
class Ordered:
    """Ground distance |rank − rank'| / (m − 1) over the table's m values (Li et al., ordered).

    ``order`` lists the values from lowest to highest; without it they sort by themselves.
    """

    order: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class Tree:
    """Ground distance height(lowest common ancestor) / height(root) (Li et al., hierarchical).

    ``ancestors`` maps every value of the hierarchy to the nodes above it, from its parent to the
    root. The paper's trees are equally deep; in a ragged one the height of a node is its longest
    way down to a value. A value that is itself a node above others is one more leaf below that
    node.
    """

    ancestors: Mapping[Any, tuple[Hashable, ...]]


Ground: TypeAlias = Equal | Ordered | Tree


def violations(
    groups: Sequence[Hashable],
    sensitive: Sequence[Hashable],
    *,
    k: int | None = None,
    l: Number | None = None,  # noqa: E741
    distinct_l: int | None = None,
    entropy_l: Number | None = None,
    recursive: tuple[Number, int] | None = None,
    t: Number | None = None,
    ground: Ground | None = None,
    table: Sequence[Hashable] | None = None,
) -> list[Violation]:
    """List every group that breaks a constraint asked for.

    ``groups`` has one entry per released record: its quasi-identifier cells as a tuple, or a group
    number. ``sensitive`` has its sensitive value, a missing one as None. t compares with the
    distribution of ``table``, by default all of ``sensitive``.

    >>> violations(["a", "a", "b"], ["flu", "flu", "cold"], k=2)
    [Violation(group='b', constraint='k', reason='1 records, fewer than 2')]
    """
    asked = {
        "k": k,
        "l": l,
        "distinct_l": distinct_l,
        "entropy_l": entropy_l,
        "recursive": recursive,
        "t": t,
    }
    if all(limit is None for limit in asked.values()):
        raise ValueError("no constraint to check")
    if (t is None) != (ground is None):
        raise ValueError("t and ground go together")
    if not groups or len(groups) != len(sensitive):
        raise ValueError(f"{len(groups)} groups for {len(sensitive)} sensitive values")
    if any(isinstance(value, float) and math.isnan(value) for value in sensitive):
        raise ValueError("NaN differs from itself; pass a missing sensitive value as None")

    members: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for group, value in zip(groups, sensitive, strict=True):
        members[group][value] += 1
    whole = Counter(sensitive if table is None else table)

    found: list[Violation] = []
    for group, counts in members.items():
        reasons: dict[str, str | None] = {}
        if k is not None:
            reasons["k"] = too_small(counts, k)
        if l is not None:
            reasons["l"] = too_frequent(counts, l)
        if distinct_l is not None:
            reasons["distinct_l"] = too_few_values(counts, distinct_l)
        if entropy_l is not None:
            reasons["entropy_l"] = too_little_entropy(counts, entropy_l)
        if recursive is not None:
            reasons["recursive"] = too_skewed(counts, *recursive)
        if t is not None and ground is not None:
            reasons["t"] = too_far(counts, whole, t, ground)
        found += [Violation(group, name, reason) for name, reason in reasons.items() if reason]
    return found


def too_small(counts: Counts, k: int) -> str | None:
    """k-anonymity (Sweeney 2002): at least k records in the group."""
    size = _size(counts)
    return f"{size} records, fewer than {k}" if size < k else None


def too_frequent(counts: Counts, l: Number) -> str | None:  # noqa: E741
    """ℓ-diversity as in DIT v2: no value holds more than 1/ℓ of the group."""
    value, most = max(counts.items(), key=lambda item: item[1])
    size = _size(counts)
    if most * _exact(l) > size:
        return f"{value!r} holds {most} of {size} records, more than 1/{l}"
    return None


def too_few_values(counts: Counts, distinct_l: int) -> str | None:
    """Distinct ℓ-diversity: at least ℓ different values in the group."""
    different = len(_present(counts))
    return (
        f"{different} different values, fewer than {distinct_l}" if different < distinct_l else None
    )


def too_little_entropy(counts: Counts, entropy_l: Number) -> str | None:
    """Entropy ℓ-diversity (Machanavajjhala et al. 2007): entropy ≥ log ℓ.

    With n = Σ nᵢ the condition −Σ (nᵢ/n) log (nᵢ/n) ≥ log ℓ is nⁿ ≥ ℓⁿ Π nᵢ^nᵢ, which integers
    decide without rounding.
    """
    size = _size(counts)
    limit = _exact(entropy_l)
    left = (size * limit.denominator) ** size
    right = limit.numerator**size
    for count in _present(counts):
        right *= count**count
    if left < right:
        bits = -sum(count / size * math.log2(count / size) for count in _present(counts))
        return f"entropy of {bits:.6g} bits, less than log2({entropy_l})"
    return None


def too_skewed(counts: Counts, c: Number, l: int) -> str | None:  # noqa: E741
    """Recursive (c, ℓ)-diversity (Machanavajjhala et al. 2007): r₁ < c (r_ℓ + … + r_m).

    The counts r are sorted from most to least frequent.
    """
    r = sorted(_present(counts), reverse=True)
    tail = sum(r[l - 1 :])
    if r[0] < _exact(c) * tail:
        return None
    return f"the most frequent value has {r[0]} records, not fewer than {c} x {tail}"


def too_far(counts: Counts, whole: Counts, t: Number, ground: Ground) -> str | None:
    """t-closeness (Li et al. 2007): distance to the whole table of at most t."""
    distance = earth_movers_distance(counts, whole, ground)
    if distance > _exact(t):
        return f"earth mover's distance {float(distance):.6g} to the table, more than {t}"
    return None


def earth_movers_distance(counts: Counts, whole: Counts, ground: Ground) -> Fraction:
    """Least work that turns the group's distribution into the table's, exactly."""
    absent = [value for value in counts if counts[value] and not whole.get(value)]
    if absent:
        raise ValueError(f"{absent[0]!r} is in the group and not in the table")
    surplus = {
        value: Fraction(counts.get(value, 0), _size(counts)) - Fraction(count, _size(whole))
        for value, count in whole.items()
        if count
    }
    if isinstance(ground, Equal):
        return sum((abs(extra) for extra in surplus.values()), Fraction(0)) / 2
    if isinstance(ground, Ordered):
        return _ordered_distance(surplus, ground.order)
    return _tree_distance(surplus, ground.ancestors)


def uncovered(cells: Iterable[tuple[Any, Callable[[Any], bool]]]) -> list[str]:
    """List the released cells whose region does not contain the value it stands for.

    Each cell is the original value and a callable that says whether the region contains it.

    >>> uncovered([(47, lambda value: value >= 45), (44, lambda value: value >= 45)])
    ['cell 1: the region does not contain 44']
    """
    return [
        f"cell {position}: the region does not contain {value!r}"
        for position, (value, covers) in enumerate(cells)
        if not covers(value)
    ]


def lost_or_invented(original: Iterable[Hashable], released: Iterable[Hashable]) -> list[str]:
    """List the values (or tuples of values) that the release has more or fewer of.

    >>> lost_or_invented(["flu", "flu", "cold"], ["cold", "flu", "mumps"])
    ["'flu': 2 before, 1 after", "'mumps': 0 before, 1 after"]
    """
    before, after = Counter(original), Counter(released)
    return [
        f"{value!r}: {before[value]} before, {after[value]} after"
        for value in before | after
        if before[value] != after[value]
    ]


def _ordered_distance(surplus: Mapping[Any, Fraction], order: tuple[Hashable, ...]) -> Fraction:
    if order:
        unknown = set(surplus) - set(order)
        if unknown:
            raise ValueError(f"the order lacks {sorted(map(repr, unknown))}")
        values = [value for value in order if value in surplus]
    else:
        values = sorted(surplus)
    if len(values) == 1:
        return Fraction(0)
    carried, work = Fraction(0), Fraction(0)
    for value in values[:-1]:
        carried += surplus[value]
        work += abs(carried)
    return work / (len(values) - 1)


def _tree_distance(
    surplus: Mapping[Hashable, Fraction], ancestors: Mapping[Any, tuple[Hashable, ...]]
) -> Fraction:
    """Move what can be moved below each node, from the bottom up (Li et al., hierarchical)."""
    unknown = set(surplus) - set(ancestors)
    if unknown:
        raise ValueError(f"the hierarchy lacks {sorted(map(repr, unknown))}")
    inner = {node for above in ancestors.values() for node in above}
    # A leaf is marked as one, since a value can carry the name of a node.
    chains = {
        value: (("value", value), *((value,) if value in inner else ()), *above)
        for value, above in ancestors.items()
    }
    height: dict[Hashable, int] = {}
    parent: dict[Hashable, Hashable] = {}
    for chain in chains.values():
        for steps, node in enumerate(chain):
            height[node] = max(height.get(node, 0), steps)
        for below, node in pairwise(chain):
            if parent.setdefault(below, node) != node:
                raise ValueError(f"{below!r} has two parents")
    roots = {chain[-1] for chain in chains.values()}
    if len(roots) != 1:
        raise ValueError(f"the hierarchy has {len(roots)} roots")

    extra: dict[Hashable, Fraction] = defaultdict(Fraction)
    for value, amount in surplus.items():
        extra["value", value] += amount
    children: dict[Hashable, list[Hashable]] = defaultdict(list)
    for below, node in parent.items():
        children[node].append(below)
    work = Fraction(0)
    for node in sorted(children, key=lambda node: height[node]):
        amounts = [extra[child] for child in children[node]]
        positive = sum((a for a in amounts if a > 0), Fraction(0))
        negative = -sum((a for a in amounts if a < 0), Fraction(0))
        work += height[node] * min(positive, negative)
        extra[node] = positive - negative
    return work / height[roots.pop()]


def _present(counts: Counts) -> list[int]:
    return [count for count in counts.values() if count]


def _size(counts: Counts) -> int:
    return sum(counts.values())


def _exact(number: Number) -> Fraction:
    return Fraction(str(number))

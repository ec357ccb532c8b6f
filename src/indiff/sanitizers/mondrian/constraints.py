"""What a group must satisfy, as data: one compiled check serves every combination.

A group is described by how many of its records hold each sensitive value. The privacy models:
k-anonymity (Samarati and Sweeney 1998), ℓ-diversity in the papers' form (no value holds more than
1/ℓ of a group; DIT v2, Section 4.2.1) and in the distinct, entropy and recursive forms
(Machanavajjhala et al. 2007), t-closeness (Li et al. 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.data.table import Sensitive
from indiff.errors import UserError, check_whole
from indiff.kernels import kernel

# Rounding may not turn an exactly met limit into a failure; integer counts cannot come this close.
SLACK = 1e-12

GROUND_EQUAL, GROUND_ORDERED, GROUND_TREE = 0, 1, 2


@dataclass(frozen=True)
class Constraints:
    """The limits asked for; ``None`` where a model is not asked for.

    >>> Constraints(k=5, t=0.2).describe()
    'k=5, t=0.2'
    >>> Constraints(recursive=(3.0, 2)).describe()
    'recursive=3.0/2'
    """

    k: int = 1
    l: int | None = None  # noqa: E741 - the literature's name
    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    t: float | None = None

    def __post_init__(self) -> None:
        for name in ("k", "l", "distinct_l"):
            if name == "k" or getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1)
        if self.entropy_l is not None and not (
            _is_number(self.entropy_l) and 1 <= self.entropy_l < math.inf
        ):
            rule = "entropy_l must be a number of at least 1"
            raise UserError(rule, repr(self.entropy_l), field="entropy_l")
        if self.t is not None and not (_is_number(self.t) and 0 <= self.t <= 1):
            raise UserError("t must be a number from 0 to 1", repr(self.t), field="t")
        if self.recursive is None:
            return
        rule = "recursive must be a pair (c, l) such as (3, 2)"
        if isinstance(self.recursive, Sequence) and len(self.recursive) == 2:
            c, depth = self.recursive
            if _is_number(c) and 0 < c < math.inf and type(depth) is int and depth >= 1:
                return
            rule = "recursive=(c, l) needs a positive number c and a whole number l of at least 1"
        raise UserError(rule, repr(self.recursive), field="recursive")

    @property
    def needs_sensitive(self) -> bool:
        """Whether any limit looks at the sensitive values, not only at group sizes."""
        return self.l is not None or self.has_more

    @property
    def has_more(self) -> bool:
        """Whether any limit beyond k and the papers' ℓ is asked for."""
        return any(
            limit is not None for limit in (self.distinct_l, self.entropy_l, self.recursive, self.t)
        )

    @property
    def smallest_group(self) -> int:
        """A size that no published group can be below."""
        return max(
            self.k,
            self.l or 1,
            self.distinct_l or 1,
            math.ceil((self.entropy_l or 1) - SLACK),
            self.recursive[1] if self.recursive else 1,
        )

    def describe(self) -> str:
        """Write the limits as the command line takes them."""
        parts = [f"k={self.k}"] if self.k > 1 or not self.needs_sensitive else []
        for name in ("l", "distinct_l", "entropy_l", "recursive", "t"):
            value = getattr(self, name)
            if value is not None:
                shown = value if name != "recursive" else "/".join(map(str, value))
                parts.append(f"{name}={shown}")
        return ", ".join(parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


class Limits(NamedTuple):
    """``Constraints`` as plain data for compiled code; 0 (or 2 for ``t``) switches a limit off.

    ``more`` tells whether any limit beyond k and l is on.
    """

    k: np.int64
    l: np.int64  # noqa: E741 - the literature's name
    more: np.int64
    distinct_l: np.int64
    log_entropy_l: np.float64
    recursive_c: np.float64
    recursive_l: np.int64
    t: np.float64
    ground: np.int64
    reference: NDArray[np.float64]
    tree_parent: NDArray[np.int32]
    tree_height: NDArray[np.float64]
    tree_node: NDArray[np.int32]


def as_limits(
    constraints: Constraints, sensitive: Sensitive, reference: NDArray[np.int64]
) -> Limits:
    """Translate constraints; ``reference`` counts each sensitive value in the table sanitized."""
    recursive_c, recursive_l = constraints.recursive or (0.0, 0)
    ground, parent, height, node = _ground(sensitive)
    total = max(1, int(reference.sum()))
    return Limits(
        np.int64(constraints.k),
        np.int64(constraints.l or 0),
        np.int64(constraints.has_more),
        np.int64(constraints.distinct_l or 0),
        np.float64(math.log(constraints.entropy_l) if constraints.entropy_l else 0.0),
        np.float64(recursive_c),
        np.int64(recursive_l),
        np.float64(2.0 if constraints.t is None else constraints.t),
        np.int64(ground),
        np.asarray(reference / total, np.float64),
        parent,
        height,
        node,
    )


def _ground(
    sensitive: Sensitive,
) -> tuple[int, NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Choose the ground distance: ranks over m − 1, the hierarchy's levels, or 0/1."""
    nothing = np.zeros(1, np.int32), np.zeros(1, np.float64), np.zeros(1, np.int32)
    if sensitive.hierarchy is not None:
        return GROUND_TREE, *_tree(sensitive, sensitive.hierarchy)
    if sensitive.kind in (Kind.NUMERIC, Kind.ORDINAL):
        return GROUND_ORDERED, *nothing
    return GROUND_EQUAL, *nothing


def _tree(
    sensitive: Sensitive, hierarchy: Hierarchy
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Heights above the deepest value below each node, over the root's (Li et al. 2007, §5)."""
    height = np.zeros(len(hierarchy.labels))
    for node in range(len(hierarchy.labels) - 1, 0, -1):
        above = hierarchy.parent[node]
        height[above] = max(height[above], height[node] + 1)
    node_of = np.array(
        [hierarchy.value_node[hierarchy.code_of[value]] for value in sensitive.values], np.int32
    )
    return hierarchy.parent, height / max(1.0, height[0]), node_of


@kernel
def fits(counts: Any, size: Any, k: Any, l: Any) -> Any:  # noqa: E741 - the literature's name
    """Tell whether a group satisfies k-anonymity and the papers' ℓ-diversity."""
    if size < k or size < 1:
        return False
    if l > 1:
        for c in range(counts.shape[0]):
            if counts[c] * l > size:
                return False
    return True


@kernel
def meets(counts: Any, size: Any, limits: Any) -> Any:
    """Tell whether a group with these counts of sensitive values satisfies every limit."""
    if not fits(counts, size, limits.k, limits.l):
        return False
    return not limits.more or meets_more(counts, size, limits)


@kernel
def meets_more(counts: Any, size: Any, limits: Any) -> Any:
    """Tell whether a group satisfies the limits beyond k and l."""
    if limits.distinct_l > 1:
        distinct = 0
        for c in range(counts.shape[0]):
            if counts[c] > 0:
                distinct += 1
        if distinct < limits.distinct_l:
            return False
    if limits.log_entropy_l > 0.0 and entropy(counts, size) < limits.log_entropy_l - SLACK:
        return False
    if limits.recursive_l > 0 and not recursive_diverse(counts, limits):
        return False
    return not (limits.t < 1.0 and closeness(counts, size, limits) > limits.t + SLACK)


@kernel
def entropy(counts: Any, size: Any) -> Any:
    """Entropy of the sensitive values of a group, in nats."""
    total = 0.0
    for c in range(counts.shape[0]):
        if counts[c] > 0:
            p = counts[c] / size
            total -= p * math.log(p)
    return total


@kernel
def recursive_diverse(counts: Any, limits: Any) -> Any:
    """r₁ < c (r_ℓ + … + r_m), the counts in descending order."""
    left = counts.copy()
    tail = left.sum()
    largest = left.max()
    for _ in range(limits.recursive_l - 1):  # take away the ℓ − 1 most common values
        place = left.argmax()
        tail -= left[place]
        left[place] = 0
    return largest < limits.recursive_c * tail


@kernel
def closeness(counts: Any, size: Any, limits: Any) -> Any:
    """Earth mover's distance from a group's sensitive values to the whole table's."""
    m = counts.shape[0]
    if limits.ground == GROUND_ORDERED:
        if m < 2:
            return 0.0
        carried, total = 0.0, 0.0
        for c in range(m - 1):
            carried += counts[c] / size - limits.reference[c]
            total += abs(carried)
        return total / (m - 1)
    if limits.ground == GROUND_TREE:
        nodes = limits.tree_parent.shape[0]
        extra = np.zeros(nodes)
        surplus = np.zeros(nodes)
        lack = np.zeros(nodes)
        for c in range(m):
            # A value that is an inner node is a leaf of its own below that node.
            own = counts[c] / size - limits.reference[c]
            node = limits.tree_node[c]
            extra[node] += own
            surplus[node] += max(own, 0.0)
            lack[node] += max(-own, 0.0)
        total = 0.0
        for node in range(nodes - 1, -1, -1):
            total += limits.tree_height[node] * min(surplus[node], lack[node])
            above = limits.tree_parent[node]
            if above >= 0:
                extra[above] += extra[node]
                surplus[above] += max(extra[node], 0.0)
                lack[above] += max(-extra[node], 0.0)
        return total
    total = 0.0
    for c in range(m):
        total += abs(counts[c] / size - limits.reference[c])
    return 0.5 * total

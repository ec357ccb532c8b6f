"""What every group of a release must satisfy: checked when it is asked for, and explained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, check_whole, from_data, option
from indiff.release.release import Release, anything, release_of
from indiff.sanitizers.mondrian.layout import Limits, ground_distance

Unmet = Literal["error", "generalize"]


@dataclass(frozen=True)
class Constrained:
    """A sanitizer whose groups satisfy any combination of limits.

    ``k`` (at least so many records), ``l`` (no sensitive value holds more than 1/ℓ of a group),
    ``distinct_l``, ``entropy_l``, ``recursive=(c, l)``, ``t``.
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
            is_number(self.entropy_l) and 1 <= self.entropy_l < math.inf
        ):
            rule = "entropy_l must be a number of at least 1"
            raise UserError(rule, repr(self.entropy_l), field="entropy_l")
        if self.t is not None and not (is_number(self.t) and 0 <= self.t <= 1):
            raise UserError("t must be a number from 0 to 1", repr(self.t), field="t")
        if self.recursive is None:
            return
        rule = "recursive must be a pair (c, l) such as (3, 2)"
        if isinstance(self.recursive, Sequence) and len(self.recursive) == 2:
            c, depth = self.recursive
            if is_number(c) and 0 < c < math.inf and type(depth) is int and depth >= 1:
                return
            rule = "recursive=(c, l) needs a positive number c and a whole number l of at least 1"
        raise UserError(rule, repr(self.recursive), field="recursive")

    def asked(self) -> list[str]:
        """Write each limit that is asked for as the command line takes it."""
        names = ("l", "distinct_l", "entropy_l", "recursive", "t")
        asked = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.recursive is not None:
            asked["recursive"] = "/".join(map(str, self.recursive))
        if self.k > 1 or not asked:
            asked = {"k": self.k, **asked}
        return [f"{name}={value}" for name, value in asked.items()]

    def limits(self, table: Table, reference: NDArray[np.int64] | None = None) -> Limits:
        """Return the limits for compiled code; ``reference`` has the counts for t-closeness."""
        counts = table.sensitive.counts if reference is None else reference
        beyond = (self.distinct_l, self.entropy_l, self.recursive, self.t)
        c, depth = self.recursive or (0.0, 0)
        return Limits(
            np.int64(self.k),
            np.int64(self.l or 0),
            np.int64(any(limit is not None for limit in beyond)),
            np.int64(self.distinct_l or 0),
            np.float64(math.log(self.entropy_l) if self.entropy_l else 0.0),
            np.float64(c),
            np.int64(depth),
            np.float64(2.0 if self.t is None else self.t),
            np.asarray(counts / max(1, int(counts.sum())), np.float64),
            *ground_distance(table.sensitive),
        )

    def more_than_all(self, table: Table) -> UserError | None:
        """Return the refusal of a k above the number of records; None where it is not."""
        if self.k <= len(table):
            return None
        rule = f"k must be at least 1 and at most the number of records ({len(table):,})"
        return UserError(rule, f"{self.k:,}", "Lower k", field="k")

    def explain(self, table: Table, counts: NDArray[np.int64], split: bool) -> UserError:
        """Say why a group with these counts of sensitive values cannot meet the limits."""
        size = int(counts.sum())
        where = "a part with missing values" if split else "the whole table"
        generalize = option("unmet", "generalize", of="sanitizer")
        most, lower = size // max(1, int(counts.max())), "Lower the constraint"
        if self.l is not None:
            lower = f"Lower l, which is at most {most} here"
        if self.l is not None and most < 2:
            lower = "No l above 1 is possible here: ask for k, distinct_l=2 or t"
        way_out = f"{lower}, or pass {generalize} to publish one group"
        if self.k > size:
            rule = f"k={self.k} cannot be met: {where} has only {size:,} records"
            return UserError(rule, way_out=way_out, field="k")
        present = int((counts > 0).sum())
        for name in ("l", "distinct_l", "entropy_l"):
            wanted = getattr(self, name)
            if wanted is not None and wanted > present:
                return UserError(
                    f"{name}={wanted} cannot be met: {where} has only {present} distinct values of "
                    f"{table.sensitive.name!r}",
                    way_out=way_out,
                    field=name,
                )
        top = from_data(table.sensitive.values[int(counts.argmax())])
        return UserError(
            f"{', '.join(self.asked())} cannot be met even by {where} as one group: the sensitive "
            f"value {top} is held by {counts.max() / size:.1%} of its {size:,} records",
            way_out=way_out,
            field="sanitizer",
        )


def one_group(table: Table, sanitizer: str) -> Release:
    """Return what is published where a limit cannot be met: one group, every cell ``*``."""
    columns, groups = map(anything, table.attributes), np.zeros(len(table), np.int32)
    return release_of(table, columns, sanitizer=sanitizer, groups=groups, constraint_met=False)


def is_number(value: object) -> bool:
    """Tell whether a value is a number and not NaN; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of a few words."""
    if value not in choices:
        words = [repr(choice) for choice in choices]
        rule = f"{name} must be {', '.join(words[:-1])} or {words[-1]}"
        raise UserError(rule, repr(value), field=name)

"""Reduces counts that are in memory, by sorting: what ``counts`` has of the engine's statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.engines.held import Held, Integers, firsts, stretches, summed
from indiff.engines.protocol import Engine
from indiff.risk.sizes import EXACT_SIZES, SIZE_STEPS, SizeRow, ValueExtremes
from indiff.risk.values import Values, is_value

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """The pairs (group, value) that occur, in order, with their numbers of records.

    Without an attribute each group has one pair.
    """

    groups: Integers
    """What tells the groups apart."""
    starts: NDArray[np.intp]
    """The first pair of each group."""
    x: Integers
    c: Integers

    @cached_property
    def n(self) -> Integers:
        """The number of records of each group."""
        return stretches(self.c, self.starts)

    @cached_property
    def d(self) -> Integers:
        """The number of values of each group."""
        return np.diff(self.starts, append=len(self.c))

    def sizes(self) -> tuple[SizeRow, ...]:
        """Return a row per group size, each record being one individual."""
        n, alone = self.n, self.d == 1
        logs = np.log2(n)
        clogc = np.add.reduceat(self.c * np.log2(self.c), self.starts)
        h = np.where(alone, 0.0, np.maximum(0.0, logs - clogc / n))
        size: NDArray[Any] = n.astype(np.uint16)  # NumPy sorts few bits in linear time
        if n.max() > EXACT_SIZES:
            size = np.where(n <= EXACT_SIZES, n, EXACT_SIZES + (logs * SIZE_STEPS).astype(np.int64))
        order = np.argsort(size, kind="stable")
        first = firsts(size[order])
        least, most = (bound.reduceat(n[order], first) for bound in (np.minimum, np.maximum))
        groups = np.diff(first, append=len(n))

        def total(terms: NDArray[Any]) -> NDArray[Any]:
            return np.add.reduceat(terms[order], first)

        records = total(n)
        found: dict[str, NDArray[Any]] = {
            "smallest": least,
            "largest": most,
            "groups": groups,
            "individuals": records,
            "records": records,
            "nlogn": total(n * logs),
            "clogc": total(clogc),
            "least_weighted_h": np.minimum.reduceat((n * h)[order], first),
            "least_h": np.minimum.reduceat(h[order], first),
            "homogeneous_groups": total(alone.astype(np.int64)),
            "homogeneous_records": total(np.where(alone, n, 0)),
            "largest_records": most,
            "least_records": least,
            "linked": groups.astype(np.float64),
        }
        columns = (found[name].tolist() for name in SizeRow._fields)
        return tuple(SizeRow(*row) for row in zip(*columns, strict=True))


@dataclass(frozen=True)
class Weights:
    """What the group models need of an attribute's values, by their codes."""

    values: Values
    of: Mapping[str, Floats]


@dataclass(frozen=True)
class GroupsInMemory:
    """The groups of some quasi-identifiers with the values of one attribute."""

    engine: Engine
    pairs: Pairs
    weights: Weights
    columns = (0,)

    @cached_property
    def _reach(self) -> Floats:
        return self._mean("reach")

    def _weighed(self, name: str) -> Floats:
        return self.pairs.c * self.weights.of[name][self.pairs.x]

    def _mean(self, name: str) -> Floats:
        return np.add.reduceat(self._weighed(name), self.pairs.starts) / self.pairs.n

    def reduced(self) -> tuple[tuple[SizeRow, ...], ValueExtremes]:
        """Return a row per group size, and extremes over all groups."""
        n, d, alone, values = self.pairs.n, self.pairs.d, self.pairs.d == 1, self.weights.values
        top, low = (
            bound.reduceat(self.pairs.c, self.pairs.starts) for bound in (np.maximum, np.minimum)
        )
        others, records = np.where(alone, 1, n - top), np.repeat(n, d)
        lift = self._weighed("lift") / records
        off = (
            np.abs(self._reach - values.mean_reach),
            np.abs(self._mean("place") - values.mean_place),
        )
        extremes = ValueExtremes(
            top_share=float((top / n).max()),
            least_distinct=int(d.min()),
            spread=int((top - np.where(d < values.distinct, 0, low)).max()),
            most_ratio=float(lift.max()),
            least_ratio=float(lift.min()),
            enhanced_excess=float((self._weighed("enhanced") / records).max()),
            runner_up=float(np.where(alone, np.inf, top / others).max()),
            mixed_reach=float(np.where(alone, 0.0, self._reach).max()),
            reach_bound=float(np.maximum(*off).max()),
            homogeneous_reach=float(np.where(alone, self._reach, 0.0).max()),
        )
        return self.pairs.sizes(), extremes

    def candidates(self, least: float) -> str:
        """Make a table of the groups of several values whose reach is no less."""
        n, d = self.pairs.n, self.pairs.d
        wanted = (d > 1) & (self._reach >= least)
        picked = np.repeat(wanted, d)
        return self.engine.load(
            pa.table(
                {
                    "c0": np.repeat(np.flatnonzero(wanted), d[wanted]),
                    "x": self.pairs.x[picked],
                    "c": self.pairs.c[picked],
                    "n": np.repeat(n[wanted], d[wanted]),
                }
            )
        )

    def equally_far(self, least: float) -> float:
        """Return the largest distance of these groups from the whole table, values equally far.

        Half the absolute differences: only values that a group has too much of count.
        """
        share = self.weights.of["total"] / self.weights.values.records
        excess = self.pairs.c / np.repeat(self.pairs.n, self.pairs.d) - share[self.pairs.x]
        far = np.add.reduceat(np.maximum(excess, 0.0), self.pairs.starts)
        return float(far[self._reach >= least].max(initial=0.0))

    def worst_tail(self, least: int) -> float:
        """Return the largest r₁ / (r_ℓ + … + r_m) over groups, for ℓ = ``least``."""
        c, starts, d = self.pairs.c, self.pairs.starts, self.pairs.d
        ranked = c[np.lexsort((-c, np.repeat(np.arange(len(d)), d)))]
        place = np.arange(len(c)) - np.repeat(starts, d) + 1
        tails = np.add.reduceat(np.where(place >= least, ranked, 0), starts)
        return float((ranked[starts] / tails).max())

    def close(self) -> None:
        """Forget nothing: there is nothing in the engine."""


@dataclass(frozen=True)
class Cells:
    """The cells in memory, with the codes of their sensitive values."""

    engine: Engine
    held: Held
    quasi: int
    codes: tuple[Integers, ...]
    weights: tuple[Weights, ...]

    @cached_property
    def _lower(self) -> int:
        """The bits below those of the quasi-identifiers."""
        return sum(self.held.found.widths[self.quasi :])

    def pairs(self, positions: Sequence[int], number: int | None = None) -> Pairs:
        """Return the groups of some quasi-identifiers, with the values of an attribute, if any."""
        keys, width = self.held.keys(positions) >> self._lower, 0
        if number is not None:
            width = (self.weights[number].values.distinct - 1).bit_length()
            keys = keys << width | self.codes[number]
        keys, c = summed(keys, self.held.found.n)
        starts = firsts(groups := keys >> width)
        return Pairs(groups[starts], starts, keys & ((1 << width) - 1), c)

    def groups(self, positions: Sequence[int], number: int) -> GroupsInMemory:
        """Return the groups of some quasi-identifiers with the values of one attribute."""
        return GroupsInMemory(self.engine, self.pairs(positions, number), self.weights[number])

    def levels(self) -> tuple[int, Iterator[str]]:
        """Return the number of groups, and a view of the values of every quasi-identifier.

        In each group one correct link is to be expected. A view is gone when the next is asked for.
        """
        groups = self.pairs(range(self.quasi))
        return len(groups.n), self._by_value(groups)

    def _by_value(self, groups: Pairs) -> Iterator[str]:
        for position in range(self.quasi):
            codes = self.held.found.codes(position, groups.groups << self._lower)
            links = np.bincount(codes)
            seen = np.flatnonzero(links)
            columns = {
                f"c{position}": self.held.values[position].take(pa.array(seen)),
                "n": np.bincount(codes, groups.n)[seen].astype(np.int64),  # exact below 2⁵³
                "single": np.bincount(codes[groups.n == 1], minlength=len(links))[seen],
                "linked": links[seen].astype(np.float64),
            }
            self.held.connection.register("by_value", pa.table(columns))
            yield "by_value"


def hold(
    engine: Engine,
    held: Held,
    quasi: int,
    values: Sequence[Values],
    tables: Mapping[tuple[int, ...], str],
) -> Cells:
    """Code the cells in memory as the engine coded their values, which ``tables`` has by key."""
    codes, weights = [], []
    for one in values:
        columns = one.sensitive.columns
        rows = held.connection.sql(
            f"SELECT k.k, v.code FROM {tables[columns]} k JOIN {one.plain} v "
            f"ON {is_value(engine, one.sensitive)}"
        ).to_arrow_table()
        keys, code = rows["k"].to_numpy(), rows["code"].to_numpy()
        order = np.argsort(keys)
        codes.append(code[order][np.searchsorted(keys[order], held.keys(columns))])
        table = engine.fetch(one.table)
        order = np.argsort(table["code"].to_numpy())
        names = ("total", "lift", "enhanced", "reach", "place")
        weights.append(Weights(one, {name: table[name].to_numpy()[order] for name in names}))
    return Cells(engine, held, quasi, tuple(codes), tuple(weights))

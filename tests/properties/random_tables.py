"""Random tables in two forms: for indiff, and for the reference implementation."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.table import Table, read_table
from indiff.sanitizers.mondrian.mondrian import Mondrian
from tests import checker
from tests.reference_mondrian import Column, Group, Limits, mondrian

# Ragged, with a value that is an inner node (Artist), chains, and values that nobody may hold.
JOBS = (
    "Dancer;Artist;Arts;*",
    "Writer;Artist;Arts;*",
    "Artist;Arts;*",
    "Curator;Arts;*",
    "Lawyer;Law;Office;Work;*",
    "Judge;Law;Office;Work;*",
    "Clerk;Office;Work;*",
    "Miner;*",
)
PLACES = ("a1;a;*", "a2;a;*", "b1;b;*", "b2;b;*", "b3;b;*", "c;*")
SEVERITY = ("none", "mild", "bad", "fatal")


def parents_of(lines: tuple[str, ...]) -> dict[str, str]:
    """Map every label of ``leaf;parent;…;*`` lines to the one above it."""
    return {
        below: above
        for line in lines
        for below, above in zip(line.split(";"), line.split(";")[1:], strict=False)
    }


@dataclass(frozen=True)
class Sample:
    """One random table: as indiff reads it, and as plain columns."""

    table: Table
    columns: list[Column]
    sensitive: list[Any]
    ladder: tuple[Any, ...]

    def __repr__(self) -> str:
        cells = {place: (c.how, list(c.cells)) for place, c in enumerate(self.columns)}
        return f"Sample({cells}, sensitive={self.sensitive})"

    def limits(self, sanitizer: Mondrian) -> Limits:
        """Return a sanitizer's limits for the reference implementation."""
        return Limits(
            sanitizer.k,
            sanitizer.l,
            sanitizer.distinct_l,
            sanitizer.entropy_l,
            sanitizer.recursive,
            sanitizer.t,
            sensitive_ladder=self.ladder,
        )

    def reference(self, sanitizer: Mondrian, rows: list[int]) -> list[Group] | None:
        """Partition some rows with the reference implementation."""
        return mondrian(
            self.columns,
            self.sensitive,
            rows,
            self.limits(sanitizer),
            tight=sanitizer.regions == "tight",
        )

    @property
    def ground(self) -> checker.Ground:
        """The ground distance of t for the checker."""
        return checker.Ordered(self.ladder) if self.ladder else checker.Equal()


def make_sample(
    seed: int,
    size: int,
    kinds: list[str],
    classes: int,
    *,
    ordered_sensitive: bool = False,
    gaps: bool = False,
) -> Sample:
    """Make one table; ``kinds`` are continuous, ties, tail, ordinal, set, jobs or places."""
    dice = random.Random(seed)
    frame: dict[str, list[Any]] = {}
    columns: list[Column] = []
    orders: dict[str, tuple[str, ...]] = {}
    trees: dict[str, Hierarchy] = {}
    for place, kind in enumerate(kinds):
        name = f"q{place}"
        cells = [_cell(dice, kind) for _ in range(size)]
        if gaps and dice.random() < 0.5:
            cells = [None if dice.random() < 0.25 else cell for cell in cells]
            if all(cell is None for cell in cells):
                cells[0] = _cell(dice, kind)
        frame[name] = cells
        if kind in ("continuous", "ties", "tail"):
            columns.append(Column("number", cells))
        elif kind == "ordinal":
            orders[name] = SEVERITY
            columns.append(Column("ordinal", cells, ladder=SEVERITY))
        elif kind == "set":
            held = sorted({cell for cell in cells if cell is not None})
            columns.append(Column("set", cells, ladder=[*held, None]))
        else:
            lines = JOBS if kind == "jobs" else PLACES
            trees[name] = Hierarchy.from_lines(lines)
            leaves: list[Any] = [line.split(";")[0] for line in lines]
            if None in cells:
                leaves.append(None)
            columns.append(Column("tree", cells, parents=parents_of(lines), leaves=leaves))
    # The first class is frequent, the last ones often have a single record.
    sensitive = [
        min(dice.randrange(classes), dice.randrange(classes)) if dice.random() < 0.7 else 0
        for _ in range(size)
    ]
    if len(set(sensitive)) < 2:
        sensitive[0] = classes - 1
        sensitive[-1] = 0
    texts = [f"s{value:03d}" for value in sensitive]
    frame["sensitive"] = texts
    ladder: tuple[str, ...] = ()
    if ordered_sensitive:
        ladder = tuple(sorted(set(texts)))
        orders["sensitive"] = ladder
    types = {
        "continuous": pa.float64(),
        "tail": pa.float64(),
        "ties": pa.int64(),
    }
    arrays = {
        name: pa.array(cells, types.get(kind, pa.string()))
        for (name, cells), kind in zip(frame.items(), [*kinds, "text"], strict=True)
    }
    table = read_table(
        pa.table(arrays),
        quasi=[f"q{place}" for place in range(len(kinds))],
        sensitive="sensitive",
        orders=orders,
        hierarchies=trees,
        missing="split",
    )
    return Sample(table, columns, texts, ladder)


def _cell(dice: random.Random, kind: str) -> Any:
    if kind == "continuous":
        return dice.random()
    if kind == "ties":
        return dice.randrange(5)
    if kind == "tail":
        return round(dice.paretovariate(0.7), 1)
    if kind == "ordinal":
        return dice.choice(SEVERITY)
    if kind == "set":
        return dice.choice("abcdefgh")
    lines = JOBS if kind == "jobs" else PLACES
    return dice.choice(lines).split(";")[0]


KINDS = ("continuous", "ties", "tail", "ordinal", "set", "jobs", "places")


@st.composite
def samples(draw: st.DrawFn, most: int = 60, attributes: int = 4) -> Sample:
    """Draw a random table of 2 or more records."""
    return make_sample(
        draw(st.integers(0, 2**32)),
        draw(st.integers(2, most)),
        draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=attributes)),
        draw(st.integers(2, 6)),
        ordered_sensitive=draw(st.booleans()),
        gaps=draw(st.integers(0, 3)) == 0,
    )


@st.composite
def sanitizers(draw: st.DrawFn, unmet: str = "generalize") -> Mondrian:
    """Draw a Mondrian with any combination of constraints."""

    def sometimes(strategy: st.SearchStrategy[Any]) -> Any:
        return draw(strategy) if draw(st.integers(0, 3)) == 0 else None

    return Mondrian(
        k=draw(st.integers(1, 6)),
        l=draw(st.one_of(st.none(), st.integers(1, 4))),
        distinct_l=sometimes(st.integers(1, 4)),
        entropy_l=sometimes(st.sampled_from([1.0, 1.5, 2.0, 2.5])),
        recursive=sometimes(st.sampled_from([(1.0, 2), (2.0, 2), (3.0, 3), (0.5, 1)])),
        t=sometimes(st.sampled_from([0.1, 0.2, 0.3, 0.5])),
        regions=draw(st.sampled_from(["tight", "cut"])),
        unmet=unmet,  # type: ignore[arg-type]
    )


def encode(groups: list[Group] | None, sample: Sample, rows: list[int], target: int) -> Any:
    """Materialise the TF encoding (DIT v2, Section 4.3) of a release of ``rows``."""
    features = np.ones((len(rows), len(sample.columns)))
    if groups is not None:
        place = {row: position for position, row in enumerate(rows)}
        for group in groups:
            for a, column in enumerate(sample.columns):
                inside = group.covers[a](column.cells[target])
                for row in group.rows:
                    features[place[row], a] = inside
    return features


def bernoulli(
    features: NDArray[Any],
    labels: list[Any],
    values: tuple[Any, ...],
    *,
    alpha: float = 1.0,
    prior: str = "release",
) -> NDArray[np.float64]:
    """Return scikit-learn's belief about an all-ones target, aligned to the full class list."""
    from sklearn.naive_bayes import BernoulliNB

    model = BernoulliNB(alpha=alpha, fit_prior=prior == "release")
    model.fit(features, labels)
    belief = np.zeros(len(values))
    chances = model.predict_proba(np.ones((1, features.shape[1])))[0]
    for label, chance in zip(model.classes_, chances, strict=True):
        belief[values.index(label)] = chance
    return belief


def frequency(
    features: NDArray[Any], labels: list[Any], values: tuple[Any, ...]
) -> tuple[NDArray[np.float64], bool]:
    """Return the shares among the records that cover the target, or among all; and if any does."""
    inside = [label for row, label in zip(features, labels, strict=True) if row.all()]
    counts = Counter(inside or labels)
    size = sum(counts.values())
    return np.array([counts[value] / size for value in values]), bool(inside)

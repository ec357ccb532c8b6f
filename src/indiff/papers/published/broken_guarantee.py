"""Compares checked with unchecked cuts: groups that break k, and what that does to distances.

The public Mondrian comes with a set-up of its own: 30,162 records of Adult and eight
quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.table import Table, read_table
from indiff.distances.functions import wasserstein
from indiff.inference import NaiveBayes
from indiff.papers.pages import Grid
from indiff.papers.published.partition import Partition
from indiff.papers.published.unchecked_mondrian import UncheckedMondrian
from indiff.papers.run import Run
from indiff.sanitizers.mondrian.mondrian import RegionStyle

MOST_EXPOSED, OTHERS = 100, 400
TRAINING = 30_162  # complete records of Adult's training part, which comes first in the frame
QUASI = ("age", "workclass", "education-num", "marital-status", "occupation", "race", "sex",
         "native-country")  # fmt: skip
TREES = {
    "workclass": (
        "Private;*", "Self-emp-not-inc;Self-employ;*", "Self-emp-inc;Self-employ;*",
        "Federal-gov;gov;*", "Local-gov;gov;*", "State-gov;gov;*", "Without-pay;not-work;*",
        "Never-worked;not-work;*",
    ),
    "marital-status": (
        "Never-married;*", "Married-civ-spouse;Married;*", "Married-AF-spouse;Married;*",
        "Divorced;leave;*", "Separated;leave;*", "Widowed;alone;*", "Married-spouse-absent;alone;*",
    ),
}  # fmt: skip
FLAT = ("occupation", "race", "sex", "native-country")  # every value just below the root


@dataclass(frozen=True, eq=False)
class Comparison:
    """One k: sizes of the unchecked groups, and its distances on the chosen rows."""

    sizes: NDArray[np.int64]
    rows: NDArray[np.intp]
    random: NDArray[np.bool_]
    distances: NDArray[np.float64]


def chosen_rows(
    distances: NDArray[np.float64], seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows with the largest distances and as many others as asked, drawn at random.

    The second array tells which were drawn.
    """
    order = np.argsort(-distances, kind="stable")
    worst, rest = order[:MOST_EXPOSED], order[MOST_EXPOSED:]
    drawn = np.random.default_rng(seed).permutation(np.sort(rest))[:OTHERS]
    rows = np.concatenate([worst, drawn])
    place = np.argsort(rows)
    return rows[place], np.isin(rows[place], drawn)


def compare(
    table: Table,
    k: int,
    regions: RegionStyle,
    distances: NDArray[np.float64],
    report: Callable[[int, int], object] = lambda done, total: None,
) -> Comparison:
    """Test the unchecked sanitizer on the rows most exposed by ours and on random ones.

    Its largest distance over them is a lower bound of its δ: other rows were not tested.
    """
    rows, random = chosen_rows(distances)
    sanitizer, model = UncheckedMondrian(k, regions), NaiveBayes()
    release = sanitizer.sanitize(table)
    groups = release.groups
    sizes = np.bincount(groups if groups is not None else np.zeros(len(table), np.int64))
    beliefs = model.beliefs(release, table.take(rows))
    without = np.empty_like(beliefs)
    for place, row in enumerate(rows):
        smaller = table.without(int(table.records[row]))
        without[place] = model.beliefs(sanitizer.sanitize(smaller), table.take([int(row)]))[0]
        report(place + 1, len(rows))
    return Comparison(sizes, rows, random, wasserstein(beliefs, without))


def own_setup(run: Run) -> Table:
    """Return the table on which the public implementation shows itself."""
    from indiff.datasets.fetch import adult_frame

    frame = adult_frame(None, folder=run.folder, download=run.download)
    training = frame.slice(0, TRAINING)
    trees = {name: Hierarchy.from_lines(lines) for name, lines in TREES.items()}
    for name in FLAT:
        values = sorted(set(training[name].to_pylist()))
        trees[name] = Hierarchy.from_lines([f"{value};*" for value in values])
    return read_table(
        training.select([*QUASI, "income"]), quasi=QUASI, sensitive="income", hierarchies=trees
    )


def small_groups(table: Table, k: int) -> tuple[int, int, int]:
    """Return how many groups it makes, how many are smaller than k, and the records in those."""
    sizes = np.array([len(leaf.rows) for leaf in Partition(table, "k", k).root.leaves()])
    return len(sizes), int((sizes < k).sum()), int(sizes[sizes < k].sum())


def own_groups(run: Run) -> Grid:
    """Return its groups at k = 2 and k = 16."""
    table = own_setup(run)
    return Grid(
        f"The public implementation on its own set-up: {len(table):,} records of Adult, "
        f"{len(QUASI)} quasi-identifiers",
        ("k", "groups", "smaller than k", "records in them"),
        [(k, *small_groups(table, k)) for k in (2, 16)],
    )

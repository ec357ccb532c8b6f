"""The public Mondrian on its own set-up: 30,162 records of Adult and eight quasi-identifiers."""

from __future__ import annotations

import numpy as np

from indiff.data.hierarchy import Hierarchy
from indiff.data.table import Table, read_table
from indiff.papers.items import Cell, Grid
from indiff.papers.published.partition import Partition
from indiff.papers.run import Run

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


def as_grid(run: Run) -> Grid:
    """Return its groups at k = 2 and k = 16."""
    table = own_setup(run)
    rows: list[tuple[Cell, ...]] = [(k, *small_groups(table, k)) for k in (2, 16)]
    return Grid(
        f"The public implementation on its own set-up: {len(table):,} records of Adult, "
        f"{len(QUASI)} quasi-identifiers",
        ("k", "groups", "smaller than k", "records in them"),
        tuple(rows),
    )

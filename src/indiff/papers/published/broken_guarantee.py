"""Checked against unchecked cuts: how many groups break k, and what that does to the distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.distances.functions import wasserstein
from indiff.inference import NaiveBayes
from indiff.papers.published.unchecked_mondrian import UncheckedMondrian
from indiff.sanitizers.mondrian.mondrian import RegionStyle

MOST_EXPOSED, OTHERS = 100, 400


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

"""Chooses the records whose presence a release is most likely to tell, before it is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Table
from indiff.differential.people import as_rows
from indiff.differential.targets.worst_first import rank
from indiff.errors import check_whole, unknown

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Order = Literal["worst-first", "outlying", "random", "given"]

# A rule that looks at true counts changes what it does between two of these.
CELL_SIZES = (1, 5, 3, 10, 2, 4, 11, 6, 8, 20)
_CHOOSING = 11
_AT_ONCE = 200  # records whose distances are taken together


def choose_records(
    table: Table, targets: Iterable[int] | int, *, order: Order = "worst-first", seed: int = 0,
    copied: Floats | None = None,
) -> Rows:  # fmt: skip
    """Return the rows to look at, the most promising first.

    ``worst-first`` takes, in turn, the rows that are found most often in releases of the whole
    table (``copied``), those that look exposed, and those in cells of each small size, where
    rules about small counts begin to hold; ``outlying`` those that are farthest from their
    neighbours, which generators memorise. It decides where to look and never what is found.
    """
    if order not in get_args(Order):
        raise unknown("order", order, get_args(Order), field="order")
    if not isinstance(targets, int):
        return as_rows(table, list(targets))
    check_whole("targets", targets, 1)
    number = min(targets, len(table))
    shuffled = np.random.default_rng(SeedSequence(seed, spawn_key=(_CHOOSING,))).permutation(
        len(table)
    )
    if order == "given":
        return np.arange(number, dtype=np.intp)
    if order == "random":
        return shuffled[:number].astype(np.intp)
    if order == "outlying":
        return _largest(outlyingness(table), shuffled)[:number]
    exposed = rank(table, seed=seed)
    outlying = _largest(outlyingness(table), shuffled)
    sizes = _by_cell_size(table, exposed)
    ways = [sizes, exposed.tolist(), sizes, outlying.tolist()]
    if copied is not None:
        # Copies beyond those that records alike explain.
        ways.insert(0, _largest(copied, shuffled)[: int((copied > 0).sum())].tolist())
    return _in_turn(ways, number)


def _largest(scores: Floats, shuffled: NDArray[np.int64]) -> Rows:
    return shuffled[np.argsort(-scores[shuffled], kind="stable")].astype(np.intp)


def _in_turn(ways: list[list[int]], number: int) -> Rows:
    """Take the next new row of each way in turn."""
    found: dict[int, None] = {}
    following = [iter(way) for way in ways]
    while len(found) < number and following:
        for one in list(following):
            row = next((row for row in one if row not in found), None)
            if row is None:
                following.remove(one)
            elif len(found) < number:
                found[row] = None
    return np.array(list(found), np.intp)


def _by_cell_size(table: Table, order: Rows) -> list[int]:
    """Return a row of each small cell size: of cells by value, then of those of all values."""
    quasi = np.stack([a.codes for a in table.attributes])
    found: list[int] = []
    for sizes in (record_multiplicity(table)[order], _sizes(quasi)[order]):
        for size in CELL_SIZES:
            found += order[sizes == size][:1].tolist()
    return found


def record_multiplicity(table: Table) -> NDArray[np.int64]:
    """Return how many records are like each one in every quasi-identifier and its value."""
    return _sizes(np.stack([*(a.codes for a in table.attributes), table.sensitive.codes]))


def _sizes(keys: NDArray[np.int32]) -> NDArray[np.int64]:
    back, counts = np.unique(keys, axis=1, return_inverse=True, return_counts=True)[1:]
    return np.asarray(counts[back.ravel()])


def outlyingness(table: Table, neighbours: int = 5) -> Floats:
    """Return how far each record is in the mean from its nearest neighbours (Gower).

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(pa.table({"age": [30, 31, 30, 90], "ill": ["n", "n", "n", "y"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> int(outlyingness(table, 1).argmax())
    3
    """
    size = len(table)
    if size < 2:
        return np.zeros(size)
    numbers, words = [], [table.sensitive.codes]
    for attribute in table.attributes:
        if attribute.kind == Kind.CATEGORICAL:
            words.append(attribute.codes)
            continue
        points = attribute.points[attribute.codes]
        numbers.append(points / (float(np.ptp(points)) or 1.0))
    # Beyond some thousands of records, distances to a part of them tell as much.
    others = np.linspace(0, size - 1, min(size, 5_000)).round().astype(np.intp)
    found = np.empty(size)
    nearest = min(neighbours, size - 1)
    for start in range(0, size, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, size))
        far = np.zeros((len(rows), len(others)))
        for one in numbers:
            far += np.abs(one[rows, None] - one[None, others])
        for word in words:
            far += word[rows, None] != word[None, others]
        far[rows[:, None] == others[None, :]] = np.inf
        found[rows] = np.partition(far, nearest - 1, axis=1)[:, :nearest].mean(axis=1)
    return found

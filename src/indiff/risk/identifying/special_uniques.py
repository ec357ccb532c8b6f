"""Finds special uniques: records that few columns single out, scored as SUDA2 does.

A minimal sample unique (MSU) of a record is a set of columns on which no other record has its
values, while on every smaller part of the set some other record has (Elliot, Manning and Ford 2002,
"A computational algorithm for handling the special uniques problem", International Journal of
Uncertainty, Fuzziness and Knowledge-Based Systems 10(5); Manning, Haglin and Keane 2008, "A
recursive search algorithm for statistical disclosure assessment", Data Mining and Knowledge
Discovery 16). What is found is what SUDA2 finds; the search is by partitions (``subsets``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.reading.door import read_raw
from indiff.errors import UserError, unknown

if TYPE_CHECKING:
    from indiff.risk.identifying.subsets import Codes

SAMPLING = 0.1
"""The share of the population that the file is taken to be, where nobody says what it is."""


@dataclass(frozen=True)
class SpecialRisk:
    """How many records few columns single out, and which columns do it.

    It says how easily a record is found *in the file*. Whether its person is rare in the
    population, DIS only guesses, from the pairs in the file and the sampling fraction.
    """

    columns: tuple[str, ...]
    size: int
    """MSUs of up to so many columns were looked for; whoever only has larger ones scores 0."""
    sampling: float
    records: int
    uniques: int
    """Records that are alone by all columns together."""
    special: int
    """Records with an MSU of at most ``size`` columns."""
    msus: dict[int, int]
    """How many MSUs have so many columns."""
    smallest: dict[int, int]
    """How many records have a smallest MSU of so many columns."""
    dis: float
    """DIS of the file: how likely a unique match is right (Skinner and Elliot 2002)."""
    largest_dis: float
    largest_score: float
    contributions: dict[str, float]
    """The share of all scores that is in MSUs with the column; an MSU counts for each it has."""


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """What was found, and for every record, in the order of the input, its MSUs, score and DIS."""

    summary: SpecialRisk
    msus: NDArray[np.int32]
    """Records × sizes: how many MSUs of 1, 2, … columns a record has."""
    scores: NDArray[np.float64]
    dis: NDArray[np.float64]

    def to_frame(self) -> pa.Table:
        """Return a row per record with an MSU: its number, MSUs, smallest one, score and DIS."""
        found = np.flatnonzero(self.msus.any(axis=1))
        return pa.table({
            "record": found,
            "msus": self.msus[found].sum(axis=1),
            "smallest_msu": (self.msus[found] > 0).argmax(axis=1) + 1,
            "suda": self.scores[found],
            "dis": self.dis[found],
        })  # fmt: skip


def special_uniques(
    source: Any,
    *,
    quasi: Sequence[str] | str | None = None,
    size: int | None = None,
    sampling: float = SAMPLING,
    **reading: Any,
) -> SpecialUniques:
    """Find every minimal sample unique of up to ``size`` columns; score every record.

    ``source`` is a path or a frame, ``quasi`` are the columns (all, if left out), ``size`` is as
    many as there are columns unless it is given, and ``sampling`` is the share of the population
    that is in the file. A missing value is a value of its own. Exact.

    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30]})
    >>> found = special_uniques(people)
    >>> found.msus.tolist()  # the second alone is 40; no other is alone by anything less than both
    [[0, 1], [1, 0], [0, 0], [0, 0]]
    >>> found.scores.tolist(), found.summary.contributions
    ([1.0, 1.0, 0.0, 0.0], {'sex': 0.5, 'age': 1.0})
    """
    frame = read_raw(source, **reading).frame
    wanted = [quasi] if isinstance(quasi, str) else list(quasi or frame.column_names)
    for name in wanted:
        if name not in frame.column_names:
            raise unknown("column", name, frame.column_names, field="quasi")
    from indiff.risk.identifying.subsets import coded  # numba loads slowly

    return find_uniques(coded(frame.select(wanted)), size, sampling)


def find_uniques(table: Codes, size: int | None, sampling: float) -> SpecialUniques:
    """Find and score the MSUs of coded rows, one result for each row."""
    from indiff.risk.identifying.subsets import lattice, minimal_uniques, require_few

    if not 0 < sampling <= 1:
        raise UserError("sampling is a share above 0 and at most 1", sampling, field="sampling")
    attributes = len(table.names)
    largest = attributes if size is None else min(size, attributes)
    require_few(len(table), attributes, largest, bits=True)
    # The rarest value splits best, and what is split off is never looked at again.
    rank = np.argsort(table.distinct, kind="stable")
    nodes = lattice(attributes, largest)
    by_size, by_set = minimal_uniques(
        table.codes[rank], table.distinct[rank], table.weights,
        (nodes.masks, nodes.column, nodes.depth), nodes.subsets,
    )  # fmt: skip
    weights = score_weights(attributes, largest)
    scores = by_size @ weights
    total, shares = float(scores.sum()), {}
    for place, column in enumerate(rank):
        has = (nodes.masks >> place & 1).astype(bool)
        own = float(by_set[has] @ weights[nodes.depth[has] - 1])
        shares[table.names[column]] = own / total if total else 0.0
    whole = _sizes_by_all(table)
    uniques, paired = int((whole == 1).sum()), 2 * int((whole == 2).sum())
    file_dis = _file_dis(uniques, paired, sampling)
    dis = dis_scores(scores, attributes, uniques, file_dis)
    smallest = (by_size[by_size.any(axis=1)] > 0).argmax(axis=1) + 1
    summary = SpecialRisk(
        columns=table.names,
        size=largest,
        sampling=sampling,
        records=table.records,
        uniques=uniques,
        special=len(smallest),
        msus={width + 1: int(count) for width, count in enumerate(by_size.sum(axis=0))},
        smallest={width: int((smallest == width).sum()) for width in range(1, largest + 1)},
        dis=file_dis,
        largest_dis=float(dis.max(initial=0.0)),
        largest_score=float(scores.max(initial=0.0)),
        contributions={name: shares[name] for name in table.names},
    )
    return SpecialUniques(summary, by_size, scores, dis)


def score_weights(attributes: int, largest: int) -> NDArray[np.float64]:
    """Return what an MSU of 1, 2, … columns adds to a record's score.

    It is Π (ATT − j) for j from its size to M − 1, where ATT is the number of columns and M the
    largest size that is looked for (Elliot, Manning and Ford 2002): the number of ways to add
    columns one by one until there are M. An MSU of M columns adds 1.

    >>> score_weights(4, 3).tolist()
    [6.0, 2.0, 1.0]
    """
    return np.array(
        [prod(attributes - j for j in range(width, largest)) for width in range(1, largest + 1)],
        np.float64,
    )


def _file_dis(uniques: int, paired: int, sampling: float) -> float:
    """Return DIS: how likely a match is right that is unique in the file.

    It is U·π / (U·π + P·(1 − π)), with U records alone, P records in pairs and π the sampling
    fraction (Skinner and Elliot 2002, "A measure of disclosure risk for microdata", Journal of the
    Royal Statistical Society B 64(4), Section 3; sdcMicro computes the same).
    """
    if uniques == 0:
        return 0.0
    return uniques * sampling / (uniques * sampling + paired * (1 - sampling))


def dis_scores(
    scores: NDArray[np.float64], attributes: int, uniques: int, file_dis: float
) -> NDArray[np.float64]:
    """Spread the file's DIS over its records by their scores (DIS-SUDA), as sdcMicro does.

    A record of score s > 0 has 1 / (1 + U·(1/DIS − 1) / (s^q · Σ 1/s^q)), where U is the number of
    records alone, the sum is over all scores above 0, and q = 1 + (8 − ATT)/20. If all scores are
    equal and all of the U have one, each is the file's DIS. A score of 0 has 0.

    >>> dis_scores(np.array([6.0, 6.0, 0.0]), 3, 2, 0.25).tolist()
    [0.25, 0.25, 0.0]
    """
    found = np.zeros(len(scores))
    has = scores > 0
    if not has.any():
        return found
    power = scores[has] ** (1 + (8 - attributes) / 20)
    found[has] = 1 / (1 + uniques * (1 / file_dis - 1) / (power * (1 / power).sum()))
    return found


def _sizes_by_all(table: Codes) -> NDArray[np.int64]:
    """Return how many records each group of equal records has."""
    inverse = np.zeros(len(table), np.int64)
    for codes, distinct in zip(table.codes, table.distinct, strict=True):
        _, inverse = np.unique(inverse * distinct + codes, return_inverse=True)
    return np.bincount(inverse.ravel(), table.weights).astype(np.int64)

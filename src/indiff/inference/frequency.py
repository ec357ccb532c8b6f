"""Looks a target up in a release: the conditional frequency, and its form for noisy counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.release.release import Release, ReleasedColumn


@dataclass(frozen=True)
class Frequency:
    """The share of each sensitive value among the released records that cover the target.

    This is the inference of DIT v2's example (Section 3.2, Tables 1 and 2): the probability of a
    sensitive value given all quasi-identifiers. A target that no released record covers is
    believed to be like everybody: the shares in the whole release, or equal ones where nothing in
    it counts, as in a noisy table whose counts all became 0.
    """

    def __str__(self) -> str:
        return "frequency"

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return the belief about each target from the release."""
        return self.beliefs_and_coverage(release, targets)[0]

    def beliefs_and_coverage(
        self, release: Release, targets: Table
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the beliefs, and for each target whether any released record covers it."""
        counts, back = covering_counts(release, targets)
        totals = release.class_totals()
        found = counts.sum(axis=1) > 0
        counts[~found] = totals if totals.any() else 1.0
        return (counts / counts.sum(axis=1, keepdims=True))[back], found[back]


@dataclass(frozen=True)
class SmoothedFrequency:
    """belief(k) = C_k / ΣC with C_k = 1 + the weight of value k among what covers the target.

    This is the inference that DIT v2, Section 4.2.2 (Eqs. 2 to 4) couples with differential
    privacy: a weight is a count with noise, not below 0, and the 1 keeps the belief defined. A
    target that nothing covers may have any value, each as likely.
    """

    def __str__(self) -> str:
        return "smoothed-frequency"

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return the belief about each target from the release."""
        counts, back = covering_counts(release, targets)
        counts += 1
        return (counts / counts.sum(axis=1, keepdims=True))[back]


def covering_counts(
    release: Release, targets: Table
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Count each sensitive value among what covers the targets, each distinct target once.

    The second array gives the place of each target among the distinct ones.
    """
    size = len(release.sensitive_values)
    codes = [targets.attribute(c.attribute.name).codes for c in release.columns]
    distinct, back = np.unique(np.stack(codes), axis=1, return_inverse=True)
    counts = np.empty((distinct.shape[1], size))
    for place, combination in enumerate(distinct.T):
        mask = covering_rows(release, combination)
        weights = None if release.weights is None else release.weights[mask]
        counts[place] = np.bincount(release.classes[mask], weights=weights, minlength=size)
    return counts, back.ravel()


def covering_rows(release: Release, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell for every row whether its regions cover these codes, one for each column."""
    first = release.columns[0]
    covered = zip(release.columns, codes.tolist(), strict=True)
    if all(c.index is first.index and c.count == first.count for c in release.columns):
        # A partition: rows of one group share all regions, so groups are looked up, not rows.
        inside = np.ones(first.count, dtype=bool)
        for column, code in covered:
            inside &= _regions_covering(column, code)
        return inside[first.index]
    mask = np.ones(len(release), dtype=bool)
    for column, code in covered:
        mask &= column.covering(code)
    return mask


def _regions_covering(column: ReleasedColumn, code: int) -> NDArray[np.bool_]:
    inside = np.zeros(column.count, dtype=bool)
    inside[column.span_region[(column.span_low <= code) & (code <= column.span_high)]] = True
    return inside

"""The adversary of a noisy table: shares of noisy counts, each one larger than published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.release.release import Release


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
        size = len(release.sensitive_values)
        codes = [targets.attribute(c.attribute.name).codes for c in release.columns]
        distinct, back = np.unique(np.stack(codes), axis=1, return_inverse=True)
        counts = np.ones((distinct.shape[1], size))
        for place, combination in enumerate(distinct.T):
            mask = np.ones(len(release), dtype=bool)
            for column, code in zip(release.columns, combination, strict=True):
                mask &= column.covering(int(code))
            weights = None if release.weights is None else release.weights[mask]
            counts[place] += np.bincount(release.classes[mask], weights=weights, minlength=size)
        return (counts / counts.sum(axis=1, keepdims=True))[back.ravel()]

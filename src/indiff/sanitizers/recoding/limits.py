"""Tells which of many groups satisfy the limits, and which would without one of their records."""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import meets


@kernel
def meet_all(counts: Any, limits: Any) -> Any:
    """Tell for each group, a row of counts by sensitive value, whether it satisfies every limit."""
    groups, classes = counts.shape
    met = np.zeros(groups, np.bool_)
    for group in range(groups):
        size = 0
        for c in range(classes):
            size += counts[group, c]
        met[group] = meets(counts[group], size, limits)
    return met


@kernel
def meet_without(counts: Any, limits: Any) -> Any:
    """Tell for each group and sensitive value whether the group satisfies every limit without one.

    A group whose only record leaves is no group any more, and breaks nothing.
    """
    groups, classes = counts.shape
    met = np.zeros((groups, classes), np.bool_)
    left = np.zeros(classes, np.int64)
    for group in range(groups):
        size = 0
        for c in range(classes):
            left[c] = counts[group, c]
            size += left[c]
        for c in range(classes):
            if left[c] > 0:
                left[c] -= 1
                met[group, c] = size == 1 or meets(left, size - 1, limits)
                left[c] += 1
    return met

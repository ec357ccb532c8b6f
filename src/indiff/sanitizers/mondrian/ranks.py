"""Ranks, searches and sorts codes, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.kernels import kernel


@kernel
def nth_smallest(values: Any, size: Any, rank: Any) -> Any:
    """The ``rank``-th smallest (from 1) of ``values[:size]``, which is rearranged."""
    left, right, place = 0, size - 1, rank - 1
    while left < right:
        middle = (left + right) // 2
        if values[middle] < values[left]:
            values[middle], values[left] = values[left], values[middle]
        if values[right] < values[left]:
            values[right], values[left] = values[left], values[right]
        if values[right] < values[middle]:
            values[right], values[middle] = values[middle], values[right]
        pivot = values[middle]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            right = j
        elif place >= i:
            left = i
        else:
            return values[place]
    return values[place]


@kernel
def nth_between(values: Any, size: Any, rank: Any, low: Any, high: Any, bins: Any) -> Any:
    """The ``rank``-th smallest of ``values[:size]``, which lie between ``low`` and ``high``.

    Counts where there are few different values, which is common and several times faster.
    ``values`` may be rearranged.
    """
    spread = high - low + 1
    if spread > 2 * size:
        return nth_smallest(values, size, rank)
    for bin in range(spread):
        bins[bin] = 0
    for place in range(size):
        bins[values[place] - low] += 1
    seen = 0
    for bin in range(spread):
        seen += bins[bin]
        if seen >= rank:
            return np.int32(low + bin)
    return np.int32(high)


@kernel
def cut_rank(size: Any) -> Any:
    """Which order statistic cuts a group: the max(1, m // 2)-th smallest value."""
    return max(1, size // 2)


@kernel
def first_at_least(values: Any, start: Any, end: Any, bound: Any) -> Any:
    """The first place in the sorted ``values[start:end]`` that is not below ``bound``."""
    while start < end:
        middle = (start + end) // 2
        if values[middle] < bound:
            start = middle + 1
        else:
            end = middle
    return start


@kernel
def sort(values: Any) -> Any:
    """Sort in place by a heap: numba's own sort takes seconds to compile."""
    size = values.shape[0]
    for end in range(size // 2 + size - 1, 0, -1):
        if end >= size:
            root, stop = end - size, size
        else:
            values[0], values[end] = values[end], values[0]
            root, stop = 0, end
        value = values[root]
        child = 2 * root + 1
        while child < stop:
            if child + 1 < stop and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[root] = values[child]
            root = child
            child = 2 * root + 1
        values[root] = value

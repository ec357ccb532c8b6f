"""The compiled counting kernel: values to codes, codes to one key per row, keys to counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.compiled import kernel


@kernel
def add_codes(
    values: NDArray[np.int64],
    base: int,
    codes: NDArray[np.int32],
    stride: int,
    keys: NDArray[np.int32],
) -> bool:
    """Add ``stride · codes[value − base]`` to each row's key; tell whether all had a code."""
    size = codes.size
    known = True
    for row in range(values.size):
        place = values[row] - base
        if place < 0 or place >= size:
            return False
        code = codes[place]
        known &= code >= 0
        keys[row] += code * stride
    return known


@kernel
def count_keys(keys: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add one to the count of every row's key."""
    for row in range(keys.size):
        counts[keys[row]] += 1

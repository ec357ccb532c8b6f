"""The compiled counting kernel: values to codes, codes to one key per row, keys to counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.kernels import kernel


@kernel
def add_codes(
    values: NDArray[Any],
    base: int,
    codes: NDArray[np.int32],
    is_first: bool,
    keys: NDArray[np.int32],
) -> bool:
    """Add ``codes[value − base]`` to each row's key; tell whether every value had a code.

    The first column sets the keys instead. Limits are checked before the loop and negative codes
    (values without one) after it, so that the loop itself has no branch.
    """
    if values.size == 0:
        return True
    low, high = values[0], values[0]
    for row in range(values.size):
        low, high = min(low, values[row]), max(high, values[row])
    if low < base or high > base + codes.size - 1:  # high − base could overflow
        return False
    signs = np.int32(0)
    if is_first:
        for row in range(values.size):
            code = codes[values[row] - base]
            signs |= code
            keys[row] = code
    else:
        for row in range(values.size):
            code = codes[values[row] - base]
            signs |= code
            keys[row] += code
    return bool(signs >= 0)


@kernel
def count_keys(keys: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add one to the count of every row's key."""
    for row in range(keys.size):
        counts[keys[row]] += 1

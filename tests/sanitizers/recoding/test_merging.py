from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from indiff.sanitizers.recoding.merging import merge


def merged(rows: Sequence[Sequence[int]], sizes: list[int], room: int) -> tuple[list[int], ...]:
    """Merge cells whose codes are their labels, by every column that has several."""
    codes = np.array(rows, np.int32)
    width = codes.shape[1]
    labels = np.tile(np.arange(codes.max() + 1, dtype=np.int32), width)
    starts = np.arange(width) * (codes.max() + 1)
    each = np.arange(len(rows))
    found = merge(
        codes, each, np.array(sizes), labels, starts, np.full(width, room), np.arange(width)
    )
    return tuple(part.tolist() for part in found)


# 9 columns of 9 labels have a key of their own; of 2¹⁶ each, other labels get the same key.
@pytest.mark.parametrize("room", [9, 2**16])
def test_equal_labels_become_one_group_in_the_order_of_first_cells(room: int) -> None:
    dice = random.Random(room)
    for _ in range(50):
        rows = [tuple(dice.randrange(2) for _ in range(9)) for _ in range(dice.randint(1, 80))]
        sizes = [dice.randint(1, 9) for _ in rows]
        order = list(dict.fromkeys(rows))
        cells, held, of = merged(rows, sizes, room)
        assert cells == [rows.index(row) for row in order]
        assert of == [order.index(row) for row in rows]
        assert held == [
            sum(size for size, row in zip(sizes, rows, strict=True) if row == one) for one in order
        ]


def test_labels_with_the_same_key_stay_apart() -> None:
    # 2¹⁶ to the power of 4 is 2⁶⁴: the first of five columns falls out of the key.
    rows = [(0, 1, 1, 1, 1), (1, 1, 1, 1, 1), (0, 1, 1, 1, 1)]
    assert merged(rows, [1, 2, 4], 2**16) == ([0, 1], [5, 2], [0, 1, 0])


def test_only_the_named_columns_tell_groups_apart() -> None:
    codes = np.array([[0, 0], [1, 0], [0, 1]], np.int32)
    labels, starts = np.array([0, 0, 0, 1], np.int32), np.array([0, 2])
    found = merge(
        codes, np.arange(3), np.array([1, 2, 4]), labels, starts, np.array([1, 2]), np.array([1])
    )
    assert [part.tolist() for part in found] == [[0, 2], [3, 4], [0, 0, 1]]

"""Which records are looked at first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from indiff import read_table
from indiff.differential.claim.targets import (
    CELL_SIZES,
    choose_records,
    outlyingness,
    record_multiplicity,
)
from indiff.errors import UserError
from tests.differential.claim import gallery


def test_small_cells_of_many_sizes_are_looked_at() -> None:
    table = gallery.people()
    rows = choose_records(table, 20)
    assert len(set(rows.tolist())) == 20
    assert {1, 5, 3, 10, 2} <= set(record_multiplicity(table)[rows].tolist())
    assert set(CELL_SIZES) >= {1, 5, 10}


def test_what_was_found_in_releases_comes_first() -> None:
    copied = np.zeros(1000)
    copied[417] = 1
    assert 417 in choose_records(gallery.people(), 4, copied=copied)


def test_outlying_records_by_hand() -> None:
    table = read_table(
        pa.table({"age": [20, 21, 22, 60], "ill": ["n", "n", "n", "n"]}),
        quasi=["age"], sensitive="ill",
    )  # fmt: skip
    # Distances to the nearest neighbour, in shares of the range of 40.
    assert outlyingness(table, 1).tolist() == pytest.approx([1 / 40, 1 / 40, 1 / 40, 38 / 40])
    assert choose_records(table, 1, order="outlying").tolist() == [3]


def test_orders_and_numbers() -> None:
    table = gallery.people(50)
    assert choose_records(table, [7, 3], order="given").tolist() == [7, 3]
    assert choose_records(table, 3, order="given").tolist() == [0, 1, 2]
    assert len(choose_records(table, 900, order="random")) == 50
    with pytest.raises(UserError, match="no order 'sideways'"):
        choose_records(table, 3, order="sideways")  # type: ignore[arg-type]

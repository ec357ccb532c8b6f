"""The statistics of one release, counted by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from indiff import Identity, Suppress, read_release, read_table
from indiff.differential.claim.statistics import (
    GENERAL,
    copies_of,
    default_models,
    statistic_names,
    statistics_of,
)

TABLE = read_table(
    pa.table({"age": [30, 30, 45, 61], "sex": list("fmff"), "ill": ["no", "yes", "yes", "no"]}),
    quasi=["age", "sex"], sensitive="ill",
)  # fmt: skip


def about(release: object, row: int) -> dict[str, float]:
    read = read_release(release, TABLE) if isinstance(release, pa.Table) else release
    models = default_models()
    found = statistics_of(read, TABLE.take([row]), models)  # type: ignore[arg-type]
    return dict(zip(statistic_names(TABLE, models), found[0].tolist(), strict=True))


def test_the_raw_table_by_hand() -> None:
    found = about(Identity().sanitize(TABLE), 0)
    assert found["rows"] == found["total count"] == 4
    assert found["count of its value"] == 2
    assert found["rows that cover it"] == found["count of its cell"] == found["exact copies"] == 1
    assert found["count of its cell's other values"] == 0
    assert found["distance of the nearest row"] == 0
    assert found["count by age"] == 2
    assert found["pair sex"] == 2
    assert found["belief of frequency"] == 1
    assert found["rows that are near"] == 2  # itself, and one other of its value and sex in a step


def test_weights_count_and_stars_cover_everybody() -> None:
    made = pa.table(
        {"age": ["30", "*"], "sex": ["*", "m"], "ill": ["no", "no"], "weight": [2.5, 1.0]}
    )
    found = about(made, 0)
    assert found["rows"] == 2
    assert found["total count"] == 3.5
    assert found["count of its cell"] == 2.5
    assert found["exact copies"] == 0
    assert found["finest binary digit of its cell"] == 1
    assert found["narrowest regions that cover it"] == 1  # of two sexes


def test_a_count_of_nothing_has_no_digit() -> None:
    made = pa.table({"age": ["30"], "sex": ["f"], "ill": ["no"], "weight": [0.0]})
    assert about(made, 0)["finest binary digit of its cell"] == -1


def test_the_digest_is_of_everything() -> None:
    one, two = (pa.table({"age": ["30"], "sex": ["f"], "ill": ["no"], "weight": [w]})
                for w in (1.0, 1.5))  # fmt: skip
    names = "release as a whole"
    assert about(one, 0)[names] == about(one, 1)[names] != about(two, 0)[names]


def test_numbers_in_other_columns_are_seen() -> None:
    made = pa.table({"age": ["*"], "sex": ["*"], "ill": ["no"], "n": [4]})
    assert about(made, 0)["other columns"] == 4


def test_copies_are_exact_rows_only() -> None:
    assert copies_of(Identity().sanitize(TABLE), TABLE).tolist() == [1, 1, 1, 1]
    assert copies_of(Suppress().sanitize(TABLE), TABLE).tolist() == [0, 0, 0, 0]


def test_an_empty_cell_and_no_name_of_a_value() -> None:
    found = statistics_of(Suppress().sanitize(TABLE), TABLE, ())
    assert found.shape == (4, len(GENERAL) + 4)
    assert np.isfinite(found).all()
    assert not any("30" in name for name in statistic_names(TABLE, ()))


@pytest.mark.parametrize("row", range(4))
def test_finite_about_everybody(row: int) -> None:
    assert all(np.isfinite(value) for value in about(Identity().sanitize(TABLE), row).values())

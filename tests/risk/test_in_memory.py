"""What is reduced in memory is what the definitions say, however the rows were counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff.risk import measure_risk
from tests.risk.test_metrics_definitions import test_every_metric_is_its_definition as by_definition


@pytest.mark.parametrize("seed", [1, 2])
def test_every_metric_of_sorted_rows_is_its_definition(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indiff.engines.tally.MOST_COMBINATIONS", 0)
    by_definition(seed, "in-process")


def test_sizes_above_fifty_thousand_are_kept_in_steps(engine: Any) -> None:
    """log₂ of 60,000 and of 60,010 begin with 15.872: they are kept in one row."""
    sizes = (1, 50_000, 50_001, 60_000, 60_010)
    frame = pa.table({"q": np.repeat(np.arange(len(sizes)), sizes)})
    groups = measure_risk(frame, quasi="q", engine=engine, details=False).groups
    found = [(size.smallest, size.largest, size.groups, size.records) for size in groups.sizes]
    assert found == [
        (1, 1, 1, 1),
        (50_000, 50_000, 1, 50_000),
        (50_001, 50_001, 1, 50_001),
        (60_000, 60_010, 2, 120_010),
    ]
    assert groups.marketer == pytest.approx(5 / 220_012, abs=1e-15)


def test_values_that_need_all_bits_of_a_key_are_told_apart() -> None:
    """15, 16, 16 and 16 bits; the last records have groups of their own by the first column."""
    many, few = np.arange(40_000), np.arange(1, 20_001)
    nothing = np.zeros(len(few), np.int64)
    columns = {name: np.append(many, nothing) for name in ("b", "c", "ill")}
    frame = pa.table({"a": np.append(0 * many, few), **columns})
    risk = measure_risk(
        frame, quasi=["a", "b", "c"], sensitive="ill", engine="in-process", details=False
    )
    assert risk.groups.singled_out == 60_000


def test_the_most_frequent_value_against_the_tail_from_the_third(engine: Any) -> None:
    """Counts 5, 3, 2, 1: r₁ / (r₃ + r₄) = 5/3; counts 2, 2, 2 have 1; 4, 4, 3, 3 have 4/6."""
    groups = {"x": "aaaaabbbccd", "y": "aabbcc", "z": "ddddccccbbbaaa"}
    rows = [(group, ill) for group, text in groups.items() for ill in text]
    frame = pa.table({"q": [group for group, _ in rows], "ill": [ill for _, ill in rows]})
    found = measure_risk(frame, quasi="q", sensitive="ill", engine=engine).groups
    assert found.distinct_l == 3
    assert found.recursive[0] == pytest.approx(5 / 3)
    assert found.recursive[1] == 3


def test_several_attributes_and_both_together_have_codes_of_their_own(engine: Any) -> None:
    """Texts that are one number are one value, alone and as a part of a pair."""
    frame = pa.table(
        {
            "q": [1, 1, 1, 2, 2, 2, 2],
            "ill": ["b", "a", "b", "a", None, "a", "b"],
            "wage": ["1", "1.0", "2", "10", "2", "1", ""],
        }
    )
    risk = measure_risk(frame, quasi="q", sensitive=["ill", "wage"], engine=engine)
    assert risk.groups.sensitive["ill"].distinct_l == 2
    assert risk.groups.sensitive["wage"].distinct_l == 2, "1 and 1.0 are one, and 2"
    assert risk.groups.sensitive["wage"].alpha == pytest.approx(2 / 3)
    both = measure_risk(frame, quasi="q", sensitive=["ill", "wage"], joint=True, engine=engine)
    (pair,) = both.groups.sensitive.values()
    assert pair.distinct_l == 3
    assert pair.alpha == pytest.approx(1 / 3)


def test_values_are_listed_with_their_records_and_those_alone(engine: Any) -> None:
    """Groups by age and town: (1, x) twice, (1, y), (2, x), (missing, y) thrice."""
    frame = pa.table(
        {"age": [1, 1, 1, 2, None, None, None], "town": ["x", "x", "y", "x", "y", "y", "y"]}
    )
    risk = measure_risk(frame, quasi=["age", "town"], engine=engine)
    found = {
        (level.column, level.value): (level.records, level.singled_out, level.share_of_risk)
        for level in risk.levels
    }
    assert found == {
        ("age", 1): (3, 1, 0.5),
        ("age", 2): (1, 1, 0.25),
        ("age", None): (3, 0, 0.25),
        ("town", "x"): (3, 1, 0.5),
        ("town", "y"): (4, 1, 0.5),
    }
    assert [level.value for level in risk.levels] == [1, 2, None, "x", "y"]

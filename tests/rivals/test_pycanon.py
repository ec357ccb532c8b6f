"""pyCANON where it follows the textbook, and each place where it does not (README.md)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.checker import Equal, Ordered, earth_movers_distance
from tests.rivals import harness, wire
from tests.rivals.harness import Case, RivalError, pycanon, pycanon_each

pinned = pytest.mark.system  # what a pinned version does by itself: none of our code runs


def table(**groups: dict[Any, int]) -> pd.DataFrame:
    """One row per record: ``table(x={"a": 2})`` is a group x with the value a twice."""
    rows = [
        (group, value)
        for group, counts in groups.items()
        for value, count in counts.items()
        for _ in range(count)
    ]
    return pd.DataFrame(rows, columns=["q", "s"])


def measure(frame: pd.DataFrame, name: str) -> Any:
    return pycanon(frame, ["q"], ["s"], measures=[name])[name]


def test_tables_arrive_unchanged(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "petal length (cm)": [1.5, np.nan, 1e-17],
            "code": ["007", "", None],
            "": ["O'Brien", 'a,"b"\r\nc', "nan"],
            "count": [1, 2, 2**53 + 1],
        },
        index=[7, 7, 3],
    )
    wire.write_frame(frame, tmp_path / "frame.csv")
    back = wire.read_frame(tmp_path / "frame.csv")
    assert list(back.columns) == list(frame.columns)
    assert list(back.index) == [7, 7, 3]
    for name in frame.columns:
        expected = [None if pd.isna(value) else value for value in frame[name].tolist()]
        assert [None if pd.isna(value) else value for value in back[name].tolist()] == expected
    assert str(back["count"].dtype) == "int64"


@pytest.mark.parametrize("values", [[True, False], ["a", 1], [b"a", b"b"]])
def test_columns_of_other_types_are_refused(values: list[Any], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="text only or numbers only"):
        wire.write_frame(pd.DataFrame({"q": values}), tmp_path / "frame.csv")


def test_an_absent_environment_is_a_skip_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("INDIFF_NO_SKIP", raising=False)
    monkeypatch.setattr(harness, "PYTHON", tmp_path / "no" / "python")
    with pytest.raises(pytest.skip.Exception, match=r"run `make \.rivals/\.installed`"):
        measure(table(x={"a": 1}), "k")


def test_an_unknown_measure_is_an_error() -> None:
    with pytest.raises(ValueError, match="no measure"):
        measure(table(x={"a": 1}), "m")


def test_textbook_measures_agree_with_the_definitions_on_random_tables() -> None:
    rng = np.random.default_rng(11)
    cases = []
    for number in range(40):
        size = int(rng.integers(5, 60))
        values: Any = rng.integers(0, rng.integers(2, 8), size) ** 2
        values[:2] = 0, 1  # t of a constant number column raises
        frame = pd.DataFrame(
            {
                "age": rng.integers(20, 23, size),
                "sex": rng.choice(["f", "m"], size),
                "s": values if number % 2 else [f"v{value}" for value in values],
            }
        )
        cases.append(Case(frame, ["age", "sex"], ["s"]))
    names = ["k", "alpha_k", "distinct_l", "t", "basic_beta"]
    for case, measured in zip(cases, pycanon_each(cases, measures=names), strict=True):
        rows = list(zip(case.frame["age"], case.frame["sex"], case.frame["s"], strict=True))
        whole = Counter(value for *_, value in rows)
        groups: dict[Any, Counter[Any]] = defaultdict(Counter)
        for age, sex, value in rows:
            groups[age, sex][value] += 1
        ground = Equal() if isinstance(rows[0][-1], str) else Ordered()
        k = min(counts.total() for counts in groups.values())
        share = max(max(counts.values()) / counts.total() for counts in groups.values())
        gain = max(
            count / counts.total() * whole.total() / whole[value] - 1
            for counts in groups.values()
            for value, count in counts.items()
        )
        assert measured.values["k"] == k
        assert measured.values["alpha_k"] == pytest.approx([share, k])
        assert measured.values["distinct_l"] == min(len(counts) for counts in groups.values())
        assert measured.values["t"] == pytest.approx(
            max(float(earth_movers_distance(counts, whole, ground)) for counts in groups.values())
        )
        assert measured.values["basic_beta"] == pytest.approx(gain)
        assert measured.seconds.keys() == set(names)


@pinned
def test_entropy_l_is_cut_to_an_integer_after_rounding_errors() -> None:
    # n equally likely values have entropy ℓ = n; 2, 1, 1 has 2^1.5 = 2.83.
    found = [measure(table(x=dict.fromkeys("abcdefgh"[:n], 1)), "entropy_l") for n in (2, 3, 4, 5)]
    assert found == [1, 2, 3, 5]
    assert measure(table(x={"a": 2, "b": 1, "c": 1}), "entropy_l") == 2


@pinned
def test_recursive_takes_the_rarest_value_for_the_most_frequent() -> None:
    # 10 < c · 1 needs c > 10, and pyCANON finds c = 1 to be enough.
    assert measure(table(x={"a": 10, "b": 1}), "recursive") == [1, 2]
    assert measure(table(x={"a": 4, "b": 3, "c": 2, "d": 1}), "recursive") == [1, 4]
    # Equal counts read the same from both ends: the smallest integer c with 5 < 5 c.
    assert measure(table(x={"a": 5, "b": 5}), "recursive") == [2, 2]
    c, distinct = measure(table(x={"a": 4}), "recursive")
    assert math.isnan(c)
    assert distinct == 1


@pinned
def test_delta_disclosure_ignores_values_that_a_group_lacks() -> None:
    # Each group lacks a value that half of the table has: log(0 / ½) is infinite.
    found = measure(table(x={"a": 2}, y={"b": 2}), "delta_disclosure")
    assert found == pytest.approx(math.log(2))
    # Where nothing is absent it is the textbook number: |ln(¼ / ½)|.
    found = measure(table(x={"a": 3, "b": 1}, y={"a": 1, "b": 3}), "delta_disclosure")
    assert found == pytest.approx(math.log(2))


@pinned
def test_enhanced_beta_is_finite_where_no_beta_will_do() -> None:
    # p = ½ and q = 1: the gain of 1 must be at most min(β, ln 2), which no β achieves.
    found = measure(table(x={"a": 2}, y={"b": 2}), "enhanced_beta")
    assert found == pytest.approx(math.log(2))
    # The value a has p = ¾ and q = 1: its gain of 1/3 exceeds −ln ¾ = 0.288.
    assert measure(table(x={"a": 2}, y={"a": 1, "b": 1}), "enhanced_beta") == pytest.approx(1)


@pinned
def test_row_labels_are_taken_for_positions() -> None:
    frame = table(x={"a": 2}, y={"b": 2})
    shuffled = frame.set_axis([0, 2, 1, 3])
    names = ["k", "alpha_k", "distinct_l", "t", "delta_disclosure"]
    [right, wrong] = pycanon_each(
        [Case(frame, ["q"], ["s"]), Case(shuffled, ["q"], ["s"])], measures=names
    )
    assert right.values["alpha_k"] == [1, 2]
    assert right.values["distinct_l"] == 1
    assert right.values["t"] == 0.5
    assert wrong.values == {
        "k": 2,
        "alpha_k": [0.5, 2],
        "distinct_l": 2,
        "t": 0,
        "delta_disclosure": 0,
    }
    with pytest.raises(RivalError, match="out-of-bounds"):
        measure(frame.set_axis([10, 11, 12, 13]), "distinct_l")


@pinned
def test_a_record_whose_only_quasi_identifier_is_missing_is_forgotten() -> None:
    frame = pd.DataFrame({"q": ["x", "x", None], "r": ["1"] * 3, "s": ["a", "b", "c"]})
    [alone, paired] = pycanon_each(
        [Case(frame, ["q"], ["s"]), Case(frame, ["q", "r"], ["s"])], measures=["k", "distinct_l"]
    )
    assert alone.values == {"k": 2, "distinct_l": 2}
    assert paired.values == {"k": 1, "distinct_l": 1}


@pinned
def test_missing_sensitive_numbers_are_a_value_that_nobody_has() -> None:
    # Group x is 3/4 missing, so the missing value has α = ¾; pyCANON compares NaN with itself.
    frame = table(x={1.0: 1, math.nan: 3}, y={1.0: 1, 2.0: 1})
    assert measure(frame, "distinct_l") == 2
    assert measure(frame, "alpha_k") == [0.5, 2]
    with pytest.raises(RivalError, match="cannot convert float NaN to integer"):
        measure(frame, "entropy_l")


@pinned
def test_missing_sensitive_text_raises() -> None:
    frame = table(x={"a": 1, None: 1})
    with pytest.raises(RivalError, match="'<' not supported"):
        measure(frame, "distinct_l")
    with pytest.raises(RivalError, match="invalid sens_att value type"):
        measure(frame, "t")


@pinned
def test_t_of_a_constant_number_divides_by_zero() -> None:
    with pytest.raises(RivalError, match="ZeroDivisionError"):
        measure(table(x={7: 2}, y={7: 1}), "t")
    assert measure(table(x={"7": 2}, y={"7": 1}), "t") == 0


@pinned
def test_t_depends_on_whether_numbers_are_stored_as_numbers() -> None:
    # Group y is all on the last of three values: 2/3 by equal distance, (1/3 + 2/3)/2 by ranks.
    assert measure(table(x={"1": 1, "2": 1}, y={"3": 1}), "t") == pytest.approx(2 / 3)
    assert measure(table(x={1: 1, 2: 1}, y={3: 1}), "t") == pytest.approx(1 / 2)
    assert measure(table(x={1: 1, 2: 1}, y={3000: 1}), "t") == pytest.approx(1 / 2)

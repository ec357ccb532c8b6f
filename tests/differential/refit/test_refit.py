"""The general path: any function, any model, several cores, interruptions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from indiff import (
    Frequency,
    Identity,
    Mondrian,
    Suppress,
    Table,
    UserError,
    differential_test,
    read_table,
)
from indiff.differential.calls import calls as general
from indiff.release.regions import Anything, Interval, Region
from indiff.release.release import Release, ReleasedColumn, release_of
from tests.properties.random_tables import make_sample

COLUMNS = {
    "age": [28, 36, 47, 53, 72, 28, 36],
    "sex": ["M", "M", "F", "M", "F", "M", "M"],
    "ill": ["flu", "flu", "cancer", "flu", "cold", "flu", "cold"],
}


def patients(frame: Any = None) -> Table:
    source = pa.table(COLUMNS) if frame is None else frame
    return read_table(source, quasi=["age", "sex"], sensitive="ill")


@dataclass
class Counting:
    """Suppress, and count the calls; raise at one of them."""

    raise_at: int = 0
    randomized: bool = False
    per_record: bool = False  # records that look alike are alike to it
    calls: list[int] = field(default_factory=list)

    def sanitize(self, table: Table, rng: Any = None) -> Release:
        self.calls.append(len(table))
        if len(self.calls) == self.raise_at:
            raise KeyboardInterrupt
        return Suppress().sanitize(table)


def test_identical_targets_are_computed_once() -> None:
    sanitizer = Counting()
    result = differential_test(patients(), sanitizer, model="naive-bayes")
    # Records 0 and 5 are the same; 1 and 6 differ in what they have.
    assert sanitizer.calls == [7] + [6] * 6
    assert len(result.distances) == 7
    assert result.distances[0] == result.distances[5]
    assert result.complete


class FirstHalf:
    """Publish the first half of the rows as they are and suppress the rest."""

    randomized = False

    def sanitize(self, table: Table, rng: Any = None) -> Release:
        age = table.attributes[0]
        regions: list[Region] = [Anything(), *(Interval(value, value) for value in age.values)]
        shown = np.arange(len(table)) < len(table) // 2
        index = np.where(shown, age.codes + 1, 0)
        return release_of(table, [ReleasedColumn.of(age, regions, index)], sanitizer="half")


def test_a_sanitizer_of_ones_own_may_tell_identical_targets_apart() -> None:
    table = read_table(
        pa.table({"x": [1, 1, 2, 2, 1, 1, 2, 2], "s": list("abababab")}),
        quasi=["x"], sensitive="s",
    )  # fmt: skip
    whole = Frequency().beliefs(FirstHalf().sanitize(table), table)
    by_definition = [
        np.abs(
            whole[row]
            - Frequency().beliefs(FirstHalf().sanitize(table.without(row)), table.take([row]))[0]
        ).sum()
        for row in range(len(table))
    ]
    assert by_definition[4] > by_definition[0] + 0.1, "records 0 and 4 look alike"
    found = differential_test(table, FirstHalf(), model="frequency")
    np.testing.assert_allclose(found.distances, by_definition, atol=1e-12)


def test_a_model_of_ones_own_is_asked_about_every_record() -> None:
    class Favourite:
        """Believe that the first record of all has the first value, and know nothing else."""

        def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
            known = (targets.records == 0) & (len(release) == 7)
            return np.where(known[:, None], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5])

    found = differential_test(patients(), Suppress(), model=Favourite())
    assert found.distances.tolist() == [2.0, 0, 0, 0, 0, 0, 0]
    known = differential_test(patients(), Suppress(), model=Favourite(), known=["sex"])
    assert known.distances.tolist() == [2.0, 0, 0, 0, 0, 0, 0]


def test_beliefs_of_another_shape_or_below_zero_are_refused() -> None:
    class Given:
        def __init__(self, row: list[float]) -> None:
            self.row = row

        def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
            return np.array([self.row] * len(targets))

    with pytest.raises(UserError, match=r"here \(7, 3\); given returned \(7, 2\)"):
        differential_test(patients(), Suppress(), model=Given([0.5, 0.5]))
    with pytest.raises(UserError, match="must be probabilities that sum to 1"):
        differential_test(patients(), Suppress(), model=Given([1.5, -0.5, 0.0]))


def test_an_interruption_keeps_what_is_done() -> None:
    whole = differential_test(patients(), Counting(), model="naive-bayes", jobs=1)
    sanitizer = Counting(raise_at=4)  # the table itself, two targets, then Ctrl-C
    seen: list[tuple[int, int]] = []
    result = differential_test(
        patients(),
        sanitizer,
        model="naive-bayes",
        jobs=1,
        progress=lambda done, of: seen.append((done, of)),
    )
    assert not result.complete
    assert result.requested == 7
    assert 2 <= len(result.distances) <= 3  # two distinct targets; one of them may be a pair
    assert result.exactness == "lower-bound"
    assert seen[-1] == (len(result.distances), 7)
    place = np.searchsorted(whole.records, result.records)
    assert result.distances.tolist() == whole.distances[place].tolist()
    assert "Infinity" not in result.to_json()


def test_an_interruption_before_the_first_target_leaves_nothing_and_says_so() -> None:
    result = differential_test(patients(), Counting(raise_at=2), model="naive-bayes", jobs=1)
    assert not result.complete
    assert len(result.distances) == 0
    assert np.isnan(result.delta)
    assert '"records_tested": 0' in result.to_json()
    assert repr(result).startswith("DifferentialResult(delta=nan")
    assert result.worst() == []


def test_an_interruption_while_the_table_itself_is_sanitized_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        differential_test(patients(), Counting(raise_at=1), model="naive-bayes", jobs=1)


def test_several_cores_give_the_same_numbers_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_sample(3, 60, ["continuous", "jobs", "ties"], 4).table
    one = differential_test(table, Mondrian(k=3), model="naive-bayes", method="refit", jobs=1)
    monkeypatch.setattr(general, "WORTH_SHARING", 0.0)
    monkeypatch.setattr(general, "CHUNK_SECONDS", 0.001)
    two = differential_test(table, Mondrian(k=3), model="naive-bayes", method="refit", jobs=2)
    assert two.complete
    assert one.beliefs.tobytes() == two.beliefs.tobytes()
    assert one.beliefs_without.tobytes() == two.beliefs_without.tobytes()
    assert one.distances.tobytes() == two.distances.tobytes()


def hide_age(frame: Any) -> Any:
    """A sanitizer that pandas and Polars users might write."""
    if isinstance(frame, pd.DataFrame):
        return frame.assign(age="*")
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.lit("*").alias("age"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_any_function_from_frame_to_frame(make: Any) -> None:
    result = differential_test(patients(make(COLUMNS)), hide_age, model="naive-bayes")
    assert result.method == "refit"
    assert result.sanitizer == "oracle:hide_age"
    assert isinstance(result.to_frame(), make)
    # By hand, as the sex alone is left: the record of 47 is F, one of two, of 7 records.
    table = read_table(pa.table(COLUMNS), quasi=["sex"], sensitive="ill")
    constant = read_table(
        pa.table({**COLUMNS, "age": ["x"] * 7}), quasi=["age", "sex"], sensitive="ill"
    )
    expected = differential_test(constant, Identity(), model="naive-bayes", method="refit")
    np.testing.assert_allclose(result.distances, expected.distances, atol=1e-15)
    assert len(table) == len(result.distances)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_function_that_returns_the_frame_is_the_identity(make: Any) -> None:
    mine = differential_test(patients(make(COLUMNS)), lambda frame: frame, model="naive-bayes")
    raw = differential_test(patients(), "identity", model="naive-bayes")
    assert mine.distances.tolist() == raw.distances.tolist()
    assert mine.beliefs.tolist() == raw.beliefs.tolist()


def test_a_function_may_drop_rows_and_truth_values_are_sensitive_values_too() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4, 5], "ill": [True, False, True, False, True]})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    result = differential_test(table, lambda d: d[d["age"] > 1], model="frequency")
    assert result.uncovered == 1
    assert result.uncovered_without == 5
    assert result.beliefs[0].tolist() == [0.5, 0.5]


class Certain:
    """A model that always believes in the first value."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        beliefs = np.zeros((len(targets), len(release.sensitive_values)))
        beliefs[:, 0] = 1
        return beliefs


def test_any_object_with_beliefs_is_a_model() -> None:
    for method in ("auto", "refit"):
        result = differential_test(
            patients(),
            Mondrian(k=2),
            model=Certain(),
            method=method,
        )
        assert result.model == "certain"
        assert result.delta == 0
        assert result.beliefs[:, 0].tolist() == [1] * 7
    assert result.method == "refit"


def test_uncovered_and_generalized_targets_are_counted() -> None:
    result = differential_test(patients(), Identity(), model="frequency")
    # (28, M) occurs twice and (36, M) twice; the other three are alone in the raw table.
    assert result.uncovered == 0
    assert result.uncovered_without == 3
    tight = differential_test(patients(), Mondrian(k=7), model="naive-bayes", method="refit")
    assert tight.generalized_without == 7


def test_an_interruption_while_several_cores_work_keeps_what_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = make_sample(3, 60, ["continuous", "jobs"], 4).table
    whole = differential_test(table, Mondrian(k=3), model="naive-bayes", method="refit", jobs=1)
    monkeypatch.setattr(general, "WORTH_SHARING", 0.0)
    monkeypatch.setattr(general, "CHUNK_SECONDS", 0.001)

    def interrupt(done: int, of: int) -> None:
        if done >= 20:
            raise KeyboardInterrupt

    result = differential_test(
        table, Mondrian(k=3), model="naive-bayes", method="refit", jobs=2, progress=interrupt
    )
    assert 20 <= len(result.distances) < 60
    assert not result.complete
    place = np.searchsorted(whole.records, result.records)
    assert result.distances.tolist() == whole.distances[place].tolist()

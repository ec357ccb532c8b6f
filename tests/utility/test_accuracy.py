"""The analyst: what a release teaches about records that were not in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, Table, UserError, read_table
from indiff.utility import Analyst, measure


def clinic(records: int = 400, *, seed: int = 3) -> Table:
    """A table in which age decides the illness, sex decides nothing, and half live in town."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, records)
    return read_table(
        pa.table(
            {
                "age": age,
                "sex": rng.choice(["F", "M"], records),
                "generation": np.where(age < 50, "young", "old"),
                "town": np.where(age < 60, "yes", "no"),
                "ill": np.where(age < 50, "no", "yes"),
            }
        ),
        quasi=["age", "sex", "generation"],
        sensitive="ill",
        other=["town"],
    )


def test_original_records_teach_what_age_decides_and_stars_the_majority() -> None:
    table = clinic()
    analyst = Analyst(table)
    assert analyst.original == 1.0
    assert analyst.accuracy("suppress") == analyst.majority
    assert 0.4 < analyst.majority < 0.65


def test_the_majority_by_hand() -> None:
    table = clinic()
    order = np.random.default_rng(0).permutation(400)
    training, held_out = order[:280], order[280:]
    codes = table.sensitive.codes
    top = int(codes[training].mean() > 0.5)
    assert Analyst(table).majority == pytest.approx((codes[held_out] == top).mean())


def test_training_uses_the_release_and_not_the_held_out_records() -> None:
    """Turning the held-out labels around turns the accuracy around: they were never seen."""
    table = clinic()
    held_out = np.sort(np.random.default_rng(0).permutation(400)[280:])
    labels = np.array(table.frame()["ill"].to_pylist(), object)
    labels[held_out] = np.where(labels[held_out] == "yes", "no", "yes")
    frame = table.frame()
    turned = frame.set_column(frame.column_names.index("ill"), "ill", pa.array(labels.tolist()))
    other = read_table(turned, quasi=["age", "sex", "generation"], sensitive="ill", other=["town"])
    assert Analyst(table).accuracy("identity") == 1.0
    assert Analyst(other).accuracy("identity") == 0.0


def test_a_task_of_ones_choice() -> None:
    table = clinic()
    by_age = Analyst(table, task="generation")
    assert by_age.predicted == "generation"
    assert by_age.original > by_age.majority + 0.2  # five quantiles of age tell most of it
    assert by_age.accuracy(Mondrian(k=5)) > by_age.majority
    beside = Analyst(table, task="town")
    assert beside.original > beside.majority
    assert beside.accuracy(Mondrian(k=20)) > beside.majority


def test_the_same_seed_gives_the_same_number() -> None:
    table = clinic()
    once, again = (Analyst(table, seed=5).accuracy("laplace:epsilon=1") for _ in range(2))
    assert once == again


def test_what_was_removed_teaches_nothing() -> None:
    table = clinic()
    old = table.records[table.sensitive.codes == 1]
    analyst = Analyst(table, removed=tuple(old.tolist()))
    held_out = np.sort(np.random.default_rng(0).permutation(400)[280:])
    young = float((table.sensitive.codes[held_out] == 0).mean())
    assert analyst.accuracy("identity") == pytest.approx(young)
    assert analyst.original == 1.0


def test_tasks_that_cannot_be_are_refused() -> None:
    table = clinic()
    with pytest.raises(UserError, match="no column to predict 'agee': did you mean 'age'"):
        Analyst(table, task="agee")
    with pytest.raises(UserError, match=r"from 2 to 50 values; 'age' has 60. Choose another task"):
        Analyst(table, task="age")
    with pytest.raises(UserError, match="at least 10 records; the table has 4"):
        Analyst(table.take(range(4)))
    with pytest.raises(UserError, match="'town' is released beside the records only where"):
        Analyst(table, task="town").accuracy("laplace:epsilon=1")


def test_measure_says_what_it_cannot_measure() -> None:
    table = clinic()
    release = Mondrian(k=5).sanitize(table)
    alone = measure(table, release)
    assert alone.accuracy is None
    assert "pass sanitizer=" in alone.missing["accuracy"]
    known = measure(table, release, sanitizer=Mondrian(k=5))
    assert known.accuracy == 1.0
    assert known.average_group is not None
    assert known.normalised_average_group == pytest.approx(known.average_group / 5)
    assert known.missing == {}
    impossible = measure(table, release, sanitizer="mondrian:k=300")
    assert impossible.accuracy is None
    assert "k must be at least 1" in impossible.missing["accuracy"]

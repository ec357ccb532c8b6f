"""People with several records, how many of them to test, and until when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, NaiveBayes, Table, UserError, differential_test, read_table
from indiff.differential.people import as_deadline, find_people, seconds_of
from indiff.distances.functions import wasserstein
from indiff.sanitizers.oracles.function import Oracle
from tests.differential.calls.test_calls_long_runs import Decades, patients, run
from tests.properties.random_tables import make_sample


@pytest.mark.parametrize("text", ["", "soon", "-1s", "0", "2h x", "1w", "h", "nan", True, -3.0])
def test_what_is_no_span_of_time(text: Any) -> None:
    with pytest.raises(UserError, match="time is a span above 0, such as 90s, 10m or 2h; got"):
        seconds_of(text)


def test_spans_of_time() -> None:
    assert seconds_of("1.5h") == 5400
    assert seconds_of(" 2 h 30 m ") == 9000
    assert seconds_of("45") == 45
    assert seconds_of("1d") == 86_400
    assert as_deadline(None) is None


def by_hand(table: Table, oracle: Any) -> dict[int, float]:
    """δ over people from single releases: each person's largest distance."""
    names = table.source["who"].to_pylist()
    sanitizer, model, found = Oracle(oracle), NaiveBayes(), {}
    whole = sanitizer.sanitize(table)
    for name in dict.fromkeys(names):
        rows = [row for row, other in enumerate(names) if other == name]
        rest = [row for row, other in enumerate(names) if other != name]
        targets = table.take(rows)
        without = sanitizer.sanitize(table.take(rest))
        distances = wasserstein(model.beliefs(whole, targets), model.beliefs(without, targets))
        found[rows[0]] = float(distances.max())
    return found


def test_all_records_of_a_person_are_left_out_at_once() -> None:
    table, oracle = patients(), Decades()
    result = run(oracle, table, individual="who")
    expected = by_hand(table, Decades())
    assert dict(zip(result.records.tolist(), result.distances.tolist(), strict=True)) == expected
    assert len(result.distances) == result.people == result.population == len(expected)
    assert result.sizes.sum() == 40
    assert result.exactness == "exact"
    assert len(oracle._calls) == 1 + len(expected)
    assert result.to_arrow()["records"].to_pylist() == result.sizes.tolist()
    assert any(note.startswith("δ is over people:") for note in result.notes)
    few = run(Decades(), table, individual="who", targets=[int(find_people(table, "who").rows[1])])
    assert few.records.tolist() == [0]  # named by any of the person's records
    assert few.distances.tolist() == [expected[0]]


def test_one_record_people_take_the_walk_and_others_agree_with_the_definition() -> None:
    table = make_sample(5, 60, ["continuous", "jobs"], 4).table
    names = [f"p{max(0, row - 8)}" for row in range(60)]  # p0 has nine records, all others one
    source = table.source.append_column("who", pa.array(names))
    people = replace(table, source=source)
    fast = differential_test(people, Mondrian(k=3), model="naive-bayes", individual="who")
    slow = differential_test(
        people, Mondrian(k=3), model="naive-bayes", individual="who", method="refit", jobs=1
    )
    assert fast.method == "leave-one-out"
    assert "the 1 people with several records were measured by sanitizing again" in str(fast.notes)
    np.testing.assert_allclose(fast.distances, slow.distances, atol=1e-12)
    assert fast.records.tolist() == slow.records.tolist() == [0, *range(9, 60)]
    alone = differential_test(table, Mondrian(k=3), model="naive-bayes")
    np.testing.assert_allclose(fast.distances[1:], alone.distances[9:], atol=1e-12)
    assert fast.sizes.tolist() == [9] + [1] * 51


def test_people_who_all_have_one_record_change_nothing() -> None:
    table = patients()
    plain = run(Decades(), table)
    people = run(Decades(), table, individual="note")
    assert people.distances.tolist() == plain.distances.tolist()
    assert people.sizes.tolist() == [1] * 40


def test_sampled_people_have_limits_that_hold_together() -> None:
    table = patients()
    result = differential_test(
        table, "laplace:epsilon=1", individual="who", runs=8, jobs=1, targets=[0, 1, 2]
    )
    assert result.method == "sampled"
    assert "people with several records have no closed form: sampled" in result.notes
    assert (result.lower <= result.upper).all()
    assert (result.distances <= result.upper).all()
    with pytest.raises(UserError, match="method 'closed-form' is about people with one record"):
        differential_test(table, "laplace:epsilon=1", individual="who", method="closed-form")
    single = differential_test(table, "laplace:epsilon=1", individual="note")
    assert single.method == "closed-form"


def test_people_without_a_name() -> None:
    frame = pa.table({"who": ["a", None, "a"], "age": [1, 2, 3], "ill": ["x", "y", "x"]})
    table = read_table(frame, quasi=["age"], sensitive="ill", identifier="who")
    with pytest.raises(UserError, match=r"'who' has none in 1\. Give each of these people a value"):
        differential_test(table, Mondrian(k=1), model="naive-bayes", individual="who")
    with pytest.raises(UserError, match="no column 'whom': did you mean 'who'"):
        differential_test(table, Mondrian(k=1), model="naive-bayes", individual="whom")

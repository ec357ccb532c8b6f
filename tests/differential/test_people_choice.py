"""Whom a test asks about, in which order and until when: by hand, without asking anybody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import (
    Frequency,
    Identity,
    Mondrian,
    Table,
    UserError,
    differential_test,
    join_tables,
    read_table,
)
from indiff.differential.people import (
    Deadline,
    as_deadline,
    as_rows,
    choose_targets,
    describe_people,
    distinct_people,
    each_record,
    fallback,
    find_people,
    is_per_record,
    seconds_of,
    without_rows,
)

# Row 1 is dropped: records 0, 2, 3, 4, 5 are rows 0 to 4. b has two records, the others one.
FRAME = pa.table(
    {
        "who": ["b", "x", "a", "b", "c", "d"],
        "age": [30, None, 40, 30, 30, 50],
        "ill": ["n", "n", "y", "y", "n", "y"],
    }
)


@pytest.fixture
def table() -> Table:
    return read_table(FRAME, identifier="who", quasi=["age"], sensitive="ill", missing="drop")


def test_people_and_their_records(table: Table) -> None:
    found = find_people(table, "who")
    assert len(found) == 4
    assert [found.of(one).tolist() for one in range(4)] == [[0, 2], [1], [3], [4]]
    assert found.sizes.tolist() == [2, 1, 1, 1]
    assert found.firsts.tolist() == [0, 1, 3, 4]
    assert found.owners.tolist() == [0, 0, 1, 2, 3]
    assert not found.are_records
    assert found.places(np.array([3, 0])).tolist() == [4, 0, 1]
    some = found.choose(np.array([3, 0]))
    assert [some.of(one).tolist() for one in range(2)] == [[4], [0, 2]]
    assert some.column == "who"
    alone = find_people(table, None)
    assert alone.are_records
    assert (len(alone), alone.column) == (5, None)
    assert each_record(np.array([7, 9])).starts.tolist() == [0, 1, 2]
    assert len({found, alone}) == 2  # people are themselves alone


def test_people_are_described_where_a_column_names_them(table: Table) -> None:
    (told,) = describe_people(find_people(table, "who"))
    assert "4 people by 'who' hold 5 records, 1 of them more than one, at most 2;" in told
    assert describe_people(find_people(table, None)) == ()
    with pytest.raises(UserError, match="no column 'whom': did you mean 'who'"):
        find_people(table, "whom")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7), ("7s", 7), ("7S", 7), ("2m", 120), ("2min", 120), ("3h", 10_800), ("1d", 86_400),
        ("1d1h1m1s", 90_061), (0.5, 0.5), (3, 3), (".5h", 1800), ("0.5", 0.5),
    ],
)  # fmt: skip
def test_spans(text: Any, seconds: float) -> None:
    assert seconds_of(text) == seconds


def test_a_deadline_begins_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1_000.0)
    assert as_deadline("2m") == Deadline(1_120.0)
    given = Deadline(5.0)
    assert as_deadline(given) is given
    for wrong in (0, float("inf"), float("nan"), False):
        with pytest.raises(UserError, match="time is a span above 0"):
            as_deadline(wrong)


def chosen(table: Table, targets: Any = None, **more: Any) -> Any:
    return choose_targets(table, find_people(table, more.pop("by", None)), targets, **more)


def test_everybody_in_the_order_of_the_table(table: Table) -> None:
    found = chosen(table)
    assert found.people.rows.tolist() == [0, 1, 2, 3, 4]
    assert (found.order, found.random_draw, found.listed) == (None, False, None)


def test_those_asked_for_by_number_in_their_order(table: Table) -> None:
    found = chosen(table, [5, 0, 3])
    assert found.people.rows.tolist() == [0, 2, 4]
    assert found.order.tolist() == found.listed.tolist() == [2, 0, 1]
    assert not found.random_draw
    ascending = chosen(table, [0, 3, 5])
    assert ascending.order is None
    assert ascending.listed.tolist() == [0, 1, 2]
    # Two records of one person are that person, once.
    both = chosen(table, [3, 0, 4], by="who")
    assert both.people.rows.tolist() == [0, 2, 3]
    assert both.listed.tolist() == [0, 1]


def test_a_number_is_a_random_draw_unless_it_is_everybody(table: Table) -> None:
    found = chosen(table, 3, seed=4)
    assert len(found.people) == 3
    assert found.random_draw
    assert found.listed is None
    assert sorted(found.order.tolist()) == [0, 1, 2]
    assert not chosen(table, 5).random_draw
    assert not chosen(table, 9).random_draw
    assert len(chosen(table, 9).people) == 5
    assert not chosen(table, 2, order="given").random_draw
    assert chosen(table, 2, order="given").people.rows.tolist() == [0, 1]
    assert chosen(table, 1).random_draw
    draws = {tuple(chosen(table, 2, seed=seed).people.rows.tolist()) for seed in range(120)}
    assert len(draws) == 10  # every pair of five


def test_where_time_may_run_out_the_order_is_random(table: Table) -> None:
    orders = {tuple(chosen(table, timed=True, seed=seed).order.tolist()) for seed in range(8)}
    assert len(orders) > 4
    found = chosen(table, timed=True)
    assert not found.random_draw  # all of them, as far as the time goes
    assert chosen(table, timed=True, order="given").order is None
    assert chosen(table, timed=False).order is None
    some = chosen(table, [5, 0], order="random", seed=1)
    assert sorted(some.order.tolist()) == [0, 1]
    assert some.listed.tolist() == [1, 0]


def test_the_worst_come_first(table: Table) -> None:
    def rank() -> Any:
        return np.array([4, 2, 0, 3, 1])

    found = chosen(table, order="worst-first", rank=rank)
    assert found.order.tolist() == [4, 2, 0, 3, 1]
    assert not found.random_draw
    two = chosen(table, 2, order="worst-first", rank=rank)
    assert two.people.rows.tolist() == [2, 4]
    assert two.order.tolist() == [1, 0]
    assert not two.random_draw
    of_some = chosen(table, [0, 3], order="worst-first", rank=rank)
    assert of_some.order.tolist() == [1, 0]


@pytest.mark.parametrize("targets", [0, -1, True, False])
def test_what_is_no_number_of_targets(table: Table, targets: Any) -> None:
    with pytest.raises(UserError, match="a number of at least 1, or record numbers"):
        chosen(table, targets)


def test_orders_have_names(table: Table) -> None:
    with pytest.raises(UserError, match="no order 'best-first'"):
        chosen(table, order="best-first")


def test_records_are_numbered_as_in_the_input(table: Table) -> None:
    assert as_rows(table, None).tolist() == [0, 1, 2, 3, 4]
    assert as_rows(table, [5, 2, 5, np.int64(0)]).tolist() == [4, 1, 0]
    for stray in (1, 6, -1):  # dropped, or not there
        with pytest.raises(UserError, match=f"from 0 to 5 that were not dropped; got {stray}"):
            as_rows(table, [0, stray])
    for strange in (1.5, "2", True, np.bool_(True)):
        with pytest.raises(UserError, match="whole ones from 0"):
            as_rows(table, [strange])
    with pytest.raises(UserError, match="names no record"):
        as_rows(table, [])


def test_a_table_without_some(table: Table) -> None:
    assert without_rows(table, np.array([0, 3])).records.tolist() == [2, 3, 5]


def test_without_a_record_a_constraint_may_be_out_of_reach() -> None:
    strict = Mondrian(k=3)
    assert fallback(strict) == Mondrian(k=3, unmet="generalize")
    identity = Identity()
    assert fallback(identity) is identity


def test_equal_targets_are_asked_once_unless_somebody_looks_closer(table: Table) -> None:
    """Ages and values: (30, n) twice, (40, y), (30, y), (50, y)."""
    alone = find_people(table, None)
    first, back = distinct_people(table, alone, Mondrian(k=2), Frequency())
    assert len(first) == 4
    assert first[back].tolist() == [0, 1, 2, 0, 4]
    by_name = find_people(table, "who")  # b has two records, which nobody else has
    first, back = distinct_people(table, by_name, Mondrian(k=2), Frequency())
    assert first[back].tolist() == [0, 1, 2, 3]
    for strangers in ((object(), Frequency()), (Mondrian(k=2), object())):
        first, back = distinct_people(table, alone, *strangers)
        assert first.tolist() == back.tolist() == [0, 1, 2, 3, 4]


def test_whoever_has_several_records_equals_nobody() -> None:
    """a, c and e have one record each, b and d two; all first records look the same."""
    frame = pa.table({"who": list("abbcdde"), "age": [1] * 7, "ill": ["x"] * 7})
    table = read_table(frame, quasi=["age"], sensitive="ill", identifier="who")
    first, back = distinct_people(table, find_people(table, "who"), Mondrian(k=2), Frequency())
    assert first[back].tolist() == [0, 1, 0, 3, 0]


def test_of_two_people_one() -> None:
    two = read_table(pa.table({"age": [1, 2], "ill": list("xy")}), quasi=["age"], sensitive="ill")
    chosen = choose_targets(two, find_people(two, None), [1])
    assert chosen.people.rows.tolist() == [1]


def test_visits_of_joined_tables_need_a_column_that_names_people() -> None:
    people = pa.table({"id": [1, 2], "age": [30, 40]})
    visits = pa.table({"id": [1, 2, 2], "ill": list("xyx")})
    joined = join_tables([people, visits], on="id")
    table = read_table(joined, quasi=["age"], sensitive="ill")
    with pytest.raises(UserError, match="a row of joined tables is a person's visit"):
        find_people(table, None)
    assert find_people(table, "id").sizes.tolist() == [1, 2]


class Strange:
    """A part of somebody else's that says whether it looks closer."""

    def __init__(self, per_record: bool) -> None:
        self.per_record = per_record


class Carrier:
    """Ours, but it carries a stranger's."""

    def __init__(self, model: object) -> None:
        self.model = model


def test_who_looks_at_more_than_values() -> None:
    assert is_per_record(object())
    assert not is_per_record(Strange(per_record=False))
    assert is_per_record(Strange(per_record=True))
    assert not is_per_record(Frequency())
    Carrier.__module__ = "indiff.inference.background"
    try:
        assert is_per_record(Carrier(object()))
        assert not is_per_record(Carrier(Frequency()))
        assert not is_per_record(Carrier(None))
    finally:
        Carrier.__module__ = __name__


@pytest.mark.parametrize("targets", [[0], [5], [4, 5], [0, 2, 3, 4], 2])
def test_some_of_the_records_are_a_lower_bound_whichever_they_are(
    table: Table, targets: Any
) -> None:
    some = differential_test(table, Identity(), model="frequency", targets=targets)
    assert some.exactness == "lower-bound"
    assert any("records were tested: their largest distance is a lower" in x for x in some.notes)
    whole = differential_test(table, Identity(), model="frequency", targets=[0, 2, 3, 4, 5])
    assert whole.exactness == "exact"
    # Nobody else is 40 or 50: without these two no row covers them.
    assert (whole.uncovered, whole.uncovered_without) == (0, 2)
    assert not any("lower bound" in note for note in whole.notes)
    assert not any("the time was up" in note for note in (*whole.notes, *some.notes))

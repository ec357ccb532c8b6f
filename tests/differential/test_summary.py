"""What a path measured of records, summed up by hand in results about people."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import DifferentialResult, Mondrian, differential_test, read_table
from indiff.differential.noise.bracket import change_limits
from indiff.differential.path import Beliefs, Changes, Column, Failures, Measurement
from indiff.differential.people import Chosen, People, each_record, find_people
from indiff.differential.summary import _shown, sum_up
from indiff.differential.targets.guarantee import statement
from indiff.inference import Frequency
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Identity

FRAME = pa.table(
    {
        "who": ["a", "b", "a", "c", "c", "c", "d"],
        "age": [1, 2, 3, 4, None, 6, 7],
        "ill": ["x", "y", "x", "y", "x", "x", "y"],
    }
)
# Record 4 is dropped: rows 0 to 5 are the records 0, 1, 2, 3, 5 and 6.
TABLE = read_table(FRAME, quasi=["age"], sensitive="ill", identifier="who", missing="drop")
DISTANCES = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
WITH = np.column_stack([DISTANCES, 1 - DISTANCES])
WITHOUT = np.column_stack([1 - DISTANCES, DISTANCES])


def summed(
    people: People | None = None, rows: Any = range(6), flags: dict[str, list[int]] | None = None,
    failures: dict[int, str] | None = None, repeated: int = 0, over: bool = False,
    changes: Changes | None = None, column: Any = (), chosen: Any = (), release: Any = None,
    **test: Any,
) -> DifferentialResult:  # fmt: skip
    """Sum up what was measured of these rows; ``flags`` are the rows that have one."""
    people = each_record(np.arange(6)) if people is None else people
    at = np.asarray(rows, np.intp)
    held: dict[str, Any] = {
        name: np.isin(at, (flags or {}).get(name, []))
        for name in ("uncovered", "uncovered_without", "generalized")
    }
    beliefs = Beliefs(
        at, WITH[at], WITHOUT[at], constraint_met=None, failures=Failures(failures or {}, repeated),
        release=release, **held,
    )  # fmt: skip
    measured: dict[str, Any] = {
        "distances": DISTANCES[at],
        "notes": ("of the column",),
        "largest": 2.0,
    }
    measurement = Measurement(
        beliefs, {"tv": Column(**measured | dict(column))}, TABLE.sensitive.codes[at],
        TABLE.sensitive.values, "refit", ("of the path",), changes,
    )  # fmt: skip
    given: dict[str, Any] = {
        "table": TABLE, "people": people, "chosen": Chosen(people, **dict(chosen)),
        "population": len(people), "confidence": 0.9, "runs": 7, "seed": 3, "sanitizer": Identity(),
        "model": Frequency(), "notes": ("of the test",), "calls": SimpleNamespace(is_over=over),
    }  # fmt: skip
    return sum_up(SimpleNamespace(**given | test), measurement, "tv", 1.5)  # type: ignore[arg-type]


def test_every_record_a_person() -> None:
    found = summed()
    assert found.distances.tolist() == DISTANCES.tolist()
    assert found.records.tolist() == [0, 1, 2, 3, 5, 6]
    assert found.classes.tolist() == TABLE.sensitive.codes.tolist()
    assert np.array_equal(found.beliefs, WITH)
    assert np.array_equal(found.beliefs_without, WITHOUT)
    assert (found.exactness, found.method, found.distance) == ("exact", "refit", "tv")
    assert (found.table_size, found.requested, found.dropped) == (6, 6, 1)
    assert (found.seed, found.seconds, found.largest) == (3, 1.5, 2.0)
    assert (found.confidence, found.runs, found.individual, found.people) == (None,) * 4
    assert [found.sizes, found.lower, found.upper, found.change_limits] == [None] * 4
    assert (found.out_of_time, found.complete, found.guarantee) == (False, True, None)
    assert (found.uncovered, found.uncovered_without, found.generalized_without) == (0, 0, 0)
    assert found.notes == (*TABLE.notes, "of the test", "of the path", "of the column")
    assert (found.sanitizer, found.model) == ("identity", "frequency")
    assert found.fingerprint == TABLE.fingerprint
    assert found.failures == ()


def test_the_largest_distance_of_a_persons_records_counts() -> None:
    """a has the rows 0 and 2, b 1, c 3 and 4, d 5."""
    people = find_people(TABLE, "who")
    flags = {"uncovered": [0, 2, 5], "uncovered_without": [1, 3, 4], "generalized": [2]}
    found = summed(people, rows=[0, 2, 1, 3, 4, 5], flags=flags)
    assert found.distances.tolist() == [0.3, 0.2, 0.5, 0.6]
    assert found.records.tolist() == [0, 1, 3, 6]  # the first record of each
    assert found.beliefs[:, 0].tolist() == [0.3, 0.2, 0.5, 0.6]
    assert found.beliefs_without[:, 1].tolist() == [0.3, 0.2, 0.5, 0.6]
    assert found.classes.tolist() == TABLE.sensitive.codes[[2, 1, 4, 5]].tolist()
    assert found.sizes is not None
    assert found.sizes.tolist() == [2, 1, 2, 1]
    assert (found.individual, found.people, found.requested) == ("who", 4, 4)
    # People of whom any record is uncovered: a and d; b and c; a.
    assert (found.uncovered, found.uncovered_without, found.generalized_without) == (2, 2, 1)


def test_the_beliefs_are_those_of_the_record_that_counts() -> None:
    """a's first record is the furthest: of two records one is shown."""
    one = find_people(TABLE, "who").choose(np.array([0]))
    found = summed(one, rows=[0, 2], column={"distances": np.array([0.9, 0.3])})
    assert (found.distances.tolist(), found.records.tolist()) == ([0.9], [0])
    assert np.array_equal(found.beliefs, WITH[[0]])
    assert np.array_equal(found.beliefs_without, WITHOUT[[0]])
    assert found.classes.tolist() == TABLE.sensitive.codes[[0]].tolist()


def test_records_in_the_order_in_which_they_were_asked_for() -> None:
    order = [5, 0, 4, 1, 3, 2]
    found = summed(chosen={"listed": np.array(order)})
    assert found.distances.tolist() == DISTANCES[order].tolist()
    assert found.beliefs.tolist() == WITH[order].tolist()
    assert found.beliefs_without.tolist() == WITHOUT[order].tolist()
    assert found.records.tolist() == TABLE.records[order].tolist()
    assert found.classes.tolist() == TABLE.sensitive.codes[order].tolist()


def test_in_the_order_in_which_they_were_asked_for() -> None:
    """Asked for b, d and a; asked about in the order of the table."""
    everyone = find_people(TABLE, "who")
    people = everyone.choose(np.array([0, 1, 3]))
    runs = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    found = summed(
        people, rows=[0, 2, 1, 5], chosen={"listed": np.array([1, 2, 0])}, population=4,
        changes=Changes.from_runs(runs),
        column={
            "lower": np.array([0.01, 0.03, 0.02, 0.06]), "upper": np.array([0.1, 0.3, 0.2, 0.6]),
            "run_distances": np.array([[0.1, 0.1], [0.3, 0.3], [0.2, 0.2], [0.6, 0.6]]),
        },
    )  # fmt: skip
    assert found.records.tolist() == [1, 6, 0]
    assert found.distances.tolist() == [0.2, 0.6, 0.3]
    assert found.lower is not None
    assert found.upper is not None
    assert found.sizes is not None
    assert found.lower.tolist() == [0.02, 0.06, 0.03]
    assert found.upper.tolist() == [0.2, 0.6, 0.3]
    assert found.sizes.tolist() == [1, 1, 2]
    assert found.beliefs[:, 0].tolist() == [0.2, 0.6, 0.3]
    # In a run, a's prediction changes where that about any record does: rows 0 and 2, never both.
    assert found.change_chances is not None
    assert found.change_chances.tolist() == [1.0, 0.5, 0.5]
    assert (found.confidence, found.runs) == (0.9, 7)
    folded = Changes.from_runs(runs).fold(np.array([0, 2, 3]))
    assert found.change_limits == change_limits(folded, 0.9)
    assert (found.exactness, found.people, found.requested) == ("lower-bound", 4, 3)
    assert found.notes[-1].startswith("3 of 4 people were tested: ")


@pytest.mark.parametrize(
    ("rows", "column", "exactness"),
    [
        (range(6), {}, "exact"),
        (range(6), {"run_distances": np.zeros((6, 2))}, "estimate"),
        (range(5), {}, "lower-bound"),
        (range(5), {"run_distances": np.zeros((5, 2))}, "lower-bound"),
    ],
)
def test_how_exact_it_is(rows: Any, column: Any, exactness: str) -> None:
    found = summed(rows=rows, column=column)
    assert found.exactness == exactness
    assert (found.confidence, found.runs) == ((0.9, 7) if column else (None, None))
    told = [note for note in found.notes if "were tested: their largest distance" in note]
    assert told == (
        ["5 of 6 records were tested: their largest distance is a lower bound on that of all"]
        if len(rows) < 6
        else []
    )


def test_failures_are_named_by_their_record() -> None:
    found = summed(rows=[0, 1, 2, 3], failures={5: "no answer", 4: "no rows"}, repeated=1_200)
    assert found.failures == ("record 5: no rows", "record 6: no answer")
    assert "1,200 of the calls failed at first and gave an answer when repeated" in found.notes
    assert not found.out_of_time
    assert not any("when repeated" in note for note in summed().notes)


@pytest.mark.parametrize(
    ("over", "rows", "failed", "out_of_time"),
    [
        (True, range(5), {}, True),
        (True, range(6), {}, False),  # the last one was just finished
        (True, range(5), {5: "x"}, False),
        (False, range(5), {}, False),
    ],
)
def test_the_time_was_up(over: bool, rows: Any, failed: Any, out_of_time: bool) -> None:
    found = summed(rows=rows, over=over, failures=failed)
    assert found.out_of_time == out_of_time
    told = "the time was up before every target was tested" in found.notes
    assert told == out_of_time


def test_a_random_draw_that_was_not_cut_short_has_a_guarantee() -> None:
    drawn = {"random_draw": True}
    people = each_record(np.arange(4))
    found = summed(people, rows=range(4), chosen=drawn, population=100)
    expected = str(statement(DISTANCES[:4], population=100, confidence=0.9))
    assert found.guarantee == expected
    first = summed(each_record(np.arange(1)), rows=[0], chosen=drawn, population=100)
    assert first.guarantee == str(statement(DISTANCES[:1], population=100, confidence=0.9))
    one_failed = summed(people, rows=range(3), failures={3: "x"}, chosen=drawn, population=100)
    assert one_failed.guarantee == str(
        statement(DISTANCES[:3], population=100, confidence=0.9, failed=1)
    )
    for less in (
        summed(people, rows=range(3), chosen=drawn, population=100),  # cut short
        summed(people, rows=range(4), population=100),  # not drawn
        summed(people, rows=[], failures=dict.fromkeys(range(4), "x"), chosen=drawn,
               population=100),
        summed(people, rows=range(4), chosen=drawn, population=100,
               column={"run_distances": np.zeros((4, 2))}),
    ):  # fmt: skip
        assert less.guarantee is None
    named = find_people(TABLE, "who").choose(np.array([1, 3]))
    of_people = summed(named, rows=[1, 5], chosen=drawn, population=50)
    assert "% of the people exceed" in str(of_people.guarantee)


def test_a_release_with_more_rows_than_the_table_is_said() -> None:
    twice = read_table(
        pa.concat_tables([FRAME, FRAME]), quasi=["age"], sensitive="ill", identifier="who",
        missing="drop",
    )  # fmt: skip
    said = "the release has 12 rows for 6 records"
    for table, more in ((twice, True), (TABLE, False)):
        found = summed(release=Mondrian(k=2).sanitize(table))
        assert (said in found.notes) == more
        assert any("rows for" in note for note in found.notes) == more


def test_what_a_recoding_says_of_its_release_is_said_of_the_test() -> None:
    made = replace(Mondrian(k=2).sanitize(TABLE), notes=("12 solutions were compared",))
    recoded = summed(release=made, sanitizer=Recoding(k=2))
    assert recoded.notes[-1] == "12 solutions were compared"
    assert recoded.notes[: len(TABLE.notes)] == TABLE.notes
    assert "12 solutions were compared" not in summed(release=made).notes
    assert "12 solutions were compared" not in summed(sanitizer=Recoding(k=2)).notes


def test_who_has_two_records_is_shown_once() -> None:
    """The first has row 0, the second 2 and 1, of which 2 tells more."""
    people = People(np.array([0, 2, 1]), np.array([0, 1, 3]), "who")
    found = summed(people, rows=[0, 2, 1])
    assert found.distances.tolist() == [0.1, 0.3]
    assert np.array_equal(found.beliefs, WITH[[0, 2]])
    assert np.array_equal(found.beliefs_without, WITHOUT[[0, 2]])


@pytest.mark.parametrize("place", [[0, 1, 2], [1, 2, 0], [2, 1, 0], [1, 2], [0, 2], [2], [0]])
def test_whatever_is_shown_of_three_records_is_in_its_place(place: list[int]) -> None:
    assert np.arange(3)[_shown(np.array(place), 3)].tolist() == place


def test_a_released_column_that_nothing_was_measured_of_is_said() -> None:
    frame = pa.table({"who": list("abcd"), "note": list("qqrr"), "age": [1, 2, 3, 4],
                      "ill": list("xyxy")})  # fmt: skip
    table = read_table(frame, quasi=["age"], sensitive="ill", identifier="who", other="note")
    told = differential_test(table, lambda one: one, model="frequency").notes
    assert "the release has the identifier 'who', which names people" in told
    gap = "nothing was measured of columns that the release has: 'note'"
    assert any(one.startswith(gap) for one in told)
    without = differential_test(table, lambda one: one.drop_columns(["who", "note"]), model="tree")
    assert not any("the release has" in one for one in without.notes)

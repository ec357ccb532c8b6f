"""Run folders, failing calls, budgets, orders and people, as differential_test has them."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, NaiveBayes, Table, UserError, differential_test, read_table
from indiff.differential.calls import calls
from indiff.differential.people import Deadline, as_deadline, find_people, seconds_of
from indiff.differential.targets.worst_first import rank
from indiff.distances.functions import wasserstein
from indiff.sanitizers.oracles.function import Oracle
from tests.properties.random_tables import make_sample


def patients(records: int = 40, **options: Any) -> Table:
    rng = np.random.default_rng(3)
    frame = pa.table(
        {
            "who": [f"p{number}" for number in rng.integers(0, records // 2, records)],
            "age": rng.integers(20, 80, records),
            "ill": rng.choice(["flu", "cold", "none"], records),
            "note": [str(number) for number in range(records)],
        }
    )
    return read_table(
        frame, quasi=["age"], sensitive="ill", identifier="who", other="note", **options
    )


class Decades:
    """Ages by ten years; counts its calls, fails without some records, interrupts at a call."""

    def __init__(self, fails: dict[str, int] | None = None, interrupt: int = 0) -> None:
        self.width = 10
        self._fails = dict(fails or {})
        self._interrupt = interrupt
        self._calls: list[set[str]] = []

    def __call__(self, frame: pa.Table) -> pa.Table:
        left_out = {str(number) for number in range(40)} - set(frame["note"].to_pylist())
        self._calls.append(left_out)
        if len(self._calls) == self._interrupt:
            raise KeyboardInterrupt
        for record in left_out:
            if self._fails.get(record, 0) > 0:
                self._fails[record] -= 1
                raise RuntimeError(f"out of luck with {len(left_out)}")
        low = (np.asarray(frame["age"]) // self.width) * self.width
        ages = pa.array([f"[{one}, {one + self.width - 1}]" for one in low])
        return frame.set_column(1, "age", ages)


USUAL: dict[str, Any] = {"model": "naive-bayes", "method": "refit", "jobs": 1}


def run(oracle: Any, table: Table | None = None, **options: Any) -> Any:
    chosen = patients() if table is None else table
    return differential_test(chosen, oracle, **USUAL | options)


# Run folders


@pytest.mark.parametrize("interrupt", [2, 3, 17, 41])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(
    interrupt: int, tmp_path: Path
) -> None:
    whole = run(Decades())
    first = run(Decades(interrupt=interrupt), run=tmp_path)
    assert first.interrupted
    assert len(first.distances) == interrupt - 2
    second = Decades()
    result = run(second, run=tmp_path)
    assert len(second._calls) == 1 + 40 - len(first.distances)
    assert result.complete
    for name in ("distances", "beliefs", "beliefs_without", "records"):
        assert getattr(result, name).tobytes() == getattr(whole, name).tobytes()
    assert {**result.to_dict(), "timing": 0} == {**whole.to_dict(), "timing": 0}
    third = Decades()
    again = run(third, run=tmp_path, distance="tv")  # the folder has beliefs, not distances
    assert len(third._calls) == 1
    assert again.distances.tolist() == run(Decades(), distance="tv").distances.tolist()


def test_what_changed_is_named(tmp_path: Path) -> None:
    run(Decades(), run=tmp_path, targets=range(3))

    def refused(what: str, oracle: Any, table: Table | None = None, **options: Any) -> None:
        with pytest.raises(UserError, match=f"the {what} is another one than when the run in"):
            run(oracle, table, run=tmp_path, targets=range(3), **options)

    other = Decades()
    other.width = 20
    refused("sanitizer", other)
    refused("model", Decades(), model="frequency")
    refused("seed", Decades(), seed=1)
    refused("table", Decades(), patients(41))
    frame = patients().source
    renamed = frame.set_column(3, "note", pa.array([f"{n}!" for n in range(40)]))
    same_codes = read_table(renamed, quasi=["age"], sensitive="ill", identifier="who", other="note")
    refused("table", Decades(), same_codes)  # a column that only the oracle looks at
    refused("individual column", Decades(), individual="who")
    refused("method", Decades(), method="sampled", runs=2)
    assert run(Decades(), run=tmp_path, targets=range(3)).complete


class FromFile:
    """Looks up the width of its regions in a file, which nobody else knows of."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __call__(self, frame: pa.Table) -> pa.Table:
        decades = Decades()
        decades.width = int(Path(self.path).read_text())
        return decades(frame)


def test_a_sanitizer_that_changed_behind_our_back_is_refused(tmp_path: Path) -> None:
    (tmp_path / "width").write_text("10")
    oracle = FromFile(tmp_path / "width")
    run(oracle, run=tmp_path / "run", targets=range(3))
    (tmp_path / "width").write_text("30")
    with pytest.raises(UserError, match="the whole table now leads to other beliefs than when thi"):
        run(oracle, run=tmp_path / "run", targets=range(3))


def test_sampled_runs_go_on(tmp_path: Path) -> None:
    table = make_sample(3, 14, ["ties", "set"], 3).table
    options: dict[str, Any] = {"model": "naive-bayes", "method": "sampled", "runs": 4, "jobs": 1}
    whole = differential_test(table, "laplace:epsilon=1", **options)

    def stop(done: int, total: int) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    first = differential_test(table, "laplace:epsilon=1", run=tmp_path, progress=stop, **options)
    assert first.interrupted
    result = differential_test(table, "laplace:epsilon=1", run=tmp_path, **options)
    assert {**result.to_dict(), "timing": 0} == {**whole.to_dict(), "timing": 0}
    assert result.run_distances.tobytes() == whole.run_distances.tobytes()
    for name, value in (("distance", {"distance": "tv"}), ("number of runs", {"runs": 5}),
                        ("set of targets", {"targets": [1, 2]})):  # fmt: skip
        with pytest.raises(UserError, match=f"the {name} is another one"):
            differential_test(table, "laplace:epsilon=1", run=tmp_path, **{**options, **value})


def test_several_models_and_attributes_have_folders_of_their_own(tmp_path: Path) -> None:
    table = patients()
    both = differential_test(table, Mondrian(k=2), model=["naive-bayes", "frequency"], run=tmp_path)
    again = differential_test(
        table, Mondrian(k=2), model=["naive-bayes", "frequency"], run=tmp_path
    )
    assert both.distances.tolist() == again.distances.tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model-1", "model-2"]


# Failing calls


def test_a_call_that_fails_at_first_is_repeated(tmp_path: Path) -> None:
    oracle = Decades(fails={"7": 2})
    result = run(oracle, run=tmp_path)
    assert result.complete
    assert len(oracle._calls) == 41 + 2
    assert "1 of the calls failed at first and gave an answer when repeated" in result.notes
    assert result.distances.tolist() == run(Decades()).distances.tolist()
    assert run(Decades(), run=tmp_path).notes == result.notes


def test_a_call_that_always_fails_is_recorded_and_the_run_goes_on(tmp_path: Path) -> None:
    result = run(Decades(fails={"7": 99, "12": 99}), run=tmp_path)
    assert result.records.tolist() == [n for n in range(40) if n not in (7, 12)]
    assert [text.split(":")[0] for text in result.failures] == ["record 7", "record 12"]
    assert "out of luck with 1" in result.failures[0]
    assert not result.complete
    assert not result.interrupted
    assert result.exactness == "lower-bound"
    assert "38 of 40 records were tested: their largest distance is a lower bound" in str(
        result.notes
    )
    better = Decades()  # the failed ones, and no other, are asked for again
    assert run(better, run=tmp_path).complete
    assert better._calls == [set(), {"7"}, {"12"}]


def test_no_retries() -> None:
    oracle = Decades(fails={"7": 1})
    assert len(run(oracle, retries=0).failures) == 1
    with pytest.raises(UserError, match="retries must be a whole number of at least 0; got -1"):
        run(Decades(), retries=-1)


def test_a_call_on_the_whole_table_that_fails_is_an_error_at_once() -> None:
    def never(frame: Any) -> Any:
        raise RuntimeError("no luck at all")

    with pytest.raises(UserError, match=r"raised RuntimeError: .?no luck at all.? on 40 records"):
        run(never)


def test_failures_of_sampled_runs() -> None:
    result = run(Decades(fails={"7": 10**6}), method="sampled", runs=2, targets=[6, 7, 8])
    assert result.records.tolist() == [6, 8]
    assert len(result.failures) == 1


# Budgets and orders


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


def test_when_the_time_is_up_nothing_more_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = Decades()
    monkeypatch.setattr(calls, "monotonic", lambda: len(oracle._calls))
    # The whole table is the first call; when the seventh is made, six seconds are over.
    result = run(oracle, time=Deadline(7), run=tmp_path)
    assert len(oracle._calls) == 7
    assert len(result.distances) == 6
    assert result.requested == 40
    assert result.out_of_time
    assert not result.complete
    assert not result.interrupted
    assert result.exactness == "lower-bound"
    assert "the time was up before every target was tested" in result.notes
    assert result.to_dict()["out_of_time"] is True
    order = [next(iter(one)) for one in oracle._calls if one]
    assert order != sorted(order, key=int)  # what is finished is a random part
    assert result.guarantee is None  # and was cut short
    rest = Decades()
    assert run(rest, run=tmp_path).complete
    assert len(rest._calls) == 1 + 34


def test_a_number_of_targets_is_a_random_draw_with_a_statement() -> None:
    one, two = run(Decades(), targets=10), run(Decades(), targets=10)
    other = run(Decades(), targets=10, seed=1)
    assert one.records.tolist() == two.records.tolist() != other.records.tolist()
    assert len(one.records) == one.requested == 10
    assert one.complete
    assert one.exactness == "lower-bound"
    assert "with 95 % confidence at most" in one.guarantee
    assert "a lower bound on δ" in one.guarantee
    everyone = run(Decades(), targets=1000)
    assert everyone.exactness == "exact"
    assert everyone.guarantee is None
    with pytest.raises(UserError, match="targets is a number of at least 1, or record numbers"):
        run(Decades(), targets=0)
    with pytest.raises(UserError, match="no order 'best'"):
        run(Decades(), order="best")


def test_worst_first_asks_for_the_exposed_first_and_draws_no_sample() -> None:
    table, oracle = patients(), Decades()
    result = run(oracle, order="worst-first", targets=5)
    asked = [int(next(iter(one))) for one in oracle._calls if one]
    order = rank(table, release=Oracle(Decades()).sanitize(table), model=NaiveBayes())
    assert asked == order[:5].tolist()
    assert result.guarantee is None
    both = run(Decades(), order="worst-first", targets=5, model=["naive-bayes", "frequency"])
    assert len(both.distances) == 5  # every model has the same targets
    given = Decades()
    run(given, targets=[9, 2, 5])
    assert [next(iter(one)) for one in given._calls if one] == ["9", "2", "5"]


# People


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


# Elsewhere


def test_a_cluster_needs_an_address_and_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="needs the address of a scheduler; give scheduler='tcp"):
        run(Decades(), backend="dask")
    with pytest.raises(UserError, match=r"no backend 'ray'\. Known: loky, dask"):
        run(Decades(), backend="ray")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"install it with: pip install 'indiff\[dask\]'"):
        run(Decades(), backend="dask", scheduler="tcp://127.0.0.1:1")


def test_what_cannot_be_pickled_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "WORTH_SHARING", 0.0)
    lock = threading.Lock()
    with pytest.raises(UserError, match=r"must be picklable; .* Use jobs=1"):
        run(lambda frame: frame if lock else None, jobs=2)

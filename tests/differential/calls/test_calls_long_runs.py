"""Run folders, failing calls, budgets, orders and people, as differential_test has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, NaiveBayes, Table, UserError, differential_test, read_table
from indiff.differential.calls import calls
from indiff.differential.people import Deadline
from indiff.differential.targets.worst_first import rank
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

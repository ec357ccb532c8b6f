"""People in a noisy table: exact for those with one record, sampled for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Table, UserError, differential_test, read_table
from indiff.differential.noise.runs import TableRuns

RECORDS = 40
SEVERAL = ("p0", "p1", "p2")  # p0 has records 0 to 3, p1 4 and 5, p2 6 and 7; all others have one


def visits() -> Table:
    rng = np.random.default_rng(8)
    owners = ["p0"] * 4 + ["p1"] * 2 + ["p2"] * 2 + [f"q{number}" for number in range(8, RECORDS)]
    frame = pa.table(
        {
            "who": owners,
            "age": rng.integers(20, 80, RECORDS),
            "ill": rng.choice(["flu", "cold", "none"], RECORDS),
        }
    )
    return read_table(frame, quasi=["age"], sensitive="ill", identifier="who")


def outcome(sanitizer: str = "laplace:epsilon=1", **options: Any) -> Any:
    return differential_test(
        visits(), sanitizer, **{"individual": "who", "runs": 30, "jobs": 1, **options}
    )


@pytest.mark.parametrize(
    "sanitizer",
    [
        "laplace:epsilon=1",
        "geometric:epsilon=1",
        "gaussian:sigma=1",
        "randomized-response:epsilon=1",
    ],
)
def test_one_record_people_are_exact_and_the_others_sampled(sanitizer: str) -> None:
    mixed = outcome(sanitizer)
    exact = differential_test(visits(), sanitizer)
    assert exact.method == "closed-form"
    assert mixed.records.tolist() == [0, 4, 6, *range(8, RECORDS)]
    alone = slice(len(SEVERAL), None)
    for numbers in (mixed.distances, mixed.lower, mixed.upper):
        np.testing.assert_array_equal(numbers[alone], exact.distances[8:])
    np.testing.assert_array_equal(mixed.beliefs[alone], exact.beliefs[8:])
    np.testing.assert_array_equal(mixed.beliefs_without[alone], exact.beliefs_without[8:])
    np.testing.assert_array_equal(mixed.classes[alone], exact.classes[8:])

    sampled = outcome(sanitizer, method="sampled")  # everybody
    some = slice(0, len(SEVERAL))
    np.testing.assert_array_equal(mixed.run_distances[some], sampled.run_distances[some])
    np.testing.assert_array_equal(mixed.distances[some], sampled.distances[some])
    np.testing.assert_array_equal(mixed.beliefs[some], sampled.beliefs[some])
    assert (mixed.lower[some] >= sampled.lower[some]).all()  # for 8 records together, not for 40
    assert (mixed.upper[some] <= sampled.upper[some]).all()
    assert (mixed.upper[some] < sampled.upper[some]).any()


def test_the_weaker_method_names_the_whole() -> None:
    mixed = outcome()
    assert (mixed.method, mixed.exactness) == ("sampled", "estimate")
    assert (
        "the 3 people with several records have no closed form and were sampled; the distances of "
        "the other 32 are exact"
    ) in mixed.notes
    low, high = mixed.delta_interval
    assert low <= mixed.delta <= high
    assert high == mixed.upper.max()
    noise = [note for note in mixed.notes if "indistinguishable from noise" in note]
    assert len(noise) == 1
    assert noise[0].startswith("of the people with several records: ")
    with pytest.raises(UserError, match="method 'closed-form' is about people with one record"):
        outcome(method="closed-form")


def test_single_runs_of_one_record_people_are_those_of_their_cells() -> None:
    cells = differential_test(visits(), "laplace:epsilon=1", method="sampled", runs=30, jobs=1)
    mixed = outcome()
    np.testing.assert_array_equal(mixed.run_distances[3:], cells.run_distances[8:])
    assert mixed.tail(0.0).estimate == 1


def test_people_who_all_have_several_records_are_all_sampled() -> None:
    few = outcome(targets=[0, 4, 7])
    assert few.records.tolist() == [0, 4, 6]
    assert "people with several records have no closed form: sampled" in few.notes
    only = outcome(targets=[9, 10])
    assert (only.method, only.lower) == ("closed-form", None)


def test_without_noise_any_distance_is_exact_for_one_record_people() -> None:
    mixed = outcome("laplace:epsilon=inf", distance=["wasserstein", "tv"])
    exact = differential_test(visits(), "laplace:epsilon=inf", distance=["wasserstein", "tv"])
    for name in ("wasserstein", "tv"):
        np.testing.assert_array_equal(mixed[name].distances[3:], exact[name].distances[8:])
        np.testing.assert_allclose(
            mixed[name].run_distances[3:], exact[name].distances[8:, None] * np.ones(30), atol=1e-12
        )


def test_an_order_of_targets_changes_no_number() -> None:
    plain, random = outcome(), outcome(order="random")
    assert plain.records.tolist() == random.records.tolist()
    assert plain.distances.tolist() == random.distances.tolist()


def test_a_run_goes_on_and_an_interruption_keeps_the_exact_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = outcome()
    pairs, asked = TableRuns.pairs, []

    def stopped(source: TableRuns, place: int) -> Any:
        asked.append(place)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return pairs(source, place)

    monkeypatch.setattr(TableRuns, "pairs", stopped)
    part = outcome(run=tmp_path)
    assert part.interrupted
    assert part.records.tolist() == [0, *range(8, RECORDS)]
    np.testing.assert_array_equal(part.distances, whole.distances[[0, *range(3, 35)]])
    monkeypatch.undo()
    again = outcome(run=tmp_path)
    assert again.complete
    for name in ("distances", "lower", "upper", "run_distances", "beliefs"):
        assert getattr(again, name).tobytes() == getattr(whole, name).tobytes()
    with pytest.raises(UserError, match="the method is another one than when the run in"):
        outcome(run=tmp_path, method="sampled")

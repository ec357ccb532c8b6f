"""differential_test: what it takes, which path it chooses, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from indiff import (
    DifferentialResult,
    Identity,
    Mondrian,
    NaiveBayes,
    Table,
    UserError,
    differential_test,
    read_table,
)
from indiff.release.release import Release
from tests.properties.random_tables import make_sample

COLUMNS = {
    "age": [28, 36, 47, 53, 72, 28],
    "ill": ["flu", "flu", "cancer", "flu", "cold", "flu"],
    "work": ["yes", "no", "no", "yes", "no", "no"],
}


def patients(**options: Any) -> Table:
    return read_table(pa.table(COLUMNS), **{"quasi": ["age"], "sensitive": "ill", **options})


def test_several_sensitive_attributes_one_by_one_and_jointly() -> None:
    both = differential_test(
        patients(sensitive=["ill", "work"]), Mondrian(k=2), model="naive-bayes"
    )
    assert set(both) == {"ill", "work"}
    alone = differential_test(patients(), Mondrian(k=2), model="naive-bayes")
    assert both["ill"].distances.tolist() == alone.distances.tolist()
    joint = differential_test(
        patients(sensitive=["ill", "work"], joint=True), Mondrian(k=2), model="naive-bayes"
    )
    assert isinstance(joint, DifferentialResult)
    assert joint.sensitive_name == "ill, work"
    assert joint.sensitive_values == (
        ("cancer", "no"),
        ("cold", "no"),
        ("flu", "no"),
        ("flu", "yes"),
    )
    assert joint.beliefs.shape == (6, 4)


def test_a_list_of_sanitizers_and_of_distances() -> None:
    table = patients()
    results = differential_test(
        table, ["mondrian:k=2", Mondrian(k=3), "identity"], model="naive-bayes"
    )
    assert [result.sanitizer for result in results] == ["mondrian:k=2", "mondrian:k=3", "identity"]
    for result, one in zip(results, [Mondrian(k=2), Mondrian(k=3), Identity()], strict=True):
        assert (
            result.distances.tolist()
            == differential_test(table, one, model="naive-bayes").distances.tolist()
        )
    measured = differential_test(table, Mondrian(k=2), model="naive-bayes", distance=["tv", "kl"])
    assert list(measured) == ["tv", "kl"]
    assert measured["tv"].distances.tolist() == (
        differential_test(
            table, Mondrian(k=2), model="naive-bayes", distance="tv"
        ).distances.tolist()
    )


def test_a_distance_of_ones_own() -> None:
    def largest(p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
        return np.abs(p - q).max(axis=1)

    result = differential_test(patients(), Mondrian(k=2), model="naive-bayes", distance=largest)
    assert result.distance == "largest"
    expected = np.abs(result.beliefs - result.beliefs_without).max(axis=1)
    assert result.distances.tolist() == expected.tolist()


def test_targets_are_record_numbers_of_the_input() -> None:
    table = read_table(
        pa.table({"x": [1, None, 2, 3, 4], "s": list("ababa")}),
        quasi=["x"],
        sensitive="s",
        missing="drop",
    )
    everyone = differential_test(table, Mondrian(k=1), model="naive-bayes")
    assert everyone.records.tolist() == [0, 2, 3, 4]
    assert everyone.dropped == 1
    few = differential_test(table, Mondrian(k=1), model="naive-bayes", targets=[4, 2])
    assert few.records.tolist() == [4, 2]  # as asked
    assert few.distances.tolist() == everyone.distances[[3, 1]].tolist()
    assert few.exactness == "lower-bound"
    assert few.complete
    with pytest.raises(UserError, match=r"record numbers from 0 to 4 .* not dropped; got 1\."):
        differential_test(table, Mondrian(k=1), model="naive-bayes", targets=[1])
    with pytest.raises(UserError, match="got -1"):
        differential_test(table, Mondrian(k=1), model="naive-bayes", targets=[-1])
    with pytest.raises(UserError, match="targets names no record"):
        differential_test(table, Mondrian(k=1), model="naive-bayes", targets=[])


@pytest.mark.parametrize("wrong", [[True, False, True], [1.5], "12", [0, None]])
def test_what_is_no_record_number_is_refused(wrong: Any) -> None:
    """A mask would be read as the records 1 and 0, and another record than asked for tested."""
    with pytest.raises(UserError, match="targets are record numbers, whole ones from 0; got"):
        differential_test(patients(), Identity(), model="naive-bayes", targets=wrong)


def test_numbers_of_numpy_are_numbers() -> None:
    found = differential_test(
        patients(), Identity(), model="naive-bayes", targets=np.array([0, 2], np.int32)
    )
    assert found.records.tolist() == [0, 2]
    assert (
        len(
            differential_test(
                patients(), Identity(), model="naive-bayes", targets=np.int64(2)
            ).records
        )
        == 2
    )


def test_all_targets_by_name_are_exact() -> None:
    assert (
        differential_test(
            patients(), Mondrian(k=2), model="naive-bayes", targets=range(6)
        ).exactness
        == "exact"
    )


def test_the_method_is_chosen_and_said() -> None:
    table = patients()
    assert differential_test(table, Mondrian(k=2), model="naive-bayes").method == "leave-one-out"
    assert (
        differential_test(table, Mondrian(k=2), model="naive-bayes", method="refit").method
        == "refit"
    )
    assert differential_test(table, Identity(), model="naive-bayes").method == "refit"
    with pytest.raises(
        UserError, match="method 'leave-one-out' needs Mondrian or recoding, and a model"
    ):
        differential_test(table, Identity(), model="naive-bayes", method="leave-one-out")


class Undefined:
    """A model that gives no probabilities."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        return np.full((len(targets), len(release.sensitive_values)), np.nan)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "fast"}, r"no method 'fast'"),
        ({"model": "tree-of-life"}, r"no model 'tree-of-life'"),
        ({"distance": "wasserstien"}, r"did you mean 'wasserstein'"),
        ({"distance": ["tv", "tv"]}, r"distances need names of their own; got tv, tv"),
        ({"distance": []}, r"distances need names of their own; got none"),
        ({"distance": lambda p, q: p}, r"must return one number per record; it returned shape"),
        ({"jobs": 0}, r"jobs is a number of processes, or -1 for all cores; got 0"),
        ({"model": Undefined()}, r"a belief must be probabilities that sum to 1; undefined gave"),
        ({"model": NaiveBayes(prior=(1.0, 0.0))}, r"needs one number per sensitive value \(3\)"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        differential_test(patients(), Mondrian(k=2), **options)


@pytest.mark.parametrize("method", ["leave-one-out", "refit"])
def test_a_prior_that_rules_out_everybody_is_refused(method: Any) -> None:
    table = read_table(pa.table({"x": [1, 2, 3], "s": ["a", "b", "b"]}), quasi=["x"], sensitive="s")
    with pytest.raises(UserError, match="prior"):
        differential_test(table, Mondrian(k=1), model=NaiveBayes(prior=(1.0, 0.0)), method=method)


@pytest.mark.parametrize("sanitizer", [3, None, Mondrian])
def test_what_is_no_sanitizer_is_refused(sanitizer: Any) -> None:
    with pytest.raises(UserError, match="a sanitizer"):
        differential_test(patients(), sanitizer, model="naive-bayes")


def test_tables_on_which_the_test_says_nothing_are_refused() -> None:
    one = read_table(pa.table({"x": [1], "s": ["a"]}), quasi=["x"], sensitive="s")
    with pytest.raises(UserError, match="at least 2 records"):
        differential_test(one, Mondrian(k=1), model="naive-bayes")
    same = read_table(pa.table({"x": [1, 2], "s": ["a", "a"]}), quasi=["x"], sensitive="s")
    with pytest.raises(UserError, match="a sensitive attribute needs at least 2 values; 's' has 1"):
        differential_test(same, Mondrian(k=1), model="naive-bayes")
    none = read_table(pa.table({"x": [1, 2], "s": ["a", "b"]}), quasi=["x"])
    with pytest.raises(UserError, match="exactly one sensitive attribute is needed"):
        differential_test(none, Mondrian(k=1), model="naive-bayes")


def test_the_same_call_gives_the_same_result() -> None:
    table = make_sample(2, 80, ["continuous", "set"], 5).table
    one, two = (differential_test(table, Mondrian(k=4), model="naive-bayes") for _ in range(2))
    assert one.distances.tobytes() == two.distances.tobytes()
    assert one.fingerprint == two.fingerprint


def test_the_order_of_the_records_changes_no_distance() -> None:
    table = make_sample(4, 60, ["ties", "jobs", "ordinal"], 4).table
    order = np.random.default_rng(0).permutation(60)
    straight = differential_test(table, Mondrian(k=3), model="naive-bayes")
    shuffled = differential_test(table.take(order), Mondrian(k=3), model="naive-bayes")
    np.testing.assert_allclose(shuffled.distances, straight.distances[order], atol=1e-15)


@pytest.mark.parametrize(("rows", "told"), [([0, 1, 2, 3] * 2, True), ([0, 1, 2], False)])
def test_more_rows_than_records_are_noted_and_fewer_are_not(rows: list[int], told: bool) -> None:
    table = read_table(
        pa.table({"age": [20, 30, 40, 50], "ill": list("abab")}), quasi=["age"], sensitive="ill"
    )
    made = differential_test(
        table, lambda frame: frame.take([row % len(frame) for row in rows]), model="frequency"
    )
    note = f"the release has {len(rows)} rows for 4 records"
    assert (note in made.notes) == told
    assert any("rows for 4 records" in one for one in made.notes) == told

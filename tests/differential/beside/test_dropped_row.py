"""One release beside its original: matched rows, the dropped-row test, what is skipped and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import indiff
from indiff import Table, UserError, differential_test, read_table
from indiff.differential.beside.dropped_row import drop_rows
from indiff.inference import as_model
from indiff.release.reading import read_release


def patients() -> Table:
    """DIT v2's Table 1a, with a key."""
    return read_table(
        pa.table(
            {
                "id": ["a", "b", "c", "d", "e"],
                "age": [28, 36, 47, 53, 72],
                "sex": ["M", "M", "F", "M", "F"],
                "ill": ["flu", "flu", "cancer", "flu", "flu"],
            }
        ),
        quasi=["age", "sex"],
        sensitive="ill",
        identifier="id",
    )


RELEASED = {
    "id": ["e", "b", "a", "d", "c"],
    "age": ["[47, 72]", "[28, 36]", "[28, 36]", "[47, 72]", "[47, 72]"],
    "sex": ["*", "M", "M", "*", "*"],
    "ill": ["flu", "flu", "flu", "flu", "cancer"],
}


def test_rows_are_matched_by_key_and_dropped_one_at_a_time() -> None:
    # About a: candidates {flu, flu} → {flu}. About c: {flu, flu, cancer} → {flu, flu}, a change of
    # 1/3 in two coordinates. About d and e: 2/3, 1/3 → 1/2, 1/2, a change of 1/6 in two.
    result = indiff.test_release(patients(), pa.table(RELEASED), key="id", model="frequency")
    np.testing.assert_allclose(result.test.distances, [0, 0, 2 / 3, 1 / 3, 1 / 3], atol=1e-12)
    assert result.linkage.candidates.tolist() == [2, 2, 3, 3, 3]
    assert (result.test.method, result.test.exactness) == ("dropped-row", "approximation")
    assert any(
        "can change everybody's regions (DIT v2, Section 3.2)" in n for n in result.test.notes
    )
    assert result.skipped is None
    only = indiff.test_release(patients(), pa.table(RELEASED), key="id", targets=[4])
    assert only.test is not None  # whose row is the first of the release
    # The share of cancer is 1/5: about c and d it is believed 1/3, about a and b 0.
    np.testing.assert_allclose(result.shift.distances, np.array([6, 6, 4, 4, 4]) / 15)
    assert result.shift.raised == 3  # a and b in flu, c in cancer


def test_a_dropped_row_is_not_a_record_that_was_never_sanitized() -> None:
    # Mondrian at k = 2 without record 3 makes other groups: the paper's reason for the label.
    table = patients()
    release = indiff.Mondrian(k=2, regions="cut").sanitize(table)
    dropped = indiff.test_release(table, release, rows_in_order=True, model="frequency").test
    exact = differential_test(table, indiff.Mondrian(k=2, regions="cut"), model="frequency")
    assert exact.exactness == "exact"
    assert np.abs(dropped.distances - exact.distances).max() > 0.1
    np.testing.assert_array_equal(dropped.beliefs, exact.beliefs)


@pytest.mark.parametrize(
    ("model", "seed"),
    [(m, s) for m, n in (("naive-bayes", 25), ("frequency", 25), ("tree", 2)) for s in range(n)],
)
def test_distances_are_those_of_the_release_without_the_row(model: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(3, 12))
    ages = draw.integers(20, 40, size)
    columns = {
        "age": ages,
        "sex": np.concatenate([["F", "M"], draw.choice(["F", "M"], size - 2)]),
        "ill": np.concatenate([["flu", "cold"], draw.choice(["flu", "cold", "mumps"], size - 2)]),
    }
    table = read_table(pa.table(columns), quasi=["age", "sex"], sensitive="ill")
    cells = {
        "age": [f"[{a - draw.integers(0, 9)}, {a + draw.integers(0, 9)}]" for a in ages],
        "sex": draw.choice(["F", "M", "*"], size),
        "ill": draw.permutation(columns["ill"]),
    }
    frame = pa.table(cells)
    result = indiff.test_release(table, frame, rows_in_order=True, model=model)
    release = read_release(frame, table)
    for row in range(size):
        kept = read_release(frame.take([r for r in range(size) if r != row]), table)
        expected = as_model(model).beliefs(kept, table.take([row]))[0]
        np.testing.assert_allclose(result.test.beliefs_without[row], expected, atol=1e-12)
        with_row = as_model(model).beliefs(release, table.take([row]))[0]
        np.testing.assert_allclose(result.test.beliefs[row], with_row, atol=1e-12)


def test_with_neither_key_nor_order_nothing_is_guessed() -> None:
    result = indiff.test_release(patients(), pa.table(RELEASED))
    assert result.test is None
    assert "no row of the release is known to be a given record's" in result.skipped
    assert result.linkage.unlinked == 0
    assert result.to_arrow().column_names == [
        "record", "candidates", "groups", "closest", "posterior", "share_among_candidates",
        "belief", "distance_to_shares",
    ]  # fmt: skip


def test_suppressed_records_have_no_row_to_drop_and_are_not_called_safe() -> None:
    frame = pa.table(RELEASED).slice(0, 3)
    result = indiff.test_release(patients(), frame, key="id", model="frequency")
    assert result.test.records.tolist() == [0, 1, 4]
    assert "2 records have no released row to drop: not measured" in result.test.notes
    assert result.linkage.candidates.tolist() == [2, 2, 1, 1, 1]
    written = result.to_arrow()
    assert written["distance"].is_null().to_pylist() == [False, False, True, True, False]


def test_nobodys_row_is_a_skipped_test() -> None:
    frame = pa.table({**RELEASED, "id": list("vwxyz")})
    result = indiff.test_release(patients(), frame, key="id")
    assert result.test is None
    assert "no tested record has a released row of its own" in result.skipped
    assert "5 released rows have a key that no record of the table has" in result.notes


def test_more_rows_than_records_are_noted() -> None:
    twice = pa.concat_tables([pa.table(RELEASED), pa.table({**RELEASED, "id": list("vwxyz")})])
    result = indiff.test_release(patients(), twice, key="id", model="frequency")
    assert "the release has 10 rows for 5 records" in result.notes
    assert result.linkage.candidates.tolist() == [4, 4, 6, 6, 6]
    # About c: cancer 2/6 → 1/5.
    np.testing.assert_allclose(result.test.distances[2], 2 * (1 / 3 - 1 / 5))


def test_a_perturbed_release_covers_nobody_and_says_so() -> None:
    frame = pa.table({**RELEASED, "age": ["28.7", "36.2", "47.5", "52.1", "71.9"]})
    result = indiff.test_release(patients(), frame, rows_in_order=True)
    assert result.linkage.unlinked == 5
    assert any("perturbed or synthetic release" in note for note in result.notes)
    assert any("0 of these rows cover their record" in note for note in result.notes)
    halves = pa.table({**RELEASED, "age": ["[47, 72]", "36", "36", "[47, 72]", "[47, 72]"]})
    for targets, expected in (([0], True), ([0, 1], False)):  # half of them are not most
        some = indiff.test_release(patients(), halves, key="id", targets=targets)
        assert some.linkage.unlinked == 1
        assert any("perturbed or synthetic" in note for note in some.notes) == expected
    by_scale = indiff.test_release(
        patients(), frame, rows_in_order=True, model="tree:encoding=Scaling-Hot"
    )
    assert by_scale.test.complete


def test_rows_in_order_are_those_of_the_input_or_of_what_was_not_dropped() -> None:
    columns = {"age": [None, 28, 36, 47], "ill": ["flu", "flu", "cold", "flu"]}
    table = read_table(pa.table(columns), quasi=["age"], sensitive="ill", missing="drop")
    whole = pa.table({"age": ["*", "<30", ">=30", ">=30"], "ill": columns["ill"]})
    for frame in (whole, whole.slice(1)):
        result = indiff.test_release(table, frame, rows_in_order=True, model="frequency")
        assert result.test.records.tolist() == [1, 2, 3]
        assert any("3 of these rows cover their record, 3 have its" in n for n in result.notes)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"key": "id", "rows_in_order": True}, "by key= or by rows_in_order=, not by both"),
        ({}, {"key": "idd"}, "no column of the original for the key 'idd': did you mean 'id'"),
        ({"id": None}, {"key": "id"}, "no column of the release for the key 'id'"),
        ({"id": ["*"] * 5}, {"key": "id"}, "column 'id' of the release lacks 0 and repeats 4 of 5"),
        ({"id": ["a", "b", None, "", "c"]}, {"key": "id"}, "lacks 2 and repeats"),
        ({}, {"model": "forest"}, "with a model that is not random; got forest"),
        ({"sex": None}, {}, "no column 'sex'"),
        ({"weight": [2.0, 1.0, 1.0, 0.5, 0.0]}, {}, "'frame' has counts in a column 'weight'"),
        ({"age": ["old"] * 5}, {}, "column 'age', row 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    change: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    columns = {k: v for k, v in {**RELEASED, **change}.items() if v is not None}
    with pytest.raises(UserError, match=message):
        indiff.test_release(patients(), pa.table(columns), **options)


def test_rows_in_order_need_as_many_rows() -> None:
    with pytest.raises(UserError, match="needs as many released rows as records; got 3 rows for 5"):
        indiff.test_release(patients(), pa.table(RELEASED).slice(2), rows_in_order=True)


def test_a_released_identifier_is_pointed_out() -> None:
    found = indiff.test_release(patients(), pa.table(RELEASED))
    assert "the release has the identifier 'id', which names people" in found.notes
    assert [one.name for one in found.unmeasured] == ["id"]
    says = "the release has the column 'id' to match its rows: publish it without"
    assert says in indiff.test_release(patients(), pa.table(RELEASED), key="id").notes
    without = indiff.test_release(patients(), pa.table(RELEASED).drop_columns(["id"]))
    assert without.unmeasured == ()
    assert not any("publish" in note or "names people" in note for note in without.notes)


def test_keys_may_be_numbers_or_their_text(tmp_path: Path) -> None:
    original = pd.DataFrame({"id": [1, 2, 3], "age": [20, 30, 40], "ill": ["flu", "cold", "flu"]})
    table = read_table(original, quasi=["age"], sensitive="ill", identifier="id")
    path = tmp_path / "out.csv"
    path.write_text("id,age,ill\n3,>=30,flu\n1,20,flu\n2,>=30,cold\n")
    result = indiff.test_release(table, path, key="id", model="frequency")
    assert result.name == "out.csv"
    assert any("3 of these rows cover their record, 3 have its" in note for note in result.notes)
    assert isinstance(result.to_frame(), pd.DataFrame)


def test_results_are_plain_json_without_values() -> None:
    result = indiff.test_release(patients(), pa.table(RELEASED), key="id", distance="kl")
    document = json.loads(result.to_json())
    assert document["kind"] == "release-test"
    assert document["test"]["exactness"] == "approximation"
    text = result.to_json()
    assert not any(word in text for word in ("cancer", "flu", "[28, 36]"))


def test_several_sensitive_attributes_give_a_mapping() -> None:
    table = read_table(patients().source, quasi=["age"], sensitive=["sex", "ill"])
    frame = pa.table({**RELEASED, "sex": ["F", "M", "M", "M", "F"]})
    results = indiff.test_release(table, frame, key="id")
    assert list(results) == ["sex", "ill"]
    assert results["sex"].test.sensitive_name == "sex"


def test_a_release_without_some_rows_is_consistent() -> None:
    release = read_release(pa.table(RELEASED), patients())
    less = drop_rows(release, [0, 3])
    assert less.to_arrow().to_pydict() == {
        "age": ["[28, 36]", "[28, 36]", "[47, 72]"],
        "sex": ["M", "M", "*"],
        "ill": ["flu", "flu", "cancer"],
    }


@pytest.mark.parametrize("model", ["frequency", "naive-bayes", "tree"])
def test_targets_may_come_in_any_order(model: str) -> None:
    whole = indiff.test_release(patients(), pa.table(RELEASED), key="id", model=model)
    some = indiff.test_release(
        patients(), pa.table(RELEASED), key="id", model=model, targets=[4, 0, 2]
    )
    chosen = [4, 0, 2]  # as asked
    assert some.test.records.tolist() == some.linkage.records.tolist() == chosen
    np.testing.assert_array_equal(some.test.distances, whole.test.distances[chosen])
    np.testing.assert_array_equal(
        some.to_arrow()["distance"].to_numpy(), whole.test.distances[chosen]
    )


def test_of_some_records_the_largest_distance_is_a_lower_bound() -> None:
    some = indiff.test_release(patients(), pa.table(RELEASED), key="id", targets=[0, 1])
    told = "2 of 5 records were measured: the largest of their distances is a lower bound on that"
    assert any(note.startswith(told) for note in some.test.notes)
    whole = indiff.test_release(patients(), pa.table(RELEASED), key="id")
    assert not any("lower bound" in note for note in whole.test.notes)


def test_what_the_adversary_knows_beforehand_replaces_the_shares() -> None:
    # About c the release says 1/3 cancer where its share is 1/5: odds of 1/2 against 1/4, twice
    # the prior odds. From even odds that is 2 : 1.
    prior = {"cancer": 0.5, "flu": 0.5}
    found = indiff.test_release(
        patients(), pa.table(RELEASED), key="id", model="frequency", prior=prior
    )
    np.testing.assert_allclose(found.shift.true_beliefs[2], 2 / 3)
    np.testing.assert_allclose(found.shift.distances[2], 2 * (2 / 3 - 1 / 2))
    assert found.shift.to_dict()["mean_share_of_true_value"] == 0.5
    # Without its row nobody has cancer any more, whatever was thought of it before.
    np.testing.assert_allclose(found.test.distances[2], 2 * 2 / 3)


def test_a_column_that_the_adversary_does_not_know_tells_him_nothing() -> None:
    sex = indiff.test_release(
        patients(), pa.table(RELEASED), key="id", model="frequency", known="sex"
    )
    without_age = read_table(
        patients().source, quasi=["sex"], sensitive="ill", identifier="id", other=["age"]
    )
    alone = indiff.test_release(without_age, pa.table(RELEASED), key="id", model="frequency")
    np.testing.assert_allclose(sex.test.distances, alone.test.distances, atol=1e-12)
    np.testing.assert_allclose(sex.shift.distances, alone.shift.distances, atol=1e-12)

"""The worked examples of the papers, digit by digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, Table, differential_test, read_release, read_table
from indiff.distances.functions import coordinate_tv, emd, tv, wasserstein

TABLE_1A = {
    "Age": [28, 36, 47, 53, 72],
    "Gender": ["M", "M", "F", "M", "F"],
    "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"],
}
# Table 1b of DIT v2: M(q_i), M⁻ⁱ(q_i) and d_i, with the values in the order Flu, Cancer.
TABLE_1B = [
    ("1 0", "1/2 1/2", "1"),
    ("1 0", "1/2 1/2", "1"),
    ("2/3 1/3", "1 0", "2/3"),
    ("2/3 1/3", "1/2 1/2", "1/3"),
    ("2/3 1/3", "1/2 1/2", "1/3"),
]


def toy() -> Table:
    return read_table(
        pa.table(TABLE_1A),
        quasi=["Age", "Gender"],
        sensitive="Disease",
        orders={"Disease": ["Flu", "Cancer"]},
    )


def numbers(text: str) -> list[float]:
    return [float(Fraction(part)) for part in text.split()]


@pytest.mark.parametrize("method", ["auto", "leave-one-out", "refit"])
def test_table_1b_of_dit_v2(method: str) -> None:
    result = differential_test(
        toy(),
        Mondrian(k=2, regions="cut"),
        model="frequency",
        method=method,
    )
    assert result.sensitive_values == ("Flu", "Cancer")
    expected = [[numbers(part) for part in line] for line in TABLE_1B]
    np.testing.assert_allclose(result.beliefs, [line[0] for line in expected], atol=1e-15)
    np.testing.assert_allclose(result.beliefs_without, [line[1] for line in expected], atol=1e-15)
    np.testing.assert_allclose(result.distances, [line[2][0] for line in expected], atol=1e-15)
    assert result.delta == pytest.approx(1, abs=1e-15)
    assert result.mean == pytest.approx(10 / 3 / 5, abs=1e-15)
    assert result.exactness == "exact"
    assert (result.uncovered, result.uncovered_without, result.generalized_without) == (0, 0, 0)


def test_the_values_stand_in_sorted_order_unless_an_order_is_given() -> None:
    table = read_table(pa.table(TABLE_1A), quasi=["Age", "Gender"], sensitive="Disease")
    result = differential_test(table, Mondrian(k=2, regions="cut"), model="frequency")
    assert result.sensitive_values == ("Cancer", "Flu")
    np.testing.assert_allclose(result.beliefs[:, 1], [1, 1, 2 / 3, 2 / 3, 2 / 3], atol=1e-15)
    np.testing.assert_allclose(result.distances, [1, 1, 2 / 3, 1 / 3, 1 / 3], atol=1e-15)


def groups_of(table: Table) -> set[frozenset[int]]:
    release = Mondrian(k=2, regions="cut").sanitize(table)
    assert release.groups is not None
    return {
        frozenset((table.records[release.groups == group] + 1).tolist())
        for group in set(release.groups.tolist())
    }


def test_the_groups_of_table_2() -> None:
    assert groups_of(toy()) == {frozenset({1, 2}), frozenset({3, 4, 5})}
    assert groups_of(toy().without(3)) == {frozenset({1, 2}), frozenset({3, 5})}


def test_cut_regions_of_table_2_cover_the_whole_domain() -> None:
    release = Mondrian(k=2, regions="cut").sanitize(toy())
    for age in (0, 36, 36.5, 44, 45, 1000):
        assert release.covers("Age", age).tolist() == [age <= 36] * 2 + [age > 36] * 3
    assert release.covers("Gender", "F").all()
    assert release.covers("Gender", "M").all()


def test_coordinate_tv_of_record_4_counts_the_coordinates_that_move() -> None:
    result = differential_test(
        toy(), Mondrian(k=2, regions="cut"), model="frequency", distance="coordinate-tv"
    )
    assert result.distances[3] == 2
    assert coordinate_tv(np.array([[2 / 3, 1 / 3]]), np.array([[1 / 2, 1 / 2]]))[0] == 2


def test_distances_of_dit_v1_section_3_4_1_without_its_misprint() -> None:
    p, q = np.array([[0.49, 0.01, 0.5]]), np.array([[0.01, 0.49, 0.5]])
    assert emd(p, q)[0] == pytest.approx(0.48, abs=1e-15)
    assert tv(p, q)[0] == pytest.approx(0.48, abs=1e-15)
    assert wasserstein(p, q)[0] == pytest.approx(0.96, abs=1e-15)
    assert p.argmax() == q.argmax()  # the same prediction, though so much was learned


def test_the_encoding_example_of_section_4_3() -> None:
    original = read_table(
        pa.table(
            {
                "age": [15, 16, 17, 20, 25],
                "sex": ["Female", "Male", "Male", "Female", "Male"],
                "country": ["France", "France", "Germany", "Italy", "Germany"],
                "ill": ["yes", "no", "no", "yes", "no"],
            }
        ),
        quasi=["age", "sex", "country"],
        sensitive="ill",
    )
    release = read_release(
        pa.table(
            {
                "age": ["[15, 25]", "[17, 20]"],
                "sex": ["Female", "Male"],
                "country": ["{France, Germany}", "{Italy, Germany}"],
                "ill": ["yes", "no"],
            }
        ),
        original,
    )
    target: dict[str, str | int] = {"age": 16, "sex": "Male", "country": "France"}
    encoded = np.stack([release.covers(name, value) for name, value in target.items()], axis=1)
    assert encoded.astype(int).tolist() == [[1, 0, 1], [0, 1, 0]]
    by_code = [
        release.column(name).covering(original.attribute(name).values.tolist().index(value))
        for name, value in target.items()
    ]
    assert np.stack(by_code, axis=1).astype(int).tolist() == [[1, 0, 1], [0, 1, 0]]

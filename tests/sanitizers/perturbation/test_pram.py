"""PRAM against its transition matrix, worked out by hand, and the invariance of its marginals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from indiff import Pram, Table, UserError, read_table


def table_of(values: list[str], **more: list[int]) -> Table:
    ill = ["no", "yes"] * (len(values) // 2)
    frame = pa.table({"job": values, **more, "ill": ill})
    return read_table(frame, quasi=["job", *more], sensitive="ill")


def shares(sanitizer: Pram, table: Table, runs: int) -> np.ndarray:
    """Return how often each record shows each value, records × values."""
    attribute = table.attributes[0]
    seen = np.zeros((len(table), len(attribute.values)))
    for run in range(runs):
        release = sanitizer.sanitize(table, np.random.default_rng(run))
        seen[np.arange(len(table)), release.columns[0].index] += 1
    return seen / runs


def test_matrix_of_invariant_pram_by_hand() -> None:
    table = table_of(["a"] * 6 + ["b"] * 3 + ["c"])  # shares 0.6, 0.3, 0.1
    matrix = Pram(0.7).matrix(table.attributes[0])
    expected = [[0.88, 0.09, 0.03], [0.18, 0.79, 0.03], [0.18, 0.09, 0.73]]
    np.testing.assert_allclose(matrix, expected)
    t = np.array([0.6, 0.3, 0.1])
    np.testing.assert_allclose(t @ matrix, t)  # tP = t


def test_uniform_pram_is_not_invariant() -> None:
    table = table_of(["a"] * 6 + ["b"] * 3 + ["c"])
    matrix = Pram(0.7, redraw="uniform").matrix(table.attributes[0])
    np.testing.assert_allclose(np.diag(matrix), 0.8)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    assert not np.allclose([0.6, 0.3, 0.1] @ matrix, [0.6, 0.3, 0.1])


@pytest.mark.parametrize("redraw", ["marginal", "uniform"])
def test_values_change_as_the_matrix_says(redraw: str) -> None:
    table = table_of(["a"] * 6 + ["b"] * 3 + ["c"])
    sanitizer = Pram(0.4, redraw=redraw)  # type: ignore[arg-type]
    runs = 3000
    expected = sanitizer.matrix(table.attributes[0])[table.attributes[0].codes]
    error = np.sqrt(expected * (1 - expected) / runs)
    assert (np.abs(shares(sanitizer, table, runs) - expected) < 5 * error).all()


def test_columns_are_changed_independently() -> None:
    table = table_of(["a", "b"] * 2000, age=[1, 2] * 2000)
    release = Pram(0.5).sanitize(table, np.random.default_rng(0))
    kept = [c.index == a.codes for c, a in zip(release.columns, table.attributes, strict=True)]
    assert abs(float((kept[0] & kept[1]).mean()) - 0.75**2) < 0.04


def test_a_value_that_nobody_holds_is_never_drawn() -> None:
    table = table_of(["a", "a", "b", "b", "c", "c"]).take([0, 1, 2, 3])  # "c" is known, not held
    release = [Pram(0).sanitize(table, np.random.default_rng(s)) for s in range(50)]
    assert all(2 not in one.columns[0].index for one in release)


def test_without_a_record_the_others_are_redrawn_by_the_same_numbers() -> None:
    table = table_of(["a", "b", "c", "a", "b", "c", "a", "b"])
    uniform = Pram(0.3, redraw="uniform")
    whole = uniform.sanitize(table, np.random.default_rng(5)).columns[0].index
    for row in range(len(table)):
        part = uniform.sanitize(table.without(row), np.random.default_rng(5)).columns[0].index
        assert part.tolist() == np.delete(whole, row).tolist()


def test_p_one_changes_nothing_and_is_not_random() -> None:
    table = table_of(["a", "b", "c", "a"])
    assert not Pram(1).randomized
    assert Pram(1).sanitize(table).to_frame()["job"].to_pylist() == ["a", "b", "c", "a"]


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), True, "0.5"])
def test_p_is_a_probability(p: object) -> None:
    with pytest.raises(UserError, match="p must be at least 0 and at most 1; got"):
        Pram(p)  # type: ignore[arg-type]

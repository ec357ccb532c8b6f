"""Copies, and what chance gives, against counting and simulation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from indiff.differential.synthetic.copies import drawn_any, find_copies
from indiff.differential.synthetic.pool import Part


def part(whole: list[int]) -> Part:
    rows = np.array(whole, np.int64)
    nothing = np.empty((len(rows), 0))
    return Part(nothing, nothing.astype(np.int64), rows, rows, np.zeros(len(rows), np.int32))


def test_copies_are_counted_by_hand() -> None:
    found = find_copies(part([1, 1, 2, 3, 4]), part([1, 3, 3, 9]), np.random.default_rng(0))
    assert found.copied.tolist() == [True, True, False, True, False]
    assert found.single.tolist() == [False, False, True, True, True]
    assert (found.count, found.singles, found.rows, found.among) == (3, 1, 3, 4)
    assert found.expected == 2.0  # of four others, both twins are always drawn
    assert found.comparable == 3.0


def test_expectations_by_listing_every_draw() -> None:
    marked = np.array([0, 1, 2, 3])
    for drawn in range(6):
        sets = list(combinations(range(5), drawn))
        expected = [np.mean([any(x < m for x in one) for one in sets]) for m in marked]
        np.testing.assert_allclose(drawn_any(marked, 5, drawn), expected, atol=1e-12)


def test_a_larger_file_is_compared_by_as_many_rows_as_there_are_others() -> None:
    found = find_copies(part([1, 2, 3]), part([1, 8, 8, 8]), np.random.default_rng(0))
    assert found.among == 2
    assert found.comparable == pytest.approx(0.5)


def test_leave_one_out_expects_what_a_fresh_sample_has() -> None:
    rng = np.random.default_rng(1)
    found = [
        find_copies(
            part(rng.geometric(0.05, 300).tolist()), part(rng.geometric(0.05, 300).tolist()), rng
        )
        for _ in range(30)
    ]
    gap = np.array([one.comparable - one.expected for one in found])
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap)) + 1
    assert sum(one.fresh <= 0.1 for one in found) <= 9  # a p-value: 3 are expected


def test_planted_copies_of_single_records_are_no_fresh_sample() -> None:
    original, fresh = list(range(1000)), list(range(1000, 2000))
    found = find_copies(part(original), part(original[:10] + fresh[10:]), np.random.default_rng(0))
    assert found.singles == 10
    assert found.fresh < 0.01
    assert find_copies(part(original), part(fresh), np.random.default_rng(0)).fresh == 1

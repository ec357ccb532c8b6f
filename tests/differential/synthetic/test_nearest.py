"""Nearest rows against a literal search."""

from __future__ import annotations

import numpy as np
import pytest

from indiff.differential.synthetic import nearest as room
from indiff.differential.synthetic.nearest import nearest, pointed_at
from indiff.differential.synthetic.pool import Part
from tests.differential.synthetic.made_up import population, read


def parts(seed: int, sizes: tuple[int, int]) -> list[Part]:
    from indiff.differential.synthetic.pool import make_pool

    rng = np.random.default_rng(seed)
    one, two = (population(size, rng) for size in sizes)
    pool = make_pool(read(one), two, None, None)
    return [pool.original, pool.synthetic]


def far(one: Part, i: int, two: Part, j: int) -> float:
    """Return Gower's distance as it is written."""
    numbers = np.abs(one.numbers[i] - two.numbers[j]).sum()
    return float(numbers + (one.categories[i] != two.categories[j]).sum())


@pytest.mark.parametrize("seed", range(5))
def test_nearest_rows_are_those_of_a_literal_search(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_BLOCK", 100)  # several blocks
    mine, theirs = parts(seed, (30, 40))
    found = nearest(mine, theirs)
    own = nearest(mine, mine, own=np.arange(30))
    for i in range(30):
        gaps = [far(mine, i, theirs, j) for j in range(40)]
        order = np.argsort(gaps, kind="stable")
        assert found.distance[i] == pytest.approx(min(gaps))
        assert found.value[i] == theirs.classes[order[0]]
        five = set(theirs.classes[order[:5]].tolist())
        assert found.agreed[i] == (five.pop() if len(five) == 1 else -1)
        others = [far(mine, i, mine, j) for j in range(30) if j != i]
        assert own.distance[i] == pytest.approx(min(others))


def test_rows_that_are_equally_near_vote() -> None:
    nobody = np.empty((0,), np.int64)
    rows = Part(np.array([[0.0], [0.0], [0.0], [1.0]]), np.empty((4, 0), np.int64), nobody, nobody,
                np.array([1, 0, 1, 0], np.int32))  # fmt: skip
    person = Part(np.array([[0.1]]), np.empty((1, 0), np.int64), nobody, nobody,
                  np.array([1], np.int32))  # fmt: skip
    found = nearest(person, rows)
    assert found.value.tolist() == [1]
    assert found.agreed.tolist() == [-1]  # there are no five


def test_people_are_pointed_at_by_rows_that_have_one_nearest_person() -> None:
    nobody = np.empty((0,), np.int64)
    people = Part(np.array([[0.0], [1.0], [1.0], [3.0]]), np.empty((4, 0), np.int64), nobody,
                  nobody, np.array([0, 0, 0, 1], np.int32))  # fmt: skip
    rows = Part(np.array([[0.1], [1.1], [2.9]]), np.empty((3, 0), np.int64), nobody, nobody,
                np.array([0, 0, 0], np.int32))  # fmt: skip
    linked, right = pointed_at(rows, people)
    assert linked.tolist() == [True, False, False, True]  # the second row is as near to two
    assert right.tolist() == [True, False, False, False]

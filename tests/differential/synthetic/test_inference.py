"""Claims by matching rows against a literal reading, with and without a person's own row."""

from __future__ import annotations

import numpy as np
import pytest

from indiff.differential.synthetic.inference import Claims, claims_of
from indiff.differential.synthetic.nearest import Nearest
from indiff.differential.synthetic.pool import Part


def part(quasi: np.ndarray, classes: np.ndarray) -> Part:
    nothing = np.empty((len(quasi), 0))
    return Part(nothing, nothing.astype(np.int64), quasi, quasi, classes.astype(np.int32))


def near(size: int) -> Nearest:
    nobody = np.full(size, -1, np.intp)
    return Nearest(np.zeros(size), nobody, nobody)


@pytest.mark.parametrize("seed", range(10))
def test_matching_rows_claim_what_they_agree_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = part(rng.integers(0, 12, 40), rng.integers(0, 3, 40))
    rows = part(rng.integers(0, 12, 30), rng.integers(0, 3, 30))
    for others, own in ((rows, False), (people, True)):
        claims = claims_of(people, others, near(40), own=own)["matching-rows"]
        for i in range(40):
            values = {
                int(others.classes[j])
                for j in range(len(others))
                if others.quasi[j] == people.quasi[i] and not (own and i == j)
            }
            assert claims.made[i] == (len(values) == 1)
            assert claims.right[i] == (values == {int(people.classes[i])})


def test_precision_and_recall() -> None:
    made = np.array([True, True, True, False])
    claims = Claims(made, np.array([True, True, False, False]))
    assert claims.precision == pytest.approx(2 / 3)
    assert claims.recall == 0.5
    assert Claims(~np.ones(2, bool), ~np.ones(2, bool)).precision is None

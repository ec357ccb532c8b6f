"""The comparison with held-out people against enumeration, and what a result tells."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from indiff.differential.synthetic.result import Excess


@pytest.mark.parametrize(("mine", "theirs"), [(3, 0), (2, 1), (0, 3), (4, 2), (0, 0)])
def test_p_values_are_those_of_every_division(mine: int, theirs: int) -> None:
    """Of 5 and 4 people: who is in the original is drawn, the flags stay."""
    one, two = np.arange(5) < mine, np.arange(4) < theirs
    flags = np.concatenate([one, two])
    counts = [flags[list(chosen)].sum() for chosen in combinations(range(9), 5)]
    assert Excess.of("x", one, two).p_value == pytest.approx(np.mean(np.array(counts) >= mine))

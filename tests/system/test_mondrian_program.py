"""Our own Mondrian as a program that starts in full for each of 200 targets."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from indiff import Command, Mondrian, differential_test
from tests.real_tables import adult

SCRIPT = Path(__file__).with_name("release_with_mondrian.py")


@pytest.mark.long  # a second or two a call; test_black_boxes.py asks a program that stays
def test_a_program_that_starts_for_each_of_200_targets_gives_the_exact_distances(
    needs_data: Path,
) -> None:
    table = adult(needs_data, hierarchies=False)
    targets = range(0, 10_000, 50)
    exact = differential_test(
        table, Mondrian(k=5), model="naive-bayes", targets=targets, method="leave-one-out"
    )
    command = Command([sys.executable, SCRIPT, "{input}", "{output}", table.sensitive.name, 5])
    asked = differential_test(
        table, command, model="naive-bayes", targets=targets, method="refit", jobs=2
    )
    assert asked.failures == ()
    assert len(asked.distances) == 200
    apart = np.abs(asked.distances - exact.distances)
    print(f"largest difference {apart.max():.3g}, largest distance {exact.delta:.3g}")
    np.testing.assert_allclose(asked.distances, exact.distances, rtol=0, atol=1e-12)
    assert exact.delta > 0.01

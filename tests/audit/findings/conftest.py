"""A small table that tests of the findings share; some have one of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff


@pytest.fixture(scope="module")
def table() -> Any:
    rng = np.random.default_rng(1)
    frame = pa.table(
        {"age": rng.integers(20, 30, 40), "sex": rng.choice(["f", "m"], 40),
         "ill": rng.choice(["a", "b"], 40)}
    )  # fmt: skip
    return indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")

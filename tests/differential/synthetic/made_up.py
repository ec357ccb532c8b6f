"""A population that synthetic files are drawn from, and generators that learn from records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from indiff import Table, read_table

QUASI = ["age", "income", "job", "sex"]


def population(size: int, rng: Generator) -> pa.Table:
    """Draw people: correlated numbers and categories, and a value that depends on them."""
    age = rng.integers(18, 90, size)
    job = rng.choice(["a", "b", "c", "d", "e"], size, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    income = np.round(np.exp(rng.normal(7 + age / 100, 0.5, size)), 1)
    ill = np.where(rng.random(size) < 0.1 + 0.6 * (age > 60), "yes", "no")
    return pa.table(
        {"age": age, "income": income, "job": job, "sex": rng.choice(["f", "m"], size), "ill": ill}
    )


def read(frame: pa.Table) -> Table:
    return read_table(frame, quasi=QUASI, sensitive="ill")


def plant(frame: pa.Table, records: pa.Table, places: list[int]) -> pa.Table:
    """Put copies of records in the place of rows."""
    kept = np.setdiff1d(np.arange(frame.num_rows), places)
    return pa.concat_tables([frame.take(pa.array(kept)), records.take(pa.array(places))])

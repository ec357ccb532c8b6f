"""The measures against their definitions, cell by cell and pair by pair, on random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from indiff import Mondrian
from indiff.data.schema import Kind
from indiff.release.regions import Anything, Interval, Missing, plain
from indiff.release.release import ReleasedColumn
from indiff.utility.measure import average_group, certainty_penalty, discernibility
from tests.properties.random_tables import Sample, samples, sanitizers


def cell_penalty(column: ReleasedColumn, row: int) -> float:
    """NCP of one cell, from what its region says it covers."""
    region, attribute = column.regions[column.index[row]], column.attribute
    if isinstance(region, Anything):
        return 1.0
    if isinstance(region, Missing):
        return 0.0
    domain = [plain(value) for value in attribute.values]
    if attribute.kind == Kind.NUMERIC:
        numbers = [float(value) for value in domain if value is not None]
        low, high = min(numbers), max(numbers)
        assert isinstance(region, Interval)
        width = min(region.high, high) - max(region.low, low)
        return width / (high - low) if high > low else 0.0
    covered = [place for place, value in enumerate(domain) if region.covers(value)]
    if attribute.kind == Kind.ORDINAL:
        ranks = len([value for value in domain if value is not None])
        return (covered[-1] - covered[0]) / max(1, ranks - 1)
    return len(covered) / len(domain) if len(covered) > 1 else 0.0


@given(samples(), sanitizers())
def test_penalty_discernibility_and_groups(sample: Sample, sanitizer: Mondrian) -> None:
    table = sample.table
    release = sanitizer.sanitize(table)
    rows = range(len(release))
    cells = [[cell_penalty(column, row) for column in release.columns] for row in rows]
    ncp = certainty_penalty(table, release)
    assert ncp == pytest.approx(np.mean(cells))
    assert 0 <= ncp <= 1
    seen = [tuple(column.regions[column.index[row]] for column in release.columns) for row in rows]
    starred = [all(isinstance(region, Anything) for region in cell) for cell in seen]
    # Each record costs the number of records that look like it; a suppressed one costs them all.
    costs = [
        len(seen) if star else seen.count(cell) for cell, star in zip(seen, starred, strict=True)
    ]
    assert discernibility(table, release) == sum(costs)
    assert average_group(table, release) == pytest.approx(len(seen) / len(set(seen)))

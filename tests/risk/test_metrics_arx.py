"""Group sizes and the risks of sample-based attackers: ARX's figures, to the digits printed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from indiff.risk import measure_risk
from indiff.risk.metrics import GroupRisk
from tests.risk.population import adult


def test_the_figures_of_arx(needs_data: Path) -> None:
    """Without a table of the population, journalist and marketer stand where the prosecutor does.

    Highest is 1/k, lowest 1 over the largest group, average groups over records, and at risk are
    the records whose group has a risk above the threshold. Sums are rounded in the last place.
    """
    train, everybody = adult.complete(needs_data)
    order = adult.drawn(needs_data)

    @cache
    def measured(kind: str, size: int, quasi: str) -> GroupRisk:
        rows = train if kind == "train30162" else [everybody[i] for i in order[:size]]
        names = quasi.split("|")
        table = pa.table({name: [row[name] for row in rows] for name in names})
        return measure_risk(table, quasi=names, details=False).groups

    rows = adult.figures(needs_data, "population_risk.csv")
    assert len(rows) > 30
    for row in rows:
        size, threshold = int(row["sample_size"]), float(row["threshold"])
        found = measured(row["rows"], size, row["qis"])
        largest = max(one.largest for one in found.sizes)
        exposed = sum(one.records for one in found.sizes if 1 / one.largest > threshold)
        assert (found.groups, found.k, largest, found.singled_out) == tuple(
            int(row[name])
            for name in ("classes", "min_class_size", "max_class_size", "sample_uniques")
        )
        assert sum(one.records for one in found.sizes) == size
        assert size / found.groups == float(row["avg_class_size"])
        for name in ("prosecutor_highest", "journalist_highest"):
            assert found.prosecutor == found.journalist == float(row[name])
        assert 1 / largest == float(row["prosecutor_lowest"])
        for name in ("prosecutor_average", "journalist_average", "marketer_success"):
            assert found.marketer == pytest.approx(float(row[name]), rel=1e-15)
        for name in ("prosecutor_records_at_risk", "journalist_records_at_risk"):
            assert exposed / size == pytest.approx(float(row[name]), rel=1e-15)

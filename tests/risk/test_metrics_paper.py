"""Tables 1, 2, 4 and 5 of the ITPR paper on every engine; its figures are tested in papers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from indiff.papers.itpr.printed import (
    AGE,
    DISEASE,
    INFERENCE,
    ITPR_ROWS,
    MIL_ERRATA,
    REIDENTIFICATION,
    as_printed,
    example,
    released,
)
from indiff.risk import Risk, measure_risk


def measure(data: dict[str, Any], engine: Any, sensitive: str | None = None) -> Risk:
    quasi = [name for name in data if name != sensitive]
    return measure_risk(
        pa.table(data), quasi=quasi, sensitive=sensitive, engine=engine, details=False
    )


@pytest.mark.parametrize(
    ("rows", "k", "distinct_l", "frequency_l"), [(9, 3, 3, 3), (15, 5, 3, 5 / 3)]
)
def test_tables_1_and_2(
    rows: int, k: int, distinct_l: int, frequency_l: float, engine: str
) -> None:
    risk = measure(released(rows), engine, "disease")
    assert risk.groups.k == k
    assert risk.groups.distinct_l == distinct_l
    assert risk.groups.t == 0
    assert risk.groups.l == pytest.approx(frequency_l)  # "0,60 in the second, 0,33 in the first"


@pytest.mark.parametrize("case", AGE)
def test_table_4_reidentification(case: int, engine: str) -> None:
    found = measure(example(case), engine).reidentification
    computed = (found.dr, found.mi, found.cp, found.mil, found.eld)
    printed = REIDENTIFICATION[case]
    assert tuple(map(as_printed, computed, printed)) == printed


@pytest.mark.parametrize("case", DISEASE)
def test_table_4_inference(case: int, engine: str) -> None:
    risk = measure(example(5, disease=case), engine, "disease")
    found = risk.inference["disease"]
    dr, mi, cp, mil, eld = INFERENCE[case]
    computed = (found.dr, found.mi, found.cp, found.mil, found.eld)
    printed = (dr, mi, cp, MIL_ERRATA.get(case, mil), eld)
    assert tuple(map(as_printed, computed, printed)) == printed


@pytest.mark.parametrize("row", range(10))
def test_table_5(row: int, engine: str) -> None:
    age, code, disease, printed = ITPR_ROWS[row]
    risk = measure(example(age, code, disease), engine, "disease" if disease else None)
    found = risk.inference["disease"] if disease else risk.reidentification
    assert as_printed(found.itpr, printed) == printed
    assert found.itpr_combined == (found.itpr if code else None)

"""Releases that give people away though their counted numbers look harmless: none passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff

QUASI = ["age", "sex", "zip"]


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return pa.table(indiff.datasets.demo(records=400))


def audit(patients: Any, released: pa.Table, folder: Path, **limits: float) -> Any:
    released = released.take(pa.array(np.random.default_rng(7).permutation(len(released))))
    pa.csv.write_csv(released, folder / "release.csv")
    plan = indiff.Plan(
        data={"quasi": QUASI, "sensitive": "diagnosis", "identifier": "patient_id"},
        release={"file": str(folder / "release.csv")},
        adversary={"membership": False},
        limits=limits,
    )
    return indiff.run_audit(plan, patients)


def as_text(frame: pa.Table) -> pa.Table:
    return pa.table({name: frame[name].cast(pa.string()) for name in frame.column_names})


def test_a_raw_copy_with_two_rows_of_stars(patients: pa.Table, tmp_path: Path) -> None:
    copy = as_text(patients.select([*QUASI, "diagnosis"]))
    stars = copy.slice(0, 2)
    for name in QUASI:
        stars = stars.set_column(stars.column_names.index(name), name, pa.array(["*", "*"]))
    result = audit(patients, pa.concat_tables([copy, stars]), tmp_path, one_candidate=0)
    alone = patients.group_by(QUASI).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert result.finding("one_candidate:diagnosis").value == alone.count(1) > 300
    assert result.verdict["exit_code"] == 1
    assert "exactly one released row fits best" in result.verdict["reasons"][0]

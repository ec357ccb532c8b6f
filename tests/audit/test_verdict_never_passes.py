"""Releases that give people away though their counted numbers look harmless: none passes."""

from __future__ import annotations

import sys
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
    copied, linked = result.verdict["reasons"][:2]
    assert copied.startswith(f"the release repeats {alone.count(1):,} of its ")
    assert "exactly one released row fits best" in linked


def generalized(patients: pa.Table) -> pa.Table:
    """A harmless release in the original's order, 20-anonymous."""
    table = indiff.read_table(patients, quasi=QUASI, sensitive="diagnosis")
    return indiff.Mondrian(k=20).sanitize(table).to_arrow()


@pytest.mark.parametrize(
    ("name", "cells", "code", "reason"),
    [
        ("patient_id", "patient_id", 1, "has the identifier 'patient_id', which names people"),
        ("code", "patient_id", 1, "its column 'code' holds the values of the identifier"),
        ("index", None, 1, "its column 'index' is the original's row number"),
        ("admitted", "admitted", 3, "columns that the release has: 'admitted' (as it is in the"),
        ("date", "admitted", 3, "'date' (holds the values of 'admitted')"),
    ],
)
def test_a_column_that_nobody_measured(
    patients: pa.Table, tmp_path: Path, name: str, cells: str | None, code: int, reason: str
) -> None:
    extra = pa.array(range(len(patients))) if cells is None else patients[cells]
    released = generalized(patients).append_column(name, extra)
    result = audit(patients, released, tmp_path, k=20)
    assert result.finding("k").value >= 20
    assert result.verdict["exit_code"] == code
    assert reason in result.verdict["reasons"][0]
    assert reason.replace("'", "&#39;") in result.to_html() or reason in result.to_html()


def test_a_column_of_stars_is_no_identifier(patients: pa.Table, tmp_path: Path) -> None:
    stars = pa.array(["*"] * len(patients))
    released = generalized(patients).append_column("patient_id", stars)
    assert audit(patients, released, tmp_path, k=20).verdict["status"] == "pass"


def test_a_function_that_copies_its_input_is_never_recommended(patients: pa.Table) -> None:
    def copy(frame: Any) -> Any:
        return frame

    table = indiff.read_table(
        patients, quasi=QUASI, sensitive="diagnosis", identifier="patient_id"
    ).take(range(60))
    found = indiff.compare(table, [copy], jobs=1)
    assert found.recommend(delta=2) is None
    assert found.rows[0].unmeasured[0].names_people
    assert any("has the identifier 'patient_id'" in note for note in found.rows[0].notes)
    assert any("no tree was tried" in note for note in found.rows[0].notes)
    result = indiff.differential_test(table, copy, targets=range(3), jobs=1)
    assert [one.name for one in result.unmeasured if one.names_people] == ["patient_id"]
    assert any("names people" in note for note in result.notes)


def test_a_random_function_is_judged_by_a_run_of_it(patients: pa.Table) -> None:
    def shake(frame: Any, rng: Any) -> Any:
        return frame.take(pa.array(rng.permutation(frame.num_rows)))

    table = indiff.read_table(
        patients, quasi=QUASI, sensitive="diagnosis", identifier="patient_id"
    ).take(range(40))
    result = indiff.differential_test(table, shake, targets=range(2), runs=30, jobs=1)
    assert result.unmeasured[0].name == "patient_id"


PROGRAM = """
import csv, pathlib, sys
calls = pathlib.Path(sys.argv[3])
count = len(calls.read_text()) if calls.exists() else 0
calls.write_text("c" * (count + 1))
with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
    rows = [{**row, "age": "*"} for row in csv.DictReader(source)]
    kept = [name for name in rows[0] if name != "id" or count == 1]
    writer = csv.DictWriter(target, kept, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
"""


def test_an_identifier_in_the_release_of_the_second_attribute_alone(tmp_path: Path) -> None:
    """The program names people when it is called for the second time, and never else."""
    (tmp_path / "program.py").write_text(PROGRAM)
    program = (
        f"{sys.executable} {tmp_path / 'program.py'} {{input}} {{output}} {tmp_path / 'calls'}"
    )
    people = pa.table(
        {
            "id": [f"p{place}" for place in range(8)],
            "age": range(8),
            "ill": list("xyxyxyxy"),
            "fit": list("uuuuvvvv"),
        }
    )
    plan = indiff.Plan(
        data={"identifier": ["id"], "quasi": ["age"], "sensitive": ["ill", "fit"]},
        release={"sanitizer": f"command:{program}"},
        adversary={"models": ["frequency"]},
        limits={"k": 2},
    )
    result = indiff.run_audit(plan, people)
    assert result.verdict["exit_code"] == 1
    assert result.verdict["reasons"][0] == "the release has the identifier 'id', which names people"

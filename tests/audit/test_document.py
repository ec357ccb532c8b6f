"""The document names the columns that are published or not, and the adversaries asked or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.files import write_frame
from indiff.inference.encodings import ENCODINGS
from indiff.inference.models import MODELS

DATA: dict[str, Any] = {"quasi": ["age"], "sensitive": "diagnosis", "identifier": ["patient_id"]}


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    return indiff.datasets.demo(records=120)


def document(patients: pa.Table, release: dict[str, Any], models: list[str]) -> dict[str, Any]:
    plan = indiff.Plan(
        data=DATA,
        release=release,
        adversary={"models": models, "membership": False},
        report={"worst": 0},
    )
    return dict(indiff.run_audit(plan, patients).document)


def how(made: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["how"] for one in made["release"]["columns"]}


def test_every_column_is_published_or_not(patients: pa.Table) -> None:
    """A pass for one quasi-identifier must show the columns of which nothing was asked."""
    made = document(patients, {}, ["naive-bayes"])
    assert how(made) == {
        "age": "coarser", "diagnosis": "unchanged", "patient_id": "left out", "sex": "left out",
        "zip": "left out", "marital_status": "left out", "admitted": "left out",
    }  # fmt: skip
    roles = {one["name"]: one["role"] for one in made["release"]["columns"]}
    assert (roles["sex"], roles["patient_id"]) == ("other", "identifier")


def test_columns_of_a_release_made_elsewhere(patients: pa.Table, tmp_path: Path) -> None:
    table = indiff.read_table(patients, **DATA)
    frame = indiff.Mondrian(k=5).sanitize(table).to_frame()
    write_frame(frame.append_column("ward", patients["zip"]), tmp_path / "made.csv")
    made = document(patients, {"file": str(tmp_path / "made.csv")}, ["naive-bayes"])
    assert how(made)["ward"] == "unmeasured"
    assert how(made)["zip"] == "left out"
    assert made["tried"]["models"] == []  # nobody knows whose the rows are
    assert "naive-bayes" in made["tried"]["other_models"]


def test_adversaries_and_encodings_that_were_asked_and_that_were_not(patients: pa.Table) -> None:
    asked = ["naive-bayes", "tree:encoding=Scaling-Hot"]
    tried = document(patients, {}, asked)["tried"]
    assert tried["asked"] == tried["models"] == asked
    assert set(tried["other_models"]) == set(MODELS) - {"naive-bayes", "tree"}
    assert tried["encodings"] == ["Scaling-Hot"]
    assert set(tried["other_encodings"]) == set(ENCODINGS) - {"Scaling-Hot"}
    assert document(patients, {}, ["auto"])["tried"]["asked"] == ["auto"]

"""Memory or disk that run out, and bugs: one finding fails, everything else survives."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

import indiff
from tests.command_line import call

FINDINGS = "indiff.audit.findings"
STEPS = {
    "sanitizing": ("indiff.sanitizers.mondrian.mondrian.Mondrian.sanitize", "records"),
    "profile": (f"{FINDINGS}.release.profile_findings", "k"),
    "risk": (f"{FINDINGS}.release.count", "delta:diagnosis:naive-bayes"),
    "columns alone": (f"{FINDINGS}.release._alone", "delta:diagnosis:naive-bayes"),
    "the test": (f"{FINDINGS}.exposure.differential_test", "k"),
    "membership": (f"{FINDINGS}.tested.membership_inferences", "delta:diagnosis:naive-bayes"),
    "strongest": (f"{FINDINGS}.exposure.strongest", "delta:diagnosis:naive-bayes"),
    "worst records": ("indiff.audit.run.worst_records", "delta:diagnosis:naive-bayes"),
    "parameter": (f"{FINDINGS}.exposure.parameter_curve", "delta:diagnosis:naive-bayes"),
    "other columns": ("indiff.audit.run.judge_columns", "delta:diagnosis:naive-bayes"),
    "files": ("indiff.audit.run.judged_files", "delta:diagnosis:naive-bayes"),
    "next steps": ("indiff.audit.run.next_steps", "delta:diagnosis:naive-bayes"),
    "utility": (f"{FINDINGS}.release.measure", "delta:diagnosis:naive-bayes"),
}
ERRORS = {
    "memory": (MemoryError(), "the memory of this machine does not suffice"),
    "disk": (OSError(errno.ENOSPC, "full"), "there is no room left on the disk"),
    "a bug": (ZeroDivisionError("secret-value"), "a bug in indiff (ZeroDivisionError)"),
}


@pytest.fixture(scope="module")
def patients() -> Any:
    return indiff.datasets.demo(records=100)


def raising(error: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("error", list(ERRORS))
@pytest.mark.parametrize("step", list(STEPS))
def test_what_was_measured_survives(
    monkeypatch: pytest.MonkeyPatch, patients: Any, step: str, error: str
) -> None:
    (place, kept), (raised, reason) = STEPS[step], ERRORS[error]
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        adversary={"models": ["naive-bayes", "frequency"]},
        report={"parameter": "mondrian:k=5,10"},
        limits={"k": 1, "delta": 2},
    )
    monkeypatch.setattr(place, raising(raised))
    result = indiff.run_audit(plan, patients)
    assert result.finding(kept).status == "measured"
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 3)
    assert reason in " ".join(result.verdict["reasons"])
    assert (result.bug is raised) == (error == "a bug")
    assert "secret-value" not in result.to_json()


def test_the_report_is_written_and_says_so(
    monkeypatch: pytest.MonkeyPatch, patients: Any, tmp_path: Path
) -> None:
    import pyarrow.csv

    pyarrow.csv.write_csv(indiff.read_table(patients, sensitive="diagnosis").frame(),
                          tmp_path / "p.csv")  # fmt: skip
    words = ("audit", tmp_path / "p.csv", "--quasi", "age,sex", "--sensitive", "diagnosis",
             "--limit", "k=1", "--out", tmp_path / "out")  # fmt: skip
    for error, code in ((MemoryError(), 3), (ZeroDivisionError(), 70)):
        monkeypatch.setattr(STEPS["the test"][0], raising(error))
        assert call(*words).code == code
        document = json.loads((tmp_path / "out" / "report.json").read_text())
        measured = {one["id"] for one in document["findings"] if one["status"] == "measured"}
        assert {"k", "records", "ncp"} <= measured
        assert (tmp_path / "out" / "report.html").exists()
        (tmp_path / "out" / "report.json").unlink()


def test_a_page_that_does_not_fit_leaves_the_document(
    monkeypatch: pytest.MonkeyPatch, patients: Any, tmp_path: Path
) -> None:
    plan = indiff.Plan(data={"quasi": ["sex"], "sensitive": "diagnosis"})
    result = indiff.run_audit(plan, patients)
    monkeypatch.setattr("indiff.report.page.html.render", raising(MemoryError()))
    with pytest.raises(MemoryError):
        result.write(tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["kind"] == "audit"

"""The claim in an audit: a finding, a section of the report, and its part in the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import indiff
from indiff.audit.findings.claim import judge_claims

SCHEMA = Path(__file__).parents[3] / "docs" / "report.schema.json"


def audited(sanitizer: str, **adversary: Any) -> indiff.AuditResult:
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        release={"sanitizer": sanitizer},
        adversary={"targets": 3, "models": ["frequency"], "calls": 60, **adversary},
        run={"jobs": 1},
    )
    return indiff.run_audit(plan, indiff.datasets.demo(records=100))


def test_a_refuted_claim_fails_the_audit_and_has_a_section() -> None:
    found = audited("identity", claim={"epsilon": 0.5})
    assert found.verdict["status"] == "fail"
    assert found.verdict["reasons"][0].startswith("the claim ε ≤ 0.5 is refuted with 95 %")
    finding = found.finding("epsilon:diagnosis")
    assert finding.exactness == "lower-bound"
    assert finding.value is not None
    assert finding.value > 0.5
    (claim,) = found.document["claim"]
    assert claim["refuted"]
    jsonschema.validate(found.document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    for text in (found.to_markdown(), found.to_html()):
        assert "The claim" in text
        assert "not tried" in text


def test_a_claim_that_is_not_refuted_is_no_pass() -> None:
    found = audited("suppress", claim={"epsilon": 5.0, "delta": 0.5})
    assert found.verdict["status"] == "incomplete"
    assert any("not refuted with 95 % confidence" in one for one in found.verdict["reasons"])


def test_a_claim_about_a_file_is_never_kept(tmp_path: Path) -> None:
    demo, file = indiff.datasets.demo(records=100), tmp_path / "release.csv"
    table = indiff.read_table(demo, quasi=["age", "sex"], sensitive="diagnosis")
    indiff.Mondrian(k=3).sanitize(table).write(file)
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"}, release={"file": str(file)},
        adversary={"models": ["frequency"], "claim": {"epsilon": 5.0}}, limits={"k": 1},
        run={"jobs": 1},
    )  # fmt: skip
    verdict = indiff.run_audit(plan, demo).verdict
    assert verdict["status"] == "incomplete"
    assert "here is one release alone" in verdict["reasons"][0]


def test_without_a_claim_there_is_no_section() -> None:
    found = audited("suppress")
    assert found.document["claim"] == []
    assert "The claim" not in found.to_markdown()


@pytest.mark.parametrize("claim", [{"delta": 0.1}, {"epsilon": -1}, {"rho": 1}])
def test_what_is_no_claim_is_refused_in_a_plan(claim: dict[str, float]) -> None:
    with pytest.raises(indiff.UserError, match="claim"):
        indiff.Plan(data={"sensitive": "x"}, adversary={"claim": claim})


def test_no_claim_at_all_proves_nothing() -> None:
    assert judge_claims(()).status == "incomplete"

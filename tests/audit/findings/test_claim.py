"""The claim in an audit: a finding, a section of the report, and its part in the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import indiff
from indiff.audit.findings.claim import Claims, claim_finding, claim_settings, judge_claims
from indiff.audit.verdict import Exit, Verdict
from indiff.differential.claim.result import ClaimResult

SCHEMA = Path(__file__).parents[3] / "docs" / "report.schema.json"


def audited(sanitizer: str, progress: Any = None, **adversary: Any) -> indiff.AuditResult:
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        release={"sanitizer": sanitizer},
        adversary={"targets": 3, "models": ["frequency"], "calls": 60, **adversary},
        run={"jobs": 1},
    )
    return indiff.run_audit(plan, indiff.datasets.demo(records=100), progress=progress)


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
    told: list[Any] = []
    claim = {"epsilon": 5.0, "delta": 0.5}
    found = audited("suppress", lambda *step: told.append(step), claim=claim)
    claimed = [(done, total) for stage, done, total in told if stage == "testing the claim"]
    assert claimed[-1][0] == claimed[-1][1] > 0
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


def observed(epsilon: float, claimed: float | None = 1.0, **more: Any) -> ClaimResult:
    """What a test of a claim found, without making its calls."""
    usual: dict[str, Any] = {
        "sensitive_name": "ill", "sanitizer": "mine", "delta": 0.0, "confidence": 0.95,
        "method": "runs", "calls": 60, "requested": 60, "records": 3, "table_size": 9, "most": 3.0,
        "statistics": ("rows",),
    }  # fmt: skip
    return ClaimResult(epsilon=epsilon, claimed=claimed, **usual | more)


REFUTED = "the claim ε ≤ 1 is refuted with 95 % confidence: ε is at least 2"
OPEN = "the claim ε ≤ 1 is not refuted with 95 % confidence by 60 runs: no proof that it holds"


@pytest.mark.parametrize(
    ("results", "code", "reasons"),
    [
        ([observed(1.0)], Exit.INCOMPLETE, [OPEN]),
        ([observed(1.0), observed(2.0)], Exit.EXCEEDED, [REFUTED, OPEN]),
        ([observed(1.0, interrupted=True)], Exit.INTERRUPTED,
         [OPEN, "interrupted: the runs made so far are kept"]),
        ([observed(1.0), observed(1.0, interrupted=True)], Exit.INTERRUPTED,
         [OPEN, "interrupted: the runs made so far are kept"]),
        ([observed(1.0), observed(1.0, out_of_time=True)], Exit.INCOMPLETE,
         [OPEN, "the time was up before all runs were made"]),
        ([observed(1.0, failures=("no",))], Exit.INCOMPLETE, [OPEN, "1 call failed"]),
        ([observed(1.0, failures=("no",)), observed(2.0, failures=("a", "b"))], Exit.EXCEEDED,
         [REFUTED, OPEN, "3 calls failed"]),
        ([observed(2.0, interrupted=True)], Exit.EXCEEDED,
         [REFUTED, "interrupted: the runs made so far are kept"]),
    ],
)  # fmt: skip
def test_a_refuted_claim_fails_and_no_other_passes(
    results: list[ClaimResult], code: Exit, reasons: list[str]
) -> None:
    verdict = judge_claims(results)
    assert (verdict.exit_code, list(verdict.reasons)) == (code, reasons)
    assert not any("goes on from" in one for one in reasons)
    assert [(one.value, one.limit) for one in verdict.checks] == [
        (one.epsilon, 1.0) for one in results
    ]


def test_where_runs_are_kept_it_says_how_to_go_on() -> None:
    short = observed(1.0, interrupted=True, out_of_time=True)
    assert [one for one in judge_claims([short], Path("kept")).reasons if "'kept'" in one] == [
        "interrupted: the runs made so far are kept; the same command goes on from 'kept'",
        "the time was up before all runs were made; the same command goes on from 'kept'",
    ]


def test_what_nobody_claimed_is_no_limit() -> None:
    assert judge_claims([observed(2.0, None)]).checks == ()


def planned(**adversary: Any) -> indiff.Plan:
    data = {"quasi": ["age"], "sensitive": "ill", "individual": "who"}
    return indiff.Plan(data=data, adversary=adversary, run={"seed": 5, "jobs": 1, "time": 60})


def test_the_claim_is_tested_as_the_plan_says() -> None:
    """A claim without a δ is one of pure differential privacy."""
    given = claim_settings(planned(claim={"epsilon": 1.0}, calls=80, confidence=0.9))
    expected = {"epsilon": 1.0, "delta": 0.0, "calls": 80, "confidence": 0.9, "seed": 5}
    assert {name: given[name] for name in expected} == expected
    assert (given["individual"], given["jobs"]) == ("who", 1)
    assert claim_settings(planned(claim={"epsilon": 1.0, "delta": 0.25}))["delta"] == 0.25


def test_the_observed_epsilon_is_a_lower_bound() -> None:
    found = claim_finding(observed(2.0, seed=5))
    assert (found.value, found.exactness, found.about, found.seed) == (2.0, "lower-bound", "ill", 5)
    assert found.parameters == {
        "claimed": 1.0, "delta": 0.0, "confidence": 0.95, "method": "runs", "calls": 60,
        "records": 3, "most": 3.0, "refuted": True,
    }  # fmt: skip
    assert "not refuted" not in found.means
    assert "not refuted" in claim_finding(observed(1.0)).means
    seen: Any = ("rows of theirs were seen in 9 of 60 runs",)
    told = claim_finding(observed(2.0, observed=seen)).means
    assert " Rows of theirs were seen in 9 of 60 runs." in told
    assert "None" not in found.means
    assert len(found.means) < len(told)


def test_each_attribute_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def test(table: Any, sanitizer: Any, **settings: Any) -> ClaimResult:
        given.append(settings["run"])
        return observed(1.0)

    monkeypatch.setattr("indiff.differential.claim.claim.test_claim", test)
    audit: Any = SimpleNamespace(
        plan=planned(claim={"epsilon": 1.0}), stopped=[], lost={}, attempt=lambda _, find: find()
    )
    subject: Any = SimpleNamespace(table=SimpleNamespace(sensitive=SimpleNamespace(name="ill")))
    claims = Claims(audit, "identity", "kept")
    for _ in range(3):
        claims.findings(subject)
    assert given == [Path("kept") / f"claim-{number}" for number in (1, 2, 3)]
    assert len(claims.tests) == 3


@pytest.mark.parametrize(
    ("before", "epsilon", "after"),
    [
        (Exit.NOTHING_EXCEEDED, 1.0, Exit.INCOMPLETE),
        (Exit.NOTHING_EXCEEDED, 2.0, Exit.EXCEEDED),
        (Exit.INCOMPLETE, 2.0, Exit.EXCEEDED),
        (Exit.EXCEEDED, 1.0, Exit.EXCEEDED),
        (Exit.INTERRUPTED, 1.0, Exit.INTERRUPTED),
    ],
)
def test_the_verdict_with_the_claim_in_it(before: Exit, epsilon: float, after: Exit) -> None:
    verdict = Verdict(before, ("measured",))
    claims: Any = Claims(None, None, None, [observed(epsilon)])  # type: ignore[arg-type]
    judged = claims.judge(verdict)
    assert judged.exit_code == after
    assert set(judged.reasons) == {"measured", REFUTED if epsilon == 2 else OPEN}
    assert Claims(None, None, None).judge(verdict) is verdict  # type: ignore[arg-type]


def test_an_interrupted_claim_stops_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who asked to stop waits for the next attribute's calls."""
    stopped = observed(1.0, interrupted=True)
    monkeypatch.setattr("indiff.differential.claim.claim.test_claim", lambda *_, **__: stopped)
    audit: Any = SimpleNamespace(
        plan=planned(claim={"epsilon": 1.0}), stopped=[], lost={}, attempt=lambda _, find: find()
    )
    subject: Any = SimpleNamespace(table=SimpleNamespace(sensitive=SimpleNamespace(name="ill")))
    claims = Claims(audit, "identity", "kept")
    assert len(claims.findings(subject)) == 1
    assert audit.stopped
    assert claims.findings(subject) == []

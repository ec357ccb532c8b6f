"""Judges claims of differential privacy, and finds the observed ε in an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.audit.findings.earlier import Attempts
from indiff.audit.findings.release import Subject
from indiff.audit.metrics import counted, metric, percent
from indiff.audit.plan.plan import Plan
from indiff.audit.verdict import Check, Exit, Verdict
from indiff.differential.path import part_of
from indiff.errors import UserError
from indiff.report.finding import Finding

if TYPE_CHECKING:
    from indiff.differential.claim.result import ClaimResult

STEP = "claim"


def claim_settings(plan: Plan) -> dict[str, Any]:
    """Return what a plan says of the claim, as :func:`indiff.test_claim` takes it."""
    who = plan.adversary
    return {
        "epsilon": who.claim["epsilon"], "delta": who.claim.get("delta", 0.0), "calls": who.calls,
        "canaries": who.canaries, "model": who.models, "confidence": who.confidence,
        "individual": plan.data.individual, "jobs": plan.run.jobs, "seed": plan.run.seed,
    }  # fmt: skip


def judge_claims(results: Sequence[ClaimResult], run: Path | None = None) -> Verdict:
    """Judge claims: one that is refuted fails, and one that is not was never proven.

    >>> judge_claims(()).status
    'incomplete'
    """
    checks = tuple(
        Check("epsilon", one.epsilon, one.claimed, "at most", one.sensitive_name, "is at least")
        for one in results
        if one.claimed is not None
    )  # fmt: skip
    refuted = [one.sentence for one in results if one.refuted]
    reasons = refuted + [one.sentence for one in results]  # each is told once
    interrupted = any(one.interrupted for one in results)
    where = "" if run is None else f"; the same command goes on from {str(run)!r}"
    if interrupted:
        reasons.append(f"interrupted: the runs made so far are kept{where}")
    if any(one.out_of_time for one in results):
        reasons.append(f"the time was up before all runs were made{where}")
    failed = sum(len(one.failures) for one in results)
    if failed:
        reasons.append(f"{failed:,} {'call' if failed == 1 else 'calls'} failed")
    code = Exit.EXCEEDED if refuted else Exit.INTERRUPTED if interrupted else Exit.INCOMPLETE
    return Verdict(code, tuple(dict.fromkeys(reasons)), checks)


def claim_finding(result: ClaimResult) -> Finding:
    """Return the observed ε as a number of an audit."""
    about = result.sensitive_name
    words = {
        "claim": result.claim, "outcome": "refuted" if result.refuted else "not refuted",
        "runs": counted(result.calls, "run"), "sure": percent(result.confidence),
    }  # fmt: skip
    told = result.observed[0] if result.observed else result.guesses
    words["how"] = f" {str(told)[0].upper()}{str(told)[1:]}." if told else ""
    return metric("epsilon", about=about).found(
        f"epsilon:{about}", result.epsilon, words, about=about, exactness="lower-bound",
        seed=result.seed, parameters=_parameters(result),
    )  # fmt: skip


def _parameters(result: ClaimResult) -> Mapping[str, Any]:
    names = ("claimed", "delta", "confidence", "method", "calls", "records", "most")
    return {name: getattr(result, name) for name in names} | {"refuted": result.refuted}


@dataclass
class Claims:
    """The claim of a plan, tested on each of its sensitive attributes; none where none is made."""

    audit: Attempts
    sanitizer: Any
    run: str | Path | None
    tests: list[ClaimResult] = field(default_factory=list)

    def findings(self, subject: Subject) -> list[Finding]:
        """Test the claim on one attribute, and return the observed ε."""
        plan, about = self.audit.plan, subject.table.sensitive.name
        if not plan.adversary.claim or self.audit.stopped:
            return []
        what, id = metric("epsilon", about=about), f"epsilon:{about}"
        if self.sanitizer is None:
            reason = "a claim is tested by calling what makes releases; here is one release alone"
            return [what.missed(id, "failed", reason, about=about)]

        def tell(done: int, total: int) -> None:
            self.audit.say("testing the claim", done, total)

        def find() -> ClaimResult:
            from indiff.differential.claim.claim import test_claim

            settings = claim_settings(plan) | {"progress": tell, "time": plan.run.time}
            folder = part_of(self.run, "claim", len(self.tests))
            return test_claim(subject.table, self.sanitizer, run=folder, **settings)

        try:
            result = self.audit.attempt(STEP, find)
        except UserError as error:  # what others measured must survive it
            result, self.audit.lost[STEP] = None, str(error)
        if result is None:
            return [what.missed(id, "failed", self.audit.lost.get(STEP, ""), about=about)]
        self.tests.append(result)
        self.audit.stopped.extend([True] * result.interrupted)
        return [claim_finding(result)]

    def judge(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the claim in it: refuted it fails, and else it is no pass."""
        if not self.tests:
            return verdict
        own = judge_claims(self.tests)
        if own.exit_code == Exit.EXCEEDED:
            reasons = (*own.reasons, *verdict.reasons)
            return replace(verdict, exit_code=Exit.EXCEEDED, reasons=reasons)
        code = verdict.exit_code or own.exit_code
        return replace(verdict, exit_code=code, reasons=(*verdict.reasons, *own.reasons))

    @property
    def documents(self) -> list[dict[str, Any]]:
        """What the report says of the claim."""
        return [one.to_dict() for one in self.tests]

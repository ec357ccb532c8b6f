"""Limits and exit codes: what was exceeded, and what cannot count as passed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

NOTHING_EXCEEDED, EXCEEDED, BAD_INPUT, INCOMPLETE = 0, 1, 2, 3
INTERNAL_ERROR, INTERRUPTED = 70, 130

# What a limit is checked against: for an estimate, the upper end of its interval.
TEST_LIMITS = {
    "delta": "delta_upper",
    "mean": "mean_upper",
    "changed_predictions": "changed_predictions",
}


@dataclass(frozen=True)
class Check:
    """One limit against one measured number."""

    sensitive: str
    name: str
    value: float
    limit: float
    verb: str = "is"

    @property
    def exceeded(self) -> bool:
        """Whether the number is not known to be within the limit: NaN is not."""
        return not self.value <= self.limit


@dataclass(frozen=True)
class Verdict:
    """What the run says about the limits, with the exit code and the sentences that explain it."""

    code: int
    checks: tuple[Check, ...]
    reasons: tuple[str, ...]


def judge(
    results: Sequence[DifferentialResult | StrongestResult],
    limits: Mapping[str, float],
    untested: Sequence[str] = (),
    run: Path | None = None,
) -> Verdict:
    """Check every limit on every result; ``untested`` attributes were never reached.

    A release that does not meet its own constraint never passes. A number from some of the
    records is a lower bound: above the limit it fails, below the limit it does not pass.
    """
    checks = tuple(
        Check(
            result.sensitive_name,
            name,
            float(getattr(result, TEST_LIMITS[name])),
            limit,
            "is" if result.delta_interval is None else "may be",
        )
        for result in results
        for name, limit in limits.items()
        if _is_measured(result, name)
    )
    unmet = [result for result in results if not result.constraint_met]
    out_of_time = any(result.out_of_time for result in results)
    interrupted = any(result.interrupted for result in results) or (
        bool(untested) and not out_of_time
    )
    partial = (interrupted or bool(untested)) or any(
        not result.complete or len(result.distances) < result.population for result in results
    )
    reasons = [
        f"the constraint of {result.sanitizer} is not met: everything was generalized instead, "
        "which is never a pass"
        for result in unmet[:1]
    ]
    exceeded = [check for check in checks if check.exceeded]
    reasons += [
        f"{check.name} of {check.sensitive} {check.verb} {check.value:.4g}, above the limit "
        f"{check.limit:g}"
        for check in exceeded
    ]
    if interrupted:
        done = sum(len(result.distances) for result in results)
        reasons.append(f"interrupted: the {done:,} records measured so far are kept{_where(run)}")
    if out_of_time:
        reasons.append(f"the time was up: what was measured is a lower bound{_where(run)}")
    failed = sum(len(result.failures) for result in results)
    if failed:
        calls, records = ("call", "this record") if failed == 1 else ("calls", "these records")
        reasons.append(f"{failed:,} {calls} failed: nothing is known about {records}")
    if not limits and not unmet:
        reasons.append("no limit was given, so nothing could be exceeded")
    elif limits and not exceeded and partial:
        reasons.append("nothing exceeded so far, but not every record was tested: no pass")
    elif limits and not exceeded:
        reasons.append("no limit was exceeded")
    if unmet or exceeded:
        code = EXCEEDED
    elif interrupted:
        code = INTERRUPTED
    elif any(not result.complete for result in results) or untested or (limits and partial):
        code = INCOMPLETE
    else:
        code = NOTHING_EXCEEDED
    return Verdict(code, checks, tuple(reasons))


def _where(run: Path | None) -> str:
    return "" if run is None else f"; the same command goes on from {str(run)!r}"


def _is_measured(result: DifferentialResult | StrongestResult, name: str) -> bool:
    """Tell whether there is a number; δ of one model is one, even if others saw no record yet."""
    return bool(len(result.distances)) or not math.isnan(getattr(result, TEST_LIMITS[name]))

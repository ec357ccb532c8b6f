"""Judges what several releases of the same people tell together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from indiff.audit.verdict import NO_LIMIT, Check, Exit, Verdict, with_columns

if TYPE_CHECKING:
    from indiff.differential.beside.several_result import SeveralResult

DETERMINED = "determined"


def judge_several(results: Sequence[SeveralResult], limits: Mapping[str, float]) -> Verdict:
    """Check the share of records that are determined, by all candidates or by the closest.

    That nobody is determined bounds this one attack; it is a pass of its limit, and of no other.
    Every release is judged by its other columns, too.
    """
    checks = tuple(
        Check(name, float(one.likely[:, -1].mean()), limit, "at most", one.sensitive_name)
        for one in results
        for name, limit in limits.items()
    )
    exceeded = tuple(str(check) for check in checks if check.exceeded)
    kept = "no limit was exceeded by these releases together" if limits else NO_LIMIT
    code = Exit.EXCEEDED if exceeded else Exit.NOTHING_EXCEEDED
    verdict = Verdict(code, exceeded or (kept,), checks, bool(limits))
    for one in results[0].considered:
        verdict = with_columns(verdict, one.unmeasured, one.repeated)
    return verdict

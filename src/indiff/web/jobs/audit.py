"""Audits one release: progress goes to the store, results to the run's folder."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from indiff.files import open_private, write_frame, write_text
from indiff.version import __version__
from indiff.web.jobs.drawing import write_figures
from indiff.web.jobs.portable import plan_file

if TYPE_CHECKING:
    from indiff.audit.document import AuditResult
    from indiff.audit.plan.plan import Plan
    from indiff.web.store.store import Store

COMMAND = "indiff audit plan.toml"
CDF_POINTS = 100
DRAW_EVERY = 0.25


@dataclass
class Follower:
    """What the audit tells while it runs: the step, how far it is, and distances so far."""

    report: Callable[..., None]
    _distances: list[float] = field(default_factory=list)
    _total: int = 0
    _stage: str = ""
    _drawn: float = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note how far a step of the audit is; 0 of 0 where it cannot tell."""
        if stage != self._stage:
            self._stage = stage
            pa.default_memory_pool().release_unused()  # what the last step no longer needs
        self._total = total or self._total
        self.report(step=stage, done=done or None, total=total or None, **self._curve())

    def _curve(self) -> dict[str, Any]:
        """Return the curve so far, seldom: all distances are sorted for it."""
        begin = time.monotonic()
        if not self._distances or begin < self._drawn:
            return {}
        curve = running_cdf(self._distances, self._total)
        self._drawn = begin + max(DRAW_EVERY, 50 * (time.monotonic() - begin))
        return {"running_cdf": curve}

    def measured(self, distance: float) -> None:
        """Note one more record's distance."""
        self._distances.append(distance)


def running_cdf(distances: list[float], total: int) -> dict[str, Any]:
    """Thin the distances so far to a curve; infinite ones count, but have no place on it.

    >>> running_cdf([0.5, 0.1, 0.5, float("inf")], 10)
    {'x': [0.1, 0.5], 'y': [0.25, 0.75], 'measured': 4, 'total': 10}
    """
    values, counts = np.unique(np.asarray(distances, np.float64), return_counts=True)
    shares = np.cumsum(counts) / len(distances)
    finite = np.isfinite(values)
    values, shares = values[finite], shares[finite]
    if len(values) > CDF_POINTS:
        kept = np.unique(np.linspace(0, len(values) - 1, CDF_POINTS).round().astype(int))
        values, shares = values[kept], shares[kept]
    return {
        "x": values.tolist(),
        "y": shares.tolist(),
        "measured": len(distances),
        "total": max(total, len(distances)),
    }


def run(store: Store, job: dict[str, Any], report: Callable[..., None]) -> tuple[Any, str]:
    """Audit one release; return what the list of runs shows, and the document."""
    from indiff.audit.plan.plan import Plan
    from indiff.audit.run import run_audit

    plan, fixing = Plan(**job["task"]["plan"]), job["task"].get("fix")
    folder, follower = store.settings.run_folder(job["id"]), Follower(report)
    command = command_of(fixing)
    write_text(folder / "plan.toml", plan_file(job["task"]["plan"], command))
    kept = folder / f"finished-{__version__}"  # another version may count in another way
    how: dict[str, Any] = {"progress": follower, "command": command, "run": kept}
    if fixing is None:
        fixed, result = None, run_audit(plan, **how)
    else:
        fixed, result = _fixed(plan, fixing, folder, how)
    shutil.rmtree(kept, ignore_errors=True)
    report(step="writing the report", done=None, total=None)
    write_results(result, folder)
    told = {name: result.verdict[name] for name in ("status", "reasons")}
    answer = {"verdict": {**told, "delta": largest_delta(result.document)}, "fix": fixed}
    return answer, result.to_json()


def command_of(fixing: Mapping[str, Any] | None) -> str:
    """Return the line that does the same in a terminal.

    >>> command_of(None), command_of({"delta": 0.4, "budget": 12})
    ('indiff audit plan.toml', 'indiff audit plan.toml --fix delta=0.4 --budget 12')
    """
    if fixing is None:
        return COMMAND
    budget = "" if fixing["budget"] is None else f" --budget {fixing['budget']}"
    return f"{COMMAND} --fix delta={fixing['delta']:g}{budget}"


def _fixed(
    plan: Plan, fixing: Mapping[str, Any], folder: Path, how: dict[str, Any]
) -> tuple[dict[str, Any], AuditResult]:
    """Remove outliers first; return what to say about that, and the audit of what is left."""
    from indiff.audit.outliers import audit_rest, without_outliers
    from indiff.files import write_frame

    found, table = without_outliers(plan, fixing["delta"], fixing["budget"], how["progress"])
    write_text(folder / "fix.json", found.to_json())
    write_frame(pa.table({"record": found.removed}), folder / "fixed-removed.csv")
    told = {name: getattr(found, name) for name in ("holds", "reason", "limit", "records")}
    more = {"removed": len(found.removed), "does_not_prove": found.does_not_prove}
    answer = {**told, **more, "verified_by": found.verified_by}
    return answer, audit_rest(plan, found, table, **how)


def write_results(result: AuditResult, folder: Path) -> None:
    """Write everything that a finished run shows and offers into its folder."""
    from indiff.files import write_records

    result.write(folder)
    write_figures(result.document, folder)
    measured = [one for one in result.results if len(one.distances)]
    for place, one in enumerate(measured):
        with open_private(distances_file(folder, place)) as handle:
            np.save(handle, np.sort(one.distances))  # sorted, to count in
    if measured:
        write_records(folder / "records.csv", measured)
    for release in result.releases[:1]:
        write_frame(release.sorted_rows(), folder / "release.csv")  # as its report names it


def distances_file(folder: Path, place: int) -> Path:
    """Where the sorted distances behind one of the CDF's curves are."""
    return folder / f"distances-{place}.npy"


def largest_delta(document: dict[str, Any]) -> float | str | None:
    """Return δ of the strongest adversary over all sensitive attributes, as the document has it.

    >>> finding = {"metric": "delta", "status": "measured"}
    >>> largest_delta({"findings": [{**finding, "value": 0.5}, {**finding, "value": "Infinity"}]})
    'Infinity'
    """
    found = [
        finding["value"]
        for finding in document["findings"]
        if finding["metric"] == "delta" and finding["status"] == "measured"
    ]
    return max(found, key=float, default=None)

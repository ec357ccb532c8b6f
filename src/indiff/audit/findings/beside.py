"""Measures a release made elsewhere beside its original, without its sanitizer."""

from __future__ import annotations

from indiff.audit.findings.exposure import Exposure, Failed, findings_of, missed
from indiff.audit.metrics import METRICS, number
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.differential.beside.dropped_row import test_release
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import StrongestResult, choose_models, strongest
from indiff.errors import UserError
from indiff.report.finding import Finding
from indiff.sanitizers.trivial import Identity


def measure_beside(table: Table, plan: Plan, failed: Failed) -> Exposure:
    """Link the records to the release and, where rows are known to be theirs, drop them.

    Dropping a row is not sanitizing without the record: such a δ is an approximation, which the
    verdict never takes for a pass. Without rows that are known to be theirs it is skipped.
    """
    findings: list[Finding] = []
    results: dict[str, DifferentialResult] = {}
    # All records where only a number is asked for: without a sanitizer they cost little.
    targets = None if isinstance(plan.adversary.targets, int) else plan.adversary.targets
    for model, adversary in choose_models(plan.adversary.models, Identity()).named.items():
        try:
            found = test_release(
                table,
                plan.release.file,
                key=plan.release.key,
                rows_in_order=plan.release.rows_in_order,
                model=adversary,
                distance=plan.adversary.distance,
                targets=targets,
                prior=plan.adversary.prior,
                known=plan.adversary.known,
                encoding=plan.release.encoding,
                suppressed=plan.release.suppressed,
            )
        except UserError as error:
            findings += missed(table, "failed", str(error), model)
            continue
        except Exception as error:  # noqa: BLE001 - what others measured must survive it
            findings += missed(table, "failed", failed(error), model)
            continue
        if not any(one.metric == "one_candidate" for one in findings):
            findings.append(
                METRICS["one_candidate"].found(
                    f"one_candidate:{table.sensitive.name}",
                    found.linkage.unique,
                    {"none": number(found.linkage.unlinked)},
                    about=table.sensitive.name,
                    exactness="exact",
                    parameters=found.linkage.to_dict(),
                )
            )
        if found.test is None:
            findings += missed(table, "skipped", str(found.skipped), model)
            continue
        results[model] = found.test
        findings += findings_of(found.test, plan)
    combined: DifferentialResult | StrongestResult | None = None
    if results:
        several = len(results) > 1
        combined = strongest(results) if several else next(iter(results.values()))
    return Exposure(tuple(findings), results, combined)

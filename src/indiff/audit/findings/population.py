"""Measures the release against the population that the plan knows, and puts it into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from indiff.audit.findings.release import Subject
from indiff.audit.metrics import METRICS, number, percent
from indiff.audit.plan.limits import POPULATION
from indiff.audit.plan.plan import Plan
from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.report.finding import Finding
from indiff.risk import measure_risk
from indiff.risk.population.measure import PopulationRisk
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.sanitizer import Identity, Sanitizer

MODELS = {
    "pitman": "Pitman's",
    "zayatz": "Zayatz's",
    "snb": "the slide negative binomial",
    "counted": "counted, for the table is the whole population",
    None: "none is needed, for nobody is alone in the table",
}


_ESTIMATED = ("uniques", "unique_share", "smallest", "tau1", "tau2")


def figures_said(
    found: PopulationRisk, before: PopulationRisk | None = None, suffix: str = ""
) -> list[Finding]:
    """Return a finding for every number against the population."""
    findings = []
    for figure in found.figures:
        words: dict[str, Any] = {}
        parameters: dict[str, Any] = {"statistic": figure.statistic, "of": figure.of}
        if figure.name in ("population.uniques", "population.unique_share"):
            assert found.uniques is not None
            low, high = figure.interval or (figure.value, figure.value)
            written = percent if figure.name.endswith("share") else number
            words = {"low": written(low), "high": written(high)}
            words["model"] = MODELS[found.uniques.chosen]
            parameters["model_of_uniques"] = found.uniques.chosen
            parameters["converged"] = [
                name for name, one in found.uniques.models.items() if one.converged
            ]
        if figure.name in ("population.tau1", "population.tau2"):
            assert found.loglinear is not None
            low, high = figure.interval or (figure.value, figure.value)
            words = {"low": number(low), "high": number(high), "model": found.loglinear.chosen}
            parameters["model_of_counts"] = found.loglinear.chosen
            parameters["fit"] = found.loglinear.best.z
        old = None if before is None else before.figure(figure.name)
        findings.append(
            METRICS[figure.name].found(
                f"{figure.name}{suffix}",
                figure.value,
                words,
                exactness=figure.exactness,
                interval=figure.interval,
                before=None if old is None else old.value,
                parameters=parameters,
            )
        )
    return findings


@dataclass(frozen=True)
class PopulationPart:
    """What the population adds to the document."""

    findings: list[Finding]
    notes: list[str]


def population_findings(
    subjects: Sequence[Subject], plan: Plan, sanitizer: Sanitizer | None
) -> PopulationPart:
    """Return the numbers against the population, if the plan knows one, and notes on them.

    What cannot be measured has its reason: above all that nobody knows whose weight belongs to
    which row of a release made elsewhere.
    """
    in_order = sanitizer is not None and not isinstance(sanitizer, BlackBox)
    findings: list[Finding] = []
    notes: dict[str, None] = {}
    for subject in subjects if plan.population.asked else ():
        found, told = _of_one(subject, plan, in_order)
        findings += subject.titled(found)
        notes |= dict.fromkeys(told)
    return PopulationPart(findings, list(notes))


def _of_one(subject: Subject, plan: Plan, in_order: bool) -> tuple[list[Finding], tuple[str, ...]]:
    table, release, reason = subject.table, subject.release, subject.why_not
    if release is not None:
        try:
            columns = _columns(table, release, plan, in_order)
            after = _measured(table, release, plan, columns)
            before = _measured(table, Identity().sanitize(table), plan, columns)
            return figures_said(after, before, subject.suffix), after.notes
        except UserError as error:
            reason = str(error)
    why = reason or "there is no release"
    missed = [
        METRICS[name].missed(f"{name}{subject.suffix}", "failed", why) for name in _expected(plan)
    ]
    return missed, ()


def _expected(plan: Plan) -> Sequence[str]:
    """Return the numbers that the plan's knowledge of the population gives."""
    known = set(plan.population.asked)
    if "population" in known and plan.population.file is None:
        known = (known - {"population"}) | {"sampling"}
    return [
        f"population.{name}"
        for name, needs in POPULATION.items()
        if known & set(needs) and not (plan.population.file and name in _ESTIMATED)
    ]


def _columns(table: Table, release: Release, plan: Plan, in_order: bool) -> dict[str, Any]:
    """Return the columns that tell of a record what the release does not carry."""
    wanted = (plan.data.individual, plan.population.weight, plan.population.household)
    names = [name for name in wanted if name is not None]
    if names and (not in_order or len(release) != len(table)):
        raise UserError(
            f"nobody knows whose {names[0]!r} belongs to which row of this release",
            way_out="Give a release with the table's rows in their order",
        )
    return {name: table.frame()[name] for name in names}


def _measured(
    table: Table, release: Release, plan: Plan, columns: dict[str, Any]
) -> PopulationRisk:
    if release.weights is not None:
        raise UserError("this release has weighted rows (noisy counts), which stand for no record")
    quasi = [attribute.name for attribute in table.attributes]
    frame = release.to_arrow().select(quasi)
    for name, cells in columns.items():
        frame = frame.append_column(name, cells)
    trees = {
        attribute.name: attribute.hierarchy
        for attribute in table.attributes
        if attribute.hierarchy is not None and plan.population.file is not None
    }
    risk = measure_risk(
        frame, quasi=quasi, individual=plan.data.individual, hierarchies=trees, details=False,
        missing_tokens=plan.data.missing_tokens, **plan.population.asked,
    )  # fmt: skip
    assert risk.population is not None
    return risk.population

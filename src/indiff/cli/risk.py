"""``indiff risk``: measures the risk metrics of a table or a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from indiff.audit.plan.limits import risk_limits
from indiff.audit.plan.recipe import Recipe, read_limits
from indiff.audit.verdict import judge_risk
from indiff.cli.warmup import compile_all
from indiff.errors import UserError, unknown
from indiff.files import check_places, private_files, write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.audit.policy.counts import CountedPolicy
    from indiff.risk.measure import Risk

_TAKEN = (
    "every column without another role is taken as a quasi-identifier, those that name people too: "
    "give such columns as --identifier, or the quasi-identifiers as --quasi"
)
ENGINES = ("auto", "in-process", "duckdb", "spark")


def command(recipe: Recipe) -> None:
    """Measure how far columns tell who a record is, and what its sensitive values are."""
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.risk import hidden, show_risk

    data, attributes, show_values = recipe["data"], recipe["sensitive"], recipe["show-values"]
    joined = [", ".join(attributes)] if recipe["joint"] and len(attributes) > 1 else attributes
    policy = _policy(recipe)
    own = read_limits(recipe["limit"]) if policy is None else policy.limits
    limits = risk_limits(own, joined) if own else {}
    _check_engine(recipe["engine"], recipe["master"], recipe["threads"])
    check_places(
        {"--json": recipe["json"], "--records": recipe["records"]},
        [Path(name) for name in _inputs(recipe) if "://" not in name],
        frames=("--records",),
    )
    risk = _measure(recipe)
    verdict = judge_risk(risk, limits)
    verdict = verdict if policy is None else policy.judged(verdict)
    console = terminal.open_console()
    try:
        if recipe["json"] is not None:
            document = risk.to_dict()
            for level in () if show_values else document["levels"]:
                level["value"] = hidden(level["records"])
            document["policy"] = None if policy is None else policy.block(verdict.checks)
            write_text(recipe["json"], json_text(verdict.beside(document), indent=1))
    finally:  # what cannot be written takes the verdict along, but no number
        source = data if "://" in data or "*" in data else Path(data).name
        notes = [] if recipe["quasi"] else [_TAKEN]
        show_risk(console, risk, source, show_values=show_values, notes=notes)
        if risk.population is not None:
            from indiff.audit.findings.population import figures_said
            from indiff.report.terminal.population import show_population

            show_population(console, risk.population, figures_said(risk.population))
    terminal.show_reasons(console, verdict.reasons, passed=not verdict.exit_code)
    raise typer.Exit(verdict.exit_code)


def _policy(recipe: Recipe) -> CountedPolicy | None:
    """Read the policy, where one is asked for, beside the limits that were given."""
    if recipe["policy"] is None:
        return None
    from indiff.audit.plan.policies import read_policy
    from indiff.audit.policy.counts import CountedPolicy

    return CountedPolicy(read_policy(recipe["policy"]), read_limits(recipe["limit"]))


def _inputs(recipe: Recipe) -> list[str]:
    policy = recipe["policy"] or ""
    own = [policy] if policy.lower().endswith(".toml") else []
    people = recipe["population"]
    known = [people] if isinstance(people, str) else []
    return [recipe["data"], *recipe["hierarchy"].values(), *known, *own]


def _check_engine(engine: str, master: str | None, threads: int | None) -> None:
    """Refuse, before any file is read, an engine that does not exist or cannot be used."""
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES, field="engine")
    if master is not None and engine not in ("auto", "spark"):
        raise UserError(
            "--master is for Spark", f"--engine {engine}", "Leave one of them out", field="master"
        )
    if master is not None and threads is not None:
        raise UserError(
            "--threads is for this machine; with --master write local[N] instead.", field="threads"
        )
    if master is not None or engine == "spark":
        from indiff.engines.spark import require_spark

        require_spark()


def _every_other_column(
    data: str, taken: Sequence[str | None], reading: Mapping[str, Any]
) -> list[str]:
    """Return the columns without another role, as every command does without --quasi."""
    from indiff.data.reading.input_files import Reading
    from indiff.data.reading.source import column_names

    names = column_names(data, Reading(**reading))
    if strange := [name for name in taken if name is not None and name not in names]:
        raise UserError(
            f"beside an expression ({strange[0]!r}) the quasi-identifiers must be named",
            way_out="Add --quasi A,B,C",
            field="quasi",
        )
    return [name for name in names if name not in taken]


def _measure(recipe: Recipe) -> Risk:
    """Measure; the stages are shown on the terminal's error stream, and files are private."""
    from indiff.report.terminal import tables as terminal
    from indiff.risk import measure_risk

    data, asked = recipe["data"], recipe.section("data")
    asked.pop("path")
    taken = [*asked["sensitive"], *asked.pop("identifier"), *asked.pop("other")]
    reading = {name: asked[name] for name in ("encoding", "separator", "sheet", "header_row")}
    asked |= {name: recipe[name] for name in ("population", "sampling", "weight", "household")}
    own = [asked[name] for name in ("individual", "weight", "household")]
    asked["quasi"] = asked["quasi"] or _every_other_column(data, [*taken, *own], reading)
    names = (
        "engine",
        "keys",
        "special",
        "combinations",
        "details",
        "records",
        "master",
        "threads",
        "memory-limit",
    )
    asked |= {name.replace("-", "_"): recipe[name] for name in names}
    is_counted_here = asked["engine"] == "in-process" or (
        asked["engine"] == "auto" and not data.lower().endswith((".csv", ".tsv", ".txt"))
    )
    if is_counted_here and asked["master"] is None:
        terminal.compile_first(compile_all)
    with terminal.stages() as say, private_files():  # for a JVM that is started here too
        return measure_risk(data, progress=say, **asked)

"""``indiff audit``: measures everything, and writes a report with a verdict."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from indiff.audit.plan.recipe import OPTIONS, Recipe, read_limits
from indiff.audit.plan.shell import for_plan, worded_for_shell
from indiff.audit.verdict import Exit
from indiff.cli.warmup import compile_all
from indiff.errors import UserError
from indiff.files import check_places, refuse_inputs, write_text

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

# What may be given beside a plan; everything else belongs in it.
_IN_A_PLAN = (
    "sanitizer", "parameter", "show-values", "min-cell", "seed", "jobs", "policy",
    "write-release", "pdf",
)  # fmt: skip
_FOR_PIPELINES = ("junit", "summary")
_BESIDE_A_PLAN = ("data", "init", "out", "limit", "fix", "budget", *_FOR_PIPELINES, *_IN_A_PLAN)
_HOW_READ = (
    "missing-token", "decimal", "date-format", "header-row", "encoding", "separator",
    "sheet",
)  # fmt: skip
# Without these, too, a call of the plan comes to the same verdict.
_NO_MATTER = {"data", "out", "jobs", "pdf", *_FOR_PIPELINES}
_BESIDE_INIT = ("data", "init", *_HOW_READ)


def command(recipe: Recipe) -> None:
    """Measure everything, check the limits, and write a report: HTML, JSON and Markdown."""
    data = Path(recipe["data"])
    try:
        _audit(recipe, data)
    except UserError as error:
        raise for_plan(error) if _is_plan(data) else error from None


def _audit(recipe: Recipe, data: Path) -> None:
    """Write a first plan, or run the one that the options make or name."""
    delta = None
    if recipe["fix"] is not None:
        delta = read_limits([recipe["fix"]], ["delta"])["delta"]
    elif recipe["budget"] is not None:
        raise UserError(
            "--budget is the most records that --fix may remove; add --fix.", field="budget"
        )
    if recipe["init"]:
        rule = "--{} belongs in the plan that --init writes; write the plan first, then edit it."
        _refuse_beside(recipe, _BESIDE_INIT, rule)
        reading = {name.replace("-", "_"): recipe[name] for name in _HOW_READ}
        reading["missing_tokens"] = reading.pop("missing_token")
        _write_first_plan(data, reading)
        return
    limits = read_limits(recipe["limit"])
    if _is_plan(data):
        plan = _from_file(recipe, data, limits)
    elif recipe["sensitive"]:
        plan = recipe.plan(data={"other": _others(recipe)}, limits=limits)
    else:
        raise UserError(
            "an audit needs a sensitive attribute: add --sensitive COLUMN, or write a plan "
            f"with: indiff audit --init {data}.",
            field="sensitive",
        )
    if delta is not None:
        from indiff.audit.plan.fixing import with_limit

        plan = with_limit(plan, delta)
    called, place = _command(data, plan), data if _is_plan(data) else None
    complete = place is not None and recipe.given <= _NO_MATTER
    out, is_new = recipe["out"], not recipe["out"].exists()
    try:
        pipeline = {name: recipe[name] for name in _FOR_PIPELINES}
        code = run(plan, out, delta, recipe["budget"], called, complete, place, pipeline)
    except UserError:
        if is_new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()  # nothing came of it
        raise
    raise typer.Exit(code)


def _is_plan(data: Path) -> bool:
    return data.suffix.lower() == ".toml"


def run(
    plan: Plan,
    out: Path,
    delta: float | None,
    budget: float | None,
    command: str,
    complete: bool,
    plan_file: Path | None,
    pipeline: Mapping[str, Path | None],
) -> int:
    """Run a plan, show the outcome, write the report, and name its files last.

    With a ``delta`` to reach, outliers are removed first, and what is left is audited.
    """
    from indiff.audit.document import PDF, REPORT_NAMES, check_report_places
    from indiff.audit.fix import NAMES
    from indiff.audit.outliers import audit_rest, without_outliers
    from indiff.audit.run import run_audit
    from indiff.files import make_folder
    from indiff.report.page.pdf import find_browser
    from indiff.report.terminal import audit
    from indiff.report.terminal import tables as terminal

    inputs = [Path(name) for name in plan.files]
    check_report_places(out, inputs)
    write = None if plan.release.write is None else Path(plan.release.write)
    taken = inputs if delta is None else [*inputs, *(out / name for name in NAMES)]
    check_places({"--write-release": write}, taken, frames=("--write-release",))
    if plan.report.pdf:
        find_browser()
    if delta is not None:
        refuse_inputs("fix", out, NAMES, inputs)
    make_folder(out)
    taken = [*taken, *(out / name for name in (*REPORT_NAMES, PDF)), *filter(None, [write])]
    check_places({f"--{name}": path for name, path in pipeline.items()}, taken, frames=())
    terminal.compile_first(compile_all)
    found, fixed_paths = None, None
    with terminal.stages() as say:
        how: dict[str, Any] = {
            "progress": say, "command": command, "complete": complete, "plan_file": plan_file,
        }  # fmt: skip
        if delta is None:
            result = run_audit(plan, **how)
        else:
            found, table = without_outliers(plan, delta, budget, say)
            if found.status != "interrupted":  # what an earlier run left there is complete
                fixed_paths = found.write(out)
                result = audit_rest(plan, found, table, **how)
    console = terminal.open_console()
    if found is not None and found.status == "interrupted":
        audit.show_fix(console, found)
        return Exit.INTERRUPTED
    try:
        paths = result.write(out) | _write_for_pipelines(result.document, pipeline)
        if plan.report.pdf:
            paths[PDF] = out / PDF
            result.write_pdf(paths[PDF])
        if write is not None and result.releases:
            result.write_release(write)
            paths["release"] = write
    finally:  # what cannot be written takes the verdict along, but no finding
        audit.show_findings(console, result.document)
    audit.show_verdict(console, result.document)
    code: int = result.verdict["exit_code"]
    if found is not None:
        audit.show_fix(console, found, fixed_paths)
        if not found.holds:  # never a pass
            code = Exit.EXCEEDED
    if "release" in paths:
        audit.warn_of_release(console, result.document, paths["release"])
    audit.show_paths(console, paths)
    if result.bug is not None:  # the report has everything else
        raise result.bug
    return code


def _write_for_pipelines(
    document: dict[str, Any], places: Mapping[str, Path | None]
) -> dict[str, Path]:
    """Write the audit as a pipeline reads it, where that was asked for."""
    from indiff.report.pipeline import junit, summary

    written = {}
    for name, render in {"junit": junit.render, "summary": summary.render}.items():
        place = places[name]
        if place is not None:
            write_text(place, render(document))
            written[name] = place
    return written


def _from_file(recipe: Recipe, path: Path, limits: dict[str, float]) -> Plan:
    """Read a plan; a few options may be given beside it."""
    from indiff.audit.plan.plan import Plan, read_plan

    _refuse_beside(
        recipe,
        _BESIDE_A_PLAN,
        f"--{{}} belongs in the plan; {str(path)!r} is one. Write it there, or name a table "
        "instead.",
    )
    sections = read_plan(path).model_dump()
    sections["limits"] |= limits
    for name in _IN_A_PLAN:
        if name in recipe.given:
            sections[OPTIONS[name].section][OPTIONS[name].field] = recipe[name]
    return Plan(**sections)


def _refuse_beside(recipe: Recipe, allowed: tuple[str, ...], rule: str) -> None:
    """Refuse the first option that would not be heeded."""
    for name in recipe.raw:
        if name in recipe.given and name not in allowed:
            raise UserError(rule.replace("{}", name), field=name)


def _command(data: Path, plan: Plan) -> str:
    """Return the call without the options that can hold values of the table."""
    if _is_plan(data):
        return f"indiff audit {shlex.quote(data.name)}"
    how = plan.release.sanitizer if plan.release.file is None else Path(plan.release.file).name
    option = "--sanitizer" if plan.release.file is None else "--release"
    return f"indiff audit {data.name} {option} {how} … (every parameter: see the plan)"


def _write_first_plan(data: Path, reading: dict[str, Any]) -> None:
    """Write plan.toml here, unless there is one, and show the guesses."""
    from indiff import text as plain
    from indiff.audit.plan.plan_text import plan_text
    from indiff.data.reading.door import read_raw
    from indiff.report.terminal import tables as terminal
    from indiff.risk.identifying.roles import guess_roles

    place = Path("plan.toml")
    if os.path.lexists(place):
        raise UserError(
            "a plan is never overwritten; there is a 'plan.toml' here",
            way_out="Move it, or work in another folder",
        )
    raw = read_raw(data, **reading)
    guesses = guess_roles(raw.frame)
    notes = [*raw.notes, *(question.message for question in raw.questions.values())]
    write_text(place, plan_text(os.path.relpath(data), guesses, reading, notes))
    console = terminal.open_console()
    lines = [(plain.name(one.column), f"{one.role} ({one.kind}): {one.reason}") for one in guesses]
    lines += [("note", plain.message(worded_for_shell(note))) for note in notes]
    terminal.section(console, f"Guessed roles of {plain.name(data.name)}", lines)
    terminal.section(
        console,
        "Next",
        [
            ("written", "plan.toml"),
            ("check", "every role, above all the sensitive ones, and the limits"),
            ("then run", "indiff audit plan.toml"),
        ],
    )


def _others(recipe: Recipe) -> list[str]:
    """Return the columns of role other: those of weights and households are, without another."""
    found: list[str] = list(recipe["other"])
    roles = [*(recipe["quasi"] or ()), *recipe["sensitive"], *recipe["identifier"], *found]
    own = [recipe[name] for name in ("weight", "household")]
    return [*found, *(name for name in own if name is not None and name not in roles)]

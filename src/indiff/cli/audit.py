"""``indiff audit``: everything, a verdict, a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indiff.audit.plan import parsing
from indiff.cli import fixing, long_runs, options, release_beside
from indiff.errors import UserError
from indiff.files import write_text

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

_AUDIT, _OUT = "The audit", "Output"
OUT = Path("indiff-audit")

# What may be given beside a plan; everything else belongs into it.
_BESIDE_A_PLAN = (
    "data", "init", "out", "limit", "show_values", "min_cell", "seed", "jobs", "fix", "budget",
)  # fmt: skip

_BESIDE_INIT = ("data", "init", "encoding", "sheet")


def _option(name: str, help: str, panel: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel=panel, metavar=metavar, **more)


def command(
    context: typer.Context,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA|PLAN",
            help="A plan (.toml), or a table: CSV, TSV, Parquet, Excel.",
            show_default=False,
        ),
    ],
    init: Annotated[
        bool,
        _option("--init", "Write a commented plan.toml for this table, roles guessed.", _AUDIT),
    ] = False,
    quasi: options.Quasi = None,
    sensitive: Annotated[
        list[str] | None,
        _option(
            "--sensitive", "Sensitive column, several (s,s2), or an expression.", "The table",
            "S[,S2]", show_default=False,
        ),
    ] = None,
    joint: options.Joint = False,
    identifier: options.Identifier = None,
    other: options.Other = None,
    individual: long_runs.Individual = None,
    hierarchy: options.Hierarchies = None,
    kind: options.Kinds = None,
    order: options.Orders = None,
    bins: options.Bins = None,
    missing: options.Missing = "error",
    missing_token: options.MissingTokens = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    sanitizer: options.Sanitizer = "mondrian:k=5",
    release: release_beside.Release = None,
    key: release_beside.Key = None,
    rows_in_order: release_beside.RowsInOrder = False,
    model: options.Model = None,
    prior: options.Prior = None,
    known: options.Known = None,
    distance: options.Distance = "wasserstein",
    targets: options.Targets = None,
    method: options.Method = "auto",
    runs: options.Runs = 100,
    confidence: options.Confidence = 0.95,
    time: long_runs.Time = None,
    jobs: options.Jobs = -1,
    seed: options.Seed = 0,
    limit: Annotated[
        list[str] | None,
        _option(
            "--limit",
            "Fail (exit 1) beyond this: delta=0.1, t=0.2, itpr=0.5 (at most), k=5, l=2 (at "
            "least) …; repeatable.",
            "The test", "NAME=X", show_default=False,
        ),
    ] = None,
    parameter: Annotated[
        str | None,
        _option(
            "--parameter", "Also test other parameters: mondrian:k=2,5,10.", _AUDIT, "F",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        str | None,
        _option(
            "--task", "The column that an analyst predicts. Default: the sensitive one.", _AUDIT,
            "COLUMN", show_default=False,
        ),
    ] = None,
    fix: Annotated[
        str | None,
        _option(
            "--fix", "Remove outliers from a copy of the table until delta=X holds; audit the "
            "rest.", _AUDIT, "delta=X", show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        _option(
            "--budget", "The most records to remove: a number, or a share. Default: 0.05.",
            _AUDIT, "N", show_default=False,
        ),
    ] = None,
    worst: Annotated[int, _option("--worst", "Explain so many records.", _OUT, "N")] = 10,
    min_cell: Annotated[
        int, _option("--min-cell", "Name a value only if so many records hold it.", _OUT, "N")
    ] = 10,
    show_values: Annotated[
        bool, _option("--show-values", "Show values of the table; the report is marked.", _OUT)
    ] = False,
    title: Annotated[
        str | None, _option("--title", "Of the report.", _OUT, "TEXT", show_default=False)
    ] = None,
    out: Annotated[Path, _option("--out", "Where the report goes.", _OUT, "DIR")] = OUT,
) -> None:  # fmt: skip
    """Measure everything, check the limits, and write a report: HTML, JSON and Markdown."""
    from indiff.audit.plan.plan import Plan

    asked = fixing.wanted(fix, budget)
    if init:
        _refuse_beside(
            context,
            _BESIDE_INIT,
            "--{} belongs into the plan that --init writes; write the plan first, then edit it.",
        )
        _write_first_plan(data, encoding, parsing.sheet(sheet))
        return
    if data.suffix.lower() == ".toml":
        plan = _from_file(context, data, limit)
    else:
        if not sensitive:
            raise UserError(
                "an audit needs a sensitive attribute: add --sensitive COLUMN, or write a plan "
                f"with: indiff audit --init {data}."
            )
        plan = Plan(
            data={
                "path": str(data),
                "quasi": parsing.split_lists(quasi) if quasi else None,
                "sensitive": parsing.split_lists(sensitive),
                "joint": joint,
                "identifier": parsing.split_lists(identifier),
                "other": parsing.split_lists(other),
                "individual": individual,
                "hierarchies": parsing.pairs("--hierarchy", hierarchy, "FILE"),
                "kinds": parsing.pairs("--kind", kind, "KIND"),
                "orders": parsing.lists("--order", order),
                "bins": parsing.bins(bins),
                "missing": missing,
                "missing_tokens": ["", *(missing_token or ())],
                "encoding": encoding,
                "sheet": parsing.sheet(sheet),
            },
            release={
                "sanitizer": sanitizer,
                "file": None if release is None else str(release),
                "key": key,
                "rows_in_order": rows_in_order,
            },
            adversary={
                "models": parsing.split_lists(model) or ["auto"],
                "prior": None if prior is None else str(prior),
                "known": parsing.split_lists(known) or None,
                "distance": distance,
                "targets": _targets(targets),
                "method": method,
                "runs": runs,
                "confidence": confidence,
            },
            limits=_limits(limit),
            report={
                "title": title, "min_cell": min_cell, "show_values": show_values, "worst": worst,
                "parameter": parameter, "task": task,
            },
            run={"seed": seed, "jobs": jobs, "time": time},
        )  # fmt: skip
    raise typer.Exit(run(plan, out, asked, command=_command(data, plan)))


def run(plan: Plan, out: Path, asked: fixing.Wanted | None, *, command: str) -> int:
    """Run a plan, show the outcome, write the report, and name its files last."""
    from indiff.audit.result import check_report_places
    from indiff.audit.run import run_audit
    from indiff.files import make_folder
    from indiff.report.terminal import audit
    from indiff.report.terminal import tables as terminal

    inputs = _inputs(plan)
    check_report_places(out, inputs)
    table, found, fixed_paths = None, None, None
    if asked is not None:
        plan = fixing.with_limit(plan, asked)
        fixing.check_places(out, inputs)
    make_folder(out)
    options.announce_compilation()
    with _progress() as say:
        if asked is not None:
            found, table = fixing.fix_table(plan, asked, say)
            fixed_paths = found.write(out)
        result = run_audit(plan, table, progress=say, command=command)
    paths = result.write(out)
    console = terminal.open_console()
    audit.show_audit(console, result.document)
    code: int = result.verdict["exit_code"]
    if found is not None:
        from indiff.report.terminal.fix import show_fix

        show_fix(console, found, fixed_paths)
        code = fixing.exit_code(found, code)
    audit.show_paths(console, paths)
    return code


def _inputs(plan: Plan) -> list[Path]:
    """Return every file that the audit reads, which no report may overwrite."""
    return [Path(name) for name in plan.files]


def _from_file(context: typer.Context, path: Path, limit: list[str] | None) -> Plan:
    """Read a plan; a few options may be given beside it."""
    from indiff.audit.plan.plan import Plan, read_plan

    given = _given(context)
    _refuse_beside(
        context,
        _BESIDE_A_PLAN,
        f"--{{}} belongs into the plan; {str(path)!r} is one. Write it "
        "there, or name a table instead.",
    )
    plan = read_plan(path)
    sections = plan.model_dump()
    sections["limits"] |= _limits(limit)
    for section, name in (("report", "show_values"), ("report", "min_cell"), ("run", "seed"),
                          ("run", "jobs")):  # fmt: skip
        if name in given:
            sections[section][name] = context.params[name]
    return Plan(**sections)


def _given(context: typer.Context) -> list[str]:
    return [
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]


def _refuse_beside(context: typer.Context, allowed: tuple[str, ...], rule: str) -> None:
    """Refuse the first option that would not be heeded."""
    stray = next((name for name in _given(context) if name not in allowed), None)
    if stray is not None:
        raise UserError(rule.replace("{}", stray.replace("_", "-")))


def _limits(texts: list[str] | None) -> dict[str, float]:
    """Read ``--limit`` texts; which names there are, the plan knows."""
    names = [text.rpartition("=")[0].strip() for text in texts or ()]
    return parsing.limits(texts, names) if all(names) else parsing.limits(texts, ["delta", "k"])


def _targets(text: str | None) -> list[int] | int | None:
    # The records are counted when the table is read; the test refuses those beyond the last.
    return parsing.targets(text, 10**12) if text is not None else None


def _command(data: Path, plan: Plan) -> str:
    """Return the call without the options that can hold values of the table."""
    if data.suffix.lower() == ".toml":
        return f"indiff audit {data.name}"
    how = plan.release.sanitizer if plan.release.file is None else Path(plan.release.file).name
    option = "--sanitizer" if plan.release.file is None else "--release"
    return f"indiff audit {data.name} {option} {how} … (every parameter: see the plan)"


def _write_first_plan(data: Path, encoding: str | None, sheet: str | int | None) -> None:
    """Write plan.toml here, unless there is one, and show the guesses."""
    from indiff import text as plain
    from indiff.audit.plan.guess import guess_roles, plan_text
    from indiff.report.terminal import tables as terminal

    place = Path("plan.toml")
    if os.path.lexists(place):
        raise UserError(
            "a plan is never overwritten; there is a 'plan.toml' here",
            way_out="Move it, or work in another folder",
        )
    guesses = guess_roles(data, encoding=encoding, sheet=sheet)
    text = plan_text(os.path.relpath(data), guesses, encoding=encoding, sheet=sheet)
    write_text(place, text)
    console = terminal.open_console()
    lines = [(plain.name(one.column), f"{one.role} ({one.kind}): {one.reason}") for one in guesses]
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


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], object] | None]:
    """Show the stage, and a bar where its length is known, on the terminal's error stream."""
    import sys

    from indiff.report.terminal.tables import open_console

    console = open_console(sys.stderr)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda stage, done, total: bar.update(
            task, description=stage, completed=done, total=total or None
        )

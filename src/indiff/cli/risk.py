"""``indiff risk``: the risk metrics of a table or a release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indiff.audit.plan import parsing
from indiff.cli import options
from indiff.cli.risk_limits import RiskVerdict, as_plain, judge_risk, risk_limits
from indiff.errors import UserError, unknown
from indiff.files import check_places, write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.risk.result import Risk

_RISK, _ENGINE, _OUT = "The metrics", "The engine", "Output"
WORKBOOK = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def _option(name: str, help: str, panel: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(
        name, help=help, rich_help_panel=panel, metavar=metavar, show_default=False, **more
    )


def command(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A table or a release: CSV, TSV, Excel, Parquet, or a glob of Parquet files.",
            show_default=False,
        ),
    ],
    quasi: options.Quasi = None,
    sensitive: Annotated[
        list[str] | None,
        _option("--sensitive", "Sensitive columns: their inference is measured.", "The table", "S"),
    ] = None,
    individual: Annotated[
        str | None,
        _option("--individual", "Rows that share it are one person.", "The table", "COLUMN"),
    ] = None,
    joint: options.Joint = False,
    identifier: options.Identifier = None,
    other: options.Other = None,
    hierarchy: options.Hierarchies = None,
    kind: options.Kinds = None,
    order: options.Orders = None,
    missing_token: options.MissingTokens = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    combinations: Annotated[
        int,
        _option("--combinations", "Rank all combinations of up to N columns.", _RISK, "N", min=0),
    ] = 0,
    details: Annotated[
        bool,
        _option("--details/--no-details", "Also per column and per value (default).", _RISK),
    ] = True,
    limit: Annotated[
        list[str] | None,
        _option(
            "--limit",
            "Fail (exit 1) beyond this: k=5 or l=2 (at least), t=0.2, marketer=0.1, "
            "reidentification.itpr=0.5, inference.itpr=0.5, inference.S.dr=0.1 (at most) …; "
            "repeatable.",
            _RISK,
            "NAME=X",
        ),
    ] = None,
    engine: Annotated[
        str,
        _option("--engine", "auto (default), in-process, duckdb or spark.", _ENGINE, "E"),
    ] = "auto",
    master: Annotated[
        str | None,
        _option("--master", "A Spark cluster: spark://HOST:7077, local[4] …", _ENGINE, "URL"),
    ] = None,
    threads: Annotated[
        int | None, _option("--threads", "Default: all cores.", _ENGINE, "N", min=1)
    ] = None,
    memory_limit: Annotated[
        str | None,
        _option(
            "--memory-limit", "2GB: DuckDB spills beyond it; Spark's heap here.", _ENGINE, "SIZE"
        ),
    ] = None,
    show_values: Annotated[
        bool,
        _option("--show-values", "Name the table's values, rare ones too, in all output.", _OUT),
    ] = False,
    json_file: options.Json = None,
    records: options.Records = None,
) -> None:
    """Measure how far columns tell who a record is, and what its sensitive values are."""
    attributes = parsing.split_lists(sensitive)
    joined = [", ".join(attributes)] if joint and len(attributes) > 1 else attributes
    limits = risk_limits(limit, joined)
    _check_engine(engine, master, threads)
    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    inputs = [Path(data)] if "://" not in data else []
    check_places(
        {"--json": json_file, "--records": records},
        [*inputs, *map(Path, hierarchies.values())],
        frames=("--records",),
    )
    tokens = ("", *(missing_token or ()))
    source = _read(data, encoding, sheet, tokens)
    left_out = [*attributes, *parsing.split_lists(identifier), *parsing.split_lists(other)]
    asked: dict[str, Any] = {
        "quasi": parsing.split_lists(quasi) or _every_other_column(source, left_out, individual),
        "sensitive": attributes,
        "individual": individual,
        "joint": joint,
        "kinds": parsing.pairs("--kind", kind, "KIND"),
        "orders": parsing.lists("--order", order),
        "hierarchies": hierarchies,
        "missing_tokens": tokens,
        "engine": engine,
        "combinations": combinations,
        "details": details,
        "records": records,
        "master": master,
        "threads": threads,
        "memory_limit": memory_limit,
    }
    risk = run(source, **asked)
    verdict = judge_risk(risk, limits)
    if json_file is not None:
        write_text(json_file, as_json(risk, verdict, show_values=show_values))
    show(risk, _shown_name(data), verdict, show_values=show_values)
    raise typer.Exit(verdict.code)


def _check_engine(engine: str, master: str | None, threads: int | None) -> None:
    """Refuse, before any file is read, an engine that does not exist or cannot be used."""
    if engine not in ("auto", "in-process", "duckdb", "spark"):
        raise unknown("engine", engine, ["auto", "in-process", "duckdb", "spark"])
    if master is not None and engine not in ("auto", "spark"):
        raise UserError("--master is for Spark", f"--engine {engine}", "Leave one of them out")
    if master is not None and threads is not None:
        raise UserError("--threads is for this machine; with --master write local[N] instead.")
    if master is not None or engine == "spark":
        from indiff.engines.spark.engine import require_spark

        require_spark()


def _read(data: str, encoding: str | None, sheet: str | None, tokens: Sequence[str]) -> Any:
    """Return what to measure: the path, or the records of a workbook or of recoded text."""
    if encoding is None and sheet is None and not data.lower().endswith(WORKBOOK):
        return data
    from indiff.data.reading.door import read_raw

    found = read_raw(data, encoding=encoding, missing_tokens=tokens, sheet=parsing.sheet(sheet))
    return found.frame


def _every_other_column(source: Any, taken: Sequence[str], individual: str | None) -> list[str]:
    """Return the columns without another role, as every command does without --quasi."""
    from indiff.engines.source import column_names

    return [name for name in column_names(source) if name not in taken and name != individual]


def _shown_name(data: str) -> str:
    return data if "://" in data or "*" in data else Path(data).name


def run(source: Any, **asked: Any) -> Risk:
    """Measure; the stages are shown on the terminal's error stream, and files are private."""
    from indiff.report.terminal.tables import stages
    from indiff.risk import measure_risk
    from indiff.risk.records import private_files

    is_counted_here = asked["engine"] == "in-process" or (
        asked["engine"] == "auto" and not str(source).lower().endswith((".csv", ".tsv", ".txt"))
    )
    if is_counted_here and asked["master"] is None:
        options.announce_compilation()
    with stages() as say, private_files():  # for a JVM that is started here too
        return measure_risk(source, progress=say, **asked)


def as_json(risk: Risk, verdict: RiskVerdict, *, show_values: bool) -> str:
    """Return the result, limits and verdict; without values of the table unless asked for."""
    from indiff.report.terminal.risk import hidden

    document = risk.to_dict()
    if not show_values:
        for level in document["levels"]:
            level["value"] = hidden(level["records"])
    document |= as_plain(verdict)
    return json_text(document, indent=1)


def show(risk: Risk, source: str, verdict: RiskVerdict, *, show_values: bool) -> None:
    """Print every metric, where its maximum comes from, and the verdict."""
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.risk import show_risk

    console = terminal.open_console()
    show_risk(console, risk, source, show_values=show_values)
    terminal.show_reasons(console, verdict.reasons, passed=not verdict.code)

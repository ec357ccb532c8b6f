"""Prints an audit: the verdict, the findings by question, the worst records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from indiff import text as plain
from indiff.report.finding import MIN_CELL
from indiff.report.terminal import tables as terminal
from indiff.report.terminal.tables import print_clean, section
from indiff.report.words import PROMISE, QUESTIONS, VERDICTS, measured
from indiff.text import number

if TYPE_CHECKING:
    from rich.console import Console


def show_audit(console: Console, document: Mapping[str, Any]) -> None:
    """Show what was audited, every finding, the worst records, and the verdict."""
    _show_table(console, document["table"])
    _show_release(console, document["release"])
    for name, question in QUESTIONS.items():
        found = [one for one in document["findings"] if one["question"] == name]
        if name != "table" and found:
            _show_findings(console, question.heading, found)
    worst = document["charts"]["worst"]
    if worst:
        terminal.show_worst(console, worst)
    _show_curve(console, document["charts"]["parameter"])
    _show_naming(console, document)
    _show_verdict(console, document["verdict"])


def _show_table(console: Console, table: Mapping[str, Any]) -> None:
    dropped = f" ({table['dropped']:,} more were left out)" if table["dropped"] else ""
    lines = [("records", f"{table['records']:,}{dropped}")]
    lines += terminal.role_lines(
        (column["role"], f"{plain.name(column['name'])} ({column['kind']})")
        for column in table["columns"]
    )
    lines += [("note", plain.message(note)) for note in table["notes"]]
    section(console, f"Table {plain.name(table['source'])}", lines)


def _show_release(console: Console, release: Mapping[str, Any]) -> None:
    groups = "" if release["groups"] is None else f" in {release['groups']:,} groups"
    lines = [
        ("sanitizer", plain.message(release["sanitizer"])),
        ("rows", f"{release['records']:,}{groups}"),
        ("constraint", PROMISE[release["constraint_met"]]),
    ]
    lines += [("note", plain.message(note)) for note in release["notes"]]
    section(console, "Release", lines)


def _show_findings(console: Console, title: str, findings: Sequence[Mapping[str, Any]]) -> None:
    rows = []
    for one in findings:
        label = Text(plain.message(one["title"]))
        if one["inference"] is not None:
            label.append(f" [{one['inference']}]", style="dim")
        if one["reason"] is not None:
            label.append(f"\n{one['status']}: {plain.message(one['reason'])}", style="dim")
        before = "" if one["before"] is None else number(one["before"])
        is_bad = one["exceeded"] or one["status"] == "failed"
        style = "bold red" if is_bad else "dim" if one["status"] == "skipped" else ""
        rows.append((label, before, Text(measured(one), style), _limit(one)))
    columns = [("finding", "fold"), *terminal.right("before", "after"), ("limit", "left")]
    terminal.show_grid(console, title, columns, rows)


def _limit(one: Mapping[str, Any]) -> Text:
    if one["limit"] is None:
        return Text("")
    side = "≥" if one["limit"]["rule"] == "at least" else "≤"
    text = f"{side} {number(one['limit']['value'])}"
    if one["exceeded"] is None:
        open_ = "undecided" if one["status"] == "measured" else "unknown"
        return Text(f"{text} {open_}", style="bold red")
    return Text(f"{text} EXCEEDED", style="bold red") if one["exceeded"] else Text(f"{text} holds")


def _show_curve(console: Console, curve: Mapping[str, Any] | None) -> None:
    if curve is None:
        return
    lines = [
        (
            plain.name(point["setting"]),
            plain.message(point["reason"])
            if point["delta"] is None
            else f"δ {number(point['delta'])}, mean {number(point['mean'])}",
        )
        for point in curve["points"]
    ]
    section(console, "Other parameters", lines)


def _show_naming(console: Console, document: Mapping[str, Any]) -> None:
    """Say it where the report names more than it usually does."""
    few, text = document["min_cell"], None
    if document["show_values"]:
        text = "The report names values of the table: it is as confidential as the table itself."
    elif few < MIN_CELL:
        text = f"The report may name values that few records hold: from {few} on, not {MIN_CELL}."
    if text is not None:
        console.print()
        print_clean(console, Text(text, style="bold"))


def _show_verdict(console: Console, verdict: Mapping[str, Any]) -> None:
    style = "bold green" if verdict["status"] == "pass" else "bold red"
    if verdict["status"] == "no-limits":
        style = "bold"
    console.print()
    print_clean(console, Text(f"Verdict: {VERDICTS[verdict['status']].short}", style=style))
    for reason in verdict["reasons"]:
        print_clean(console, Text(f"  {plain.message(reason)}", style=style))


def show_paths(console: Console, paths: Mapping[str, Path]) -> None:
    """Name the files of the report, as the last lines."""
    console.print()
    for path in paths.values():
        console.out(plain.escaped(str(path)), highlight=False)

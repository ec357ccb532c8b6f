"""Prints an audit (its verdict, findings and worst records), a fix, a comparison of settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.exposed import above_limit
from indiff.report.sheet import HOLD
from indiff.report.terminal import tables as terminal
from indiff.report.terminal.claim import show_claim
from indiff.report.terminal.policy import show_policy
from indiff.report.terminal.tables import print_clean, right, section, show_grid
from indiff.report.together import narrow
from indiff.text import number

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROUNDS = 40
LONGEST_SETTING = 30
_BETTER = {
    "ncp": "NCP (0 to 1, less is better)",
    "discernibility": "discernibility (less is better)",
    "average_group": "average group (less is better)",
    "accuracy": "analyst's accuracy (more is better)",
}
_UNSURE = {
    "estimate": "estimate (the report has its interval)",
    "lower-bound": "lower-bound (not every record was tested)",
    "approximation": "approximation (which proves nothing if small)",
}
Document = Mapping[str, Any]


def show_audit(console: Console, document: Document) -> None:
    """Show what was audited, every finding, the worst records, and the verdict."""
    show_findings(console, document)
    show_verdict(console, document)


def show_findings(console: Console, document: Document) -> None:
    """Show what was audited, every finding, and the worst records."""
    table, release, charts = document["table"], document["release"], document["charts"]
    dropped = f" ({table['dropped']:,} more were left out)" if table["dropped"] else ""
    lines = [("records", f"{table['records']:,}{dropped}")]
    lines += terminal.role_lines(
        (column["role"], f"{plain.name(column['name'])} ({column['kind']})")
        for column in table["columns"]
    )
    lines += [("note", plain.message(note)) for note in table["notes"]]
    section(console, f"Table {plain.name(table['source'])}", lines)
    groups = "" if release["groups"] is None else f" in {release['groups']:,} groups"
    lines = [
        ("sanitizer", plain.message(release["sanitizer"])),
        ("rows", f"{release['records']:,}{groups}"),
        ("constraint", words.PROMISE[release["constraint_met"]]),
        *(("note", plain.message(note)) for note in release["notes"]),
    ]
    section(console, "Release", lines)
    columns = [("finding", "fold"), *right("before", "after"), ("limit", "left")]
    for name, question in words.QUESTIONS.items():
        found = [_finding(one) for one in document["findings"] if one["question"] == name]
        if name != "table" and found:
            show_grid(console, question.heading, columns, found)
            for grid in narrow(document) if name == "together" else ():
                heads = [(grid.heads[0], "left"), *right(*grid.heads[1:])]
                show_grid(console, grid.title, heads, grid.rows)
    marked = [x["exactness"] for x in document["findings"] if x["status"] == "measured"]
    unsure = [_UNSURE[x] for x in dict.fromkeys(marked) if x not in (None, "exact")]
    known = f"Numbers are exact but for those marked {'; '.join(unsure)}."
    known = known if unsure else "Every number is exact."
    print_clean(console, Text(known, style="dim"))
    if charts["worst"]:
        terminal.show_worst(console, charts["worst"])
    if charts["parameter"] is not None:
        lines = [
            (plain.name(point["setting"]), _setting(point))
            for point in charts["parameter"]["points"]
        ]
        section(console, "Other parameters", lines)
    for one in document.get("claim") or ():
        show_claim(console, one)
    if document["policy"] is not None:
        show_policy(console, document["policy"])
    few = document["min_cell"]
    if document["show_values"]:
        more = "The report names values of the table: it is as confidential as the table itself."
        terminal.headline(console, more)
    elif few < words.MIN_CELL:
        usual = f"from {few} on, not {words.MIN_CELL}"
        more = f"The report may name values that few records hold: {usual}."
        terminal.headline(console, more)


def show_verdict(console: Console, document: Document) -> None:
    """Show the verdict, its reasons, and what to do next."""
    verdict = document["verdict"]
    style = {"pass": "bold green", "no-limits": "bold"}.get(verdict["status"], "bold red")
    console.print()
    print_clean(console, Text(f"Verdict: {words.VERDICTS[verdict['status']].short}", style=style))
    for reason in (*above_limit(document), *verdict["reasons"]):
        print_clean(console, Text(f"  {plain.message(reason)}", style=style))
    if document["next_steps"]:
        terminal.headline(console, "What to do next")
        if verdict["status"] == "fail":
            print_clean(console, Text(f"  {HOLD}"))
    for one in document["next_steps"]:
        print_clean(console, Text(f"  {plain.message(one['text'])}"))
        if one["command"] is not None:
            console.out(f"    {plain.escaped(one['command'])}", highlight=False)
        elif one["options"]:  # options were given beside the plan, or instead of one
            asked = " ".join(f"--{name} {value}" for name, value in one["options"].items())
            console.out(f"    the same call with {plain.escaped(asked)}", highlight=False)


def _setting(point: Document) -> str:
    """Say what another setting comes to, or why nothing is known of it."""
    if point["delta"] is None:
        return plain.message(point["reason"])
    told = f"δ {number(point['delta'])}, mean {number(point['mean'])}"
    if point.get("above") is not None:
        told += f", {point['above']:,} above the limit"
    return told + words.against(point.get("models", ()))


def _finding(one: Document) -> tuple[str | Text, ...]:
    label = Text(plain.message(one["title"]))
    marks = [one["inference"], None if one["exactness"] == "exact" else one["exactness"]]
    if told := ", ".join(mark for mark in marks if mark is not None):
        label.append(f" [{told}]", style="dim")
    if one["reason"] is not None:
        label.append(f"\n{one['status']}: {plain.message(one['reason'])}", style="dim")
    is_bad = one["exceeded"] or one["status"] == "failed"
    style = "bold red" if is_bad else "dim" if one["status"] == "skipped" else ""
    limit = Text("")
    if one["limit"] is not None:
        side = "≥" if one["limit"]["rule"] == "at least" else "≤"
        outcome = "EXCEEDED" if one["exceeded"] else "kept"
        if one["exceeded"] is None:
            outcome = "undecided" if one["status"] == "measured" else "unknown"
        limit = Text(f"{side} {number(one['limit']['value'])} {outcome}")
        limit.style = "" if outcome == "kept" else "bold red"
    before = "" if one["before"] is None else number(one["before"])
    return label, before, Text(words.measured(one), style), limit


def warn_of_release(console: Console, document: Document, path: Path) -> None:
    """Say of a release that was written without a pass that it should not leave the house."""
    status = document["verdict"]["status"]
    if status in ("fail", "incomplete"):
        told = words.VERDICTS[status].short
        line = f"{path.name} was written, but its verdict is {told}: do not publish it."
        terminal.headline(console, plain.message(line))


def show_paths(console: Console, paths: Mapping[str, Path]) -> None:
    """Name the files of the report, as the last lines."""
    console.print()
    for path in paths.values():
        console.out(plain.escaped(str(path)), highlight=False)


def show_fix(console: Console, fixed: Any, paths: Mapping[str, Path] | None = None) -> None:
    """Show δ at each round, what was removed and lost, and what it does not prove."""
    heading = f"Removing outliers until δ is at most {fixed.limit:g}"
    rows = [
        (str(place), f"{one.removed:,}", number(one.delta), number(one.mean), f"{one.above:,}")
        for place, one in enumerate(fixed.rounds)
    ]
    if len(rows) > MOST_ROUNDS:
        rows[MOST_ROUNDS - 1 : -1] = [("…",) * 5]
    show_grid(console, heading, right("round", "removed", "δ", "mean", "above the limit"), rows)
    verified = plain.message(fixed.verified_by)
    if fixed.verified_delta is not None:
        verified = f"δ = {number(fixed.verified_delta)} by {fixed.verified_by}, from scratch"
    lines = [
        ("sanitizer", plain.message(fixed.sanitizer)),
        ("model", plain.message(fixed.model)),
        ("outcome", plain.message(fixed.reason)),
        ("removed", f"{len(fixed.removed):,} of {fixed.records:,} (budget {fixed.budget:,})"),
        ("verified", verified),
    ]
    if fixed.utility_before is not None and fixed.utility_after is not None:
        for name, title in _BETTER.items():
            was, now = getattr(fixed.utility_before, name), getattr(fixed.utility_after, name)
            if was is not None and now is not None:
                lines.append(("utility", f"{title}: {number(was)} → {number(now)}"))
    lines += [("written", plain.message(str(path))) for path in (paths or {}).values()]
    if paths is not None and fixed.release is None:
        lines.append(("no release", "none is written, since none is below the limit"))
    lines.append(("proves not", fixed.does_not_prove))
    section(console, "Fix", lines)


def show_comparison(console: Console, document: Document) -> None:
    """Show the settings' risk, then what they keep, then what failed and what is recommended."""
    rows, before = document["rows"], document["before"]
    original = {"setting": "(original records)", **before}
    heading = "Risk: lower is safer, but for k and ℓ"
    _show(console, heading, [original, *rows], words.RISK_COLUMNS,
          lambda row: row.get("exactness") or "")  # fmt: skip
    kept = {"setting": "(original records)", "accuracy": before["accuracy"], "ncp": 0.0}
    heading = "Utility: lower keeps more, but for accuracy"
    _show(console, heading, [kept, *rows], words.UTILITY_COLUMNS,
          lambda row: "on the front" if row.get("on_front") else "")  # fmt: skip
    measure = words.MEASURES[document["utility"]]
    predicted = f"of predicting {plain.name(document['task'])} for records held out"
    majority = words.compared_number(document["accuracy_majority"])
    lines = [
        ("front", f"no other setting has less δ and keeps more by {measure}"),
        ("accuracy", f"{predicted}; the most frequent value alone: {majority}"),
        ("seed", str(document["seed"])),
        ("fingerprint", plain.fingerprint(document["fingerprint"])),
    ]
    failed = [row for row in rows if row["status"] == "failed"]
    lines += [(_name(row), f"FAILED: {plain.message(row['reason'])}") for row in failed]
    unmet = [row for row in rows if row["constraint_met"] is False]
    lines += [(_name(row), "its own constraint is NOT met: never recommended") for row in unmet]
    about: dict[str, list[str]] = {}
    for row in rows:
        for note in row["notes"]:
            if not note.startswith("normalised_average_group"):  # not shown here
                about.setdefault(note, []).append(_name(row))
    notes = [f"{', '.join(names)}: {note}" for note, names in about.items()]
    lines += [("note", plain.message(note)) for note in notes]
    section(console, f"{len(rows):,} settings, {document['records']:,} records", lines)


def _show(
    console: Console,
    heading: str,
    rows: Sequence[Document],
    columns: Mapping[str, str],
    last: Callable[[Document], str],
) -> None:
    cells = [
        (
            _name(row),
            *(words.compared_number(row.get(key)) for key in columns),
            "FAILED" if row.get("status") == "failed" else last(row),
        )
        for row in rows
    ]
    shown = [("setting", "fold"), *right(*columns.values()), ("", "left")]
    show_grid(console, heading, shown, cells, gap=1)


def _name(row: Document) -> str:
    return plain.shortened(plain.escaped(row["setting"]), LONGEST_SETTING)

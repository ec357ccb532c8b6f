"""Writes an audit and a comparison as Markdown: the same text for the same document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from indiff import text as plain
from indiff.report.finding import MIN_CELL
from indiff.report.words import (
    MEASURES,
    QUESTIONS,
    RISK_COLUMNS,
    UTILITY_COLUMNS,
    VERDICTS,
    compared_number,
    limited,
    measured,
    recommendation,
)
from indiff.text import number

# What Markdown or HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+|~!<>&$@:^=-])")
_KINDS = {
    "private": "Private inference: what a person's own record gives away",
    "public": "Public inference: what the crowd gives away",
    None: "Counts that do not tell the two apart",
}


def escaped(text: Any) -> str:
    r"""Return text that no Markdown reader takes for markup, on one line.

    >>> print(escaped("<script>a|b</script>"))
    \<script\>a\|b\</script\>
    >>> print(escaped("=HYPERLINK(x)\n"))
    \=HYPERLINK\(x\)\\n
    """
    return _MARKUP.sub(r"\\\1", plain.message(str(text)))


def sentence(text: Any) -> str:
    """Return a sentence: only what could start markup in running text is escaped.

    >>> sentence("a_b is 0.5 (at most 2): <b>")
    'a\\\\_b is 0.5 (at most 2): \\\\<b\\\\>'
    """
    return re.sub(r"([\\`*_\[\]|~<>&$])", r"\\\1", plain.message(str(text)))


def name(text: Any) -> str:
    """Return a column's name, short and on one line."""
    return escaped(plain.name(str(text)))


def render(document: Mapping[str, Any]) -> str:
    """Return an audit's document as Markdown, without its timing.

    Equal documents give equal text. It holds no value of the table that the document lacks.
    """
    parts = [
        [f"# {sentence(document['title'])}", ""],
        _watermark(document),
        _verdict(document["verdict"]),
        _limits(document["findings"]),
        _table(document["table"]),
        _release(document["release"]),
    ]
    for name, question in QUESTIONS.items():
        found = [one for one in document["findings"] if one["question"] == name]
        if found and name != "table":
            parts.append(_question(question.heading, found))
    parts += [_charts(document["charts"]), _repeat(document)]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _watermark(document: Mapping[str, Any]) -> list[str]:
    few = document["min_cell"]
    if document["show_values"]:
        said = (
            "**CONFIDENTIAL: this report shows values of the table.** It was made with "
            "`--show-values`; do not pass it on."
        )
    elif few < MIN_CELL:
        said = (
            f"**This report may name values that few records hold**, from {few} on; usual are "
            f"{MIN_CELL}."
        )
    else:
        return []
    return [f"> {said}", ""]


def _verdict(verdict: Mapping[str, Any]) -> list[str]:
    lines = [f"**{VERDICTS[verdict['status']].line}** (exit code {verdict['exit_code']})", ""]
    return [*lines, *(f"- {sentence(reason)}" for reason in verdict["reasons"]), ""]


def _limits(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (sentence(one["title"]), _value(one), limited(one), _outcome(one))
        for one in findings
        if one["limit"] is not None
    ]
    return _section("Limits", ("finding", "measured", "limit", "outcome"), rows)


def _outcome(finding: Mapping[str, Any]) -> str:
    if finding["exceeded"] is None and finding["status"] == "measured":
        return f"not decided ({str(finding['exactness']).replace('-', ' ')})"
    if finding["exceeded"] is None:
        return f"not measured ({finding['status']})"
    return "exceeded" if finding["exceeded"] else "holds"


def _table(table: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            name(column["name"]),
            column["role"],
            column["kind"],
            f"{column['distinct']:,}",
            f"{column['missing']:,}",
            sentence(column["note"] or ""),
        )
        for column in table["columns"]
    ]
    return [
        "## The table",
        "",
        f"{sentence(plain.name(table['source']))}: {table['records']:,} records, "
        f"{table['dropped']:,} left out when it was read. Fingerprint `{table['fingerprint']}`.",
        "",
        *_rows(("column", "role", "kind", "distinct", "missing", "note"), rows),
        "",
        *_listed(table["notes"]),
    ]


def _release(release: Mapping[str, Any]) -> list[str]:
    groups = "" if release["groups"] is None else f" in {release['groups']:,} groups"
    met = "met" if release["constraint_met"] else "NOT met, which is never a pass"
    return [
        "## The release",
        "",
        f"{sentence(plain.name(release['sanitizer']))}: {release['records']:,} rows{groups}. "
        f"Its own constraint is {met}.",
        "",
        *_listed(release["notes"]),
    ]


def _listed(notes: Sequence[str]) -> list[str]:
    return [*(f"- {sentence(note)}" for note in notes), ""] if notes else []


def _question(heading: str, findings: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [f"## {heading}", ""]
    if findings[0]["question"] != "inference":
        return [*lines, *(line for one in findings for line in _finding(one))]
    for kind, title in _KINDS.items():
        own = [one for one in findings if one["inference"] == kind]
        lines += [f"### {title}", ""] if own else []
        lines += [line for one in own for line in _finding(one)]
    return lines


def _finding(one: Mapping[str, Any]) -> list[str]:
    lines = [f"**{sentence(one['title'])}**: {_value(one)}{_beside(one)}", ""]
    if one["reason"] is not None:
        lines += [f"{one['status'].capitalize()}: {sentence(one['reason'])}", ""]
    return [
        *lines,
        f"- Means: {sentence(one['means'])}",
        f"- Does not prove: {sentence(one['does_not_prove'])}",
        f"- Source: {sentence(one['source'])}",
        "",
    ]


def _value(one: Mapping[str, Any]) -> str:
    shown = measured(one)
    if one["status"] == "measured" and one["interval"] is not None:
        shown += f" (between {number(one['interval'][0])} and {number(one['interval'][1])})"
    return shown


def _beside(one: Mapping[str, Any]) -> str:
    """Say what else is known of a number: before, its range, how exact it is."""
    parts = []
    if one["before"] is not None:
        parts.append(f"in the original {number(one['before'])}")
    if one["range"] is not None and one["range"][1] is not None:
        parts.append(f"from {number(one['range'][0])} to {number(one['range'][1])}")
    if one["better"] is not None:
        good = "better" if one["question"] == "utility" else "safer"
        parts.append(f"{'lower' if one['better'] == 'low' else 'higher'} is {good}")
    if one["exactness"] not in (None, "exact"):
        parts.append(str(one["exactness"]).replace("-", " "))
    if one["limit"] is not None:
        parts.append(f"limit: {limited(one)}, {_outcome(one)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _charts(charts: Mapping[str, Any]) -> list[str]:
    worst = [
        (
            str(one["record"]),
            name(one["about"]),
            number(one["distance"]),
            number(one["belief"]),
            number(one["belief_without"]),
            sentence(plain.name(one["model"])),
            sentence(one["why"]),
        )
        for one in charts["worst"] or ()
    ]
    settings = [
        (
            escaped(point["setting"]),
            number(point["delta"]),
            number(point["mean"]),
            sentence(point["reason"] or ""),
        )
        for point in (charts["parameter"] or {"points": ()})["points"]
    ]
    columns = [
        (name(one["column"]), one["metric"], number(one["before"]), number(one["after"]))
        for one in charts["columns"] or ()
    ]
    heads = ("record", "about", "d", "belief with it", "without it", "adversary", "why")
    before_after = ("column", "metric", "in the original", "in the release")
    return [
        *_section("The most exposed records", heads, worst),
        *_section("Other parameters", ("setting", "δ", "mean", "note"), settings),
        *_section("What each column tells alone", before_after, columns),
    ]


def _repeat(document: Mapping[str, Any]) -> list[str]:
    versions = ", ".join(f"{key} {value}" for key, value in document["versions"].items())
    rows = [(escaped(key), escaped(value)) for key, value in _flat(document["plan"])]
    named = f"A value is named only if at least {document['min_cell']} records hold it."
    if document["show_values"]:
        named = "All values are named, however few records hold them."
    return [
        "## How to repeat it",
        "",
        f"- Command: {escaped(document['command'])}",
        f"- Seed: {document['seed']}",
        f"- Versions: {sentence(versions)}",
        f"- {named}",
        "",
        *_rows(("parameter", "value"), rows),
    ]


def _flat(plan: Any, at: str = "") -> Iterable[tuple[str, Any]]:
    """Return nested parameters as pairs."""
    for key, value in plan.items():
        where = f"{at}.{plain.name(str(key))}" if at else str(key)
        if isinstance(value, Mapping) and value:
            yield from _flat(value, where)
        elif isinstance(value, list | tuple):
            yield where, ", ".join(plain.name(str(one)) for one in value) or "none"
        else:
            yield where, "none" if value in (None, {}) else value


def _section(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"## {title}", "", *_rows(heads, rows), ""] if rows else []


def _rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def render_comparison(document: Mapping[str, Any]) -> str:
    """Return a comparison as Markdown: one table, then what failed and what is recommended."""
    columns = RISK_COLUMNS | UTILITY_COLUMNS
    heads = ("setting", *columns.values(), "front", "status")
    rows = [
        (
            sentence(row["setting"]),
            *(compared_number(row.get(key)) for key in columns),
            "on the front" if row["on_front"] else "",
            row["status"],
        )
        for row in document["rows"]
    ]
    lines = [
        f"- {sentence(row['setting'])} failed: {sentence(row['reason'])}"
        for row in document["rows"]
        if row["status"] == "failed"
    ]
    if document["limits"]:
        lines.append(f"- Recommended: {sentence(recommendation(document))}.")
    lines.append(
        f"- The front is for δ against {MEASURES[document['utility']]}. Accuracy is that of "
        f"predicting {sentence(document['task'])} for held-out records "
        f"({compared_number(document['before']['accuracy'])} from the original records, "
        f"{compared_number(document['accuracy_majority'])} by the most frequent value)."
    )
    return "\n".join(["# Comparison", "", *_rows(heads, rows), "", *lines]) + "\n"

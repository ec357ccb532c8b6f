"""The report as Markdown: deterministic text, made from the document alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from indiff import text as plain
from indiff.report.finding import MIN_CELL, QUESTIONS
from indiff.text import apart, number

# What Markdown or HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+|~!<>&$@:^=-])")
_VERDICTS = {
    "pass": "PASS: every limit holds",
    "fail": "FAIL: a limit is exceeded, or the release breaks its own constraint or names people",
    "incomplete": "INCOMPLETE: not everything could be measured, so this is no pass",
    "no-limits": "NO LIMITS: nothing was exceeded because no limit was given",
}
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
    for question, title in QUESTIONS.items():
        parts.append(
            _question(title, [f for f in document["findings"] if f["question"] == question])
        )
    parts += [_charts(document["charts"]), _repeat(document)]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _watermark(document: Mapping[str, Any]) -> list[str]:
    if not document["show_values"]:
        few = document["min_cell"]
        if few >= MIN_CELL:
            return []
        return [
            f"> **This report may name values that few records hold**, from {few} on; usual are "
            f"{MIN_CELL}.",
            "",
        ]
    return [
        "> **CONFIDENTIAL: this report shows values of the table.** It was made with "
        "`--show-values`; do not pass it on.",
        "",
    ]


def _verdict(verdict: Mapping[str, Any]) -> list[str]:
    lines = [f"**{_VERDICTS[verdict['status']]}** (exit code {verdict['exit_code']})", ""]
    return [*lines, *(f"- {sentence(reason)}" for reason in verdict["reasons"]), ""]


def _limits(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    limited = [one for one in findings if one["limit"] is not None]
    if not limited:
        return []
    rows = [
        (
            sentence(one["title"]),
            _value(one),
            f"{one['limit']['rule']} {number(one['limit']['value'])}",
            _outcome(one),
        )
        for one in limited
    ]
    return ["## Limits", "", *_rows(("finding", "measured", "limit", "outcome"), rows), ""]


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


def _question(title: str, findings: Sequence[Mapping[str, Any]]) -> list[str]:
    if not findings or findings[0]["question"] == "table":
        return []
    lines = [f"## {title}", ""]
    kinds = list(dict.fromkeys(one["inference"] for one in findings))
    if findings[0]["question"] != "inference":
        return [*lines, *(line for one in findings for line in _finding(one))]
    for kind in sorted(kinds, key=lambda one: ["private", "public", None].index(one)):
        lines += [f"### {_KINDS[kind]}", ""]
        lines += [line for one in findings if one["inference"] == kind for line in _finding(one)]
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
    if one["status"] != "measured":
        return str(one["status"])
    limit = one["limit"]
    shown = number(one["value"]) if limit is None else apart(one["value"], limit["value"])
    if one["interval"] is not None:
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
        parts.append("lower is safer" if one["better"] == "low" else "higher is safer")
    if one["question"] == "utility" and one["better"] is not None:
        parts[-1] = "lower is better" if one["better"] == "low" else "higher is better"
    if one["exactness"] not in (None, "exact"):
        parts.append(str(one["exactness"]).replace("-", " "))
    if one["limit"] is not None:
        outcome = _outcome(one)
        parts.append(f"limit: {one['limit']['rule']} {number(one['limit']['value'])}, {outcome}")
    return f" ({'; '.join(parts)})" if parts else ""


def _charts(charts: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    rows: list[tuple[str, ...]]
    heads: tuple[str, ...]
    if charts["worst"]:
        rows = [
            (
                str(one["record"]),
                name(one["about"]),
                number(one["distance"]),
                number(one["belief"]),
                number(one["belief_without"]),
                sentence(plain.name(one["model"])),
                sentence(one["why"]),
            )
            for one in charts["worst"]
        ]
        heads = ("record", "about", "d", "belief with it", "without it", "adversary", "why")
        lines += ["## The most exposed records", "", *_rows(heads, rows), ""]
    if charts["parameter"] is not None:
        rows = [
            (
                escaped(point["setting"]),
                number(point["delta"]),
                number(point["mean"]),
                sentence(point["reason"] or ""),
            )
            for point in charts["parameter"]["points"]
        ]
        lines += ["## Other parameters", "", *_rows(("setting", "δ", "mean", "note"), rows), ""]
    if charts["columns"]:
        rows = [
            (name(one["column"]), one["metric"], number(one["before"]), number(one["after"]))
            for one in charts["columns"]
        ]
        heads = ("column", "metric", "in the original", "in the release")
        lines += ["## What each column tells alone", "", *_rows(heads, rows), ""]
    return lines


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


def _rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]

"""Results in a notebook: a short table each, without any value of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from indiff.report import plain
from indiff.report.numbers import apart, number

if TYPE_CHECKING:
    from indiff.audit.remedy import Fix
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.risk import Risk

_WORST = 5


def summary(document: Mapping[str, Any]) -> str:
    """Return a short HTML summary; everything that comes from the table is escaped."""
    verdict = document["verdict"]
    reasons = "".join(f"<li>{_text(reason)}</li>" for reason in verdict["reasons"])
    mark = "<p><strong>This shows values of the table.</strong></p>"
    rows = "".join(_row(one) for one in document["findings"] if one["question"] != "table")
    return (
        f"<div><h3>{_text(document['title'])}: {_text(verdict['status'])}</h3>"
        f"{mark if document['show_values'] else ''}<ul>{reasons}</ul>"
        "<table><thead><tr><th>finding</th><th>value</th><th>in the original</th><th>limit</th>"
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(one: Mapping[str, Any]) -> str:
    limit = one["limit"]
    value = one["status"]
    if one["status"] == "measured":
        value = number(one["value"]) if limit is None else apart(one["value"], limit["value"])
    bound = "" if limit is None else f"{limit['rule']} {number(limit['value'])}"
    if one["exceeded"]:
        value, bound = f"{value} ✕", f"{bound}: exceeded"
    cells = (one["title"], value, number(one["before"]), bound)
    return "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>"


def tested(result: DifferentialResult | StrongestResult) -> str:
    """Return the differential test's numbers and its worst records, by number."""
    models = getattr(result, "results", {result.model: result})
    one = next(iter(models.values()))
    about = f"Differential test of {one.sensitive_name}: {one.sanitizer}"
    rows = []
    for name, each in models.items():
        upper = "" if each.delta_interval is None else number(each.delta_upper)
        counts = f"{len(each.distances):,} of {each.population:,}"
        rows.append(
            (name, number(each.delta), upper, number(each.mean), f"{each.changed_predictions:.3g}",
             counts, each.exactness)
        )  # fmt: skip
    heads = ("model", "δ", "δ may be", "mean", "% predictions changed", "tested", "exactness")
    worst = [
        (
            f"{row['record']}",
            number(row["distance"]),
            f"{row['belief']:.4f}",
            f"{row['belief_without']:.4f}",
            row.get("model", one.model),
        )
        for row in result.worst(_WORST)
    ]
    below = ("record", "distance", "belief with", "without", "seen by")
    return f"<div><h3>{_text(about)}</h3>{_grid(heads, rows)}{_grid(below, worst)}</div>"


def risked(risk: Risk) -> str:
    """Return the risk metrics: whose record it is, and each sensitive attribute."""
    groups = risk.groups
    about = f"Risk of {risk.records:,} records: k = {groups.k}, {groups.singled_out:,} alone"
    parts = {"whose record it is": risk.reidentification, **risk.inference}
    rows = [
        (name, number(one.itpr), number(one.dr), number(one.mi))
        + (
            (number(groups.sensitive[name].l), number(groups.sensitive[name].t))
            if place
            else ("", "")
        )
        for place, (name, one) in enumerate(parts.items())
    ]
    heads = ("about", "ITPR (worst group)", "DR (average)", "MI", "ℓ", "t")
    return f"<div><h3>{_text(about)}</h3>{_grid(heads, rows)}</div>"


def compared(document: Mapping[str, Any]) -> str:
    """Return a comparison's settings, risk against utility; those on the front are marked."""
    about = f"{len(document['rows']):,} settings about {document['sensitive']}"
    columns = {
        "delta": "δ", "mean": "mean", "itpr": "ITPR", "k": "k", "l": "ℓ", "t": "t", "ncp": "NCP",
        "discernibility": "discernibility", "average_group": "average group",
        "accuracy": "accuracy",
    }  # fmt: skip
    rows = []
    for row in document["rows"]:
        last = "on the front" if row["on_front"] else ""
        if row["status"] == "failed":
            last = f"failed: {row['reason']}"
        elif not row["constraint_met"]:
            last = "does not meet its own constraint"
        rows.append((row["setting"], *(number(row[name]) for name in columns), last))
    return f"<div><h3>{_text(about)}</h3>{_grid(('setting', *columns.values(), ''), rows)}</div>"


def fixed(found: Fix) -> str:
    """Return how δ moved at each round of a fix, and what it does not prove."""
    rows = [
        (place, f"{one.removed:,}", number(one.delta), number(one.mean), f"{one.above:,}")
        for place, one in enumerate(found.rounds)
    ]
    heads = ("round", "removed", "δ", "mean", "above the limit")
    return (
        f"<div><h3>{_text(found.sanitizer)}: {_text(found.reason)}</h3>{_grid(heads, rows)}"
        f"<p>{_text(found.does_not_prove)}</p></div>"
    )


def _grid(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{_text(one)}</th>" for one in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(text: Any) -> str:
    return escape(plain.message(str(text)))

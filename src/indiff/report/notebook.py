"""Results in a notebook: a short table each, without any value of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indiff.text import apart, html, html_table, number


def summary(document: Mapping[str, Any]) -> str:
    """Return a short HTML summary; everything that comes from the table is escaped."""
    verdict = document["verdict"]
    reasons = "".join(f"<li>{html(reason)}</li>" for reason in verdict["reasons"])
    mark = "<p><strong>This shows values of the table.</strong></p>"
    rows = "".join(_row(one) for one in document["findings"] if one["question"] != "table")
    return (
        f"<div><h3>{html(document['title'])}: {html(verdict['status'])}</h3>"
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
    return "<tr>" + "".join(f"<td>{html(cell)}</td>" for cell in cells) + "</tr>"


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
    return (
        f"<div><h3>{html(about)}</h3>{html_table(('setting', *columns.values(), ''), rows)}</div>"
    )

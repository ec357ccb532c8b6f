"""Shows an audit and a comparison in a notebook, without any value of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indiff.report.words import MEASURES, RISK_COLUMNS, limited, measured
from indiff.text import html, html_table, number


def summary(document: Mapping[str, Any]) -> str:
    """Return a short HTML summary; everything that comes from the table is escaped."""
    verdict = document["verdict"]
    reasons = "".join(f"<li>{html(reason)}</li>" for reason in verdict["reasons"])
    mark = "<p><strong>This shows values of the table.</strong></p>"
    rows = [
        (
            one["title"],
            measured(one) + (" ✕" if one["exceeded"] else ""),
            number(one["before"]),
            limited(one) + (": exceeded" if one["exceeded"] else ""),
        )
        for one in document["findings"]
        if one["question"] != "table"
    ]
    return (
        f"<div><h3>{html(document['title'])}: {html(verdict['status'])}</h3>"
        f"{mark if document['show_values'] else ''}<ul>{reasons}</ul>"
        f"{html_table(('finding', 'value', 'in the original', 'limit'), rows)}</div>"
    )


def compared(document: Mapping[str, Any]) -> str:
    """Return a comparison's settings, risk against utility; those on the front are marked."""
    about = f"{len(document['rows']):,} settings about {document['sensitive']}"
    columns = RISK_COLUMNS | MEASURES
    rows = []
    for row in document["rows"]:
        last = "on the front" if row["on_front"] else ""
        if row["status"] == "failed":
            last = f"failed: {row['reason']}"
        elif row["constraint_met"] is False:
            last = "does not meet its own constraint"
        rows.append((row["setting"], *(number(row[name]) for name in columns), last))
    table = html_table(("setting", *columns.values(), ""), rows)
    return f"<div><h3>{html(about)}</h3>{table}</div>"

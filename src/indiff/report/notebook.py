"""An audit in a notebook: its verdict and its numbers as a short table."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from indiff.report import plain
from indiff.report.numbers import apart, number


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


def _text(text: Any) -> str:
    return escape(plain.message(str(text)))

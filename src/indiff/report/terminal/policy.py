"""Prints what an audit says of its policy: limits, checklist, and where clauses are answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.text import apart, number

if TYPE_CHECKING:
    from rich.console import Console

WORDS = {"passed": "met", "failed": "NOT MET", "incomplete": "open"}


def show_policy(console: Console, policy: Mapping[str, Any]) -> None:
    """Show the policy's source and every part of it with its outcome."""
    lines = [
        ("source", plain.message(policy["source"])),
        ("verified", "yes" if policy["verified"] else "not fully: see the note"),
    ]
    if policy["note"] is not None:
        lines.append(("note", plain.message(policy["note"])))
    if policy["pr_attack"] is not None:
        lines.append(("attack", f"assumed with a chance of {number(policy['pr_attack'])}"))
    lines.append(("outcome", WORDS[policy["status"]]))
    section(console, f"Policy {plain.name(policy['name'])}: {plain.name(policy['title'])}", lines)
    columns = [("limit of the policy", "fold"), ("", "left"), *right("limit", "measured")]
    if policy["limits"]:
        rows = [_limit(one) for one in policy["limits"]]
        show_grid(console, "Its limits", [*columns, ("", "left")], rows, gap=1)
        lines = [
            (plain.name(one["name"]), plain.message(one["reason"]))
            for one in policy["limits"]
            if one["reason"] is not None
        ]
        if lines:
            section(console, "How they were judged", lines)
    if policy["checklist"]:
        rows = [_point(one) for one in policy["checklist"]]
        show_grid(console, "Its checklist", [("point", "fold"), ("", "left")], rows)
    if policy["crosswalk"]:
        pairs = [(one["clause"], one["section"]) for one in policy["crosswalk"]]
        rows = [tuple(Text(plain.message(text)) for text in pair) for pair in pairs]
        titles = [("clause", "fold"), ("answered in the report under", "fold")]
        show_grid(console, "Where the report answers it", titles, rows)


def _limit(one: Mapping[str, Any]) -> tuple[str | Text, ...]:
    side = "≥" if one["rule"] == "at least" else "≤"
    limit, found = one["limit"], one["measured"]
    label = Text(plain.message(one["label"]))
    measured = "–" if found is None else apart(found, limit)
    return label, f"{one['kind']}, {one['scope']}", f"{side} {number(limit)}", measured, _word(one)


def _point(one: Mapping[str, Any]) -> tuple[str | Text, ...]:
    text = Text(plain.message(one["item"]))
    text.append(f"\n{plain.message(one['evidence'])}", style="dim")
    return text, _word(one)


def _word(one: Mapping[str, Any]) -> Text:
    return Text(WORDS[one["status"]], "" if one["status"] == "passed" else "bold red")

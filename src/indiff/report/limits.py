"""Lists every limit with its source and what became of it, and counts them in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from indiff.report import finding as words
from indiff.text import number

Document = Mapping[str, Any]
STATUS = {
    "passed": ("kept", "good"),
    "failed": ("exceeded", "bad"),
    "incomplete": ("not decided", "unsure"),
}
_OUTCOMES = ("exceeded", "not measured", "not decided", "kept")


class LimitRow(NamedTuple):
    """A limit, where it comes from, what was measured, and what became of it."""

    name: str
    source: str
    limit: str
    measured: str
    outcome: str
    look: str


def limit_rows(document: Document) -> list[LimitRow]:
    """Return every limit: those of the policy first, then those of the plan itself.

    A limit on what several adversaries found is one row, with the finding that decides.
    """
    policy = document.get("policy") or {}
    rows = []
    for one in policy.get("limits") or ():
        outcome, look = STATUS[one["status"]]
        scope = ", ".join(str(one[key]) for key in ("kind", "scope") if one.get(key))
        reason = f" ({one['reason']})" if one.get("reason") and look != "good" else ""
        rows.append(
            LimitRow(
                str(one.get("label") or one["name"]),
                str(one.get("source") or policy.get("source") or policy.get("title")),
                f"{one.get('rule', '')} {number(one['limit'])} ({scope})".strip(),
                "—" if one.get("measured") is None else number(one["measured"]),
                f"{outcome}{reason}",
                look,
            )
        )
    listed = {(one.get("finding"), one["limit"]) for one in policy.get("limits") or ()}
    own = (document.get("plan") or {}).get("limits") or {}
    of_policy = {one["name"] for one in policy.get("limits") or ()} - {*own}
    for one in words.deciding(document["findings"]):
        is_own = one["limit"]["name"] not in of_policy
        if is_own and (one["id"], one["limit"]["value"]) not in listed:
            rows.append(_own(one))
    return rows


def _own(finding: Mapping[str, Any]) -> LimitRow:
    """Return the row of a limit that the plan sets itself."""
    word, look, rank = words.badge(finding)
    outcomes = {0: "exceeded", 1: "not decided", 2: "kept"}
    if finding["status"] != "measured":
        told, shown = "not measured", "—"
    else:
        exact = str(finding["exactness"] or "").replace("-", " ")
        told = outcomes.get(rank, word)
        shown = words.measured(finding) + (f" ({exact})" if exact not in ("", "exact") else "")
    return LimitRow(finding["title"], "this plan", words.limited(finding), shown, told, look)


def headline(document: Document) -> str:
    """Say how many limits there are, and what became of them: the rows of their table."""
    rows = limit_rows(document)
    if not rows:
        return "no limit given"
    counts = Counter(one.outcome.partition(" (")[0] for one in rows)
    told = [name for name in _OUTCOMES if counts[name]]
    if counts["exceeded"]:
        told.remove("kept") if "kept" in told else None
    first, *others = told
    limits = "limit" if len(rows) == 1 else "limits"
    more = [f"{counts[name]} {name}" for name in others]
    return ", ".join([f"{counts[first]} of {len(rows)} {limits} {first}", *more])

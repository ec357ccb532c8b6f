"""Lists every limit with its source and what became of it, and the claim with what refutes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.plain_words import sentence
from indiff.text import number

Document = Mapping[str, Any]
STATUS = {
    "passed": ("kept", "good"),
    "failed": ("exceeded", "bad"),
    "incomplete": ("not decided", "unsure"),
}
_OUTCOMES = ("exceeded", "not measured", "not decided", "kept")
# How a point of a policy, and a policy as a whole, stands.
POINTS = {"passed": "met", "failed": "not met", "incomplete": "open"}
_WHOM: dict[tuple[Any, Any], str] = {
    ("maximum", "sample"): "for everybody in the table",
    ("maximum", "population"): "for everybody in the population",
    ("average", "sample"): "on average over the table",
    ("average", "population"): "on average over the population",
}
_ATTACK = "Probability of an attack"


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
        reason = f" ({one['reason']})" if one.get("reason") and look == "unsure" else ""
        rows.append(
            LimitRow(
                str(one.get("label") or one["name"]),
                str(one.get("source") or policy.get("source") or policy.get("title")),
                allowed(one),
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


def allowed(limit: Mapping[str, Any]) -> str:
    """Say what a policy's limit allows, and of whom: of the worst placed person, or on average.

    >>> allowed({"rule": "at least", "limit": 5, "kind": "maximum", "scope": "sample"})
    'at least 5, for everybody in the table'
    """
    whom = _WHOM.get((limit.get("kind"), limit.get("scope")))
    text = f"{limit.get('rule', '')} {number(limit['limit'])}".strip()
    return text if whom is None else f"{text}, {whom}"


def _own(finding: Mapping[str, Any]) -> LimitRow:
    """Return the row of a limit that the plan sets itself."""
    word, look, rank = words.badge(finding)
    outcomes = {0: "exceeded", 1: "not decided", 2: "kept"}
    if finding["status"] != "measured":
        told, shown = "not measured", "—"
    else:
        exact = str(finding["exactness"] or "").replace("-", " ")
        told = outcomes.get(rank, word)
        shown = words.measured(finding) + words.between(finding)
        shown += f" ({exact})" if exact not in ("", "exact") else ""
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


def policy_lines(document: Document) -> list[tuple[str, str]]:
    """Return what a policy is in few lines: its title and source, what is not verified, its state.

    What else is known of it is in the appendix.
    """
    policy = document.get("policy")
    if not policy:
        return []
    lines = [("Policy", str(policy.get("title") or policy["name"]))]
    if policy.get("source"):
        lines.append(("Source", _told(policy["source"])))
    if policy.get("verified") is False:
        text = "Not everything could be checked against the source itself: appendix A says what."
        lines.append(("Not verified", text))
    if policy.get("pr_attack") is not None:
        lines.append((_ATTACK, number(policy["pr_attack"])))
    lines.append(("Outcome", _outcome(policy)))
    return lines


def _outcome(policy: Mapping[str, Any]) -> str:
    """Say how a policy stands as a whole, and how many points of its checklist are which."""
    told = POINTS[policy["status"]] if policy.get("status") else "—"
    counts = Counter(POINTS[one["status"]] for one in policy.get("checklist") or ())
    total = sum(counts.values())
    if not total:
        return told
    listed = ", ".join(f"{counts[word]} {word}" for word in POINTS.values() if counts[word])
    points = "1 point" if total == 1 else f"{total} points"
    return f"{told}; of {points} to check: {listed} (appendix A)"


def policy_in_full(document: Document) -> list[tuple[str, str]]:
    """Return everything that is known of a policy, and how each of its limits was judged."""
    policy = document.get("policy")
    if not policy:
        return []
    lines = [one for one in policy_lines(document) if one[0] != "Not verified"]
    verified = "yes" if policy.get("verified", True) else "not fully: see the note"
    lines.insert(2, ("Checked against its source", verified))
    if policy.get("note"):
        lines.append(("Note", str(policy["note"])))
    for one in policy.get("limits") or ():
        measured = "not measured" if one.get("measured") is None else number(one["measured"])
        text = f"{allowed(one)}; measured: {measured}; {STATUS[one['status']][0]}"
        why = f". {sentence(str(one['reason']))}" if one.get("reason") else "."
        lines.append((f"Limit: {one.get('label') or one['name']}", f"{text}{why}"))
    return lines


def _told(source: Any) -> str:
    if isinstance(source, Mapping):
        return ", ".join(str(one) for one in source.values() if one is not None)
    return str(source)


def claim_lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return claim, bound, confidence, runs and what was not tried, as names and words."""
    claimed, delta = found["claimed"], found["delta"]
    at = f" at δ = {delta:g}" if delta else ""
    lines = [
        ("claim", "none" if claimed is None else f"ε ≤ {claimed:g}{at}"),
        ("observed", f"ε ≥ {number(found['epsilon'])}{at}: a lower bound"),
        ("confidence", f"{100 * found['confidence']:g} %, over everything that was tried"),
        ("runs", f"{found['calls']:,} of {found['requested']:,}, which can show at most ε = "
         f"{number(found['most'])}"),
        ("neighbours", found["neighbours"]),
        ("looked at", f"{found['records']:,} of {found['records_in_table']:,} records"),
    ]  # fmt: skip
    for one in found["observed"]:
        sign = "=" if one["sign"] == "=" else "≥"
        whole = one["statistic"] == "release as a whole"
        threshold = "a certain one" if whole else number(one["threshold"])
        other = "with" if one["more_frequent"] == "without" else "without"
        lines.append((
            "told by",
            f"{plain.name(one['statistic'])} {sign} {threshold}, in {one['hits']:,} of "
            f"{one['runs']:,} runs {one['more_frequent']} record {one['record']:,}, and in "
            f"{one['other_hits']:,} of {one['other_runs']:,} {other} it",
        ))  # fmt: skip
    guesses = found["guesses"]
    if guesses is not None:
        right_of = f"{guesses['right']:,} right of {guesses['made']:,} guesses"
        by = f"{guesses['canaries']:,} records, by {plain.name(guesses['statistic'])}"
        lines.append(("told by", f"{right_of} about {by}"))
    lines += [("not tried", plain.message(one)) for one in found["untried"]]
    lines += [("failed", plain.message(one)) for one in found["failures"][:1]]
    return lines + [("note", plain.message(one)) for one in found["notes"]]

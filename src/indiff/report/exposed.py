"""Says who is exposed: how many are above a limit, how often guesses are right, who is told in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.adversaries import exposes, first_sentence
from indiff.text import counted, percent

Document = Mapping[str, Any]


def above_limit(document: Document) -> list[str]:
    """Say of how many people an adversary learns more than the limit on δ allows."""
    known = [
        one
        for one in document["findings"]
        if one["metric"] == "delta" and one["status"] == "measured" and one.get("exceeded")
    ]
    return _above(document, known)


def exposed(document: Document) -> str:
    """Say who is exposed, and to whom: the line of the filing sheet."""
    findings: Sequence[Mapping[str, Any]] = document["findings"]
    deltas = [one for one in findings if one["metric"] == "delta"]
    known = [one for one in deltas if one["status"] == "measured"]
    told = []
    if known:
        told.append(max(known, key=lambda one: (float(one["value"]), ":strongest" in one["id"])))
    elif deltas:
        told.append(deltas[0])
    told += [one for one in findings if one["metric"] == "k"][:1]
    told += [
        one
        for one in words.deciding(findings)
        if one.get("exceeded") and one["metric"] not in ("k", "delta")
    ]
    said = [
        first_sentence(one["means"])
        if one["status"] == "measured"
        else f"{one['title']} was not measured; why is said below."
        for one in told
    ]
    above = _above(document, known)
    any_above = any(one["parameters"].get("above_limit") for one in known)
    by = [exposes(known)] if any_above and len({one["about"] for one in known}) == 1 else []
    by += [_right(findings)] if any_above else []
    told_all = [*above, *by, *said, _membership(findings)]
    return " ".join(filter(None, told_all)) or "Nothing was measured about it."


def _right(findings: Sequence[Mapping[str, Any]]) -> str:
    """Say how often the adversary that is right most often is, with a person's record and not."""
    own = [
        (one["parameters"]["accuracy_with_record"], one)
        for one in findings
        if one["metric"] == "told_by_the_crowd"
        and one["status"] == "measured"
        and one["parameters"].get("accuracy_with_record") is not None
    ]
    if not own:
        return ""
    share, one = max(own, key=lambda pair: pair[0])
    return (
        f"Exposed means that a guess rests more on the person's own record than was allowed, not "
        f"that it is right: the best guess of {plain.name(str(one['parameters']['model']))} at "
        f"{plain.name(str(one['about']))} is right for {percent(share)} of those tested, and for "
        f"{percent(one['value'])} without their own record."
    )


def _membership(findings: Sequence[Mapping[str, Any]]) -> str:
    """Say how well the adversary that tells best who is in the table does."""
    own = [one for one in findings if one["metric"] == "advantage" and one["status"] == "measured"]
    if not own:
        return ""
    best = max(own, key=lambda one: float(one["value"]))
    return (
        f"Whether a person is in the table is told best, to one who knows the person's "
        f"{plain.name(str(best['about']))} too, by "
        f"{plain.name(str(best['parameters'].get('model')))}: with an advantage of "
        f"{words.measured(best)} (0 is guessing, 1 certainty)."
    )


def _above(document: Document, deltas: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say of each sensitive attribute how many records are above the limit on δ."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in deltas:
        found.setdefault(str(one["about"]), []).append(one)
    records, told = document["table"]["records"], []
    for about, own in found.items():
        above = max(one["parameters"].get("above_limit", 0) for one in own)
        more, end = f"{above:,} of {counted(records, 'record')}", "than the limit on δ allows."
        if above:
            told.append(f"For {more} ({percent(above / records)}), an adversary learns more about "
                        f"{plain.name(about)} {end}")  # fmt: skip
        elif all(one.get("exceeded") is False for one in own):
            told.append(f"No adversary that was tried learns more about anybody's "
                        f"{plain.name(about)} {end}")  # fmt: skip
    return told

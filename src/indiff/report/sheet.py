"""Words the filing sheet of a report: what was decided and why, by which limits, for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.exposed import above_limit, exposed
from indiff.report.fingerprints import CHECK, file_rows
from indiff.report.limits import headline, limit_rows, policy_in_full, policy_lines
from indiff.report.plain_words import sentence, step_words
from indiff.report.together import is_told
from indiff.text import number

Document = Mapping[str, Any]
_MOST_NAMES = 12
NO_PROOF = (
    "A pass is no proof that nobody can be recognised. It is about the adversaries that were "
    "tried, this table, this release and these columns. A stronger adversary, one who knows more, "
    "or one who holds a second release of the same people may learn more. It is no legal opinion."
)
NOT_MEASURED = (
    "No number here is about {others} of the same people, about sources outside this table, or "
    "about columns that are left out."
)
_CONTEXT = {
    "controller": "Controller",
    "author": "Author of the audit",
    "purpose": "Purpose of the release",
    "recipients": "Recipients",
    "release_model": "Release model",
    "data_period": "Period of the data",
    "attackers": "Who might attack",
    "knowledge": "What they may know",
    "limits_by": "Who chose the limits, and why",
    "review_by": "Date of the next review",
    "confidentiality": "Confidentiality",
}
# What the ten lines say is not repeated.
_IN_TEN = ("purpose", "recipients", "release_model", "data_period", "attackers", "knowledge",
           "limits_by", "review_by")  # fmt: skip
_MODELS = {
    "public": "anybody may have it (public)",
    "controlled": "only named recipients, under conditions (controlled)",
    "internal": "it stays in the house (internal)",
}
_HOW = {
    "coarser": "Published in coarser form",
    "unchanged": "Published as they are",
    "unmeasured": "Published, though nothing was measured of them",
    "left out": "Left out of the release",
}
DECISIONS = ("release it as it was judged", "release it under conditions", "do not release it")
_AGAINST = {
    "fail": ", against the result of this audit",
    "incomplete": ", though the audit is incomplete",
    "no-limits": ", though no limit was set",
}
UNSIGNED = "No decision is recorded until this is filled in and signed."
HOLD = "Do not publish this release as it is."
_UNMARKED = "Confidential"
SIGNED = ("Name", "Function", "Place and date", "Signature")


def ten_lines(document: Document) -> list[tuple[str, str]]:
    """Return the ten lines that say what was decided and why."""
    table, verdict = document["table"], document["verdict"]
    said = words.VERDICTS[verdict["status"]]
    more = table["dropped"]
    dropped = f" {number(more)} more {_were(more)} left out when it was read." if more else ""
    made = document["versions"].get("indiff", "")
    context = document.get("context") or {}
    return [
        (
            "What was audited",
            f"{counted(table['records'])} of {plain.name(table['source'])}, audited on "
            f"{day(document)} with indiff {plain.name(str(made))}.{dropped}{_removed(document)} "
            f"{_period(context)}",
        ),
        ("Result, and why", f"{said.word}: {headline(document)}. {_why(verdict['reasons'])}"),
        ("What is published", _published(document)),
        ("For whom, and what for", _purpose(context)),
        ("What an attacker may know", _knowledge(document, context)),
        ("Who is exposed", exposed(document)),
        ("What was tried, and what not", _tried(document)),
        ("What it does not prove", NO_PROOF),
        ("What to do next", _next(document)),
        ("Who decides, and until when", _decides(document, context)),
    ]


def parts(document: Document) -> dict[str, Any]:
    """Return everything of the sheet by the names that the templates use."""
    return {
        "ten_lines": ten_lines(document),
        "context": context_rows(document),
        "limits": limit_rows(document),
        "policy_lines": policy_lines(document),
        "policy_in_full": policy_in_full(document),
        "steps": steps(document),
        "files": file_rows(document),
        "check": CHECK,
        "decisions": decisions(document),
        "unsigned": UNSIGNED,
        "signed": SIGNED,
        "marking": marking(document),
        "no_proof": NO_PROOF,
        "released": columns(document),
        "verdict_reasons": verdict_reasons(document),
    }


def verdict_reasons(document: Document) -> list[str]:
    """Return the reasons of the verdict; of a limit on δ that fails, first whom it is about."""
    reasons = [sentence(str(one)) for one in document["verdict"]["reasons"]]
    return [*above_limit(document), *reasons]


def decisions(document: Document) -> list[str]:
    """Return what may be decided; a release that goes against the verdict says so."""
    first, *others = DECISIONS
    return [first + _AGAINST.get(document["verdict"]["status"], ""), *others]


def day(document: Document) -> str:
    """The day on which the audit was made."""
    return str(document["timing"]["started"])[:10]


def counted(records: int) -> str:
    """Count records in words.

    >>> counted(0), counted(1), counted(5000)
    ('no record', '1 record', '5,000 records')
    """
    return f"{number(records) if records else 'no'} record{'s' if records > 1 else ''}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _period(context: Mapping[str, Any]) -> str:
    period = context.get("data_period")
    if not period:
        return "The plan does not say which period the data is from."
    return sentence(f"Period of the data: {period}")


def _removed(document: Document) -> str:
    """Say how many people were removed before sanitizing, where that was asked for."""
    fix = document.get("fix")
    if not fix:
        return ""
    gone, aim = fix["removed"], f"δ of at most {number(fix['delta'])}"
    if gone:
        return (
            f" Before it was sanitized, {counted(gone)} that stood out {_were(gone)} removed for a "
            f"{aim}: no number here is about {'that person' if gone == 1 else 'those people'}."
        )
    if fix["status"] == "below":
        return f" Nobody had to be removed for a {aim}."
    return f" Removing people who stand out did not lead to a {aim}, so nobody was removed."


def _why(reasons: Sequence[str]) -> str:
    others = len(reasons) - 1
    more = f" (and {others} more reason{'s' if others > 1 else ''}, named above)" if others else ""
    return sentence(f"{sentence(reasons[0]).rstrip('. ')}{more}")


def _names(names: Sequence[str]) -> str:
    shown = [plain.name(one) for one in names[:_MOST_NAMES]]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(shown) + more


def columns(document: Document) -> list[tuple[str, list[str]]]:
    """Return the columns by what became of them: coarser, unchanged, unmeasured, left out."""
    listed = document["release"].get("columns")
    if listed is None:  # an older document: by their roles
        how = {"quasi": "coarser", "sensitive": "unchanged"}
        listed = [
            {"name": one["name"], "how": how.get(one["role"], "left out")}
            for one in document["table"]["columns"]
        ]
    found = {how: [one["name"] for one in listed if one["how"] == how] for how in _HOW}
    return [(_HOW[how], names) for how, names in found.items() if names]


def _published(document: Document) -> str:
    seen = {one["name"]: one.get("seen") for one in document["release"].get("columns") or ()}
    told = []
    for how, names in columns(document):
        shown = [_names([one]) + _coarse(seen.get(one), how) for one in names[:_MOST_NAMES]]
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        if how == _HOW["coarser"] and any(seen.get(one) for one in names):
            how += " (in brackets what a typical cell may stand for)"
        told.append(f"{how}: {', '.join(shown)}{more}.")
    return " ".join(told)


def _coarse(seen: Mapping[str, Any] | None, how: str) -> str:
    """Say in brackets how many values a typical cell of a coarser column may stand for."""
    if seen is None or how != _HOW["coarser"]:
        return ""
    return f" ({number(seen['typical'])} of {number(seen['values'])} values)"


def _purpose(context: Mapping[str, Any]) -> str:
    parts = [context.get("purpose"), context.get("recipients")]
    model = context.get("release_model")
    parts.append(_MODELS.get(str(model), str(model)) if model else None)
    told = "; ".join(str(one).rstrip(".") for one in parts if one)
    if not told:
        return "The plan does not say. Whether the limits are strict enough depends on it."
    return sentence(told)


def _knowledge(document: Document, context: Mapping[str, Any]) -> str:
    plan = document.get("plan") or {}
    known = (plan.get("adversary") or {}).get("known")
    if known is None:
        known = [one["name"] for one in document["table"]["columns"] if one["role"] == "quasi"]
    parts = [context.get("attackers"), context.get("knowledge")]
    told = " ".join(sentence(str(one)) for one in parts if one)
    assumed = f"The audit assumes that these columns of a person are known: {_names(known)}."
    return f"{told} {assumed}".strip()


def _tried(document: Document) -> str:
    tried, before = document.get("tried"), is_told(document)
    place = 6 + before + bool(document["charts"].get("worst"))  # of what was released
    others = "other releases" + (" than those of section 5" if before else "")
    beyond = NOT_MEASURED.format(others=others)
    asked_for = [one for one in document["findings"] if one["question"] != "table"]
    exact = Counter(
        str(one["exactness"]).replace("-", " ")
        for one in asked_for
        if one["status"] == "measured" and one["exactness"]
    )
    counts = ", ".join(
        f"{count} {what}{'s' if count > 1 and what != 'exact' else ''}"
        for what, count in exact.items()
    )
    missed = sum(one["status"] != "measured" for one in asked_for)
    numbers = f"Numbers: {counts}" if counts else "Numbers: none"
    numbers += (
        f", {missed} not measured; why is said in section {place}." if missed else ", none missing."
    )
    deciding = words.deciding(document["findings"])
    if deciding and all(one["exactness"] == "exact" for one in deciding):
        numbers += " Every limit was checked on an exact number."
    if tried is None:
        return f"{numbers} {beyond}"
    asked, left = _names(tried["models"]) or "none", len(tried["other_models"])
    untried = (
        f" Not tried: {left} other{'s' * (left > 1)}, named in section {place}." if left else ""
    )
    return f"Adversaries: {asked}.{untried} {numbers} {beyond}"


def _decides(document: Document, context: Mapping[str, Any]) -> str:
    """Say who chose the limits, that the decision is a person's, and until when it holds."""
    chosen = context.get("limits_by")
    if chosen:
        told = f"The limits were chosen by: {str(chosen).rstrip('. ')}."
    elif document.get("policy"):
        told = "Nobody stated who chose the policy and the limits, or why."
    else:
        told = "Nobody stated who chose the limits, or why."
    if not document.get("policy"):
        told += " No policy is named."
    day = context.get("review_by")
    until = (
        f"It is to be looked at again by {day}, and before that"
        if day
        else "Nobody stated until when it holds; it is to be looked at again"
    )
    return (
        f"{told} indiff says whether they are kept; whether to release is decided by whoever signs "
        f"below. "
        f"{until} when the table, the release, its recipients or what an attacker may know changes."
    )


def steps(document: Document) -> list[tuple[str, str | None]]:
    """Return what to do next, with the command that does it, where there is one."""
    found = document.get("next_steps") or []
    return [(sentence(step_words(str(one["text"]))), one.get("command")) for one in found]


def _next(document: Document) -> str:
    """Return the first step that does something; what was seen not to help is said below."""
    hold = f"{HOLD} " if document["verdict"]["status"] == "fail" else ""
    return hold + _first_step(document)


def _first_step(document: Document) -> str:
    found = steps(document)
    kinds = [one["kind"] for one in document.get("next_steps") or []]
    if found:
        return found[next((place for place, kind in enumerate(kinds) if kind != "none"), 0)][0]
    status = document["verdict"]["status"]
    if status == "pass":
        return "Decide, sign below, and keep this report with the release."
    if status == "incomplete":
        return "Settle what is named above as not known or open and audit again, or decide below."
    return "Decide below."


def called(key: str) -> str:
    """Call a key of a plan's context as a sentence does."""
    label = _CONTEXT.get(key, key.replace("_", " "))
    return f"{label[0].lower()}{label[1:]}"


def context_rows(document: Document) -> list[tuple[str, str]]:
    """Return what the plan states beside the ten lines, and what it leaves open."""
    context = document.get("context") or {}
    told = {key: context.get(key) for key in _CONTEXT if context.get(key) not in (None, "")}
    found = [(_CONTEXT[key], str(told[key])) for key in told if key not in _IN_TEN]
    if missing := [f"{called(key)} ({key})" for key in _CONTEXT if key not in told]:
        marked = "" if "confidentiality" in told else " Until then it is marked as confidential."
        way = "The plan's [context] states it by the name in brackets, the web page in a field."
        found.append(("Not stated", f"{'; '.join(missing)}. {way}{marked}"))
    return found


def marking(document: Document) -> str:
    """Return how confidential the report is: as the plan says, or because it names values."""
    told = (document.get("context") or {}).get("confidentiality")
    shown = "contains values of the table" if document["show_values"] else ""
    return ", ".join(str(one) for one in (told or _UNMARKED, shown) if one)

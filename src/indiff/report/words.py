"""The report's own words: verdicts, questions, badges, and the plan as lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indiff import text as plain
from indiff.text import number


@dataclass(frozen=True)
class Verdict:
    """How a verdict is said: its sign, its word, and what it means in one sentence."""

    sign: str
    word: str
    sentence: str
    look: str


VERDICTS = {
    "pass": Verdict(
        "✓", "Passed", "Every limit of the plan was measured, and none was exceeded.", "good"
    ),
    "fail": Verdict(
        "✕",
        "Failed",
        "This release should not be published as it is, for these reasons:",
        "bad",
    ),
    "incomplete": Verdict(
        "!",
        "Incomplete",
        "Something that a limit needs was not measured, so nothing can be promised.",
        "unsure",
    ),
    "no-limits": Verdict(
        "–",
        "No verdict",
        "The plan sets no limit. The numbers below are measured, but nothing says what is enough.",
        "unsure",
    ),
}


@dataclass(frozen=True)
class Question:
    """One of the questions that findings are sorted by."""

    title: str
    asks: str


QUESTIONS = {
    "singling-out": Question(
        "Singling out",
        "Can somebody isolate the record of one person, knowing some of that person's columns?",
    ),
    "linkability": Question(
        "Linkability",
        "Can somebody tell that a person is in the table, or join a record to another source?",
    ),
    "inference": Question(
        "Inference",
        "Can somebody deduce a person's sensitive value? What only that person's own record gives "
        "away is a private inference: a leak. What the crowd teaches is a public one.",
    ),
    "utility": Question("Utility", "What is the release still good for?"),
    "table": Question("The table", "What was audited."),
}


def headline(document: Mapping[str, Any]) -> str:
    """Say how many limits there are, and what became of them.

    >>> headline({"findings": [{"limit": {"name": "k"}, "exceeded": True, "status": "measured"}]})
    '1 of 1 limit exceeded'
    >>> headline({"findings": [{"limit": {"name": "k"}, "exceeded": None, "status": "measured"}]})
    '1 of 1 limit not decided'
    """
    limited = [one for one in document["findings"] if one.get("limit")]
    if not limited:
        return "no limit given"
    exceeded = sum(one.get("exceeded") is True for one in limited)
    missed = sum(one["status"] != "measured" for one in limited)
    kept = sum(one.get("exceeded") is False for one in limited)
    undecided = len(limited) - exceeded - missed - kept
    limits = "limit" if len(limited) == 1 else "limits"
    counts = {"exceeded": exceeded, "not measured": missed, "not decided": undecided}
    if not exceeded:
        counts["kept"] = kept
    said = [(count, what) for what, count in counts.items() if count]
    (first, what), *others = said
    return ", ".join(
        [f"{first} of {len(limited)} {limits} {what}", *(f"{n} {word}" for n, word in others)]
    )


def badge(finding: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return the word, the look and the rank of a finding; the worst rank first.

    >>> badge({"status": "measured", "limit": None, "exceeded": None})
    ('no limit', 'plain', 3)
    """
    if finding.get("exceeded"):
        return ("limit exceeded", "bad", 0)
    if finding["status"] == "failed":
        return ("failed", "bad", 1)
    if finding["status"] == "skipped":
        return ("not measured", "unsure", 4)
    if finding.get("limit") is None:
        return ("no limit", "plain", 3)
    if finding.get("exceeded") is None:
        return ("not decided", "unsure", 1)
    return ("within limit", "good", 2)


@dataclass(frozen=True)
class Glance:
    """How one question stands, in a line."""

    question: str
    title: str
    look: str
    says: str


def glance(findings: Iterable[Mapping[str, Any]]) -> list[Glance]:
    """Return a line for each question that has findings."""
    listed = list(findings)
    lines = []
    for name, question in QUESTIONS.items():
        own = [one for one in listed if one["question"] == name]
        if not own or name == "table":
            continue
        looks = [badge(one) for one in own]
        counts = {
            word: sum(look[0] == word for look in looks)
            for word in ("limit exceeded", "failed", "not decided", "within limit", "not measured")
        }
        says = [
            f"{count} {word.replace('limit', 'limits') if count > 1 and 'limit' in word else word}"
            for word, count in counts.items()
            if count
        ]
        measured = sum(one["status"] == "measured" for one in own)
        says += [f"{measured} measured"] if measured else []
        worst = min(looks, key=lambda look: look[2])
        look = worst[1] if worst[0] != "no limit" else "plain"
        lines.append(Glance(name, question.title, look, ", ".join(says)))
    return lines


def flat(plan: Any, at: str = "") -> list[tuple[str, str]]:
    """Write nested parameters as lines of name and value.

    >>> flat({"data": {"quasi": ["age", "sex"], "joint": False}, "limits": {}})
    [('data.quasi', 'age, sex'), ('data.joint', 'no'), ('limits', 'none')]
    """
    if isinstance(plan, Mapping) and plan:
        return [
            line
            for key, inner in plan.items()
            for line in flat(inner, f"{at}.{plain.name(str(key))}" if at else plain.name(str(key)))
        ]
    return [(at, _value(plan))]


def _value(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, str):
        return plain.message(value) if value else "(empty text)"
    if isinstance(value, bool):
        return number(value)
    if isinstance(value, int | float):
        return str(value).removesuffix(".0")
    if isinstance(value, Sequence):
        return ", ".join(_value(one) for one in value) if value else "none"
    return "none" if not value else plain.message(str(value))

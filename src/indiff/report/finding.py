"""Holds one measured number of an audit, and the words that every report has for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from indiff import text as plain
from indiff.text import apart, number

Status = Literal["measured", "failed", "skipped"]
Question = Literal["table", "singling-out", "linkability", "inference", "together", "utility"]
Rule = Literal["at most", "at least"]

MIN_CELL = 10  # records that hold a value before it is named, unless somebody asks otherwise
ORDER: tuple[Question, ...] = get_args(Question)


@dataclass(frozen=True)
class Limit:
    """What a number may be at most, or must be at least."""

    name: str
    rule: Rule
    value: float


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One number of an audit, or the reason why there is none.

    ``metric`` is the name that a limit calls it by, ``about`` the sensitive attribute. ``value``
    is None unless it was measured; ``interval`` holds the limits of an estimate. ``exceeded`` is
    set by the verdict, after measuring; it stays None where that cannot be decided.
    """

    id: str
    metric: str
    about: str | None = None
    question: Question
    inference: Literal["private", "public"] | None = None
    title: str
    status: Status
    reason: str | None = None
    value: float | None = None
    range: tuple[float, float | None] | None = None
    better: Literal["low", "high"] | None = None
    exactness: str | None = None
    interval: tuple[float, float] | None = None
    before: float | None = None
    limit: Limit | None = None
    exceeded: bool | None = None
    means: str
    does_not_prove: str
    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if (self.status == "measured") != (self.value is not None):
            raise ValueError(f"{self.id}: a value is there if and only if it was measured")
        if self.status != "measured" and not self.reason:
            raise ValueError(f"{self.id}: what was not measured needs a reason")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data, its keys in a fixed order."""
        return asdict(self)


EXACTNESS = {
    "exact": "exact",
    "estimate": "an estimate",
    "lower-bound": "a lower bound: not every record was tested",
    "approximation": "an approximation",
}
USUAL_ENCODING = "TF-TF"
USUAL_READING = "covering a value or not"  # what the usual encoding tells of a cell
USUAL_ADVERSARIES = {"naive-bayes", "frequency", "tree"}  # the default, where all are fast
# Whether a release keeps what its sanitizer promises; a raw table or a file promises nothing.
PROMISE = {True: "met", False: "NOT met: never a pass", None: "none is declared"}
RISK_COLUMNS = {"delta": "δ", "mean": "mean", "itpr": "ITPR", "k": "k", "l": "ℓ", "t": "t"}
MEASURES = {
    "ncp": "NCP",
    "discernibility": "discernibility",
    "average_group": "average group",
    "accuracy": "accuracy",
}
UTILITY_COLUMNS = MEASURES | {"discernibility": "discernib.", "average_group": "av. group"}


@dataclass(frozen=True)
class Verdict:
    """How a verdict is said: its sign and look, its word, what it means, and shorter."""

    sign: str
    look: str
    word: str
    sentence: str
    short: str
    line: str


VERDICTS = {
    "pass": Verdict(
        "✓", "good", "Passed", "Every limit of the plan was measured, and none was exceeded.",
        "PASS", "PASS: every limit is kept",
    ),
    "fail": Verdict(
        "✕", "bad", "Failed", "This release does not keep what was asked of it:",
        "FAIL", "FAIL: this release does not keep what was asked of it",
    ),
    "incomplete": Verdict(
        "!", "unsure", "Incomplete",
        "Something that a pass needs is still open, so nothing can be promised.",
        "INCOMPLETE: this is no pass",
        "INCOMPLETE: something is not known or still open, so this is no pass",
    ),
    "no-limits": Verdict(
        "–", "unsure", "No verdict",
        "The plan sets no limit. The numbers below are measured, but nothing says what is enough.",
        "no limits, no verdict", "NO LIMITS: nothing was exceeded because no limit was given",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Topic:
    """One of the questions that findings are sorted by, in few words and in full."""

    title: str
    short: str
    asks: str
    proves_not: str = ""  # what is true of all its findings

    @property
    def heading(self) -> str:
        """The title and the question in few words."""
        return f"{self.title}: {self.short}"


_MORE = "One who knows more columns, or holds another release about the same people, may do better."
QUESTIONS: dict[Question, Topic] = {
    "singling-out": Topic(
        "Singling out",
        "can a person's record be isolated?",
        "Can somebody isolate the record of one person, knowing some of that person's columns?",
        "These numbers are about an attacker who knows that a person is in the table, and that "
        f"person's quasi-identifiers, but no other column. {_MORE}",
    ),
    "linkability": Topic(
        "Linkability",
        "can a record be linked to a person?",
        "Can somebody tell that a person is in the table, or join a record to another source?",
        "An advantage is about an attacker who knows a person's quasi-identifiers and sensitive "
        "value, but not whether the person is in the table. Chances of a link are about one who "
        f"knows that, and the quasi-identifiers alone. {_MORE}",
    ),
    "inference": Topic(
        "Inference",
        "can a person's sensitive value be deduced?",
        "Can somebody deduce a person's sensitive value? What only that person's own record gives "
        "away is a private inference: a leak. What the crowd teaches is a public one.",
        "No number here bounds a stronger adversary, one who knows more, or one who compares "
        "several releases, and none is a proof of differential privacy. What is counted in the "
        "published columns does not tell what a person's own record gives away from what the crowd "
        "does.",
    ),
    "together": Topic(
        "Together with what was published before",
        "what do all releases tell?",
        "Can somebody who lays this release beside those that were published before deduce a "
        "person's sensitive value?",
        "Only the releases that are named here were considered. Somebody who is left with two "
        "values, one of them rare, is hardly better off than one who is left with one.",
    ),
    "utility": Topic(
        "Utility", "what is the release still good for?", "What is the release still good for?"
    ),
    "table": Topic("The table", "what was audited.", "What was audited."),
}


def measured(finding: Mapping[str, Any]) -> str:
    """Write what was found, with so many digits that it can be told from its limit."""
    if finding["status"] != "measured":
        return str(finding["status"])
    limit = finding["limit"]
    return number(finding["value"]) if limit is None else apart(finding["value"], limit["value"])


def between(finding: Mapping[str, Any], unit: str = "") -> str:
    """Write the interval of an estimate in brackets; nothing where there is none."""
    ends = finding.get("interval")
    return "" if ends is None else f" ({number(ends[0])} to {number(ends[1])}{unit})"


def sureness(finding: Mapping[str, Any]) -> str:
    """Say how exact a number is, and with what confidence its interval holds the true one.

    >>> sureness({"exactness": "estimate", "interval": [0, 1], "parameters": {"confidence": 0.95}})
    'estimate, 95% sure'
    """
    sure = finding["parameters"].get("confidence") if finding.get("interval") else None
    return str(finding["exactness"] or "") + ("" if sure is None else f", {100 * sure:g}% sure")


def limited(finding: Mapping[str, Any]) -> str:
    """Write a finding's limit with its rule; nothing where there is none."""
    limit = finding["limit"]
    return "" if limit is None else f"{limit['rule']} {number(limit['value'])}"


def compared_number(value: Any) -> str:
    """Write a number of a comparison in at most eight characters; a dash where there is none.

    >>> compared_number(None), compared_number(12_345_678), compared_number(0.93378)
    ('–', '1.23e+07', '0.9338')
    """
    if value is None:
        return "–"
    if isinstance(value, int) and value >= 1_000_000:
        return f"{value:.2e}"
    return number(value)


def against(models: Collection[str]) -> str:
    """Name the adversaries of a pass unless all the usual ones were asked: another may see more.

    >>> against(["naive-bayes", "frequency"]), against(["naive-bayes", "frequency", "tree", "knn"])
    (', against naive-bayes and frequency alone', '')
    """
    *others, last = [plain.name(one) for one in models] or [""]
    if not last or set(models) >= USUAL_ADVERSARIES:
        return ""
    return f", against {', '.join(others)}{' and ' if others else ''}{last} alone"


def setting_note(point: Mapping[str, Any]) -> str:
    """Say of another setting why it has no numbers, or which adversaries alone were asked.

    >>> setting_note({"reason": None, "models": ["frequency"]})
    'against frequency alone'
    """
    return point.get("reason") or against(point.get("models", ())).removeprefix(", ")


def encoded(models: Collection[str]) -> str:
    """Name the encoding of adversaries that learn and were given none of their own.

    A pass depends on it: the same tree may see more of columns that are encoded otherwise.

    >>> encoded(["frequency", "tree"]), encoded(["frequency", "tree:encoding=Scaling-Hot"])
    (', cells read as covering a value or not (encoding TF-TF)', '')
    """
    usual = any(one != "frequency" and ":encoding=" not in one for one in models)
    return f", cells read as {USUAL_READING} (encoding {USUAL_ENCODING})" if usual else ""


def overshoot(rule: Rule, limit: float, value: float) -> float:
    """Tell how many times a number is what its limit allows; what is no number is the worst.

    >>> overshoot("at most", 0.4, 2), overshoot("at least", 5, 2), overshoot("at most", 0, 0)
    (5.0, 2.5, 1.0)
    """
    high, low = (value, limit) if rule == "at most" else (limit, value)
    if high == low:
        return 1.0
    return high / low if low and not math.isnan(high / low) else math.inf


def deciding(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return, for each limit on a number, the one finding that decides about it.

    What several adversaries found of an attribute has one limit, and the worst of it counts: what
    exceeds it most, else what is not known, else what comes nearest; the strongest adversary
    stands for an equal one.
    """
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for one in findings:
        if one.get("limit"):
            about = one.get("about")
            key = (one["metric"], about) if about is not None else one["id"]
            found.setdefault(key, []).append(one)
    return [min(own, key=_gravity) for own in found.values()]


def gravest(findings: Iterable[Finding]) -> list[Finding]:
    """Return what decides that a limit is exceeded, one finding for each, the gravest first."""
    found = {one.id: one for one in findings if one.exceeded}
    told = deciding(one.to_dict() for one in found.values())
    return [found[str(one["id"])] for one in sorted(told, key=_gravity)]


def _gravity(finding: Mapping[str, Any]) -> tuple[int, float, bool]:
    limit = finding["limit"]
    known = finding["status"] == "measured"
    beyond = 0.0
    if known:
        rule, ends = limit["rule"], finding.get("interval") or [finding["value"]]
        value = float(min(ends) if rule == "at least" else max(ends))
        beyond = overshoot(rule, float(limit["value"]), value)
    rank = 0 if finding.get("exceeded") else 1 if not known else 2
    rank += 1 if known and finding.get("exceeded") is False else 0
    return rank, -beyond, not str(finding["id"]).endswith(":strongest")


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
    return ("limit kept", "good", 2)


class Glance(NamedTuple):
    """How one question stands, in a line."""

    question: str
    title: str
    look: str
    says: str


def glance(findings: Iterable[Mapping[str, Any]]) -> list[Glance]:
    """Return a line for each question that has findings."""
    listed, lines = list(findings), []
    for name, question in QUESTIONS.items():
        own = [one for one in listed if one["question"] == name != "table"]
        if not own:
            continue
        # One limit on the numbers of several adversaries is one limit.
        told = [*deciding(own), *(one for one in own if not one.get("limit"))]
        looks = sorted(map(badge, told), key=lambda look: (look[2], look[0]))
        counts = Counter(word for word, _, _ in looks if word != "no limit")
        says = [
            f"{count} {word.replace('limit', 'limits') if count > 1 else word}"
            for word, count in counts.items()
        ]
        if known := sum(one["status"] == "measured" for one in own):
            says.append(f"{known} measured")
        lines.append(Glance(name, question.title, looks[0][1], ", ".join(says)))
    return lines


def flat(plan: Any, at: str = "", digits: int | None = None) -> list[tuple[str, str]]:
    """Write nested parameters as lines of name and value; what was measured with so many digits.

    >>> flat({"data": {"quasi": ["age", "sex"], "joint": False}, "limits": {}})
    [('data.quasi', 'age, sex'), ('data.joint', 'no'), ('limits', 'none')]
    """
    if isinstance(plan, Mapping) and plan:
        return [
            line
            for key, inner in plan.items()
            for line in flat(inner, f"{at}.{plain.name(str(key))}".removeprefix("."), digits)
        ]
    return [(at, _value(plan, digits))]


def _value(value: Any, digits: int | None) -> str:
    if value is None:
        return "not set"
    if isinstance(value, str):
        return plain.message(value) if value else "(empty text)"
    if isinstance(value, bool):
        return number(value)
    if isinstance(value, int | float):
        exact = str(value).removesuffix(".0")
        return number(value, digits) if digits and "." in exact else exact
    if isinstance(value, Sequence):
        told = (plain.name(x) if isinstance(x, str) and x else _value(x, digits) for x in value)
        return ", ".join(told) if value else "none"
    return "none" if not value else plain.message(str(value))

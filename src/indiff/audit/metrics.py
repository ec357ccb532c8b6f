"""The numbers an audit can find: what each means, does not prove, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from indiff.report.finding import Finding, Question, Rule

ITPR = "ITPR paper (Information Theoretic-based Privacy Risk Evaluation, 2019)"
DIT = "DIT v2 (Differential Inference Testing, 2019)"
_COLUMNS_ALONE = (
    "It speaks of an attacker who knows exactly these columns. One who knows more columns, or "
    "holds a second release of the same people, may do better."
)
_NOT_PRIVATE = (
    "It does not tell what is learned from a person's own record from what the crowd gives away, "
    "and it assumes an attacker who knows these columns and nothing else."
)

# What a metric says of each of its findings.
_SHARED = ("question", "title", "does_not_prove", "source", "inference", "range", "better")
_LARGEST_WHOLE = 1e15  # beyond it digits say nothing


@dataclass(frozen=True)
class Metric:
    """One kind of number. ``means`` is a template of two sentences; ``{value}`` is the number."""

    name: str
    title: str
    question: Question
    better: Literal["low", "high"] | None
    range: tuple[float, float | None] | None
    means: str
    does_not_prove: str
    source: str
    inference: Literal["private", "public"] | None = None

    @property
    def rule(self) -> Rule:
        """Whether a limit is a largest or a smallest value."""
        return "at least" if self.better == "high" else "at most"

    def found(
        self, id: str, value: float, words: Mapping[str, Any] | None = None, **more: Any
    ) -> Finding:
        """Return the finding of a measured value; ``words`` fill the template."""
        means = self.means.format(value=number(value), percent=percent(value), **(words or {}))
        return self._finding(id, status="measured", value=float(value), means=means, **more)

    def missed(
        self, id: str, status: Literal["failed", "skipped"], reason: str, **more: Any
    ) -> Finding:
        """Return the finding of a number that could not be measured."""
        means = f"{self.title} was not measured. Nothing follows from that, least of all safety."
        return self._finding(id, status=status, reason=reason, means=means, **more)

    def _finding(self, id: str, **more: Any) -> Finding:
        shared = {name: getattr(self, name) for name in _SHARED}
        return Finding(**{"id": id, "metric": self.name, **shared, **more})


def number(value: float) -> str:
    """Write a number for a sentence.

    >>> number(5.0), number(0.93378), number(float("inf")), number(12345), number(1e30)
    ('5', '0.934', 'infinite', '12,345', '1e+30')
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "infinite"
    whole = float(value).is_integer() and abs(value) < _LARGEST_WHOLE
    return f"{int(value):,}" if whole else f"{value:.3g}"


def percent(value: float) -> str:
    """Write a share for a sentence; 0% and 100% only where it is exactly that.

    >>> percent(0.99999), percent(1.0), percent(0.0312), percent(0.00001), percent(0)
    ('99.9%', '100%', '3.1%', '0.1%', '0%')
    """
    if not math.isfinite(value):
        return number(value)
    if value in (0, 1):
        return f"{100 * value:g}%"
    return f"{min(max(round(100 * value, 1), 0.1), 99.9):g}%"


_ALL = (
    Metric(
        "records", "Records in the table", "table", None, (0, None),
        "The audit is about {value} records. {dropped} left out when the table was read.",
        "It does not say how large the population is from which these people come.",
        "counted in the table",
    ),
    Metric(
        "missing", "Missing cells", "table", None, (0, 1),
        "{percent} of the cells in quasi-identifiers and sensitive columns have no value. A "
        "missing value counts as a value of its own.",
        "It does not say why values are missing; that somebody has none can itself tell something.",
        "counted in the table",
    ),
    Metric(
        "k", "Smallest group (k)", "singling-out", "high", (1, None),
        "Every record shares its released quasi-identifiers with a group of at least {value} "
        "records, itself included. Whoever knows these columns of a person cannot narrow the "
        "search down any further.",
        "k-anonymity does not protect the sensitive value: a group may hold only one. "
        + _COLUMNS_ALONE,
        "Samarati and Sweeney 1998; DIT v2, Section 4.1",
    ),
    Metric(
        "singled_out", "Records alone in their group", "singling-out", "low", (0, None),
        "{value} records are the only ones with their quasi-identifiers. Whoever knows these "
        "columns of such a person finds exactly one record.",
        "A record in a group of two is not counted and is hardly safer. " + _COLUMNS_ALONE,
        "El Emam 2013, Chapter 16; WP29 opinion 05/2014, singling out",
    ),
    Metric(
        "reidentification.itpr", "Re-identification, worst group (ITPR)", "singling-out", "low",
        (0, 1),
        "In the most telling group, the columns remove up to {percent} of the uncertainty about "
        "whose record it is. 100% means that at least one record is alone.",
        "It is about the worst group only, so it says nothing about how many are affected. "
        + _COLUMNS_ALONE,
        f"{ITPR}, Definition 4.2 and Eq. 10, with the weight p(y) that its tables use",
    ),
    Metric(
        "reidentification.dr", "Re-identification, average (DR)", "singling-out", "low", (0, 1),
        "On average the columns remove {percent} of the uncertainty about whose record it is. "
        "0% means that all records look alike.",
        "An average hides the few who stand out: look at the smallest group too. "
        + _COLUMNS_ALONE,
        f"{ITPR}, Eq. 5",
    ),
    Metric(
        "prosecutor", "Largest chance of a correct link", "linkability", "low", (0, 1),
        "An attacker who knows that a person is in the table picks the right record with a "
        "probability of up to {value}. It is one over the size of the smallest group.",
        "It is a chance within a group; columns outside the quasi-identifiers may decide between "
        "its members. " + _COLUMNS_ALONE,
        "El Emam 2013, Chapter 16 (prosecutor risk)",
    ),
    Metric(
        "marketer", "Share of records linked correctly", "linkability", "low", (0, 1),
        "An attacker who links every record to a list of all people in the table is right for "
        "{percent} of them on average. Equal quasi-identifiers leave him guessing.",
        "An average hides the few who are linked for sure. " + _COLUMNS_ALONE,
        "El Emam 2013, Chapter 16 (marketer risk)",
    ),
    Metric(
        "advantage", "Membership inference (advantage)", "linkability", "low", (0, 1),
        "One threshold on the adversary's belief tells people in the table from people outside "
        "with an advantage of {value} over guessing (0 is guessing, 1 is certainty). It links a "
        "known person to the release.",
        "It describes the tested records together and does not bound what is learned about one "
        "of them. With a deterministic sanitizer, whoever holds both releases tells every record "
        "that makes a difference.",
        f"{DIT}, Section 2.1; the advantage of Yeom et al. 2018",
        "private",
    ),
    Metric(
        "one_candidate", "Records that exactly one released row fits best", "linkability", "low",
        (0, None),
        "{value} records have one released row that covers them more specifically than any other; "
        "{none} fit none. Whoever looks such a person up in the release finds a single row.",
        "One candidate is no re-identification: in a perturbed or synthetic release it may be "
        "somebody else's row, or nobody's. Many candidates are no protection if they all hold "
        "the same value.",
        "WP29 opinion 05/2014, linkability; by coverage of all quasi-identifiers, the most "
        "specific candidates alone",
    ),
    Metric(
        "inference.itpr", "Inference of {about}, worst group (ITPR)", "inference", "low", (0, 1),
        "In the most telling group, the columns remove up to {percent} of the uncertainty about "
        "{about}. 100% means that some group holds one value only.",
        _NOT_PRIVATE,
        f"{ITPR}, Definition 4.2 and Eq. 10, with the weight p(y) that its tables use",
    ),
    Metric(
        "inference.dr", "Inference of {about}, average (DR)", "inference", "low", (0, 1),
        "On average the columns remove {percent} of the uncertainty about {about}. 0% means that "
        "they tell nothing about it.",
        "An average hides single exposed groups. " + _NOT_PRIVATE,
        f"{ITPR}, Eq. 5",
    ),
    Metric(
        "l", "Diversity of {about} (1/ℓ-frequency)", "inference", "high", (1, None),
        "No value of {about} holds more than one in {value} of any group. Whoever knows a "
        "person's group guesses the value correctly with at most that chance.",
        "An adversary who learns from all groups together can do better than guessing within one. "
        + _NOT_PRIVATE,
        "Machanavajjhala et al. 2007; DIT v2, Section 4.1",
    ),
    Metric(
        "distinct_l", "Fewest values of {about} in a group", "inference", "high", (1, None),
        "Every group holds at least {value} different values of {about}. 1 means that some group "
        "gives its value away.",
        "One of the values may be far more frequent than the others. " + _NOT_PRIVATE,
        "Machanavajjhala et al. 2007 (distinct ℓ-diversity)",
    ),
    Metric(
        "entropy_l", "Entropy diversity of {about}", "inference", "high", (1, None),
        "The least diverse group is as uncertain about {about} as {value} equally frequent values "
        "would be. 1 means that it holds one value only.",
        _NOT_PRIVATE,
        "Machanavajjhala et al. 2007 (entropy ℓ-diversity)",
    ),
    Metric(
        "alpha", "Largest share of one value of {about} in a group", "inference", "low", (0, 1),
        "In some group a single value of {about} is held by {percent} of the records. Whoever "
        "knows that a person is in that group is right with that chance.",
        _NOT_PRIVATE,
        "Wong et al. 2006 ((α, k)-anonymity)",
    ),
    Metric(
        "t", "Distance of a group's {about} from the table's (t)", "inference", "low", (0, 1),
        "The group that differs most from the whole table in {about} is {value} away from it, "
        "between 0 (alike) and 1, {ground}. The nearer to 0, the less a group tells.",
        "A small t bounds what a group tells, not what a record adds to it. " + _NOT_PRIVATE,
        "Li, Li and Venkatasubramanian 2007 (t-closeness, earth mover's distance)",
    ),
    Metric(
        "beta", "Largest gain of a value of {about} in a group (β)", "inference", "low", (0, None),
        "In some group a value of {about} is {value} times more frequent than in the table, "
        "beyond its usual share. Rare values weigh most.",
        _NOT_PRIVATE,
        "Cao and Karras 2012 (basic β-likeness)",
    ),
    Metric(
        "delta_disclosure", "δ-disclosure of {about}", "inference", "low", (0, None),
        "The logarithm of a value's share in a group over its share in the table is up to {value} "
        "in size. Infinite means that some group lacks some value.",
        _NOT_PRIVATE,
        "Brickell and Shmatikov 2008",
    ),
    Metric(
        "delta", "Differential test of {about}: δ by {model}", "inference", "low", (0, None),
        "One person's record moves what this adversary believes about that person's {about} by up "
        "to {value} (at most {largest}). It is what the release tells about a person that it "
        "could not tell without that record.",
        "A small δ is about this adversary, this sanitizer, this table and this attribute. It "
        "does not bound a stronger adversary or one who compares several releases, and it is no "
        "proof of differential privacy.",
        f"{DIT}, Definition 1 and Section 3.2",
        "private",
    ),
    Metric(
        "mean", "Differential test of {about}: mean by {model}", "inference", "low", (0, None),
        "On average a person's record moves what this adversary believes about that person's "
        "{about} by {value}. Compare it with δ: a small mean and a large δ mean few exposed "
        "people.",
        "An average hides exposed people, so it is never enough on its own.",
        f"{DIT}, Section 3.2; average-case differentiation of the DIT draft, Definition 1",
        "private",
    ),
    Metric(
        "quantile", "Differential test of {about}: 99% of records by {model}", "inference", "low",
        (0, None),
        "For 99% of the records, the record moves the adversary's belief about that person's "
        "{about} by at most {value}. The others are exposed more than that.",
        "It says nothing about the remaining records, up to 1%, who are the most exposed.",
        f"{DIT}, Figure 2 (the distribution of d)",
        "private",
    ),
    Metric(
        "changed_predictions", "Predictions of {about} changed by one record (%), {model}",
        "inference", "low", (0, 100),
        "For {value}% of the records, the adversary would name another {about} if that record "
        "were not in the table. The prediction was owed to the person's own record.",
        "A prediction that stays the same may still have become far more certain. Where chance "
        "decides, it is the mean probability of a change, with the same chance on both sides.",
        "DIT v1 (2018), Section 3.4.1",
        "private",
    ),
    Metric(
        "told_by_the_crowd", "What the crowd tells about {about}, {model}", "inference", None,
        (0, 1),
        "Without a person's own record, this adversary names the right {about} for {percent} of "
        "the people; always naming the most frequent one is right for {baseline}. The gain is "
        "what the release teaches about the population, and no leak about one person.",
        "Public inference is not harmless: it can be used against whole groups. It is measured on "
        "the people in the table, not on a new sample.",
        f"{DIT}, Section 1 (private against public inference)",
        "public",
    ),
    Metric(
        "ncp", "Information lost (normalised certainty penalty)", "utility", "low", (0, 1),
        "On average a released cell stands for {percent} of its column's range or values. 0% is "
        "the original, 100% a table in which everything is suppressed.",
        "It does not say whether the release is good enough for a purpose; only the purpose can.",
        "Xu et al. 2006 (normalised certainty penalty)",
    ),
    Metric(
        "discernibility", "Discernibility", "utility", "low", (0, None),
        "The squares of the group sizes, with the whole table's size for each suppressed record, "
        "add up to {value}. Fewer means that records stay easier to tell apart.",
        "It counts sizes alone and ignores how wide the regions are.",
        "Bayardo and Agrawal 2005",
    ),
    Metric(
        "average_group", "Average group size", "utility", "low", (1, None),
        "On average {value} records share their released quasi-identifiers. Smaller groups keep "
        "more detail, and protect less.",
        "An average hides very large groups, in which all detail is lost.",
        "LeFevre et al. 2006",
    ),
    Metric(
        "accuracy", "Accuracy that an analyst keeps on {task}", "utility", "high", (0, 1),
        "An analyst who trains on the release predicts {task} correctly for {percent} of held-out "
        "records. Trained on the original it is {original}, and always naming the most frequent "
        "value {majority}.",
        "It is one task with one model; another task may suffer more.",
        "train on the release, predict held-out records: LeFevre et al. 2006, Section 5",
    ),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def metric(name: str, **words: Any) -> Metric:
    """Return a metric with the blanks of its title filled.

    >>> metric("t", about="income").title
    "Distance of a group's income from the table's (t)"
    """
    return replace(METRICS[name], title=METRICS[name].title.format(**words))

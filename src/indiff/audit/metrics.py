"""The numbers an audit can find, put into words: what each means, and what it does not prove."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from indiff.report.finding import Finding, Question, Rule

# What a metric says of each of its findings.
_SHARED = ("question", "title", "does_not_prove", "source", "inference", "range", "better")
_LARGEST_WHOLE = 1e15  # beyond it digits say nothing
_LARGEST_LOGARITHM = 700  # beyond it there is no number
_SMALLEST_SHARE = 0.001
_UNSURE = ("estimate", "approximation")  # such a 0 or 1 need not be one


# Of whom a test speaks, and how, where it is exact and about everybody.
EVERYBODY = {
    "one_person": "One person", "no_person": "No person", "a_person": "a person",
    "some_person": "some person", "tested": "people", "by": "by ", "by_mean": "by ",
    "by_mean_share": "", "of_most": "", "rest_of_them": "", "rest_of_none": "",
}  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """One kind of number.

    ``means`` is a template of a sentence or two, ``at`` has others for the numbers that need words
    of their own, such as 0, 1 and ∞. Both may use ``{value}``, ``{percent}``, ``{records}``,
    ``{people}`` and what :func:`words_for` has, beside the words that the finding brings along.
    """

    name: str
    title: str
    question: Question
    range: tuple[float, float | None]
    means: str
    does_not_prove: str
    source: str
    better: Literal["low", "high"] | None = None
    inference: Literal["private", "public"] | None = None
    at: Mapping[float, str] = field(default_factory=dict)
    model: bool = False
    """Whether it is a model's expectation, so that a limit is on that and not on an interval."""

    @property
    def rule(self) -> Rule:
        """Whether a limit is a largest or a smallest value."""
        return "at least" if self.better == "high" else "at most"

    def found(
        self, id: str, value: float, words: Mapping[str, Any] | None = None, **more: Any
    ) -> Finding:
        """Return the finding of a measured value; ``words`` fill the template."""
        sure = more.get("exactness") not in _UNSURE or math.isinf(value)
        template = self.at.get(float(value), self.means) if sure else self.means
        means = template.format(**(EVERYBODY | words_for(value) | dict(words or {})))
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


class _Metrics(Mapping[str, Metric]):
    """The metrics by name, read from their table when one is first asked for."""

    @cached_property
    def _read(self) -> dict[str, Metric]:
        import tomllib  # --help needs none of it

        text = Path(__file__).with_name("metrics.toml").read_text(encoding="utf-8")
        found = {}
        for name, row in tomllib.loads(text).items():
            least, *most = row["range"]  # of one number: there is no largest
            row["range"] = (least, most[0] if most else None)
            row["at"] = {float(value): words for value, words in row.get("at", {}).items()}
            found[name] = Metric(name, **row)
        return found

    def __getitem__(self, name: str) -> Metric:
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


METRICS = _Metrics()


def metric(name: str, **words: Any) -> Metric:
    """Return a metric with the blanks of its title filled.

    >>> metric("t", about="income").title
    "Distance of a group's income from the table's (t)"
    """
    return replace(METRICS[name], title=METRICS[name].title.format(**words))


def guessed(names: Sequence[str]) -> str:
    """Say which numbers a kept limit proves nothing about: guesses at the population.

    >>> guessed(["population.expected"])
    "; population.expected is a model's estimate, which may be too favourable: no proof"
    """
    if not names:
        return ""
    which = f"{names[0]} and {len(names) - 1} more are models' estimates"
    which = which if len(names) > 1 else f"{names[0]} is a model's estimate"
    return f"; {which}, which may be too favourable: no proof"


def words_for(value: float) -> dict[str, str]:
    """Return the number at hand in the ways in which a sentence may need it.

    >>> words = words_for(4)
    >>> words["people"], words["times"], words["share"], words["percent"]
    ('4 people', '5 times', '25%', '400%')
    """
    known = not math.isnan(value)
    return {
        "value": number(value),
        "percent": percent(value),
        "rest": percent(1 - value),
        "records": counted(value, "record"),
        "people": counted(value, "person", "people"),
        "times": _times(1 + value),
        "ratio": _times(math.exp(value) if known and value < _LARGEST_LOGARITHM else value),
        "share": f"{100 / value:.4g}%" if known and value > 0 else "100%",
        "one_in": f"one in {number(round(1 / value, 3))}" if known and value > 0 else "0",
    }


def _times(ratio: float) -> str:
    """Write a ratio; one that is not 1 does not look like it."""
    shown = number(ratio)
    return f"{shown if shown != '1' or ratio == 1 else repr(ratio)} times"


def counted(count: float, one: str, many: str | None = None) -> str:
    """Write how many there are.

    >>> counted(0, "record"), counted(1, "record"), counted(5000, "person", "people")
    ('no records', '1 record', '5,000 people')
    """
    several = many or f"{one}s"
    return f"no {several}" if count == 0 else f"{number(count)} {one if count == 1 else several}"


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
    ('more than 99.9%', '100%', '3.1%', 'less than 0.1%', '0%')
    """
    if not math.isfinite(value):
        return number(value)
    if 0 < value < _SMALLEST_SHARE:
        return "less than 0.1%"
    if 1 - _SMALLEST_SHARE < value < 1:
        return "more than 99.9%"
    return f"{round(100 * value, 1):g}%"

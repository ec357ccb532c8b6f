"""Guesses from size and settings how long runs take; earlier runs on this machine set the scale.

A guess costs nothing. It is a range, from what a fast machine needs to what a slow one does, and
narrower once runs have ended here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from statistics import median
from typing import Any

from indiff.text import duration
from indiff.web.store.rows import Row
from indiff.web.store.store import Store

# Seconds on a fast and on a slow machine.
START = (2.0, 12.0)  # a process, its libraries, the report
RECORD = (3e-5, 1e-3)  # of the table: read, sanitized, counted and walked through
RELEARN = (3e-8, 2e-6)  # one record asked, for each that a model learns from again
GROW = (1e-10, 2e-9)  # the same of a tree that the walk over Mondrian's groups grows
FIT = 1e-3  # of any model but those that are counted or grown in compiled code
CALL = 0.01  # of a program: how long it takes, only a trial or an earlier run can tell
COUNTING = ("naive-bayes", "frequency")  # adversaries that need not learn again
LEARNERS = {"tree": 1.0, "knn": 1.0}
SLOW = 200.0  # times as long, of the other models
MOST_FOR_TREE = 100_000  # records up to which a tree is asked unless adversaries are named
CALIBRATING = 10  # earlier runs
SPREAD = 2.0  # either way, around what earlier runs or a trial tell


@dataclass(frozen=True)
class Guess:
    """How long something takes, in seconds; nobody knows ``high`` of a program never run."""

    low: float
    high: float | None

    @property
    def middle(self) -> float:
        """A single number, for programs."""
        return self.low if self.high is None else sqrt(self.low * self.high)

    def words(self) -> str:
        """Say it.

        >>> Guess(4, 30).words(), Guess(8.2, None).words(), Guess(40, 3700).words()
        ('between 4 s and 30 s', 'at least 8 s', 'between 40 s and 1 h 1 min')
        """
        low = duration(rounded(self.low))
        if self.high is None:
            return f"at least {low}"
        return f"between {low} and {duration(rounded(self.high))}"


def rounded(seconds: float) -> float:
    """Round to what can be meant.

    >>> rounded(0.3), rounded(8.4), rounded(47), rounded(3700)
    (1, 8, 45, 3700)
    """
    if seconds < 10:
        return max(1, round(seconds))
    return round(seconds / 5) * 5 if seconds < 120 else seconds


def around(seconds: float) -> Guess:
    """Return what a measured time leaves open."""
    return Guess(seconds / SPREAD, seconds * SPREAD)


def guess(plan: Mapping[str, Any], records: int) -> Guess:
    """Guess how long a plan takes on so many records.

    >>> plan = {"data": {"sensitive": ["ill"]}, "release": {"sanitizer": "mondrian:k=5"},
    ...         "adversary": {"models": ["naive-bayes"]}}
    >>> guess(plan, 1000).high < guess(plan, 1_000_000).low < 100
    True
    """
    release, adversary = plan["release"], plan["adversary"]
    made = "" if release.get("file") else str(release.get("sanitizer", "")).partition(":")[0]
    asked = adversary.get("targets")
    targets = len(asked) if isinstance(asked, list) else min(asked or records, records)
    targets = targets * len(plan["data"]["sensitive"]) + plan.get("report", {}).get("worst", 0)
    named = list(adversary["models"])
    if "auto" in named:
        tree = ["tree"] * (made == "mondrian" and records <= MOST_FOR_TREE)
        named = [*(one for one in named if one != "auto"), *COUNTING, *tree]
    low, high = (start + each * records for start, each in zip(START, RECORD, strict=True))
    is_program = made.startswith(("command", "shell", "http"))
    for name in named:
        if is_program:
            low += CALL * targets
        elif name not in COUNTING:
            times = targets * records
            each = GROW if name == "tree" and made == "mondrian" else RELEARN
            low += each[0] * times + (0.0 if name == "tree" else FIT * targets)
            high += each[1] * times * LEARNERS.get(name, SLOW)
        elif made not in (
            "mondrian",
            "recoding",
            "identity",
            "suppress",
            "",
        ):  # noise: perhaps many releases
            high += RECORD[1] * records * adversary.get("runs", 100)
    return Guess(low, None if is_program else high)


def guess_all(store: Store, dataset: Row, plans: Sequence[Mapping[str, Any]]) -> Guess:
    """Guess how long plans on one table take together, in the light of earlier runs here."""
    records = dataset["profile"]["records"]
    found = [guess(plan, records) for plan in plans]
    places = min(len(plans), store.settings.workers)
    low = sum(one.low for one in found) / places
    highs = [one.high for one in found if one.high is not None]
    high = sum(highs) / places if len(highs) == len(found) else None
    ratios = _ratios(store)
    if ratios:
        seen = around(median(ratios) * Guess(low, high).middle)
        low, high = max(low, seen.low), None if high is None else min(high, seen.high or high)
        if high is not None and high < low:
            low, high = seen.low, seen.high
    return Guess(low, high)


def _ratios(store: Store) -> list[float]:
    """Return how much longer than guessed the last runs took."""
    records = {row["id"]: row["profile"]["records"] for row in store.datasets() if row["profile"]}
    ended = [
        job for job in store.jobs(kind="run") if job["state"] == "done" and job["attempt"] == 1
    ]
    found = []
    for job in ended[:CALIBRATING]:
        known = guess(job["task"]["plan"], records[job["dataset"]])
        if known.high is not None and "fix" not in job["task"]:
            began, end = (datetime.fromisoformat(job[name]) for name in ("started", "ended"))
            found.append((end - began).total_seconds() / known.middle)
    return found


def answer(found: Guess, runs: int, records: int) -> dict[str, Any]:
    """Return an estimate as the store keeps it."""
    sentence = f"{found.words()} for {runs} run{'s' * (runs > 1)} on {records:,} records"
    ends = {"low": round(found.low, 1), "high": found.high and round(found.high, 1)}
    return {"seconds": round(found.middle, 1), **ends, "sentence": sentence}

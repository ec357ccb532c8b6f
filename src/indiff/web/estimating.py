"""How long a run will take: a trial on a few records, scaled up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indiff.audit.plan import Plan
    from indiff.table import Table
    from indiff.web.store import Store

TRIAL_RECORDS = 5_000  # of a method that walks the whole table at once
TRIAL_TARGETS = 3  # of a method that learns again for each record
TRIAL_RUNS = 5
AROUND = 1.5  # the most exposed records and repeated tests, as a share of the test
# Measured: a worker's start and the report; risk and utility of a record, the same for membership.
START = 1.0
RECORD = 2e-5


def estimate(
    store: Store, job: dict[str, Any], report: Callable[..., None]
) -> tuple[dict[str, Any], None]:
    """Try each plan on a few records; return seconds and a sentence."""
    from indiff.audit.plan import Plan

    seconds = 0.0
    records = 0
    made = job["task"]["plans"]
    for place, one in enumerate(made):
        report(step="trying a few records", done=place, total=len(made))
        spent, records = _seconds(Plan(**one))
        seconds += spent
    places = min(len(made), store.settings.workers)
    seconds = max(1.0, seconds / places)
    sentence = (
        f"{plainly(seconds)} for {len(made)} run{'s' * (len(made) > 1)} on {records:,} records"
    )
    return {"seconds": round(seconds, 1), "sentence": sentence}, None


def _seconds(plan: Plan) -> tuple[float, int]:
    from indiff.audit.running import read_data

    begin = time.perf_counter()
    table = read_data(plan)
    reading = time.perf_counter() - begin
    parts = len(table.sensitives) * (2 if plan.adversary.membership else 1)
    around = START + RECORD * len(table) * parts
    if plan.release.file is not None:  # it is read once, and nothing is made again
        return around + 4 * reading, len(table)
    tests = sum(
        _test_seconds(table.focus(sensitive.name), plan, model)
        for sensitive in table.sensitives
        for model in plan.adversary.models
    )
    return around + 2 * reading + AROUND * tests, len(table)


def _test_seconds(table: Table, plan: Plan, name: str) -> float:
    import numpy as np

    from indiff.differential import differential_test
    from indiff.differential.choosing import by_method, choose_model
    from indiff.differential.testing import describe
    from indiff.distances import DISTANCES, emd
    from indiff.sanitizers.parse import as_sanitizer

    sanitizer = as_sanitizer(plan.release.sanitizer)
    model = choose_model(None if name == "auto" else name, sanitizer)
    distance = plan.adversary.distance
    named = [(distance, DISTANCES.get(distance, emd))]
    names = (describe(sanitizer), describe(model))
    (method,) = by_method(sanitizer, model, named, plan.adversary.method, names)
    asked = plan.adversary.targets
    targets = asked if isinstance(asked, int) else len(asked) if asked else len(table)
    chosen = np.random.default_rng(0).permutation(len(table))
    options: dict[str, Any] = {
        "model": model, "distance": distance, "method": plan.adversary.method, "jobs": 1,
    }  # fmt: skip
    counted = names[1] in ("naive-bayes", "frequency") or model.__class__.__name__ in (
        "NaiveBayes",
        "Frequency",
    )
    if method == "closed-form" or (method == "leave-one-out" and counted):
        sample = table.take(np.sort(chosen[:TRIAL_RECORDS]))
        begin = time.perf_counter()
        differential_test(sample, sanitizer, **options)
        return (time.perf_counter() - begin) * len(table) / len(sample)
    few = table.records[chosen[:TRIAL_TARGETS]].tolist()
    runs = min(TRIAL_RUNS, plan.adversary.runs) if method == "sampled" else plan.adversary.runs
    begin = time.perf_counter()
    differential_test(table, sanitizer, targets=few, runs=runs, **options)
    spent = time.perf_counter() - begin
    more_runs = plan.adversary.runs / runs if method == "sampled" else 1.0
    return spent * more_runs * targets / len(few)


def plainly(seconds: float) -> str:
    """Write a time as a person says it.

    >>> plainly(3), plainly(130), plainly(9000)
    ('a few seconds', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3600:.1f} hours"

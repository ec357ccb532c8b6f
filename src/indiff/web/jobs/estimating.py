"""Estimates how long a run will take: runs it on a few records here, and scales that up.

A trial does all that a run does, its report included, so that no figure of another machine is
needed. Where each record is asked on its own, a few are, and their time is counted for all. It may
take a tenth of the run: where that is too short for a trial, or over, a guess stands instead.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff.web.jobs.guessing import answer, around, guess, guess_all

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table
    from indiff.web.store.store import Store

FIRST_RECORDS = 200  # of the trial that loads and compiles what the others need
SMALL_RECORDS = 1_000
LARGE_RECORDS = 10_000  # of a method that walks the whole table at once
LARGE_ASKED = 4_000  # of a method that learns again for each record
TRIAL_RUNS = 5
LONG_ENOUGH = 0.3  # seconds that a few records take, from which that of all can be told
PROCESS = 0.3  # seconds until a worker begins
LEAST_BUDGET = 5.0  # seconds that a trial needs in order to tell anything
MOST_START = 8.0  # kernels that were compiled in a trial are there when the run begins

clock = time.perf_counter  # not the processor's: a command takes its time elsewhere


def budget_of(plans: Sequence[Mapping[str, Any]], records: int, places: int) -> float:
    """Return how long a trial may take: a tenth of what the runs take on a fast machine."""
    return sum(guess(plan, records).low for plan in plans) / max(1, min(len(plans), places)) / 10


def estimate(
    store: Store, job: dict[str, Any], report: Callable[..., None]
) -> tuple[dict[str, Any], None]:
    """Try each plan on a few records, if that is short beside the runs; return a range."""
    begin, plans = clock(), job["task"]["plans"]
    dataset = store.dataset(job["dataset"])
    records, places = dataset["profile"]["records"], min(len(plans), store.settings.workers)
    found = guess_all(store, dataset, plans)
    spent = (datetime.now(UTC) - datetime.fromisoformat(job["started"])).total_seconds()
    trials = Trials(store.settings.run_folder(job["id"]) / "trial", begin)
    try:
        with _within(budget_of(plans, records, places) - spent):
            from indiff.audit.plan.plan import Plan

            seconds = 0.0
            for place, plan in enumerate(plans):
                report(step="trying a few records", done=place, total=len(plans))
                seconds += trials.seconds(Plan(**plan))
            found = around(max(1.0, seconds / places))
    except TimeUp:  # what was guessed without a trial stands
        pass
    finally:
        shutil.rmtree(trials.folder, ignore_errors=True)
    return answer(found, len(plans), records), None


class TimeUp(BaseException):  # nothing that an audit attempts may catch it
    """The time that a trial may take is over."""


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """End what is done here after some time."""

    def ring(*_: object) -> None:
        raise TimeUp

    if seconds <= 0:
        raise TimeUp
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Trials:
    """Trials of the plans of one request, which have their table and a worker's start in common."""

    folder: Path
    begin: float  # when the process had done nothing yet
    _start: float | None = None
    _table: Table | None = None
    _reading: float = 0.0  # how long the table took to read

    def table(self, plan: Plan) -> Table:
        """Return the table that the plans of a request have in common, read once."""
        from indiff.audit.run import read_data

        if self._table is None:
            begin = clock()
            self._table = read_data(plan)
            self._reading = clock() - begin
        return self._table

    def seconds(self, plan: Plan) -> float:
        """Return how long a run of a plan takes in a worker of its own."""
        table = self.table(plan)
        asked, known, files = plan.adversary.targets, True, 1
        if plan.release.file is not None:  # read as well, and as much work as no sanitizing
            known, files = plan.release.rows_in_order or plan.release.key is not None, 3
            made = {"sanitizer": "identity", "file": None, "rows_in_order": False}
            plan = _with(plan, "release", **made, suppressed=[], key=None)
        plan = _with(plan, "adversary", models=_models(plan, table))
        if self._start is None:
            self._start = PROCESS + self._loading(plan, sample(table, FIRST_RECORDS))
        targets = asked if isinstance(asked, int) else len(asked) if asked else len(table)
        share = min(1.0, targets / len(table))
        quick = known and all(_method(plan, name)[1] for name in plan.adversary.models)
        whole = LARGE_RECORDS if quick else LARGE_ASKED
        samples = [sample(table, n) for n in sizes(len(table), whole)]
        counts = [max(1, round(share * len(one))) if quick else 1 for one in samples]
        around = [self._run(plan, one, n) for one, n in zip(samples, counts, strict=True)]
        tried = [len(one) for one in samples]
        spent = self._start + files * self._reading + at(len(table), tried, around)
        if quick or not known:
            return spent
        each = [_each(plan, one) for one in samples]
        more = targets - 1 + plan.report.worst
        return spent + more * at(len(table), tried, each)

    def _loading(self, plan: Plan, few: Table) -> float:
        """Return what a run takes more in a fresh process, which this one still is, than here."""
        self._run(plan, few, 1)
        cold = clock() - self.begin - self._reading
        return min(max(0.0, cold - self._run(plan, few, 1)), MOST_START)

    def _run(self, plan: Plan, few: Table, targets: int) -> float:
        """Return how long a run on a few records takes, with all that it writes."""
        from indiff.audit.run import run_audit
        from indiff.web.jobs.audit import write_results

        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True)
        less = _with(plan, "adversary", targets=targets, runs=min(TRIAL_RUNS, plan.adversary.runs))
        begin = clock()
        write_results(run_audit(less, few), self.folder)
        return clock() - begin


def _each(plan: Plan, few: Table) -> float:
    """Return how long one more record of a table takes, of all adversaries and attributes."""
    from indiff.differential import differential_test

    asked = plan.adversary
    runs = min(TRIAL_RUNS, asked.runs)
    options: dict[str, Any] = {
        "distance": asked.distance, "method": asked.method, "runs": runs, "jobs": 1,
    }  # fmt: skip

    def spent(table: Table, name: str, targets: int) -> float:
        begin = clock()
        differential_test(table, plan.release.sanitizer, model=name, targets=targets, **options)
        return clock() - begin

    total = 0.0
    for sensitive in few.sensitives:
        for name in asked.models:
            table = few.focus(sensitive.name)
            one = spent(table, name, 1)
            count = 3
            while True:
                count = min(count, len(table))
                more = max(0.0, spent(table, name, count) - one)
                if more >= LONG_ENOUGH or count == len(table):
                    break
                count *= 4
            scale = asked.runs / runs if _method(plan, name)[0] == "sampled" else 1.0
            total += scale * more / max(1, count - 1)
    return total


def _models(plan: Plan, table: Table) -> list[str]:
    """Return the adversaries of the whole table: of fewer records there may be more."""
    from indiff.audit.findings.exposure import adversaries_of
    from indiff.sanitizers.sanitizer import as_sanitizer

    first = table.focus(table.sensitives[0].name)
    return list(adversaries_of(plan, as_sanitizer(plan.release.sanitizer), first).named)


def _method(plan: Plan, name: str) -> tuple[str, bool]:
    """Return an adversary's method, and whether it goes through all records at once."""
    from indiff.differential.leave_one_out import exact_for
    from indiff.differential.strongest import choose_model
    from indiff.differential.test import choose_path
    from indiff.distances.functions import DISTANCES, emd
    from indiff.sanitizers.sanitizer import as_sanitizer

    sanitizer = as_sanitizer(plan.release.sanitizer)
    model = choose_model(name, sanitizer)
    distance = plan.adversary.distance
    named = (distance, DISTANCES.get(distance, emd))
    method = choose_path(sanitizer, model, named, plan.adversary.method).name
    exact = exact_for(sanitizer) if method == "leave-one-out" else None
    counted = exact is not None and exact.counts(model, len(plan.data.quasi or ()))
    return method, method == "closed-form" or counted


def _with(plan: Plan, section: str, **values: Any) -> Plan:
    return plan.model_copy(update={section: getattr(plan, section).model_copy(update=values)})


def sizes(records: int, largest: int) -> list[int]:
    """Return how many records the trials have: a small table is tried whole.

    >>> sizes(800, 4000), sizes(3000, 4000), sizes(100_000, 4000)
    ([800], [1000, 3000], [1000, 4000])
    """
    return [records] if records <= SMALL_RECORDS else [SMALL_RECORDS, min(records, largest)]


def sample(table: Table, records: int) -> Table:
    """Return some records of a table, always the same ones."""
    import numpy as np

    if records >= len(table):
        return table
    return table.take(np.sort(np.random.default_rng(0).permutation(len(table))[:records]))


def at(records: int, tried: Sequence[int], seconds: Sequence[float]) -> float:
    """Go on along the line through the trials; more records never take less time.

    >>> at(10_000, [1000, 2000], [0.5, 1.0]), at(800, [800], [0.4])
    (5.0, 0.4)
    """
    if len(tried) == 1:
        return seconds[0]
    slope = max(0.0, (seconds[1] - seconds[0]) / (tried[1] - tried[0]))
    return seconds[1] + slope * (records - tried[1])

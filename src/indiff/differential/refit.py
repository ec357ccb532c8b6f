"""The general path: any sanitizer, any model; re-sanitize and refit for every target."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.inference import Frequency, Model
from indiff.release import Release
from indiff.sanitizers.mondrian import Mondrian
from indiff.sanitizers.protocol import Sanitizer
from indiff.table import Table

Progress = Callable[[int, int], object]

# Below this many seconds of work left, starting other processes costs more than it saves.
WORTH_SHARING = 3.0
CHUNK_SECONDS = 0.5


@dataclass(frozen=True)
class Beliefs:
    """Beliefs about some targets (rows of the table) with and without their records."""

    rows: NDArray[np.intp]
    with_record: NDArray[np.float64]
    without: NDArray[np.float64]
    uncovered: NDArray[np.bool_]
    uncovered_without: NDArray[np.bool_]
    generalized: NDArray[np.bool_]
    constraint_met: bool
    release: Release | None = None


def refit(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    rows: NDArray[np.intp],
    *,
    jobs: int = -1,
    progress: Progress | None = None,
    source: type[Releases] | None = None,
) -> Beliefs:
    """Sanitize D and every D⁻ⁱ, fit the model to each, and collect the beliefs about i.

    Identical targets (same quasi-identifiers and sensitive value) are computed once. An
    interruption keeps what is done: the result then has fewer rows than were asked for.
    """
    release = sanitizer.sanitize(table)
    firsts, back = identical_targets(table, rows, model)
    believed = model.beliefs(release, table.take(rows))
    missed = uncovered_targets(release, table, rows)

    size = len(table.sensitive.values)
    without = np.full((len(firsts), size), np.nan)
    lost = np.zeros(len(firsts), dtype=bool)
    generalized = np.zeros(len(firsts), dtype=bool)
    known = np.zeros(len(firsts), dtype=bool)
    sharing = np.bincount(back, minlength=len(firsts))
    finished = 0
    try:
        with closing(
            _run(table, fallback(sanitizer), model, source or FromScratch, firsts, jobs)
        ) as outcomes:
            for places, outcome in outcomes:
                for place, (belief, was_lost, met) in zip(places, outcome, strict=True):
                    without[place], lost[place], generalized[place] = belief, was_lost, not met
                    known[place] = True
                    finished += int(sharing[place])
                if progress is not None:
                    progress(finished, len(rows))
    except KeyboardInterrupt:
        pass  # what is done is kept; the caller sees that rows are missing
    done = known[back]
    return Beliefs(
        rows[done],
        believed[done],
        without[back][done],
        missed[done],
        lost[back][done],
        generalized[back][done],
        release.constraint_met,
        release,
    )


def fallback(sanitizer: Sanitizer) -> Sanitizer:
    """Return the sanitizer for D⁻ⁱ, which may not meet a constraint that D meets."""
    return replace(sanitizer, unmet="generalize") if isinstance(sanitizer, Mondrian) else sanitizer


def identical_targets(
    table: Table, rows: NDArray[np.intp], model: Model
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one row for each distinct target, and for each row which of them it equals.

    A model that is ``per_record`` knows more of a target than its values: none equals another.
    """
    if getattr(model, "per_record", False):
        return rows, np.arange(len(rows), dtype=np.intp)
    keys = np.stack([*(a.codes[rows] for a in table.attributes), table.sensitive.codes[rows]])
    _, first, back = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    return rows[first], back.ravel().astype(np.intp)


def uncovered_targets(release: Release, table: Table, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell which targets no released record covers on all quasi-identifiers."""
    return ~Frequency().beliefs_and_coverage(release, table.take(rows))[1]


class Releases(Protocol):
    """Where f(D⁻ⁱ) comes from: made for a table and a sanitizer, asked row by row."""

    def __init__(self, table: Table, sanitizer: Any) -> None: ...

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        ...


class FromScratch:
    """Sanitizes every D⁻ⁱ from the beginning: right for any sanitizer."""

    def __init__(self, table: Table, sanitizer: Sanitizer) -> None:
        self.table = table
        self.sanitizer = sanitizer

    def without(self, row: int) -> Release:
        """Return f(D⁻ⁱ) for the record in this row of the table."""
        return self.sanitizer.sanitize(self.table.without(row))


def _without(
    table: Table, releases: Releases, model: Model, row: int
) -> tuple[NDArray[np.float64], bool, bool]:
    target = table.take([row])
    release = releases.without(row)
    lost = not Frequency().beliefs_and_coverage(release, target)[1][0]
    return model.beliefs(release, target)[0], lost, release.constraint_met


def _chunk(
    table: Table, sanitizer: Sanitizer, model: Model, source: type[Releases], rows: Sequence[int]
) -> list[Any]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to handle
    releases = source(table, sanitizer)
    return [_without(table, releases, model, row) for row in rows]


def _run(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    source: type[Releases],
    targets: NDArray[np.intp],
    jobs: int,
) -> Generator[tuple[range, list[Any]], None, None]:
    """Yield the outcome of each target: here at first, in other processes if it is worth it."""
    releases = source(table, sanitizer)
    start = time.perf_counter()
    for place, row in enumerate(targets):
        yield range(place, place + 1), [_without(table, releases, model, int(row))]
        seconds = (time.perf_counter() - start) / (place + 1)
        left = len(targets) - place - 1
        if jobs != 1 and seconds * left > WORTH_SHARING:
            yield from _share(table, sanitizer, model, source, targets, place + 1, seconds, jobs)
            return


def _share(
    table: Table,
    sanitizer: Sanitizer,
    model: Model,
    source: type[Releases],
    targets: NDArray[np.intp],
    begin: int,
    seconds: float,
    jobs: int,
) -> Generator[tuple[range, list[Any]], None, None]:
    import joblib

    size = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-6)), (len(targets) - begin) // 8 + 1))
    chunks = [range(s, min(s + size, len(targets))) for s in range(begin, len(targets), size)]
    outcomes = joblib.Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None)(
        joblib.delayed(_chunk)(table, sanitizer, model, source, targets[c.start : c.stop].tolist())
        for c in chunks
    )
    try:
        yield from zip(chunks, outcomes, strict=True)
    finally:
        with warnings.catch_warnings():
            # After an interruption joblib warns of the work that nobody waits for any more.
            warnings.simplefilter("ignore", UserWarning)
            outcomes.close()

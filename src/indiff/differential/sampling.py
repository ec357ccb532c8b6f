"""The sampled path: an honest bracket per record from R runs with it and R runs without it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.differential.bracket import bracket, check_runs, indistinguishable_from_noise
from indiff.differential.mean_limits import mean_limits
from indiff.differential.refit import CHUNK_SECONDS, WORTH_SHARING, Progress
from indiff.differential.runs import Floats, Pairs, RunSource
from indiff.distances import DISTANCES, LARGEST, Distance
from indiff.errors import UserError
from indiff.ground import BoundEmd

Named = tuple[str, Distance]


@dataclass(frozen=True)
class Measured:
    """One target's distance: a conservative estimate, its limits, and the distance of each run.

    ``wasserstein`` and ``coordinate-tv`` compare the laws of each coordinate. Their estimate is
    the upper end of the bracket, which in the mean is not below the true distance. The other
    distances are between two beliefs: their estimate is the mean over runs.
    """

    estimate: float
    lower: float
    upper: float
    each: Floats


@dataclass(frozen=True)
class Sampled:
    """What the runs say about one target: mean beliefs, and one measurement per distance."""

    present: Floats
    absent: Floats
    measured: tuple[Measured, ...]
    lost: bool
    generalized: bool


@dataclass(frozen=True)
class Settings:
    """What every target's measurement needs: the distances, and how sure the limits must be."""

    distances: tuple[Named, ...]
    confidence: float
    records: int


def sample(
    source: RunSource,
    settings: Settings,
    *,
    sharing: NDArray[np.int64],
    jobs: int = -1,
    progress: Progress | None = None,
) -> list[Sampled | None]:
    """Measure every distinct target; None where an interruption came first.

    ``sharing`` is how many requested records each of them stands for, for the progress.
    """
    results: list[Sampled | None] = [None] * len(source)
    finished, total = 0, int(sharing.sum())
    try:
        for places, outcomes in _run(source, settings, jobs):
            for place, outcome in zip(places, outcomes, strict=True):
                results[place] = outcome
                finished += int(sharing[place])
            if progress is not None:
                progress(finished, total)
    except KeyboardInterrupt:
        pass  # what is done is kept; the caller sees that targets are missing
    return results


def measure(pairs: Pairs, settings: Settings, *, paired: bool) -> Sampled:
    """Bracket one target's distances so that all targets' brackets hold together."""
    present, absent = check_runs(pairs.present, pairs.absent)
    error = (1 - settings.confidence) / settings.records / 2
    measured = []
    for name, function in settings.distances:
        each = np.asarray(function(present, absent), np.float64)
        if each.shape != (len(present),) or np.isnan(each).any():
            raise UserError(
                f"the distance {name!r} must return one number per run; it returned shape "
                f"{each.shape} with {int(np.isnan(each).sum())} NaN."
            )
        largest = largest_distance((name, function), present.shape[1])
        if function is DISTANCES["wasserstein"]:
            found = bracket(
                present,
                absent,
                paired=paired,
                confidence=settings.confidence,
                records=settings.records,
            )
            measured.append(Measured(found.upper_end, found.lower, found.upper, each))
        elif function is DISTANCES["coordinate-tv"]:
            # Runs side by side that differ bound how far two laws are apart; nothing bounds it
            # from below, since equal laws may differ in every run.
            upper = mean_limits(each, largest=largest, error=error)[1]
            measured.append(Measured(float(each.mean()), 0.0, upper, each))
        else:
            limits = mean_limits(each, largest=largest, error=error)
            measured.append(Measured(float(each.mean()), *limits, each))
    return Sampled(
        present.mean(axis=0),
        absent.mean(axis=0),
        tuple(measured),
        pairs.lost,
        pairs.generalized,
    )


def largest_distance(distance: Named, values: int) -> float:
    """Return the largest value of a distance between beliefs in so many sensitive values.

    >>> largest_distance(("tv", DISTANCES["tv"]), 3), largest_distance(("tv", lambda p, q: p), 3)
    (1.0, inf)
    """
    name, function = distance
    if isinstance(function, BoundEmd):
        return function.largest
    if DISTANCES.get(name) is not function:
        return np.inf  # one of the user's own, whatever its name
    return float(values) if name == "coordinate-tv" else LARGEST[name]


def is_like_noise(source: RunSource, place: int, *, seed: int) -> bool:
    """Tell whether the runs of this target cannot be told from a mere repetition.

    It is a statement about the number of runs; it lowers no distance.
    """
    pairs = source.pairs(place)
    repeated = source.repeated(place)
    return indistinguishable_from_noise(
        pairs.present, repeated, pairs.absent, splits=199, seed=seed
    )


def _measure_all(source: RunSource, settings: Settings) -> list[Sampled]:
    return [
        measure(source.pairs(place), settings, paired=source.paired) for place in range(len(source))
    ]


def _measure_elsewhere(source: RunSource, settings: Settings) -> list[Sampled]:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to handle
    return _measure_all(source, settings)


def _run(
    source: RunSource, settings: Settings, jobs: int
) -> Iterator[tuple[range, Sequence[Sampled]]]:
    """Yield the outcome of each target: here at first, in other processes if it is worth it."""
    start = time.perf_counter()
    for place in range(len(source)):
        one = range(place, place + 1)
        yield one, _measure_all(source.part(one), settings)
        seconds = (time.perf_counter() - start) / (place + 1)
        if jobs != 1 and seconds * (len(source) - place - 1) > WORTH_SHARING:
            yield from _share(source, settings, place + 1, seconds, jobs)
            return


def _share(
    source: RunSource, settings: Settings, begin: int, seconds: float, jobs: int
) -> Iterator[tuple[range, Sequence[Sampled]]]:
    import joblib

    total = len(source)
    size = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-6)), (total - begin) // 8 + 1))
    chunks = [range(start, min(start + size, total)) for start in range(begin, total, size)]
    call: Callable[..., object] = joblib.delayed(_measure_elsewhere)
    outcomes = joblib.Parallel(n_jobs=jobs, return_as="generator", max_nbytes=None)(
        call(source.part(chunk), settings) for chunk in chunks
    )
    try:
        yield from zip(chunks, outcomes, strict=True)
    finally:
        outcomes.close()

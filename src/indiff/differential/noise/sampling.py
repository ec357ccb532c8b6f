"""The sampled path: an honest bracket per record from R runs with it and R runs without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.calls import Asking
from indiff.differential.noise.bracket import (
    bracket,
    check_runs,
    indistinguishable_from_noise,
    mean_limits,
)
from indiff.differential.noise.changes import changed
from indiff.differential.noise.runs import Floats, Pairs, RunSource
from indiff.distances.functions import DISTANCES, Distance, largest_distance
from indiff.errors import UserError

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
    """What the runs say about one target: mean beliefs, and one measurement per distance.

    ``changed`` says of each run whether the prediction changes.
    """

    present: Floats
    absent: Floats
    measured: tuple[Measured, ...]
    changed: Floats
    lost: bool
    generalized: bool


@dataclass(frozen=True)
class Settings:
    """What every target's measurement needs: the distances, and how sure the limits must be."""

    distances: tuple[Named, ...]
    confidence: float
    records: int


@dataclass(frozen=True)
class Measure:
    """Asks for targets: makes the runs of one, and brackets the distances of its records."""

    source: RunSource
    settings: Settings

    def __call__(self, place: int) -> list[Sampled]:
        """Return what the runs say about each record of one target."""
        pairs = self.source.pairs(place)
        return [measure(one, self.settings, paired=self.source.paired) for one in pairs]


class SampledCode:
    """Writes the samples of one target's records to a journal, and reads them back."""

    def write(self, place: int, value: Sequence[Sampled]) -> Mapping[str, Any]:
        """Return the samples as what JSON has."""
        return {
            "records": [
                {
                    "with": one.present.tolist(),
                    "without": one.absent.tolist(),
                    "changed": one.changed.tolist(),
                    "lost": one.lost,
                    "generalized": one.generalized,
                    "measured": [
                        [m.estimate, m.lower, m.upper, m.each.tolist()] for m in one.measured
                    ],
                }
                for one in value
            ]
        }

    def read(self, place: int, written: Mapping[str, Any]) -> list[Sampled]:
        """Return the samples again."""
        return [
            Sampled(
                np.array(one["with"], np.float64),
                np.array(one["without"], np.float64),
                tuple(
                    Measured(estimate, lower, upper, np.array(each, np.float64))
                    for estimate, lower, upper, each in one["measured"]
                ),
                np.array(one["changed"], np.float64),
                one["lost"],
                one["generalized"],
            )
            for one in written["records"]
        ]


@dataclass(frozen=True)
class Samples:
    """What came of each distinct target: samples by place, or why there are none."""

    done: dict[int, list[Sampled]]
    failed: dict[int, str]
    repeated: int


def sample(
    source: RunSource,
    settings: Settings,
    asking: Asking,
    *,
    names: NDArray[np.int64],
    back: NDArray[np.intp],
) -> Samples:
    """Measure every distinct target; an interruption leaves the rest out.

    ``names`` are their record numbers, and ``back`` says which target each person is.
    """
    done: dict[int, list[Sampled]] = {}

    def keep(place: int, value: list[Sampled]) -> None:
        done[place] = value
        asking.watch.distance(max(one.measured[0].estimate for one in value))

    ask = Measure(source, settings)
    failed, repeated = asking.collect(ask, names, back, SampledCode(), keep)
    return Samples(done, failed, repeated)


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
        changed(present, absent),
        pairs.lost,
        pairs.generalized,
    )


def is_like_noise(source: RunSource, place: int, record: int, *, seed: int) -> bool:
    """Tell whether the runs of this record cannot be told from a mere repetition.

    It is a statement about the number of runs; it lowers no distance.
    """
    pairs = source.pairs(place)[record]
    repeated = source.repeated(place, record)
    return indistinguishable_from_noise(
        pairs.present, repeated, pairs.absent, splits=199, seed=seed
    )

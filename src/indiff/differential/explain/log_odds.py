"""What each attribute adds to naive Bayes' log-odds, with and without a record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.inference import NaiveBayes
from indiff.inference.background import Prior
from indiff.release.release import Release

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shift:
    """Log-odds of the moved value against its rival from one source, with and without the record.

    For an attribute a: ln (N_ac + α)/(N_c + 2α) of the value minus that of the rival. Infinite
    where the release without the record lacks the value.
    """

    name: str
    log_odds: float
    log_odds_without: float

    @property
    def change(self) -> float:
        """What the record's presence adds to the log-odds; 0 where both are the same infinity."""
        if self.log_odds == self.log_odds_without:
            return 0.0
        return self.log_odds - self.log_odds_without


def shifts(
    model: NaiveBayes,
    prior: Prior | None,
    releases: tuple[Release, Release],
    target: Table,
    value: int,
    rival: int,
) -> tuple[Shift, tuple[Shift, ...]]:
    """Return the log-odds from the prior and from each attribute, with and without the record.

    A prior of the adversary's own replaces the release's class shares, for naive Bayes exactly.
    """
    (before, scores), (before_without, scores_without) = (
        _log_scores(model, prior, one, target) for one in releases
    )
    names = [column.attribute.name for column in releases[0].columns]

    def shift(name: str, one: Floats, other: Floats) -> Shift:
        with np.errstate(invalid="ignore"):  # two values without any prior have no log-odds: NaN
            return Shift(name, float(one[value] - one[rival]), float(other[value] - other[rival]))

    follows = prior is None and model.prior == "release"
    return (
        shift("how common it is" if follows else "the prior", before, before_without),
        tuple(map(shift, names, scores, scores_without)),
    )


def _log_scores(
    model: NaiveBayes, own: Prior | None, release: Release, target: Table
) -> tuple[Floats, Floats]:
    totals = release.class_totals()
    weights = model.prior_weights(totals)
    if own is not None:
        weights = own.for_records(release.sensitive_values, target.records)[0]
    with np.errstate(divide="ignore"):
        prior = np.log(np.where(totals > 0, weights, 0.0))
    scores = np.empty((len(release.columns), len(totals)))
    for place, column in enumerate(release.columns):
        mask = column.covering(int(target.attribute(column.attribute.name).codes[0]))
        weighed = None if release.weights is None else release.weights[mask]
        counts = np.bincount(release.classes[mask], weights=weighed, minlength=len(totals))
        scores[place] = np.log((counts + model.alpha) / (totals + 2 * model.alpha))
    return prior, scores

"""Bernoulli naive Bayes on the target-relative TF encoding: the papers' adversary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release


@dataclass(frozen=True)
class NaiveBayes:
    """Bernoulli naive Bayes on TF features (DIT v2, Sections 4.3 and 4.4.1).

    A released cell is encoded 1 if its region covers the target's value and 0 otherwise, so the
    target itself is all ones and only counts are needed: with N_c released records of class c, of
    which N_ac cover the target's value on attribute a,

        belief(c) ∝ prior(c) · Π_a (N_ac + α) / (N_c + 2α).

    Equal to scikit-learn's ``BernoulliNB`` (``alpha=1``, class shares as prior) fitted on the
    materialised encoding and aligned to the full set of sensitive values: a class that the
    release lacks has probability 0. ``prior`` may also be ``"uniform"`` or one number per
    sensitive value. It is one adversary among many: a small distance under it does not rule out a
    large one under another.
    """

    alpha: float = 1.0
    prior: Literal["release", "uniform"] | Sequence[float] = "release"

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, int | float) and 0 < self.alpha < np.inf):
            raise UserError("alpha must be a positive number", f"{self.alpha!r}")
        if isinstance(self.prior, str):
            if self.prior not in ("release", "uniform"):
                raise UserError(
                    "prior must be 'release', 'uniform' or one number per sensitive value",
                    f"{self.prior!r}",
                )
            return
        shares = tuple(float(share) for share in self.prior)
        object.__setattr__(self, "prior", shares)
        if any(share < 0 or share != share for share in shares) or abs(sum(shares) - 1) > 1e-9:
            raise UserError("a prior must be non-negative and sum to 1", list(shares))

    def __str__(self) -> str:
        return "naive-bayes"

    def prior_weights(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the prior weight of every class, up to a common factor."""
        if isinstance(self.prior, str):
            return totals if self.prior == "release" else np.ones_like(totals)
        if len(self.prior) != len(totals):
            raise UserError(
                f"a prior needs one number per sensitive value ({len(totals)})", len(self.prior)
            )
        return np.asarray(self.prior, np.float64)

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return the belief about each target from the release."""
        totals = release.class_totals()
        counts = np.empty((len(targets), len(release.columns), len(totals)))
        for place, column in enumerate(release.columns):
            codes = targets.attribute(column.attribute.name).codes
            if len(codes) == 1:
                mask = column.covering(int(codes[0]))
                weights = None if release.weights is None else release.weights[mask]
                counts[0, place] = np.bincount(
                    release.classes[mask], weights=weights, minlength=len(totals)
                )
            else:
                covered = column.cover_counts(release.classes, len(totals), release.weights)
                counts[:, place] = covered[codes]
        return self.from_counts(totals, counts)

    def from_counts(
        self, totals: NDArray[np.float64], counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return beliefs from N_c and N[target, attribute, c].

        Where nothing counts, as in a noisy table whose counts all became 0, nothing is learned:
        the belief is the prior, and the shares of an empty release are equal ones.
        """
        if not totals.any():
            before = self.prior_weights(np.ones_like(totals))
            return np.tile(before / before.sum(), (len(counts), 1))
        weights = np.where(totals > 0, self.prior_weights(totals), 0.0)
        if not (weights > 0).any():
            raise UserError(
                "a prior must give some probability to a sensitive value of the release",
                f"{self.prior!r}, in which all of them have none",
            )
        with np.errstate(divide="ignore"):
            scores = np.log(weights) + np.log(
                (counts + self.alpha) / (totals + 2 * self.alpha)
            ).sum(axis=1)
        scores -= scores.max(axis=-1, keepdims=True)
        chances = np.exp(scores)
        return chances / chances.sum(axis=-1, keepdims=True)

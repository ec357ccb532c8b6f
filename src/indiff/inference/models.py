"""What a model is, the adversary's algorithm 𝒜; those that only count; and all models by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, unknown
from indiff.inference.classifier import CLASSIFIERS, Classifier, is_estimator
from indiff.inference.encodings import CELLS_AT_ONCE, Tally
from indiff.release.release import Release


@runtime_checkable
class Model(Protocol):
    """𝒜: release × targets → beliefs (DIT v2, Definition 1)."""

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return one row per target: the probability of each sensitive value; rows sum to 1."""
        ...


@runtime_checkable
class TallyModel(Model, Protocol):
    """A model that may need no more of a release than what TF features show to one target."""

    def learns_from_tally(self, columns: int) -> bool:
        """Tell whether a tally of so many columns is all that it needs of a release."""
        ...

    def belief_from_tally(self, tally: Tally, target: Table) -> NDArray[np.float64]:
        """Return the one row that ``beliefs`` has for the tally's release and target."""
        ...


def is_randomized_model(model: Model) -> bool:
    """Tell whether a model says of itself that fitting it twice may give two beliefs."""
    return bool(getattr(model, "randomized", False))


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


@dataclass(frozen=True)
class Frequency:
    """The share of each sensitive value among the released records that cover the target.

    This is the inference of DIT v2's example (Section 3.2, Tables 1 and 2): the probability of a
    sensitive value given all quasi-identifiers. A target that no released record covers is
    believed to be like everybody: the shares in the whole release, or equal ones where nothing in
    it counts, as in a noisy table whose counts all became 0.
    """

    def __str__(self) -> str:
        return "frequency"

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return the belief about each target from the release."""
        return self.beliefs_and_coverage(release, targets)[0]

    def beliefs_and_coverage(
        self, release: Release, targets: Table
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the beliefs, and for each target whether any released record covers it."""
        counts, back = covering_counts(release, targets)
        totals = release.class_totals()
        found = counts.sum(axis=1) > 0
        counts[~found] = totals if totals.any() else 1.0
        return (counts / counts.sum(axis=1, keepdims=True))[back], found[back]


@dataclass(frozen=True)
class SmoothedFrequency:
    """belief(k) = C_k / ΣC with C_k = 1 + the weight of value k among what covers the target.

    This is the inference that DIT v2, Section 4.2.2 (Eqs. 2 to 4) couples with differential
    privacy: a weight is a count with noise, not below 0, and the 1 keeps the belief defined. A
    target that nothing covers may have any value, each as likely.
    """

    def __str__(self) -> str:
        return "smoothed-frequency"

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        """Return the belief about each target from the release."""
        counts, back = covering_counts(release, targets)
        counts += 1
        return (counts / counts.sum(axis=1, keepdims=True))[back]


def covering_counts(
    release: Release, targets: Table
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Count each sensitive value among what covers the targets, each distinct target once.

    The second array gives the place of each target among the distinct ones.
    """
    size = len(release.sensitive_values)
    distinct, back = np.unique(release.codes_of(targets), axis=0, return_inverse=True)
    if release.weights is None and release.shares_groups:
        return _covering_groups(release, distinct), back.ravel()
    counts = np.empty((len(distinct), size))
    for place, combination in enumerate(distinct):
        mask = covering_rows(release, combination)
        weights = None if release.weights is None else release.weights[mask]
        counts[place] = np.bincount(release.classes[mask], weights=weights, minlength=size)
    return counts, back.ravel()


def _covering_groups(release: Release, targets: NDArray[np.int32]) -> NDArray[np.float64]:
    """Count so by group: whole numbers, whatever the order in which they are added up."""
    groups, size = release.columns[0].count, len(release.sensitive_values)
    cells = release.columns[0].index.astype(np.int64) * size + release.classes
    held = np.bincount(cells, minlength=groups * size).reshape(groups, size).astype(np.float64)
    counts, step = np.empty((len(targets), size)), max(1, CELLS_AT_ONCE // max(1, groups))
    for start in range(0, len(targets), step):
        some = targets[start : start + step]
        covers = np.ones((len(some), groups), np.bool_)
        for place, column in enumerate(release.columns):
            covers &= column.regions_covering_each(some[:, place])
        target, group = np.nonzero(covers)
        counts[start : start + step] = 0.0
        np.add.at(counts, target + start, held[group])
    return counts


def covering_rows(release: Release, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell for every row whether its regions cover these codes, one for each column."""
    covered = zip(release.columns, codes.tolist(), strict=True)
    if release.shares_groups:  # then groups are looked up, not rows
        inside = np.ones(release.columns[0].count, dtype=bool)
        for column, code in covered:
            inside &= column.regions_covering(code)
        return inside[release.columns[0].index]
    mask = np.ones(len(release), dtype=bool)
    for column, code in covered:
        mask &= column.covering(code)
    return mask


MODELS: dict[str, Callable[[], Model]] = {
    "naive-bayes": NaiveBayes,
    "frequency": Frequency,
    **{name: partial(Classifier, name) for name in CLASSIFIERS if name != "naive-bayes"},
}


def as_model(model: str | Model) -> Model:
    """Return a model from its name or from a scikit-learn classifier, or the model itself.

    >>> as_model("naive-bayes")
    NaiveBayes(alpha=1.0, prior='release')
    >>> as_model("tree:encoding=Scaling-Hot").encoding
    Encoding(numeric='Scaling', categorical='Hot', quantiles=5)
    """
    if isinstance(model, str):
        return _parse(model)
    given: object = model  # whatever it was said to be
    if isinstance(given, type):
        raise UserError(f"a model must be an object, not a class: write {given.__name__}(…).")
    if isinstance(given, Model):
        return given
    if is_estimator(given):
        return Classifier(given)
    raise UserError(
        f"a model is a name ({', '.join(MODELS)}), a scikit-learn classifier "
        "(with predict_proba) or an object with beliefs(release, targets)",
        f"{given!r}",
    )


def _parse(text: str) -> Model:
    name, colon, rest = text.partition(":")
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    if not colon:
        return MODELS[name]()
    key, sign, encoding = rest.partition("=")
    if name not in CLASSIFIERS or key != "encoding" or not sign:
        raise UserError(
            "a model takes no parameter in its name but an encoding, as in "
            "tree:encoding=Scaling-Hot, and frequency takes none",
            f"{text!r}",
        )
    return Classifier(name, encoding=encoding)

"""Shows what moves a model's belief: naive Bayes' log-odds, or a decision tree's way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Table
from indiff.errors import InternalError
from indiff.inference import NaiveBayes
from indiff.inference.background import Prior
from indiff.inference.classifier import Classifier, Trained
from indiff.inference.encodings import Encoding
from indiff.inference.tree import belief_from_rows
from indiff.release.release import Release, ReleasedColumn

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
    first = shift("how common it is" if follows else "the prior", before, before_without)
    return first, tuple(map(shift, names, scores, scores_without))


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


def records(count: float) -> str:
    """Write a number of records.

    >>> records(1), records(2000), records(2.5)
    ('1 record', '2,000 records', '2.5 records')
    """
    return "1 record" if count == 1 else f"{count:,.10g} records"


@dataclass(frozen=True)
class DecisionPath:
    """The questions on the way from the root to the target's leaf, and what the leaf holds.

    ``steps`` complete the words "records that …"; a value or a cut of the table is in them only
    where values may be shown. ``held`` of the leaf's ``size`` released records, by weight, have
    the value that the explanation speaks of.
    """

    steps: tuple[str, ...]
    size: float
    held: float

    def __str__(self) -> str:
        steps = ", ".join(dict.fromkeys(self.steps))
        where = f"records that {steps}" if steps else "all records"
        return f"{where} ({self.held:,.10g} of {records(self.size)})"


def is_tree(model: Any) -> bool:
    """Tell whether a model is a single decision tree, without loading scikit-learn for others.

    >>> is_tree(Classifier("tree")), is_tree(Classifier("logistic"))
    (True, False)
    """
    if not isinstance(model, Classifier):
        return False
    named = model.estimator if isinstance(model.estimator, str) else type(model.estimator).__name__
    return named in ("tree", "DecisionTreeClassifier", "ExtraTreeClassifier")


def decision_path(
    model: Classifier, release: Release, target: Table, value: int, *, show_values: bool
) -> DecisionPath | None:
    """Follow the target through the tree; None where the release has one sensitive value alone."""
    if model.is_own_tree:
        return _own_path(release, target, value)
    trained = model.trained(release, target)
    if trained is None:
        return None
    tree, asked = trained.model.tree_, trained.asked[0]
    node, steps = 0, []
    while tree.children_left[node] != tree.children_right[node]:
        feature, cut = int(tree.feature[node]), float(tree.threshold[node])
        above = bool(asked[feature] > cut)
        steps.append(_words(model, trained, feature, cut, above, show_values))
        node = int((tree.children_right if above else tree.children_left)[node])
    shares = tree.value[node][0] / tree.value[node][0].sum()
    place = np.flatnonzero(trained.held[trained.model.classes_] == value)
    size = float(tree.weighted_n_node_samples[node])
    held = float(shares[place[0]]) * size if len(place) else 0.0
    return DecisionPath(tuple(steps), round(size, 9), round(held, 9))


def _own_path(release: Release, target: Table, value: int) -> DecisionPath | None:
    lesson = Encoding().of(release).lesson(release.codes_of(target)[0])
    if (release.class_totals() > 0).sum() == 1:
        return None
    counts, way = belief_from_rows(*lesson, len(release.sensitive_values))
    steps = tuple(f"cover its {release.columns[column].attribute.name}" for column in way)
    return DecisionPath(steps, round(float(counts.sum()), 9), round(float(counts[value]), 9))


def _words(
    model: Classifier, trained: Trained, feature: int, cut: float, above: bool, show_values: bool
) -> str:
    """Say what a released record has in common with the target on one feature."""
    column, place = _home(trained, feature)
    name = column.attribute.name
    chosen = model.encoding
    encoding = chosen if isinstance(chosen, Encoding) else Encoding.named(chosen)
    numeric = column.attribute.kind == Kind.NUMERIC
    kind = encoding.numeric if numeric else encoding.categorical
    if kind == "TF":
        return f"cover its {name}" if above else f"do not cover its {name}"
    if not show_values:
        return f"are on its side of a cut of {name}"
    if kind == "Hot":
        held = str(column.attribute.values[place])
        return f"{'cover' if above else 'do not cover'} {name} {held!r}"
    side = "above" if above else "at most"
    if kind in ("Scaling", "Bounds") and place < 1 + (kind == "Bounds"):
        end = "middle" if kind == "Scaling" else ("low end", "high end")[place]
        known = len(column.attribute.values) - column.attribute.has_missing
        points = column.attribute.points[:known]
        number = points.min() + cut * ((points.max() - points.min()) or 1.0)
        return f"have a {end} of {name} {side} {number:.6g}"
    return f"have feature {place + 1} of {name} in {kind} {side} {cut:.6g}"


def _home(trained: Trained, feature: int) -> tuple[ReleasedColumn, int]:
    """Return the column that a feature is of, and its place among the column's features."""
    for column, block in zip(trained.encoded.release.columns, trained.encoded.blocks, strict=True):
        width = 1 if block is None else block.width
        if feature < width:
            return column, feature
        feature -= width
    raise InternalError("a tree asks for a feature that the encoding does not have")

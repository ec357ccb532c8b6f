"""What every tree must believe is what scikit-learn's trees believe, whatever their seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from indiff.inference.encodings import Tally
from indiff.inference.training import Criterion, grown_by, sure_beliefs

Counts = NDArray[np.float64]


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    """Draw counts by pattern and class: sparse or full, in proportion or not, covered or not."""
    columns, classes = draw(st.integers(1, 5)), draw(st.integers(2, 5))
    dice = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = (2**columns, classes)
    drawn = dice.integers(0, draw(st.sampled_from([1, 2, 3, 9, 200])) + 1, shape)
    drawn *= dice.random(shape) < draw(st.sampled_from([0.1, 0.4, 1.0]))
    if draw(st.integers(0, 4)) == 0:  # no feature tells anything: every split gains nothing
        drawn = np.outer(dice.integers(0, 4, shape[0]), dice.integers(1, 9, classes))
    if draw(st.booleans()):
        drawn[-1] = 0
    drawn[0, :2] += 1  # two classes at least
    return drawn.astype(np.float64)


def sure_belief(
    held: Counts, criterion: Criterion = "gini", max_depth: int | None = None
) -> Counts | None:
    """Return the belief of every tree about one target; None where trees may differ."""
    beliefs, sure = sure_beliefs(held[None], criterion, max_depth)
    return beliefs[0] if sure[0] else None


def of_scikit_learn(held: Counts, *, repeated: bool, **options: Any) -> Counts:
    """Fit scikit-learn's tree to the rows that the counts stand for; ask about the target."""
    columns = len(held).bit_length() - 1
    features, classes, weights = [], [], []
    for pattern, row in enumerate(held.astype(int)):
        bits = [int(bit) for bit in f"{pattern:0{columns}b}"]
        for of_class, count in enumerate(row.tolist()):
            times = count if repeated else min(count, 1)
            features += [bits] * times
            classes += [of_class] * times
            weights += [1 if repeated else count] * times
    model = DecisionTreeClassifier(**options).fit(features, classes, sample_weight=weights)
    belief = np.zeros(held.shape[1])
    belief[model.classes_] = model.predict_proba(np.ones((1, columns)))[0]
    return belief


@settings(max_examples=60)
@given(counts(), st.sampled_from(["gini", "entropy", "log_loss"]), st.sampled_from([None, 1, 2, 3]))
def test_a_sure_belief_is_that_of_every_seed(held: Counts, criterion: str, depth: Any) -> None:
    found = sure_belief(held, "gini" if criterion == "gini" else "entropy", depth)
    if found is None:
        return
    for seed in range(4):
        for repeated in (True, False):
            tree = of_scikit_learn(
                held, repeated=repeated, criterion=criterion, max_depth=depth, random_state=seed
            )
            np.testing.assert_allclose(found, tree, rtol=0, atol=1e-12)


@given(counts())
def test_a_covered_target_is_believed_to_be_like_its_covering_records(held: Counts) -> None:
    held[-1, 0] += 1
    found = sure_belief(held)
    if found is not None:  # a tree that stops early, on a split that gains nothing, may differ
        np.testing.assert_allclose(found, held[-1] / held[-1].sum(), rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(counts())
def test_trees_that_differ_are_never_called_sure(held: Counts) -> None:
    trees = [of_scikit_learn(held, repeated=False, random_state=seed) for seed in range(6)]
    if np.ptp(trees, axis=0).max() > 1e-9:
        assert sure_belief(held) is None


def test_by_hand() -> None:
    # Patterns 00, 01, 10, 11; the target is 11, which nobody has. Asking for the first feature
    # gains most (all of class 1 and none of class 0 have it), and its side is of one class.
    np.testing.assert_array_equal(sure_belief(np.array([[4, 0], [3, 1], [0, 5], [0, 0.0]])), [0, 1])
    # Either feature is as good, and they lead to different leaves: chance decides.
    either = np.array([[4, 4], [3, 1], [1, 3], [0, 0.0]])
    assert sure_belief(either) is None
    leaves = {tuple(of_scikit_learn(either, repeated=True, random_state=s)) for s in range(20)}
    assert leaves == {(0.75, 0.25), (0.25, 0.75)}
    # Either is as good, and both lead to the same leaf.
    same = np.array([[4, 0], [0, 0], [0, 0], [1, 3.0]])
    np.testing.assert_array_equal(sure_belief(same), [0.25, 0.75])
    # One question alone: the records that cover the first feature, whatever the second.
    deep = np.array([[6, 0], [1, 0], [0, 2], [1, 1.0]])
    np.testing.assert_array_equal(sure_belief(deep, max_depth=1), [0.25, 0.75])
    np.testing.assert_array_equal(sure_belief(deep), [0.5, 0.5])


def test_the_two_criteria_may_go_different_ways() -> None:
    dice = np.random.default_rng(5)
    differing = 0
    for _ in range(400):
        held = dice.integers(0, 20, (4, 3)).astype(np.float64)
        held[-1] = 0
        gini, entropy = sure_belief(held, "gini"), sure_belief(held, "entropy")
        if gini is not None and entropy is not None and not np.allclose(gini, entropy):
            differing += 1
            np.testing.assert_allclose(
                entropy, of_scikit_learn(held, repeated=False, criterion="entropy"), atol=1e-12
            )
    assert differing > 0


def test_targets_together_are_believed_what_each_is_alone() -> None:
    dice = np.random.default_rng(8)
    held = dice.integers(0, 3, (300, 8, 3)).astype(np.float64)
    held[:, 0, :2] += 1
    held[::2, -1] = 0  # nobody covers every other one on all features
    beliefs, sure = sure_beliefs(held)
    assert 0 < sure.sum() < len(sure)
    for place, one in enumerate(held):
        alone = sure_belief(one)
        assert (alone is not None) == sure[place]
        if alone is not None:
            np.testing.assert_array_equal(beliefs[place], alone)


def test_many_equal_ways_are_left_to_scikit_learn() -> None:
    ones = np.array([pattern.bit_count() for pattern in range(2**10)], np.float64)
    held = np.stack([ones + 1, 11 - ones], axis=1)  # all features are alike, at every node
    assert sure_belief(held) is None


@pytest.mark.parametrize(
    ("estimator", "how"),
    [
        (DecisionTreeClassifier(), ("gini", None)),
        (DecisionTreeClassifier(criterion="entropy", max_depth=4), ("entropy", 4)),
        (DecisionTreeClassifier(criterion="log_loss", random_state=3), ("entropy", None)),
        (DecisionTreeClassifier(splitter="random"), None),
        (DecisionTreeClassifier(max_features=1), None),
        (DecisionTreeClassifier(min_samples_leaf=2), None),
        (DecisionTreeClassifier(min_samples_split=3), None),
        (DecisionTreeClassifier(min_weight_fraction_leaf=0.1), None),
        (DecisionTreeClassifier(min_impurity_decrease=0.01), None),
        (DecisionTreeClassifier(max_leaf_nodes=3), None),
        (DecisionTreeClassifier(class_weight="balanced"), None),
        (DecisionTreeClassifier(ccp_alpha=0.01), None),
        (DecisionTreeClassifier(monotonic_cst=[1, 0]), None),
        (ExtraTreeClassifier(), None),
        (RandomForestClassifier(), None),
    ],
)
def test_which_trees_are_grown_without_a_limit(estimator: Any, how: Any) -> None:
    assert grown_by(estimator) == how


class Pruned(DecisionTreeClassifier):
    """Inherits from scikit-learn's, and may train as it likes."""


def test_what_inherits_is_not_taken_for_scikit_learns() -> None:
    assert grown_by(Pruned()) is None


# ── tallies ──────────────────────────────────────────────────────────────────────────────────


@given(counts(), st.integers(0, 31))
def test_a_tally_of_some_columns_is_that_of_their_features(held: Counts, chosen: int) -> None:
    columns = len(held).bit_length() - 1
    names = tuple("abcde"[:columns])
    kept = [place for place in range(columns) if chosen >> place & 1] or [0]
    tally = Tally(names, held)
    features, classes, weights = tally.lesson()
    fewer = tally.of_columns([names[place] for place in reversed(kept)])
    assert fewer.names == tuple(names[place] for place in kept)
    wanted = np.zeros_like(fewer.counts)
    for row, of_class, weight in zip(features.astype(int)[:, kept], classes, weights, strict=True):
        wanted[int("".join(map(str, row)), 2), of_class] += weight
    np.testing.assert_array_equal(fewer.counts, wanted)
    assert len(fewer) == len(tally) == weights.sum()
    assert tally.covered == bool((features.all(axis=1)).any())
    np.testing.assert_array_equal(
        tally.class_totals(), np.bincount(classes, weights, minlength=held.shape[1])
    )

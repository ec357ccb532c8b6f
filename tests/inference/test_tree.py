"""The tree on TF features is CART's in exact arithmetic, and scikit-learn's where nothing ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from indiff.inference.encodings import Tally
from indiff.inference.tree import belief_from_rows, beliefs_from_tallies
from tests.reference_tree import Row, grown, shares

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


def rows_of(held: Counts) -> list[Row]:
    """Return the rows that the counts stand for; the first column's bit is the highest."""
    columns = len(held).bit_length() - 1
    return [
        (tuple(int(bit) for bit in f"{pattern:0{columns}b}"), of_class, int(weight))
        for pattern, row in enumerate(held)
        for of_class, weight in enumerate(row)
        if weight
    ]


def believed(held: Counts) -> Counts:
    return beliefs_from_tallies(held[None])[0]


@settings(max_examples=150)
@given(counts())
def test_the_tree_is_that_of_exact_arithmetic(held: Counts) -> None:
    leaf, way, _ = grown(rows_of(held))
    np.testing.assert_allclose(believed(held), shares(leaf, held.shape[1]), rtol=0, atol=1e-12)
    features, classes, weights = Tally(tuple("abcde"[: len(held).bit_length() - 1]), held).lesson()
    found, asked = belief_from_rows(features, classes, weights, held.shape[1])
    assert asked == way
    np.testing.assert_allclose(found / found.sum(), shares(leaf, held.shape[1]), rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(counts())
def test_where_every_choice_is_clear_it_is_scikit_learns(held: Counts) -> None:
    if not grown(rows_of(held))[2]:
        return
    for repeated in (True, False):
        tree = of_scikit_learn(held, repeated=repeated, random_state=3)
        np.testing.assert_allclose(believed(held), tree, rtol=0, atol=1e-12)


@given(counts())
def test_a_covered_target_is_believed_to_be_like_its_covering_records(held: Counts) -> None:
    held[-1, 0] += 1
    np.testing.assert_allclose(believed(held), held[-1] / held[-1].sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("held", "belief"),
    [
        # Patterns 00, 01, 10, 11; the target is 11, which nobody has. Asking for the first column
        # gains most (all of class 1 but one and none of class 0 have it); its side is of one class.
        ([[4, 0], [3, 1], [0, 5], [0, 0]], [0, 1]),
        # Either column is as good, and they lead to different leaves: the first listed is asked.
        ([[4, 4], [3, 1], [1, 3], [0, 0]], [0.25, 0.75]),
        # Either is as good, and both lead to the same leaf.
        ([[4, 0], [0, 0], [0, 0], [1, 3]], [0.25, 0.75]),
        # Neither column gains anything alone, and both together tell all.
        ([[0, 2], [2, 0], [2, 0], [0, 2]], [0, 1]),
        # Nothing can be asked: all are alike.
        ([[1, 3], [0, 0], [0, 0], [0, 0]], [0.25, 0.75]),
    ],
)
def test_by_hand(held: list[list[int]], belief: list[float]) -> None:
    np.testing.assert_array_equal(believed(np.array(held, np.float64)), belief)


def test_targets_together_are_believed_what_each_is_alone() -> None:
    dice = np.random.default_rng(8)
    held = dice.integers(0, 3, (300, 8, 3)).astype(np.float64)
    held[:, 0, :2] += 1
    together = beliefs_from_tallies(held)
    for place, one in enumerate(held):
        np.testing.assert_array_equal(together[place], believed(one))


def test_more_columns_than_patterns_can_be_counted() -> None:
    dice = np.random.default_rng(2)
    features = dice.integers(0, 2, (60, 30)).astype(np.float64)
    classes = dice.integers(0, 3, 60).astype(np.int32)
    rows = [(tuple(map(int, row)), int(c), 1) for row, c in zip(features, classes, strict=True)]
    leaf, way, _ = grown(rows)
    found, asked = belief_from_rows(features, classes, None, 3)
    assert asked == way
    np.testing.assert_allclose(found / found.sum(), shares(leaf, 3))


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

"""The conditional frequency against counting by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff import (
    Frequency,
    Identity,
    Mondrian,
    NaiveBayes,
    Suppress,
    Table,
    UserError,
    differential_test,
    read_table,
)
from indiff.inference import as_model
from indiff.release.release import Release
from tests.properties.random_tables import Sample, bernoulli, frequency, samples, sanitizers


def materialise(release: Release, targets: Table, row: int) -> Any:
    """1 where a released region contains the target's value (DIT v2, Section 4.3)."""
    features = np.zeros((len(release), len(release.columns)))
    for place, column in enumerate(release.columns):
        attribute = targets.attribute(column.attribute.name)
        value = attribute.values[attribute.codes[row]]
        value = None if value is None or value != value else value
        for released, number in enumerate(column.index):
            features[released, place] = column.regions[number].covers(value)
    return features


def agree(release: Release, targets: Table, model: NaiveBayes) -> None:
    fast = model.beliefs(release, targets)
    assert fast.shape == (len(targets), len(release.sensitive_values))
    np.testing.assert_allclose(fast.sum(axis=1), 1, atol=1e-12)
    labels = release.sensitive.tolist()
    for row in range(len(targets)):
        slow = bernoulli(
            materialise(release, targets, row),
            labels,
            release.sensitive_values,
            alpha=model.alpha,
            prior=str(model.prior),
        )
        np.testing.assert_allclose(fast[row], slow, rtol=0, atol=1e-12)
        one = model.beliefs(release, targets.take([row]))[0]  # one target takes a shorter way
        np.testing.assert_allclose(one, slow, rtol=0, atol=1e-12)


MODELS = st.builds(
    NaiveBayes,
    alpha=st.sampled_from([1.0, 0.01, 0.5, 3.0]),
    prior=st.sampled_from(["release", "uniform"]),
)


@given(samples(most=25), sanitizers(), MODELS)
def test_beliefs_about_records_of_the_table(
    sample: Sample, sanitizer: Mondrian, model: NaiveBayes
) -> None:
    table = sample.table
    agree(sanitizer.sanitize(table), table.take(range(min(len(table), 5))), model)


@given(samples(most=25), sanitizers(), MODELS)
def test_beliefs_about_a_record_that_was_taken_out(
    sample: Sample, sanitizer: Mondrian, model: NaiveBayes
) -> None:
    for row in range(min(len(sample.table), 4)):
        agree(sanitizer.sanitize(sample.table.without(row)), sample.table.take([row]), model)


def small(sensitive: str, **columns: Any) -> Table:
    return read_table(
        pa.table({**columns, "s": list(sensitive)}), quasi=list(columns), sensitive="s"
    )


@pytest.mark.parametrize("sanitizer", [Identity(), Suppress(), Mondrian(k=2), Mondrian(k=5)])
@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes(alpha=0.1, prior="uniform")])
def test_an_only_record_of_its_class_a_constant_column_and_n_equal_to_k(
    sanitizer: Any, model: NaiveBayes
) -> None:
    table = small("abbca", x=[1, 5, 2, 9, 4], y=["k"] * 5)
    agree(sanitizer.sanitize(table), table, model)
    without = sanitizer.sanitize(table.without(3)) if sanitizer != Mondrian(k=5) else None
    if without is not None:
        belief = model.beliefs(without, table.take([3]))
        assert belief[0, 2] == 0  # nobody of class c is left: scikit-learn never saw it
        agree(without, table.take([3]), model)


def test_the_formula_by_hand() -> None:
    # Identity; the target is (1, "u"): N_a = 2, of which 1 has x = 1 and 2 have y = u; N_b = 1.
    table = small("aab", x=[1, 2, 1], y=["u", "u", "v"])
    belief = NaiveBayes().beliefs(Identity().sanitize(table), table.take([0]))[0]
    a = 2 / 3 * (1 + 1) / (2 + 2) * (2 + 1) / (2 + 2)
    b = 1 / 3 * (1 + 1) / (1 + 2) * (0 + 1) / (1 + 2)
    np.testing.assert_allclose(belief, [a / (a + b), b / (a + b)], atol=1e-15)


def test_a_prior_of_ones_own() -> None:
    table = small("aab", x=[1, 2, 3])
    release = Suppress().sanitize(table)
    # Everything is covered: the likelihoods are (2+1)/(2+2) and (1+1)/(1+2).
    belief = NaiveBayes(prior=(0.1, 0.9)).beliefs(release, table.take([0]))[0]
    a, b = 0.1 * 3 / 4, 0.9 * 2 / 3
    np.testing.assert_allclose(belief, [a / (a + b), b / (a + b)], atol=1e-15)


def test_sixty_attributes_and_a_thousand_records_do_not_underflow() -> None:
    dice = np.random.default_rng(5)
    columns = {f"q{a:02d}": dice.random(1000) for a in range(60)}
    table = small("".join(dice.choice(list("ab"), 1000)), **columns)
    release = Identity().sanitize(table)
    targets = table.take(range(3))
    fast = NaiveBayes().beliefs(release, targets)
    for row in range(3):
        features = np.stack(
            [c.covering(int(targets.attribute(c.attribute.name).codes[row])) for c in
             release.columns], axis=1,
        )  # fmt: skip
        slow = bernoulli(features, release.sensitive.tolist(), release.sensitive_values)
        np.testing.assert_allclose(fast[row], slow, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"alpha": 0}, r"alpha must be a positive number; got 0"),
        ({"alpha": float("inf")}, r"alpha must be a positive number; got inf"),
        ({"prior": "flat"}, r"prior must be 'release', 'uniform' or one number per sensitive"),
        ({"prior": (0.5, 0.6)}, r"a prior must be non-negative and sum to 1; got \[0\.5, 0\.6\]"),
        ({"prior": (1.5, -0.5)}, r"a prior must be non-negative and sum to 1"),
    ],
)
def test_models_that_make_no_sense(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        NaiveBayes(**options)


def test_a_prior_must_fit_the_sensitive_values() -> None:
    table = small("aab", x=[1, 2, 3])
    with pytest.raises(UserError, match=r"one number per sensitive value \(2\); got 3"):
        NaiveBayes(prior=(0.2, 0.3, 0.5)).beliefs(Suppress().sanitize(table), table)
    lonely = Suppress().sanitize(table.without(2))
    with pytest.raises(UserError, match="a prior must give some probability to a sensitive value"):
        NaiveBayes(prior=(0.0, 1.0)).beliefs(lonely, table.take([2]))


def test_models_by_name() -> None:
    assert as_model("naive-bayes") == NaiveBayes()
    with pytest.raises(UserError, match="no model 'naive-bays': did you mean 'naive-bayes'"):
        as_model("naive-bays")
    with pytest.raises(UserError, match=r"a model is a name \(.*\) or an object with beliefs"):
        as_model(3)  # type: ignore[arg-type]


@given(samples(most=25), sanitizers())
def test_the_share_among_the_records_that_cover_the_target(
    sample: Sample, sanitizer: Mondrian
) -> None:
    for row in range(min(len(sample.table), 4)):
        for kept in (sample.table, sample.table.without(row)):
            release = sanitizer.sanitize(kept)
            target = sample.table.take([row])
            beliefs, found = Frequency().beliefs_and_coverage(release, target)
            wanted, covered = frequency(
                materialise(release, target, 0),
                release.sensitive.tolist(),
                release.sensitive_values,
            )
            np.testing.assert_allclose(beliefs[0], wanted, atol=1e-15)
            assert found[0] == covered


def test_a_target_that_nobody_covers_is_believed_to_be_like_everybody() -> None:
    table = read_table(pa.table({"x": [1, 2, 9], "s": ["a", "b", "b"]}), quasi=["x"], sensitive="s")
    release = Identity().sanitize(table.without(2))
    beliefs, found = Frequency().beliefs_and_coverage(release, table.take([2]))
    assert beliefs.tolist() == [[0.5, 0.5]]  # the shares of that same release, not of the table
    assert found.tolist() == [False]


def test_a_partition_is_looked_up_by_group_with_the_same_beliefs() -> None:
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(20, 60, 90), "town": rng.choice(list("abcdef"), 90),
               "ill": rng.choice(list("xyz"), 90)}  # fmt: skip
    table = read_table(pa.table(columns), quasi=["age", "town"], sensitive="ill")
    release = Mondrian(k=4).sanitize(table)
    assert release.columns[0].index is release.columns[1].index
    by_row = replace(
        release, columns=tuple(replace(c, index=c.index.copy()) for c in release.columns)
    )
    beliefs = Frequency().beliefs(release, table)
    assert (beliefs == Frequency().beliefs(by_row, table)).all()
    row = 17
    covered = release.covers("age", int(columns["age"][row])) & release.covers(
        "town", str(columns["town"][row])
    )
    shares = [(release.sensitive[covered] == value).mean() for value in release.sensitive_values]
    assert beliefs[row] == pytest.approx(shares)


def test_where_nothing_counts_nothing_is_learned() -> None:
    table = read_table(pa.table({"x": [1, 2, 9], "s": ["a", "b", "b"]}), quasi=["x"], sensitive="s")
    empty = replace(Identity().sanitize(table), weights=np.zeros(3))
    beliefs, found = Frequency().beliefs_and_coverage(empty, table)
    assert beliefs.tolist() == [[0.5, 0.5]] * 3
    assert not found.any()
    assert NaiveBayes().beliefs(empty, table).tolist() == [[0.5, 0.5]] * 3
    assert NaiveBayes(prior=[0.2, 0.8]).beliefs(empty, table).tolist() == [[0.2, 0.8]] * 3


@pytest.mark.parametrize("model", ["frequency", "naive-bayes"])
def test_a_noisy_table_without_any_count_stops_no_test(model: str) -> None:
    """Of two cells with counts near 0, each noisy count is 0 in about every second run."""
    table = read_table(pa.table({"x": [1, 1], "s": ["a", "b"]}), quasi=["x"], sensitive="s")

    def noisy(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        counts = np.maximum(frame.num_rows / 2 + rng.laplace(0, 50, 2), 0)
        return pa.table({"x": ["1", "1"], "s": ["a", "b"], "weight": counts})

    found = differential_test(table, noisy, model=model, runs=30, jobs=1)
    assert 0 <= found.delta <= 2
    assert not found.failures

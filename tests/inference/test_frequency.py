"""The conditional frequency against counting by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from indiff import Frequency, Identity, Mondrian, NaiveBayes, differential_test, read_table
from tests.inference.test_naive_bayes import materialise
from tests.properties.random_tables import Sample, frequency, samples, sanitizers


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

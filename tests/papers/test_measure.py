"""The raw table in one pass is what fitting a model for every record gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from indiff import Identity, NaiveBayes, datasets, differential_test, read_table
from indiff.papers.measure import raw_beliefs


def test_equal_to_the_definition(needs_data: Path) -> None:
    table = datasets.adult(120, folder=needs_data)
    beliefs, without = raw_beliefs(table)
    result = differential_test(table, Identity(), model="naive-bayes")
    np.testing.assert_allclose(beliefs, result.beliefs, atol=1e-12)
    np.testing.assert_allclose(without, result.beliefs_without, atol=1e-12)


def test_a_class_whose_only_member_leaves_has_probability_zero() -> None:
    table = read_table(pa.table({"age": [1, 2, 2, 3], "ill": list("nnyn")}), sensitive="ill")
    beliefs, without = raw_beliefs(table)
    np.testing.assert_allclose(without[2], [1, 0])
    expected = NaiveBayes().beliefs(Identity().sanitize(table), table)
    np.testing.assert_allclose(beliefs, expected, atol=1e-12)

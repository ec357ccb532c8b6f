"""Sanitizers that change values are named, compared and explained like all others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff import UserError, compare, differential_test, read_table
from indiff.sanitizers.sanitizer import as_sanitizer

TEXTS = [
    "pram:p=0.8", "pram:p=0.5,redraw=uniform", "rank-swap:percent=10", "additive-noise:scale=0.1",
    "multiplicative-noise:scale=0.25", "mdav:k=5", "dp-marginals:epsilon=1,bins=3,rows=20",
]  # fmt: skip


def table(size: int = 24) -> indiff.Table:
    rng = np.random.default_rng(0)
    return read_table(
        pa.table({"age": rng.integers(18, 90, size), "sex": rng.choice(["f", "m"], size),
                  "ill": rng.choice(["no", "yes"], size)}),
        quasi=["age", "sex"], sensitive="ill",
    )  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_and_written_alike(text: str) -> None:
    assert str(as_sanitizer(text)) == text


@pytest.mark.parametrize("text", ["pram", "rank-swap:", "additive-noise", "mdav", "dp-marginals"])
def test_what_it_needs_is_said(text: str) -> None:
    with pytest.raises(UserError, match=r"needs (p|percent|scale|k|epsilon)[;:.]"):
        as_sanitizer(text)


def test_compare_takes_them_all() -> None:
    found = compare(table(), ["identity", "mdav:k=3", "pram:p=0.8", "additive-noise:scale=0.1"],
                    runs=10, jobs=1)  # fmt: skip
    assert [row.status for row in found.rows] == ["measured"] * 4, [r.reason for r in found.rows]
    kinds = {row.setting: row.exactness for row in found.rows}
    assert kinds == {"identity": "exact", "mdav:k=3": "exact", "pram:p=0.8": "estimate",
                     "additive-noise:scale=0.1": "estimate"}  # fmt: skip


def test_the_test_says_what_is_published_as_it_is() -> None:
    result = differential_test(table(), "additive-noise:scale=0.1", runs=5, jobs=1, targets=[0])
    assert "additive-noise:scale=0.1 publishes 'sex' as it is" in result.notes


def test_an_adversary_who_reads_values_sees_through_a_little_noise() -> None:
    """Whoever only looks at what a cell covers would call the raw table with noise safe."""
    result = differential_test(table(), "additive-noise:scale=0.001", runs=10, jobs=1, targets=8)
    by_model = {name: one.delta for name, one in result.results.items()}
    assert by_model["tree:encoding=Scaling-Hot"] > 0.5

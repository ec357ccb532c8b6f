"""Which path measures what, and that another one can be added to the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from indiff import Mondrian, Suppress, UserError, differential_test, read_table
from indiff.differential import test as module
from indiff.differential.path import Column, Measurement, Named, Test, fold
from indiff.differential.refit.refit import Refit
from indiff.distances.functions import DISTANCES
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.sanitizers.noise.mechanisms import Laplace
from indiff.sanitizers.sanitizer import Sanitizer

COLUMNS = {"age": [28, 36, 47, 53, 72], "ill": ["flu", "flu", "cancer", "flu", "flu"]}


def named(name: str) -> Named:
    return name, DISTANCES[name]


@pytest.mark.parametrize(
    ("sanitizer", "model", "distance", "expected"),
    [
        (Mondrian(k=2), NaiveBayes(), "tv", "leave-one-out"),
        (Laplace(1.0), Frequency(), "wasserstein", "closed-form"),
        (Laplace(1.0), Frequency(), "tv", "sampled"),
        (Laplace(1.0), NaiveBayes(), "wasserstein", "sampled"),
        (Suppress(), NaiveBayes(), "wasserstein", "refit"),
    ],
)
def test_auto_takes_the_first_path_without_an_obstacle(
    sanitizer: Sanitizer, model: Model, distance: str, expected: str
) -> None:
    assert module.choose_path(sanitizer, model, named(distance), "auto").name == expected


def test_a_method_that_cannot_measure_is_refused_with_another_one() -> None:
    with pytest.raises(UserError, match="Use method='sampled'") as refused:
        module.choose_path(Laplace(1.0), Frequency(), named("wasserstein"), "refit")
    assert refused.value.field == "method"


def test_a_path_of_ones_own_is_one_line_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    class Marked(Refit):
        name: ClassVar[str] = "marked"

        def obstacle(self, *_: Any) -> UserError | None:
            return None

        def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
            return replace(super().measure(test, distances), notes=("another path",))

    monkeypatch.setattr(module, "PATHS", (Marked(), *module.PATHS))
    monkeypatch.setattr(module, "METHODS", ("marked", *module.METHODS))
    table = read_table(pa.table(COLUMNS), quasi=["age"], sensitive="ill")
    result = differential_test(table, Mondrian(k=2), model="naive-bayes")
    assert (result.method, result.notes[-1]) == ("marked", "another path")
    exact = differential_test(table, Mondrian(k=2), model="naive-bayes", method="leave-one-out")
    assert result.distances.tolist() == pytest.approx(exact.distances.tolist())


def test_a_person_has_the_largest_of_all_their_limits() -> None:
    """The record with the largest distance need not be the one with the largest upper limit."""
    column = Column(
        np.array([0.1, 0.3, 0.2]), np.array([0.05, 0.0, 0.1]), np.array([0.9, 0.4, 0.5])
    )
    found, place = fold(column, np.array([0, 0, 1]))
    assert found.distances.tolist() == [0.3, 0.2]
    assert found.lower is not None
    assert found.upper is not None
    assert (found.lower.tolist(), found.upper.tolist()) == ([0.05, 0.1], [0.9, 0.5])
    assert place.tolist() == [1, 2]

"""Whether a sanitizer is still the same one: what counts, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from indiff import Laplace, Mondrian, NaiveBayes
from indiff.data.table import read_table
from indiff.differential.calls.identity import identity, table_identity
from indiff.inference import as_model
from indiff.sanitizers.oracles.function import Oracle
from indiff.sanitizers.sanitizer import as_sanitizer


def made(source: str) -> Callable[[Any], Any]:
    """Define a function f, as a script that is started anew would."""
    scope: dict[str, Any] = {"__name__": "script"}
    exec(source, scope)
    found: Callable[[Any], Any] = scope["f"]
    return found


SAME = "WIDTH = 10\ndef helper(x):\n    return x // WIDTH\ndef f(x):\n    return helper(x)\n"


@pytest.mark.parametrize(
    "other",
    [
        SAME.replace("10", "20"),  # a constant of the module
        SAME.replace("x // WIDTH", "x / WIDTH"),  # a function that it calls
        SAME.replace("return helper(x)", "return helper(x + 1)"),
        SAME.replace("def f(x)", "def f(x, y=3)"),
    ],
)
def test_another_script_is_another_function(other: str) -> None:
    assert identity(made(SAME)) == identity(made(SAME))
    assert identity(made(SAME)) != identity(made(other))


def test_what_a_function_closes_over_counts() -> None:
    def widths(width: Any) -> Callable[[Any], Any]:
        return lambda frame: (frame, width)

    assert identity(widths(3)) == identity(widths(3)) != identity(widths(4))
    assert identity(widths({1, 2})) == identity(widths({2, 1})) != identity(widths({2, 3}))
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        one, two, other = (widths(make({"a": values})) for values in ([1, 2], [1, 2], [1, 3]))
        assert identity(one) == identity(two) != identity(other)


class Session:
    """An object with a setting, a cache of its own, and a link to itself."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.me = self
        self._cache = [object()]

    def __call__(self, frame: Any) -> Any:
        return frame


def test_settings_count_and_private_state_does_not() -> None:
    one, two = Session("a"), Session("a")
    one._cache.append(object())
    assert identity(Oracle(one)) == identity(Oracle(two)) != identity(Oracle(Session("b")))
    assert identity(one.__call__) == identity(two.__call__)


def test_parameters_of_built_in_sanitizers_and_models_count() -> None:
    texts = ["mondrian:k=2", "mondrian:k=3", "mondrian:l=2", "laplace:epsilon=1", "identity"]
    assert len({identity(as_sanitizer(text)) for text in texts}) == len(texts)
    assert identity(Mondrian(k=2)) == identity(as_sanitizer("mondrian:k=2"))
    assert identity(Laplace(1.0)) != identity(Laplace(2.0))
    models = ["tree", "tree:encoding=Scaling-Hot", "forest", "naive-bayes", "frequency"]
    assert len({identity(as_model(text)) for text in models}) == len(models)
    assert identity(NaiveBayes(alpha=1)) != identity(NaiveBayes(alpha=2))


def test_arrays_count_by_their_numbers() -> None:
    def shifted(by: Any) -> Callable[[Any], Any]:
        return lambda frame: (frame, by)

    one, two, other = (np.array(values) for values in ([1, 2], [1, 2], [1, 3]))
    assert identity(shifted(one)) == identity(shifted(two)) != identity(shifted(other))
    mixed = [np.array(values, object) for values in ([1, "a"], [1, "b"])]
    assert identity(shifted(mixed[0])) != identity(shifted(mixed[1]))


@dataclass(frozen=True)
class Widths:
    width: int
    seconds: float = field(default=0.0, compare=False)


def test_fields_that_do_not_compare_do_not_count() -> None:
    assert identity(Widths(1, 2.0)) == identity(Widths(1, 3.0)) != identity(Widths(2, 2.0))


def test_the_code_of_a_class_of_ones_own_counts() -> None:
    source = "class F:\n    def __call__(self, x):\n        return x\nf = F()\n"
    other = source.replace("return x", "return x + 1")
    assert identity(made(source)) == identity(made(source)) != identity(made(other))


def test_what_comes_from_elsewhere_counts_by_its_name() -> None:
    """What a library does is told by its version; which of its functions is used counts."""
    source = "from math import sqrt as g\ndef f(x):\n    return g(x)\n"
    assert identity(made(source)) == identity(made(source))
    assert identity(made(source)) != identity(made(source.replace("sqrt", "exp")))
    local = "def g(x):\n    return x\ndef f(x):\n    return g(x)\n"
    assert identity(made(local)) != identity(made(local.replace("return x", "return -x")))


def test_a_table_read_in_another_way_is_another_one() -> None:
    """The same cells, coded in another order."""
    frame = pa.table({"size": ["S", "M", "L", "M"], "ill": ["a", "b", "a", "b"]})
    found = {
        table_identity(read_table(frame, quasi=["size"], sensitive="ill", orders={"size": order}))
        for order in (["S", "M", "L"], ["L", "M", "S"])
    }
    assert len(found) == 2

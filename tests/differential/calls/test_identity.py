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
from indiff.data.hierarchy import Hierarchy
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
    large = [np.array([10**20 + 1, "b" * width], object) for width in (3, 3)]  # not the same cells
    assert identity(shifted(large[0])) == identity(shifted(large[1]))


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


def frame_in(values: Any, kind: Any = None) -> Callable[[Any], Any]:
    """A function that closes over a frame of one column."""
    frame = pa.table({"a": pa.array(values, kind)})
    return lambda given: (given, frame)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ([1, None, 2], [1, 1, 2], pa.int64()),  # a missing value is no value
        ([1, None, 2], [1, 2, None], pa.int64()),
        (["x", None], ["x", "x"], pa.string()),
        (["x", "y", "x"], ["x", "y", "y"], pa.dictionary(pa.int32(), pa.string())),
        ([[1, 2], [3]], [[1], [2, 3]], pa.list_(pa.int64())),
    ],
)
def test_frames_count_by_every_cell(one: Any, other: Any, kind: Any) -> None:
    assert identity(frame_in(one, kind)) == identity(frame_in(one, kind))
    assert identity(frame_in(one, kind)) != identity(frame_in(other, kind))


def test_what_lies_below_a_null_does_not_count() -> None:
    shown, hidden = pa.array([1, 2, 3]), pa.array([1, 9, 3])
    valid = pa.py_buffer(bytes([0b101]))
    frames = [
        pa.table({"a": pa.Array.from_buffers(pa.int64(), 3, [valid, one.buffers()[1]])})
        for one in (shown, hidden)
    ]
    tables = [identity(lambda given, frame=frame: (given, frame)) for frame in frames]
    assert tables[0] == tables[1]


def test_arrays_of_one_kind_differ_by_their_shape_and_type() -> None:
    def shifted(by: Any) -> Callable[[Any], Any]:
        return lambda frame: (frame, by)

    flat = np.arange(4)
    kinds = [flat, flat.reshape(2, 2), flat.reshape(4, 1), flat.astype(np.int32), flat.astype("f8")]
    assert len({identity(shifted(one)) for one in kinds}) == len(kinds)
    large = np.zeros(2_000_000)  # printed with dots in the middle
    other = large.copy()
    other[1_000_000] = 1
    assert identity(shifted(large)) != identity(shifted(other))


@pytest.mark.parametrize(
    ("source", "was", "becomes"),
    [
        ("EDGES = [18, 65]\ndef f(x):\n    return EDGES\n", "65", "70"),
        ("EDGES = {'age': 5}\ndef f(x):\n    return EDGES\n", "5", "10"),
        (
            "def g(x):\n    return x\ndef f(x):\n    return [g(y) for y in x]\n",
            "return x",
            "return 1",
        ),
        ("WIDTH = 3\ndef f(x):\n    return max(x, key=lambda y: y % WIDTH)\n", "3", "4"),
        (
            "class Cut:\n    def __init__(self, at):\n        self.at = at\n"
            "cut = Cut(3)\ndef f(x):\n    return cut, x\n",
            "Cut(3)",
            "Cut(4)",
        ),
    ],
)
def test_what_a_function_finds_in_its_module_counts(source: str, was: str, becomes: str) -> None:
    other = source.replace(was, becomes)
    assert other != source
    assert identity(made(source)) == identity(made(source)) != identity(made(other))


def test_a_private_cache_of_a_module_does_not_count() -> None:
    source = "_cache = {}\ndef f(x):\n    return _cache.setdefault(x, x)\n"
    one, two = made(source), made(source)
    one(1)
    assert identity(one) == identity(two)
    private = "_width = 3\ndef f(x):\n    return x // _width\n"  # a number is no cache
    assert identity(made(private)) != identity(made(private.replace("3", "4")))


def test_a_function_of_another_module_counts_by_its_name_alone() -> None:
    """What it does is told by its module's version."""

    def using(body: str) -> Any:
        library: dict[str, Any] = {"__name__": "library"}
        exec(f"def g(x):\n    return {body}\n", library)
        scope: dict[str, Any] = {"__name__": "script", "g": library["g"]}
        exec("def f(x):\n    return g(x)\n", scope)
        return scope["f"]

    assert identity(using("x")) == identity(using("x + 1"))


def test_a_table_counts_by_its_records_and_its_names() -> None:
    """The same cells after other records were dropped, or below another name, are another table."""
    whole = pa.table({"age": [1, None, 3], "note": ["x", "y", "x"], "ill": ["a", "b", "a"]})
    moved = whole.take(pa.array([1, 0, 2]))

    def told(frame: pa.Table) -> str:
        return table_identity(read_table(frame, quasi=["age"], sensitive="ill", missing="drop"))

    assert told(whole) == told(whole) != told(moved)
    assert told(whole) != told(whole.rename_columns(["age", "remark", "ill"]))


def test_a_part_of_a_table_counts_by_which_records_it_has() -> None:
    """Both parts have the same codes; what a sanitizer also gets to see differs."""
    frame = pa.table({"age": [1, 1, 3], "note": ["x", "y", "x"], "ill": ["a", "a", "b"]})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    assert table_identity(table.take([0, 2])) != table_identity(table.take([1, 2]))


def test_a_table_counts_by_how_it_was_read() -> None:
    """The same cells, but another treatment of missing values, other bins or trees."""
    frame = pa.table({"town": ["a", "b", "c"], "pay": [1, 2, 30]})

    def told(data: Any = frame, **options: Any) -> str:
        return table_identity(read_table(data, quasi=["town"], sensitive="pay", **options))

    trees = [
        Hierarchy.from_lines(lines)
        for lines in (["a;x;*", "b;x;*", "c;y;*"], ["a;x;*", "b;y;*", "c;y;*"])
    ]
    found = [
        told(),
        told(missing="drop"),
        told(frame.to_pandas()),
        told(bins=[0, 10, 40]),
        told(bins=[0, 1.5, 40]),
        told(kinds={"pay": "categorical"}),
        *(told(hierarchies={"town": tree}) for tree in trees),
    ]
    assert len({*found}) == len(found)
    assert told(hierarchies={"town": trees[0]}) == found[-2]
    assert told() == found[0]

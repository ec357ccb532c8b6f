"""Tables: roles, kinds, sensitive attributes of every form, missing values, record numbers."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from indiff import Hierarchy, Mondrian, Table, UserError, read_table
from indiff.data.schema import Kind

COLUMNS: dict[str, list[Any]] = {
    "name": ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"],
    "age": [20, 30, 40, 50, 60, 70],
    "zip": ["01000", "02000", "01000", "10000", "02000", "01000"],
    "income": [1000, 60000, 70000, 20000, 90000, 10],
    "ill": ["flu", "cold", "flu", "cold", "flu", "gout"],
}


def read(source: Any = None, **options: Any) -> Table:
    return read_table(pa.table(COLUMNS) if source is None else source, **options)


def values(table: Table) -> list[Any]:
    return [table.sensitive.values[code] for code in table.sensitive.codes]


# ── roles and kinds ──────────────────────────────────────────────────────────────────────────


def test_leading_zeros_make_a_column_categorical(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("zip,age,ill\n01000,3,a\n20000,4,b\n01000,4,b\n", encoding="utf-8")
    table = read(path, quasi=["zip", "age"], sensitive="ill")
    assert table.schema["zip"].kind == Kind.CATEGORICAL
    assert table.attribute("zip").values.tolist() == ["01000", "20000"]
    assert table.schema["age"].kind == Kind.NUMERIC


@pytest.mark.parametrize(
    ("separator", "ending"), [(",", "csv"), (";", "csv"), ("\t", "tsv")], ids=["csv", "semi", "tsv"]
)
def test_separators(tmp_path: Path, separator: str, ending: str) -> None:
    path = tmp_path / f"data.{ending}"
    lines = ["age,ill", "3,a", "4,b"]
    path.write_text("\n".join(lines).replace(",", separator) + "\n", encoding="utf-8")
    table = read(path, quasi=["age"], sensitive="ill")
    assert table.attribute("age").values.tolist() == [3, 4]


def test_dates_are_days_and_are_printed_as_dates() -> None:
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(d) for d in (-3, 0, 4, 20000)]
    table = read(pa.table({"born": days, "ill": list("abab")}), quasi=["born"], sensitive="ill")
    attribute = table.attribute("born")
    assert attribute.is_date
    assert attribute.kind == Kind.NUMERIC
    assert attribute.values.tolist() == [-3, 0, 4, 20000]
    assert "born (date)" in table.describe()
    texts = Mondrian(k=2).sanitize(table).to_frame()["born"].to_pylist()
    assert texts[0] == "[1969-12-29, 1970-01-01]"


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
def test_numbers_that_are_not_numeric_stay_in_the_order_of_numbers(kind: str) -> None:
    table = read(
        pa.table({"grade": [10, 9, 1, 10], "ill": list("abab")}),
        quasi=["grade"],
        sensitive="ill",
        kinds={"grade": kind},
    )
    assert table.attribute("grade").values.tolist() == ["1", "9", "10"]
    assert table.attribute("grade").codes.tolist() == [2, 1, 0, 2]


def test_orders_are_declared_or_come_with_the_frame() -> None:
    order = ["low", "mid", "high", "top"]
    cells = ["mid", "low", "high", "low"]
    frames = [
        (pa.table({"g": cells, "s": list("abab")}), {"orders": {"g": order}}),
        (
            pd.DataFrame(
                {"g": pd.Categorical(cells, categories=order, ordered=True), "s": list("abab")}
            ),
            {},
        ),
        (
            pl.DataFrame({"g": cells, "s": list("abab")}).with_columns(
                pl.col("g").cast(pl.Enum(order))
            ),
            {},
        ),
    ]
    for frame, options in frames:
        attribute = read(frame, quasi=["g"], sensitive="s", **options).attribute("g")
        assert attribute.kind == Kind.ORDINAL
        assert attribute.values.tolist() == order
        assert attribute.codes.tolist() == [1, 0, 2, 0]


def test_an_order_must_name_every_value_once() -> None:
    frame = pa.table({"g": ["low", "high"], "s": ["a", "b"]})
    with pytest.raises(UserError, match="must name every value; it lacks 'high'"):
        read(frame, quasi=["g"], sensitive="s", orders={"g": ["low", "hihg"]})
    with pytest.raises(UserError, match="names a value twice"):
        read(frame, quasi=["g"], sensitive="s", orders={"g": ["low", "low", "high"]})


def test_a_hierarchy_orders_the_values_and_every_value_must_be_in_it() -> None:
    tree = Hierarchy.from_lines(["b;x;*", "c;x;*", "a;*"])
    frame = pa.table({"g": ["a", "b", "a"], "s": list("uvv")})
    table = read(frame, quasi=["g"], sensitive="s", hierarchies={"g": tree})
    assert table.attribute("g").values.tolist() == list(tree.values)
    with pytest.raises(UserError, match=r"every value of 'g' must be in its hierarchy; 'd' is not"):
        read(
            pa.table({"g": ["a", "d"], "s": ["u", "v"]}),
            quasi=["g"],
            sensitive="s",
            hierarchies={"g": tree},
        )
    with pytest.raises(UserError, match="a hierarchy makes a column categorical; 'g' is declared"):
        read(
            frame, quasi=["g"], sensitive="s", hierarchies={"g": tree}, kinds={"g": "ordinal"},
            orders={"g": ["a", "b"]},
        )  # fmt: skip


# ── sensitive attributes ─────────────────────────────────────────────────────────────────────


def test_an_order_names_values_as_the_frame_has_them() -> None:
    frame = pa.table({"f": [1.0, 2.5], "b": [True, False], "s": ["a", "b"]})
    orders: dict[str, Any] = {"f": [2.5, 1.0], "b": [True, False]}
    table = read(frame, quasi=["f", "b"], sensitive="s", orders=orders)
    assert table.attribute("f").values.tolist() == ["2.5", "1"]
    assert table.attribute("b").values.tolist() == ["true", "false"]
    orders["f"] = [1.0, 2.5, None]
    with pytest.raises(UserError, match="the missing value has no place in the order of 'f'"):
        read(frame, quasi=["f"], sensitive="s", orders=orders)


@pytest.mark.parametrize(("records", "bins"), [(100, 20), (42, 14), (10, 4), (3, 5)])
def test_quantiles_are_of_whole_records(records: int, bins: int) -> None:
    frame = pa.table({"x": range(records), "n": range(records)})
    table = read(frame, quasi=["x"], sensitive="n", bins=bins)
    edges = [-(-records * place // bins) for place in range(bins + 1)]
    sizes = [high - low for low, high in itertools.pairwise(edges) if high > low]
    assert table.sensitive.counts.tolist() == sizes


def test_bins_that_are_none() -> None:
    frame = pa.table({"x": [1, 2, 3], "n": [10, 20, 30], "gap": pa.array([None] * 3, pa.int64())})
    with pytest.raises(UserError, match="'gap' has none at all"):
        read(frame, quasi=["x"], sensitive="gap", bins=2)
    for wrong in ("2", ["a"], [], [float("nan")], 2.5):
        with pytest.raises(UserError, match="a number of quantiles or a list of finite edges"):
            read(frame, quasi=["x"], sensitive="n", bins=wrong)
    assert len(read(frame, quasi=["x"], sensitive="n", bins=np.int64(3)).sensitive.values) == 3


def test_several_sensitive_attributes() -> None:
    table = read(quasi=["age"], sensitive=["ill", "income > 50000"])
    assert [s.name for s in table.sensitives] == ["ill", "income > 50000"]
    assert table.focus("ill").sensitive.values == ("cold", "flu", "gout")
    with pytest.raises(UserError, match="exactly one sensitive attribute is needed here; the tabl"):
        _ = table.sensitive
    with pytest.raises(UserError, match="no sensitive attribute 'il': did you mean 'ill'"):
        table.focus("il")


def test_a_joint_attribute_has_the_tuples_that_occur() -> None:
    table = read(quasi=["age"], sensitive=["ill", "income > 50000"], joint=True)
    assert table.sensitive.values == (
        ("cold", "false"),
        ("cold", "true"),
        ("flu", "false"),
        ("flu", "true"),
        ("gout", "false"),
    )
    assert values(table)[2] == ("flu", "true")
    assert table.sensitive.columns == ("ill", "income > 50000")


def test_a_numeric_attribute_with_many_values_needs_bins_or_an_expression() -> None:
    frame = pa.table({"q": range(51), "my x": range(51)})
    with pytest.raises(UserError, match=r"at most 50 distinct values; 'my x' has 51\. Give bins="):
        read(frame, quasi=["q"], sensitive="my x")
    with pytest.raises(UserError, match=r'an expression such as: "my x" > 25'):
        read(frame, quasi=["q"], sensitive="my x")
    assert read(frame, quasi=["q"], sensitive='"my x" > 25').sensitive.values == ("false", "true")
    assert len(read(frame.slice(1), quasi=["q"], sensitive="my x").sensitive.values) == 50


def test_bins_by_quantiles_and_by_edges() -> None:
    frame = pa.table({"q": range(10), "x": [0, 1, 2, 3, 4, 5, 6, 7, 8, 100]})
    halves = read(frame, quasi=["q"], sensitive="x", bins=2).sensitive
    assert halves.values == ("[0, 4]", "[5, 100]")
    assert halves.counts.tolist() == [5, 5]
    assert halves.kind == Kind.ORDINAL
    edges = read(frame, quasi=["q"], sensitive="x", bins=[2, 8]).sensitive
    assert edges.values == ("[0, 2]", "[3, 8]", "100")
    named = read(frame, quasi=["q"], sensitive="x", bins={"x": [1.5]}).sensitive
    assert named.values == ("[0, 1]", "[2, 100]")
    with pytest.raises(UserError, match="bins must be at least 2; got 1"):
        read(frame, quasi=["q"], sensitive="x", bins=1)


def test_bins_of_dates_are_dates_and_missing_stays_a_value() -> None:
    days = [datetime.date(2000, 1, day) for day in range(1, 7)]
    frame = pa.table({"q": range(7), "born": [*days, None]})
    table = read(frame, quasi=["q"], sensitive="born", bins=2)
    assert table.sensitive.values == (
        "[2000-01-01, 2000-01-03]", "[2000-01-04, 2000-01-06]", None,
    )  # fmt: skip
    assert table.sensitive.codes.tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_large_whole_numbers_stay_apart() -> None:
    frame = pa.table({"q": [1, 2, 3], "x": [2**53, 2**53 + 1, 5]})
    assert read(frame, quasi=["q"], sensitive="x").sensitive.values == (5, 2**53, 2**53 + 1)


# ── missing values and record numbers ────────────────────────────────────────────────────────

GAPS = {
    "age": [20, None, 40, 50, None, 70],
    "zip": ["a", "b", None, "a", "b", "a"],
    "ill": ["flu", "cold", "flu", None, "flu", "cold"],
}


def test_a_missing_number_is_an_error_that_offers_two_ways_out() -> None:
    with pytest.raises(UserError, match=r"missing in age \(2\)\. Choose missing='drop' .*'split'"):
        read(pa.table(GAPS), quasi=["age", "zip"], sensitive="ill")


def test_dropping_keeps_the_numbers_of_the_input() -> None:
    table = read(pa.table(GAPS), quasi=["age", "zip"], sensitive="ill", missing="drop")
    assert table.records.tolist() == [0, 2, 3, 5]
    assert table.dropped == 2
    assert "2 records with a missing quasi-identifier were dropped" in table.notes
    assert table.frame()["age"].to_pylist() == [20, 40, 50, 70]
    assert table.without(1).records.tolist() == [0, 3, 5]
    assert table.without(1).frame()["age"].to_pylist() == [20, 50, 70]
    everything = {"age": pa.array([None, None], pa.int64()), "s": ["a", "b"]}
    with pytest.raises(UserError, match="missing='drop' leaves no record"):
        read(pa.table(everything), quasi=["age"], sensitive="s", missing="drop")


def test_splitting_makes_missing_a_part_of_its_own() -> None:
    table = read(pa.table(GAPS), quasi=["age", "zip"], sensitive="ill", missing="split")
    assert len(table) == 6
    attribute = table.attribute("age")
    assert attribute.has_missing
    assert attribute.missing_code == 4
    assert attribute.codes.tolist() == [0, 4, 1, 2, 4, 3]
    release = Mondrian(k=2).sanitize(table)
    assert release.to_frame()["age"].to_pylist()[1] == "missing"
    assert release.covers("age", None).tolist() == [False, True, False, False, True, False]


def test_missing_text_and_missing_sensitive_values_are_values() -> None:
    table = read(pa.table(GAPS), quasi=["zip"], sensitive="ill")
    assert table.attribute("zip").values.tolist() == ["a", "b", None]
    assert table.sensitive.values == ("cold", "flu", None)


def test_missing_tokens(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,ill\n3,a\n?,b\n5,?\n", encoding="utf-8")
    table = read(path, quasi=["age"], sensitive="ill", missing="drop", missing_tokens=["?"])
    assert table.records.tolist() == [0, 2]
    assert values(table) == ["a", None]


# ── tables ───────────────────────────────────────────────────────────────────────────────────


def test_values_are_fixed_by_the_full_table() -> None:
    table = read(quasi=["age", "zip"], sensitive="ill")
    rest = table.without(5)
    assert len(rest) == 5
    assert rest.sensitive.values == table.sensitive.values
    assert rest.sensitive.counts.tolist() == [2, 3, 0]
    assert rest.attribute("age").values.tolist() == table.attribute("age").values.tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_same_table_from_any_frame(make: Any) -> None:
    one, two = (
        read(quasi=["age", "zip"], sensitive="ill"),
        read(make(COLUMNS), quasi=["age", "zip"], sensitive="ill"),
    )
    assert one.fingerprint == two.fingerprint
    assert isinstance(Mondrian(k=2).sanitize(two).to_frame(), type(make(COLUMNS)))
    assert np.array_equal(one.records, two.records)

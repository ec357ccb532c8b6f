"""What the documentation of risk promises beside the metrics: kinds, limits, what is said."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff import Mondrian, read_table
from indiff.data.hierarchy import Hierarchy
from indiff.errors import UserError
from indiff.risk import measure_risk
from indiff.risk.columns import require_few_combinations, require_few_passes
from indiff.risk.metrics import AtMaximum, GroupRisk, group_risk, marketer
from indiff.risk.sizes import Grouped, SizeRow

WORDS = ["x", "y", "x"]
NOTHING = pa.nulls(3, pa.string())
TREE = Hierarchy.from_lines(["x;*", "y;*", "1;*", "2;*"])
DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([1, 2, 2], {}, "numeric"),
        ([1.5, 2.5, None], {}, "numeric"),
        ([DAY, DAY, None], {}, "numeric"),
        (["1", "2.5", ""], {}, "numeric"),
        (["01", "2", "3"], {}, "categorical"),  # a code with a leading zero
        (["1", "2", "x"], {}, "categorical"),
        (WORDS, {}, "categorical"),
        (NOTHING, {}, "categorical"),
        ([True, False, True], {}, "categorical"),
        ([1, 2, 2], {"kinds": "categorical"}, "categorical"),
        (["1", "2", "2"], {"kinds": "categorical"}, "categorical"),
        (["1", "2", "2"], {"kinds": "numeric"}, "numeric"),
        ([1, 2, 2], {"kinds": "ordinal"}, "ordinal"),
        (WORDS, {"orders": ["y", "x"]}, "ordinal"),
        (WORDS, {"orders": ["y", "x"], "kinds": "ordinal"}, "ordinal"),
        ([1, 2, 2], {"orders": [2, 1]}, "ordinal"),
        (WORDS, {"hierarchies": TREE}, "categorical"),
        ([1, 2, 2], {"hierarchies": TREE}, "categorical"),
        (WORDS, {"hierarchies": TREE, "kinds": "categorical"}, "categorical"),
        (WORDS, {"kinds": "numeric"}, "cannot be numeric: it holds text such as 'x'"),
        (NOTHING, {"kinds": "numeric"}, "cannot be numeric: it holds text such as ''"),
        ([True, False, True], {"kinds": "numeric"}, "cannot be numeric; declare it categorical"),
        (WORDS, {"kinds": "ordinal"}, "an ordinal column needs its order"),
        (WORDS, {"kinds": "sorted"}, "a kind is one of .*'sorted' for column 's'"),
        (WORDS, {"orders": ["y"]}, "must name every value; it lacks 'x'"),
        ([1, 2, 2], {"hierarchies": TREE, "kinds": "numeric"}, "makes a column categorical"),
        (WORDS, {"hierarchies": Hierarchy.from_lines(["x;*"])}, "'y' is not"),
    ],
)
def test_the_kind_of_a_sensitive_attribute(
    values: Any, options: Mapping[str, Any], expected: str
) -> None:
    table = pa.table({"q": ["a", "a", "b"], "s": values})
    asked: dict[str, Any] = {name: {"s": value} for name, value in options.items()}

    def kind() -> str:
        risk = measure_risk(table, quasi="q", sensitive="s", details=False, **asked)
        ground = "hierarchy" if "hierarchies" in options else "ranks"
        ground = "equal" if expected == "categorical" and ground == "ranks" else ground
        assert risk.method.ground_distances == {"s": ground}
        return risk.method.kinds["s"]

    if " " in expected:
        with pytest.raises(UserError, match=expected):
            kind()
    else:
        assert kind() == expected


def test_progress_is_told_step_by_step(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": [1, 1]})
    for quasi, options, expected in (
        ("a", {}, ["values", "combinations"]),
        (["a", "b"], {}, ["column a", "column b", "values", "combinations"]),
        (["a", "b"], {"details": False}, ["values", "combinations"]),
        ("a", {"records": tmp_path / "r.csv"}, ["values", "combinations", "records"]),
        ("a", {"population": 9}, ["values", "combinations", "population"]),
    ):
        said: list[str] = []
        measure_risk(table, quasi=quasi, progress=said.append, **options)
        assert said == ["counting", "all quasi-identifiers together", *expected]


def test_without_details_nothing_is_said_of_single_columns_and_values() -> None:
    table = pa.table({"a": [1, 2], "b": [1, 1], "s": ["x", "y"]})
    risk = measure_risk(table, quasi=["a", "b"], sensitive="s", details=False)
    assert (risk.columns, risk.contributions, risk.levels) == ({}, (), ())
    assert (risk.distinct_values, risk.combinations) == ({}, ())
    assert risk.reidentification.itpr_combined == risk.reidentification.itpr == 1
    whole = measure_risk(table, quasi=["a", "b"], sensitive="s")
    assert list(whole.columns) == ["a", "b"]
    assert whole.columns["b"].reidentification.itpr_combined is None
    alone = measure_risk(table, quasi="a", sensitive="s")
    assert list(alone.columns) == ["a"]
    (part,) = alone.contributions
    assert part.added_inference_dr == {"s": 1.0}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def test_nothing_is_left_behind(temporary: Path) -> None:
    table = pa.table({"q": [1, 2], "s": ["x", "y"]})
    risk = measure_risk(table, quasi="q", sensitive="s")
    assert [*temporary.iterdir()] == [], risk.records
    with pytest.raises(UserError) as refused:
        measure_risk(table, quasi="q", sensitive="s", kinds={"s": "numeric"})
    assert [*temporary.iterdir()] == [], refused.value


def test_a_cause_names_the_five_smallest_sizes_and_knows_twenty() -> None:
    """Groups of 1 to 21 records, each with one value of its own."""
    sizes = [size for size in range(1, 22) for _ in range(size)]
    risk = measure_risk(pa.table({"q": sizes, "s": sizes}), quasi="q", sensitive="s", details=False)
    cause = risk.inference["s"].at_maximum
    assert (cause.groups, cause.records) == (21, 231)
    assert cause.sizes == tuple((size, size) for size in range(1, 21))
    assert str(cause).endswith("4 in groups of 4, 5 in groups of 5)")
    several = AtMaximum(3, 2_000, ((1_000, 2_000),))
    assert str(several) == "2,000 records in 3 groups (2,000 in groups of 1,000)"


def test_an_outlier_is_held_by_fewer_than_a_tenth_of_the_average() -> None:
    """Ten values of 100 records: 10 on average, of which 1 is a tenth and not fewer."""
    common = [value for value in range(9) for _ in range(11)]
    risk = measure_risk(pa.table({"q": [*common, 99]}), quasi="q")
    assert risk.outliers == ()
    risk = measure_risk(pa.table({"q": [*common, *common, 99]}), quasi="q")
    assert [level.value for level in risk.outliers] == [99]
    exactly = measure_risk(pa.table({"q": [*common, *common, 99]}), quasi="q", outlier=1.0)
    assert [level.value for level in exactly.outliers] == [99], "its own term is 1"
    risk = measure_risk(pa.table({"q": [*common, *common, 99]}), quasi="q", outlier=1.1)
    assert risk.outliers == ()


def test_at_most_a_thousand_values_of_a_column_are_listed() -> None:
    risk = measure_risk(pa.table({"q": [*range(1001)]}), quasi="q")
    assert (len(risk.levels), risk.distinct_values) == (1000, {"q": 1001})


def test_a_document_has_the_worst_of_every_model_and_nothing_of_its_class() -> None:
    found = measure_risk(pa.table({"q": [1, 1], "s": ["a", "b"]}), quasi="q", sensitive="s")
    groups = found.to_dict()["groups"]
    assert {"l", "distinct_l", "entropy_l", "recursive", "alpha", "t", "beta"} <= groups.keys()
    assert not [name for name in groups if name.startswith("_")]


def test_where_all_records_are_one_person_s_nothing_is_told_of_whose_they_are() -> None:
    table = pa.table({"q": [1, 1, 2], "who": ["a"] * 3})
    risk = measure_risk(table, quasi="q", individual="who")
    assert (risk.reidentification.h, risk.reidentification.itpr) == (0, 0)
    assert [level.itpr for level in risk.levels] == [0, 0]


def test_combinations_are_few_enough_or_refused() -> None:
    """C(447, 2) + 447 = 100,128; and 100,000 columns are as many combinations of one."""
    for quasi, largest in ((100_000, 1), (447, 1), (446, 2), (16, 99), (5, 0)):
        require_few_combinations(quasi, largest)
    for quasi, largest, said in (
        (100_001, 1, r"got 100,001 of up to 1 of .* take 5 min or longer\. Use combinations=0"),
        (447, 2, r"got 100,128 of up to 2 of 447 columns.* Use combinations=1"),
        (447, 3, r"got 100,128 of up to 2 of 447 columns"),
        (17, 99, "got 109,293 of up to 10 of 17"),
        (5, -1, "combinations must be 0 or more columns; got -1"),
    ):
        with pytest.raises(UserError, match=said):
            require_few_combinations(quasi, largest)


def counted_on(dialect: str, rows: int, columns: int) -> Any:
    engine = SimpleNamespace(dialect=dialect, query=lambda sql: [(rows,)])
    return SimpleNamespace(engine=engine, quasi=("q",) * columns, cells="cells")


def test_a_cluster_groups_few_enough_cells_or_refuses() -> None:
    """10⁵ rows × 1,000² columns are 10¹¹ cells; 10⁸ in a second are 1,000 s, 16 min and 40 s."""
    for dialect, rows, columns in (
        ("spark", 10**5, 1_000),
        ("spark", 10**11, 8),
        ("duckdb", 10**9, 1_000),
    ):
        require_few_passes(counted_on(dialect, rows, columns))
    with pytest.raises(
        UserError,
        match=r"100,001,000,000 \(100,001 different rows, 1,000 columns\).* 17 min or longer\. "
        "Use details=False",
    ):
        require_few_passes(counted_on("spark", 100_001, 1_000))
    with pytest.raises(UserError, match="9 columns"):
        require_few_passes(counted_on("spark", 10**11, 9))


def test_passes_are_counted_before_anything_else_and_only_where_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(
        "indiff.risk.columns.require_few_passes", lambda counted: said.append("asked")
    )
    table = pa.table({"a": [1, 2], "b": [1, 2]})
    assert measure_risk(table, quasi=["a", "b"], details=False).combinations == ()
    assert said == []
    measure_risk(table, quasi=["a", "b"], progress=said.append)
    assert said[:3] == ["counting", "asked", "all quasi-identifiers together"]


def test_no_record_singled_out_by_a_width_is_none() -> None:
    table = pa.table({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2], "c": [1, 2, 3, 4]})
    assert measure_risk(table, quasi=["a", "b"], combinations=2).singled_out_by_width == {
        1: 0,
        2: 0,
    }
    assert measure_risk(table, quasi=["a", "c"], combinations=2).singled_out_by_width == {
        1: 4,
        2: 4,
    }


def test_one_group_tells_nothing() -> None:
    table = pa.table({"q": [1] * 4, "s": ["x", "x", "x", "y"]})
    groups = measure_risk(table, quasi="q", sensitive="s", details=False).groups
    assert (groups.beta, groups.beta_enhanced, groups.delta_disclosure, groups.t) == (0, 0, 0, 0)
    assert (groups.prosecutor, groups.journalist) == (0.25, 0.25)
    assert isinstance(vars(GroupRisk)["t"], type(GroupRisk.t)), "of a class, the model itself"


def test_the_larger_of_gain_and_loss_is_disclosed() -> None:
    """Half hold x: in one group three quarters do (ln 1.5), in the other a quarter (ln 2)."""
    table = pa.table({"q": [1] * 4 + [2] * 4, "s": [*"xxxyxyyy"]})
    groups = measure_risk(table, quasi="q", sensitive="s", details=False).groups
    assert groups.delta_disclosure == pytest.approx(0.6931471805599453)
    assert groups.beta == groups.beta_enhanced == pytest.approx(0.5)


def test_a_group_with_one_value_is_recursively_1_diverse_only() -> None:
    """r₁ < c·(r₁ + … ) holds for every c above 1."""
    table = pa.table({"q": [1, 1, 2, 2], "s": [*"xxxy"]})
    assert measure_risk(table, quasi="q", sensitive="s").groups.recursive == (1.0, 1)


def test_a_flat_hierarchy_is_the_equal_distance() -> None:
    table = pa.table({"q": [1, 1, 1, 2, 2, 2], "s": [*"xyxyyz"]})
    asked: dict[str, Any] = {"quasi": "q", "sensitive": "s", "details": False}
    flat = Hierarchy.from_lines([f"{value};*" for value in "xyz"])
    t = measure_risk(table, hierarchies={"s": flat}, **asked).groups.t
    assert t == pytest.approx(measure_risk(table, **asked).groups.t) == pytest.approx(1 / 3)


def test_dates_are_text_in_plain_values() -> None:
    table = pa.table({"q": [DAY, DAY, None], "s": [1, 2, 2]})
    found = measure_risk(table, quasi="q", sensitive="s").to_dict()
    assert {level["value"] for level in found["levels"]} == {"2020-01-01", None}
    assert "sizes" in found["groups"]
    assert "choose" not in str(found["groups"])


def row(smallest: int, largest: int, groups: int, records: int, **others: Any) -> SizeRow:
    kept = {"nlogn": 0.0, "clogc": 0.0, "least_weighted_h": 0.0, "least_h": 0.0, "linked": 0.0}
    kept |= {"homogeneous_groups": 0, "homogeneous_records": 0}
    kept |= {"largest_records": largest, "least_records": smallest, **others}
    return SizeRow(smallest, largest, groups, records, records, **kept)  # type: ignore[arg-type]


def test_sizes_that_are_kept_together_have_their_sums() -> None:
    """Two groups of 60,000 and 60,010 in one row, and one of a single record."""
    rows = row(1, 1, 1, 1, nlogn=0.0), row(60_000, 60_010, 2, 120_010, nlogn=7.5, linked=2.0)
    grouped = Grouped(("q",), rows)
    assert (grouped.groups, grouped.records, grouped.nlogn) == (3, 120_011, 7.5)
    assert marketer(grouped) == pytest.approx(3 / 120_011)
    found = group_risk(grouped, {})
    assert (found.k, found.singled_out) == (1, 1)
    assert [(size.smallest, size.largest, size.groups) for size in found.sizes] == [
        (1, 1, 1),
        (60_000, 60_010, 2),
    ]
    apart = Grouped(("q",), (row(4, 4, 2, 8),))
    assert (apart.nlogn, apart.h_groups) == (16, 1)


def test_bins_are_made_of_tables_that_are_read_here() -> None:
    table = pa.table({"q": ["a", "a", "b", "b", "b"], "pay": [1, 2, 30, 40, None]})
    read = read_table(table, quasi=["q"], sensitive="pay")
    release = Mondrian(k=2).sanitize(read)
    for source in (read, release, "hdfs://cluster/people.parquet"):
        with pytest.raises(UserError, match="bins are made of a table that is read here"):
            measure_risk(source, quasi="q", sensitive="pay", bins=2)
    with pytest.raises(UserError, match="no sensitive attribute to bin 'q'"):
        measure_risk(table, quasi="q", sensitive="pay", bins={"q": 2})
    risk = measure_risk(table, quasi="q", sensitive="pay", bins=2)
    assert (risk.method.bins, risk.method.kinds) == ({"pay": 2}, {"pay": "ordinal"})
    assert risk.groups.distinct_l == 1  # a: the lower bin; b: the upper one, and missing
    assert risk.inference["pay"].h == pytest.approx(1.5219280948873621)  # of 2, 2 and 1 of 5
    assert measure_risk(table, quasi="q", sensitive="pay").method.bins == {}
    assert measure_risk(read, quasi="q", sensitive="pay").method.bins == {}


@pytest.mark.parametrize("values", ["xyxy", "xxxx", "xyzw"])
def test_the_largest_term_of_the_records_is_the_metric(values: str, tmp_path: Path) -> None:
    """Also where the entropy is 1 bit, or none."""
    table = pa.table({"q": [1, 1, 2, 3], "s": [*values]})
    place = tmp_path / "records.parquet"
    risk = measure_risk(table, quasi="q", sensitive="s", records=place)
    rows = pq.read_table(place)
    assert max(rows["itpr"].to_pylist()) == pytest.approx(risk.reidentification.itpr)
    assert max(rows["itpr:s"].to_pylist()) == pytest.approx(risk.inference["s"].itpr)
    assert rows["group_size"].to_pylist() == [2, 2, 1, 1]
    assert rows["singled_out"].to_pylist() == [0, 0, 1, 1]

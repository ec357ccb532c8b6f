"""A release that another tool wrote: what is read, and what is refused with its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from indiff import Identity, Suppress, Table, UserError, read_release
from indiff.data.table import Attribute, read_table
from indiff.release.cells import read_regions
from indiff.release.regions import (
    Anything,
    Interval,
    UnreadableRegion,
)
from tests.release.test_regions import AGE, AGE_WITH_GAPS, SEX, texts
from tests.release.test_release import patients


def read_cell(column: str, cell: str) -> list[bool]:
    """Which of the five values in the order of the table a cell of one column covers."""
    table = patients()
    rows = {name: ["*"] for name in ("age", "born", "zip", "job")}
    rows[column] = [cell]
    release = read_release(pa.table({**rows, "ill": ["flu"]}), table)
    attribute = table.attribute(column)
    return [bool(release.column(column).covering(int(code))[0]) for code in attribute.codes]


@pytest.mark.parametrize(
    ("column", "cell", "covered"),
    [
        ("age", "*", "11111"),
        ("age", "28", "01000"),
        ("age", "[20, 40[", "11000"),
        ("age", "[20,40]", "11100"),
        ("age", "[20,40)", "11000"),
        ("age", "(20,40]", "01100"),
        ("age", "]20,40]", "01100"),
        ("age", "20-40", "11100"),
        ("age", "20~40", "11100"),
        ("age", ">=45", "00011"),
        ("age", "<45", "11100"),
        ("age", ">45", "00001"),
        ("age", "<=45", "11110"),
        ("born", "2000-01-05", "01000"),
        ("born", "2000-01-05~2000-01-20", "01110"),
        ("born", "[2000-01-05, 2000-01-20[", "01100"),
        ("born", ">=2000-01-20", "00011"),
        ("zip", "3551*", "11001"),
        ("zip", "355**", "11101"),
        ("zip", "{35510, 36000}", "10011"),
        ("zip", "35510~36000", "10011"),
        ("job", "Artist", "11001"),
        ("job", "Lawyer", "00110"),
        ("job", "{Lawyer, Dancer}", "10111"),
    ],
)
def test_notations_of_other_tools(column: str, cell: str, covered: str) -> None:
    assert read_cell(column, cell) == [sign == "1" for sign in covered]


@pytest.mark.parametrize(
    ("column", "cell"), [("age", "young"), ("age", "40-20"), ("zip", "99*"), ("job", "Poet")]
)
def test_a_cell_without_a_reading_is_an_error_with_its_place(column: str, cell: str) -> None:
    with pytest.raises(UserError, match=rf"row 1.*{column}|{column}.*row 1"):
        read_cell(column, cell)


def test_a_release_must_have_the_columns_and_known_sensitive_values() -> None:
    table = patients()
    frame = Suppress().sanitize(table).to_arrow()
    with pytest.raises(UserError, match="no column 'job'"):
        read_release(frame.drop_columns(["job"]), table)
    with pytest.raises(UserError, match="no column 'ill'"):
        read_release(frame.drop_columns(["ill"]), table)
    strange = frame.set_column(4, "ill", pa.array(["flu", "flu", "plague", "cold", "gout"]))
    with pytest.raises(UserError, match=r"row 3 of the release, column 'ill': 'plague' is not a"):
        read_release(strange, table)


def test_fewer_rows_and_another_order_of_columns_are_fine() -> None:
    table = patients()
    frame = Identity().sanitize(table).to_arrow().slice(1, 2)
    release = read_release(frame.select(["ill", "job", "zip", "born", "age"]), table)
    assert len(release) == 2
    assert release.sensitive.tolist() == ["flu", "cold"]
    assert release.covers("age", 28).tolist() == [True, False]


def test_other_tools_write_numbers_in_other_ways() -> None:
    table = read_table(
        pa.table({"x": [1, 2, 3], "s": [2.0, 0.5, None]}), quasi=["x"], sensitive="s"
    )
    release = read_release(pa.table({"x": ["*"] * 3, "s": ["2.0", "5e-1", ""]}), table)
    assert release.sensitive.tolist() == [2, 0.5, None]
    big = read_table(pa.table({"x": [1, 2], "s": [2**53, 1]}), quasi=["x"], sensitive="s")
    with pytest.raises(UserError, match="'9007199254740993' is not a sensitive value"):
        read_release(pa.table({"x": ["*"] * 2, "s": ["9007199254740993", "1"]}), big)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -2.0], "at least 0 in every row; row 2 has none"),
        ([None, 1.0], "at least 0 in every row; row 1 has none"),
        (["1", "heavy"], "at least 0 in every row; it holds strings"),
    ],
)
def test_weights_that_count_nothing(weights: list[Any], message: str) -> None:
    table = read_table(pa.table({"x": [1, 2], "s": ["a", "b"]}), quasi=["x"], sensitive="s")
    frame = pa.table({"x": ["1", "2"], "s": ["a", "b"], "weight": weights})
    with pytest.raises(UserError, match=message):
        read_release(frame, table)


def test_weights_count() -> None:
    table = patients()
    release = replace(Identity().sanitize(table), weights=np.array([1.0, 2, 0, 4, 0.5]))
    assert release.class_totals().tolist() == [4, 3, 0.5]
    back = read_release(release.to_arrow(), table)
    assert back.weights is not None
    assert back.weights.tolist() == [1, 2, 0, 4, 0.5]


def with_gaps() -> Table:
    return read_table(
        pa.table(
            {"age": [20, 28, None, 45, 47], "job": ["a", "b", None, "b", "a"], "ill": list("xyxyx")}
        ),
        quasi=["age", "job"],
        sensitive="ill",
        missing="split",
    )


def test_suppression_written_as_blank_or_na_covers_everybody(tmp_path: Path) -> None:
    table = with_gaps()
    path = tmp_path / "r.csv"
    path.write_text("age,job,ill\n20-28,,x\n,NA,y\nNA,b,x\n")
    release = read_release(path, table, suppressed=["", "NA"])
    assert release.covers("age", 47).tolist() == [False, True, True]
    assert release.covers("age", None).tolist() == [False, True, True]
    assert release.covers("job", "a").tolist() == [True, True, False]
    assert release.notes == ()
    assert read_release(path, table, suppressed=["", "NA"]).carried is None


def test_more_blanks_than_the_original_has_are_noted() -> None:
    table = with_gaps()
    frame = pa.table({"age": ["", None, "47"], "job": ["", "a", "b"], "ill": list("xyx")})
    (note,) = read_release(frame, table).notes
    assert "column 'age' has 2 blank cells in the release and 1 in the original" in note
    assert "give suppressed=['']" in note
    assert read_release(frame, table, suppressed="").notes == ()


def test_every_column_that_cannot_be_read_is_named() -> None:
    cells = pa.table({"age": ["young"], "born": ["May"], "zip": ["3551*"], "job": ["Poet"],
                      "ill": ["flu"]})  # fmt: skip
    with pytest.raises(UserError, match=r"column 'age', row 1.*Cells of 'born', 'job' cannot be"):
        read_release(cells, patients())


def test_a_column_that_is_suppressed_throughout_is_not_unread() -> None:
    table = read_table(
        pa.table({"who": ["p", "q"], "note": ["u", "v"], "age": [1, 2], "ill": ["x", "y"]}),
        identifier="who", quasi=["age"], sensitive="ill",
    )  # fmt: skip
    hidden = {"who": ["*", "*"], "note": ["NA", None], "age": ["*", "*"], "ill": ["x", "y"]}
    assert read_release(pa.table(hidden), table, suppressed=["NA"]).carried is None
    for cells, names in ((hidden, ["note"]), (hidden | {"who": ["*", "q"]}, ["who", "note"])):
        carried = read_release(pa.table(cells), table).carried
        assert carried is not None
        assert carried.column_names == names


def test_intervals_of_pandas_are_read_as_text_or_as_they_are(tmp_path: Path) -> None:
    table = patients()
    cut = pd.cut(pd.Series([20, 28, 40, 45, 47]), [10, 30, 60])
    rest = {"born": "*", "zip": "*", "job": "*", "ill": ["flu", "flu", "cold", "cold", "gout"]}
    frame = pd.DataFrame({"age": cut.astype(str), **rest})
    assert read_release(frame, table).covers("age", 28).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]
    frame.assign(age=cut).to_csv(tmp_path / "r.csv", index=False)
    assert read_release(tmp_path / "r.csv", table).covers("age", 45).tolist()[2:] == [True] * 3


def test_distinct_texts_are_read_once_and_equal_regions_are_one() -> None:
    regions, rows, _ = read_regions(["20-40", "*", "[20, 40]", "47", "*"], AGE)
    assert regions == (Interval(20, 40), Anything(), Interval(47, 47))
    assert rows.tolist() == [0, 1, 0, 2, 1]
    assert rows.dtype == np.int32


def test_no_rows() -> None:
    regions, rows, _ = read_regions([], AGE)
    assert regions == ()
    assert rows.shape == (0,)


def test_an_error_names_the_column_and_the_first_row() -> None:
    column = replace(SEX, name="sex")
    with pytest.raises(
        UnreadableRegion,
        match=r"^column 'sex', row 2 and 2 more: 'aaa' is no.*'Male'",
    ):
        read_regions(["Male", "Mal", "Femal", "Mal"], column)


@pytest.mark.parametrize(
    ("cells", "column", "message"),
    [
        (["47", "Peter 7", "x", "40ish", "1/2"], AGE, r"row 2 and 3 more: 'aaaaa 9' is no "
         r"number.*Other shapes: 'a', '99aaa'\. .*If its cells are codes.*kinds={'column': 'cat"),
        (["NA", "47"], AGE, r"row 1: 'aa' is no number.*give suppressed=\['NA'\]"),
        (["47", None], AGE, r"row 2: an empty cell needs.*give suppressed=\[''\]"),
        (["Men"], SEX, r"row 1: 'aaa' is no value.*hierarchies={'column': 'FILE'}"),
        (["?", "Male"], SEX, r"give suppressed=\['\?'\]"),
    ],
)  # fmt: skip
def test_an_error_tells_shapes_and_the_option_that_helps_but_no_cell(
    cells: list[str | None], column: Attribute, message: str
) -> None:
    with pytest.raises(UnreadableRegion, match=message) as caught:
        read_regions(cells, column)
    for secret in ("Peter", "40ish", "Men"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "column", "has_shape"),
    [
        (["NA"], AGE, True),
        (["12 to"], AGE, True),
        (["missing"], AGE, False),  # named as it is
        ([None], AGE, False),
        (["?"], SEX, False),
        (["missing", "Peter"], AGE, True),
    ],
)
def test_shapes_are_explained_where_one_is_told(
    cells: list[str | None], column: Attribute, has_shape: bool
) -> None:
    with pytest.raises(UnreadableRegion) as caught:
        read_regions(cells, column)
    assert ("a for every letter" in str(caught.value)) is has_shape


@pytest.mark.parametrize(
    ("cells", "column", "tokens", "covered_rows"),
    [
        (["NA", "47", "", None], AGE, ["NA", ""], [0, 2, 3]),
        ([" NA ", "Male"], SEX, ["NA"], [0]),
        ([None, "", "40", "missing"], AGE_WITH_GAPS, [""], [0, 1]),
        ([None, "a"], texts("a", None), [""], [0]),
        (["-", "20-40"], AGE, ["-"], [0]),
        (["*", "47"], AGE, ["*"], [0]),
    ],
)
def test_texts_that_stand_for_a_suppressed_cell(
    cells: list[str | None], column: Attribute, tokens: list[str], covered_rows: list[int]
) -> None:
    regions, rows, _ = read_regions(cells, column, tokens)
    assert [row for row, place in enumerate(rows) if regions[place] == Anything()] == covered_rows


@pytest.mark.parametrize(
    ("cell", "column", "token"),
    [("NA", texts("DE", "NA"), "NA"), ("", texts("", "a", None), ""), ("47", AGE, "47")],
)
def test_a_suppressed_cell_that_is_a_value_too_is_refused(
    cell: str, column: Attribute, token: str
) -> None:
    with pytest.raises(UnreadableRegion, match=r"this column has it as a value; write '\*'"):
        read_regions([cell], column, [token])


def test_rows_that_say_nothing_are_left_out_and_others_refused() -> None:
    table = read_table(
        pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}), quasi=["age"], sensitive="ill"
    )
    frame = pa.table({"age": ["28", "*", "47", "*"], "ill": ["no", "*", "no", "NA"]})
    release = read_release(frame, table, suppressed=["NA"])
    assert len(release) == 2
    assert list(release.left_out) == [1, 3]
    assert "2 released rows say nothing" in release.notes[-1]
    hidden = pa.table({"age": ["28", "36"], "ill": ["no", "*"]})
    with pytest.raises(UserError, match="suppress every cell of such a row"):
        read_release(hidden, table)


def test_a_blank_cell_of_a_release_is_the_missing_value_of_records_that_were_dropped() -> None:
    table = read_table(
        pa.table({"age": [28, None, 47], "ill": ["no", "no", "yes"]}),
        quasi=["age"], sensitive="ill", missing="drop",
    )  # fmt: skip
    release = read_release(pa.table({"age": ["28", "", "47"], "ill": ["no", "no", "yes"]}), table)
    assert len(release) == 3
    assert not release.notes
    assert [release.covers("age", x).tolist() for x in (28, 47)] == [
        [True, False, False], [False, False, True],
    ]  # fmt: skip


def test_a_sensitive_number_may_have_a_comma_before_its_fraction() -> None:
    table = read_table(
        pa.table({"age": [28, 36], "pay": [1234.5, 2.25]}), quasi=["age"], sensitive="pay"
    )
    release = read_release(pa.table({"age": ["28", "36"], "pay": ["1.234,50", "2,25"]}), table)
    assert release.classes.tolist() == table.sensitive.codes.tolist()

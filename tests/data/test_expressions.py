"""Sensitive attributes made by an expression: what they look at, and what is refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from indiff import UserError
from indiff.data.schema import Role
from tests.data.test_table import COLUMNS, read, values


def test_an_expression_is_a_sensitive_attribute() -> None:
    table = read(quasi=["age"], sensitive="income > 50000")
    assert values(table) == ["false", "true", "true", "false", "true", "false"]
    assert table.sensitive.name == "income > 50000"


def test_the_columns_of_an_expression_are_no_quasi_identifiers_unless_one_says_so() -> None:
    assert read(sensitive="income > 50000").schema["income"].role == Role.OTHER
    table = read(sensitive="income > 50000 and AGE < 65")
    assert table.schema["income"].role == Role.OTHER
    assert table.schema["age"].role == Role.OTHER
    assert table.schema["ill"].role == Role.QUASI
    table = read(quasi=["income"], sensitive="income > 50000")
    assert "'income' is a quasi-identifier and 'income > 50000' follows from it" in table.notes


def test_names_with_blanks_are_quoted() -> None:
    frame = pa.table({"my income": [1, 2, 3], "q": [1, 2, 3]})
    assert values(read(frame, quasi=["q"], sensitive='"my income" >= 2')) == [
        "false", "true", "true",
    ]  # fmt: skip
    with pytest.raises(UserError, match="neither a column nor an expression over columns"):
        read(frame, quasi=["q"], sensitive="my income >= 2")


def test_columns_that_differ_in_case_are_never_mistaken_for_each_other() -> None:
    frame = pa.table({"age": [1, 2, 3], "Age": [10, 20, 30], "q": [1, 2, 3]})
    for expression in ("Age > 15", '"Age" > 15', "AGE > 15"):
        with pytest.raises(UserError, match="cannot tell 'age' and 'Age' apart"):
            read(frame, quasi=["q"], sensitive=expression)
    assert values(read(frame, quasi=["q"], sensitive="q > 1")) == ["false", "true", "true"]
    assert read(frame, quasi=["q"], sensitive="Age").sensitive.values == (10, 20, 30)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("incme > 3", r'Referenced column "incme" not found'),
        ("sum(income) > 3", "must give one value per record; it gave 1 for 6"),
        ("unnest([1, 2])", "must give one value per record; it gave 12 for 6"),
        ("income >", "neither a column nor an expression over columns"),
        ("{'a': income}", "must give a number, a text, a date or a truth value"),
        ("(select count(*) from read_csv('/etc/hostname')) > 3", "file system operations are dis"),
        ("(select count(*) from '/etc/hostname') > 3", "neither a column nor an expression"),
    ],
)
def test_expressions_that_fail_say_why(expression: str, text: str) -> None:
    with pytest.raises(UserError) as error:
        read(quasi=["age"], sensitive=expression)
    assert text in str(error.value)


def test_expressions_of_every_type() -> None:
    assert read(quasi=["age"], sensitive="income * 1.5").sensitive.values[:2] == (15, 1500)
    assert read(quasi=["age"], sensitive="age % 20").sensitive.values == (0, 10)
    assert read(quasi=["age"], sensitive="upper(ill)").sensitive.values == ("COLD", "FLU", "GOUT")
    gaps = pa.table({**COLUMNS, "income": [None, 60000, 70000, 20000, 90000, 10]})
    assert values(read(gaps, quasi=["age"], sensitive="income > 50000"))[0] is None


def test_what_an_expression_gives_is_read_like_any_column() -> None:
    frame = pa.table({"x": [1, 2, 3], "n": [0.0, 1.0, None], "big": [2**62, 2**62 + 1, 5]})
    gap = read(frame, quasi=["x"], sensitive="case when n = 0 then 'nan'::double else n end")
    assert gap.sensitive.values == (1, None), "NaN and null are one missing value"
    empty = read(frame, quasi=["x"], sensitive="case when n = 0 then '' else n::text end")
    assert empty.sensitive.values == ("1.0", None)
    with pytest.raises(UserError, match="numbers must be finite; column '1/n' has inf in record 0"):
        read(frame, quasi=["x"], sensitive="1/n")
    exact = read(frame, quasi=["x"], sensitive="big * 4::hugeint")
    assert len(exact.sensitive.values) == 3, "no two values become one"
    assert any("has decimals that a float cannot hold" in note for note in exact.notes)

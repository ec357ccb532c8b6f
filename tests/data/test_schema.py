"""The role of each column: inferred, or as it is given."""

from __future__ import annotations

from typing import Any

import pytest

from indiff import Hierarchy, UserError
from indiff.data.schema import Kind, Role
from tests.data.test_table import read


def test_roles_and_kinds_are_inferred_and_shown() -> None:
    table = read(sensitive="ill")
    assert table.describe() == (
        "identifier: name (categorical); quasi: age (numeric), zip (categorical), "
        "income (numeric); sensitive: ill (categorical)"
    )
    assert repr(table).startswith("Table(6 records, identifier: name")
    assert table.schema["age"].kind == Kind.NUMERIC
    assert table.schema.names(Role.QUASI) == ("age", "zip", "income")


def test_given_roles_win_and_the_rest_is_other() -> None:
    table = read(quasi=["zip", "age"], sensitive="ill", identifier="name")
    assert [a.name for a in table.attributes] == ["zip", "age"]  # in the order asked for
    assert table.schema["income"].role == Role.OTHER
    assert table.schema["name"].role == Role.IDENTIFIER


def test_a_single_name_is_a_list_of_one() -> None:
    assert [a.name for a in read(quasi="age", sensitive="ill").attributes] == ["age"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"quasi": ["age", "ill"], "sensitive": "ill"}, "'ill' is listed as quasi and as sensi"),
        ({"quasi": ["age", "age"], "sensitive": "ill"}, "'age' is listed as quasi and as quasi"),
        ({"identifier": "age", "quasi": ["age"]}, "'age' is listed as identifier and as quasi"),
        ({"quasi": ["agee"]}, "no column 'agee': did you mean 'age'?"),
        ({"sensitive": "il"}, "no column 'il': did you mean 'ill'?"),
        ({"quasi": ["age"], "sensitive": ["ill", "ill"]}, "may be named once; got ill, ill"),
        ({"quasi": []}, "at least one quasi-identifier is needed"),
        ({"kinds": {"agee": "numeric"}}, "no column 'agee'"),
        ({"orders": {"agee": ["a"]}}, "no column 'agee'"),
        ({"hierarchies": {"agee": Hierarchy.from_lines(["a;*"])}}, "no column 'agee'"),
        ({"kinds": {"age": "number"}}, "a kind is one of numeric, categorical, ordinal; got 'num"),
        ({"kinds": {"ill": "numeric"}, "quasi": ["ill"]}, "cannot be numeric: it holds text such"),
        ({"kinds": {"ill": "ordinal"}, "quasi": ["ill"]}, "an ordinal column of text needs its or"),
        ({"missing": "ignore"}, "missing must be 'error', 'drop' or 'split'; got 'ignore'"),
        ({"quasi": ["age"], "sensitive": "ill", "bins": 3}, "bins= groups numbers; 'ill' is cate"),
        (
            {"quasi": ["age"], "sensitive": "income", "bins": {"incme": 2}},
            "did you mean 'income'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError) as error:
        read(**options)
    assert text in str(error.value)

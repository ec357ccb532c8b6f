"""Metadata of other tools: kinds, keys, orders and roles; what is not known is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from indiff.data.metadata import read_metadata
from indiff.errors import UserError

FRICTIONLESS = {
    "fields": [
        {"name": "id", "type": "integer"},
        {"name": "age", "type": "integer"},
        {"name": "town", "type": "string", "indiff:role": "quasi"},
        {
            "name": "size",
            "type": "string",
            "categories": ["S", "M", "L"],
            "categoriesOrdered": True,
        },
        {"name": "ill", "type": "string", "indiff:role": "sensitive"},
        {"name": "born", "type": "date"},
        {"name": "place", "type": "geopoint"},
    ],
    "primaryKey": "id",
    "missingValues": ["", "NA"],
}
PACKAGE = {
    "resources": [
        {"name": "others", "path": "others.csv", "schema": {"fields": []}},
        {"name": "people", "path": "data/people.csv", "schema": FRICTIONLESS},
    ]
}
CSVW = {
    "@context": "http://www.w3.org/ns/csvw",
    "url": "people.csv",
    "tableSchema": {
        "columns": [
            {"name": "key", "titles": ["id"], "datatype": "string"},
            {"titles": {"en": "age"}, "name": "age", "datatype": {"base": "integer"}, "null": "NA"},
            {"name": "town"},
            {"name": "made", "virtual": True, "datatype": "number"},
        ],
        "primaryKey": "key",
    },
}
CROISSANT = {
    "@type": "sc:Dataset",
    "conformsTo": "http://mlcommons.org/croissant/1.0",
    "rai:personalSensitiveInformation": ["Health"],
    "recordSet": [
        {
            "@id": "people",
            "key": {"@id": "people/id"},
            "field": [
                {"@id": "people/id", "name": "id", "dataType": "sc:Text"},
                {
                    "@id": "people/age",
                    "dataType": ["sc:Integer"],
                    "source": {"fileObject": {"@id": "f"}, "extract": {"column": "age"}},
                },
            ],
        }
    ],
}
SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "people": {
            "primary_key": "id",
            "columns": {
                "id": {"sdtype": "id"},
                "age": {"sdtype": "numerical", "computer_representation": "Int64"},
                "size": {"sdtype": "categorical", "order": ["S", "M"]},
                "mail": {"sdtype": "email", "pii": True},
                "since": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
            },
        }
    },
    "relationships": [],
}


def write(folder: Path, said: Any) -> Path:
    path = folder / "metadata.json"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path


@pytest.mark.parametrize("said", [FRICTIONLESS, PACKAGE])
def test_frictionless(tmp_path: Path, said: Any) -> None:
    found = read_metadata(write(tmp_path, said), "somewhere/people.csv")
    assert found.kinds == {
        "id": "numeric", "age": "numeric", "town": "categorical", "size": "ordinal",
        "ill": "categorical",
    }  # fmt: skip
    assert found.orders == {"size": ["S", "M", "L"]}
    assert (found.identifier, found.quasi, found.sensitive) == (["id"], ["town"], ["ill"])
    assert found.missing_tokens == ["", "NA"]
    assert found.notes == ["place: the type 'geopoint' is not known; its values tell its kind"]


def test_csvw(tmp_path: Path) -> None:
    found = read_metadata(write(tmp_path, CSVW))
    assert found.kinds == {"id": "categorical", "age": "numeric", "town": "categorical"}
    assert (found.identifier, found.missing_tokens) == (["id"], ["NA"])


def test_croissant(tmp_path: Path) -> None:
    found = read_metadata(write(tmp_path, CROISSANT))
    assert (found.kinds, found.identifier) == ({"id": "categorical", "age": "numeric"}, ["id"])
    assert found.sensitive == []  # it does not say which column
    assert found.notes == ["it speaks of sensitive information, of no column: say which it is"]


@pytest.mark.parametrize("said", [SDV, SDV["tables"]["people"]])  # type: ignore[index]
def test_sdv(tmp_path: Path, said: Any) -> None:
    found = read_metadata(write(tmp_path, said))
    assert (found.kinds, found.orders) == (
        {"age": "numeric", "size": "ordinal"}, {"size": ["S", "M"]},
    )  # fmt: skip
    assert found.identifier == ["id", "mail"]
    assert found.notes == ["since: how its dates are written is told by its values"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"a": 1}, "is no metadata that are known"),
        ([], "is no metadata that are known"),
        ({"fields": []}, "must describe a column"),
        ({"fields": ["age"]}, "describe tables and columns by objects"),
        ({"fields": [{"type": "integer"}]}, "name every column by a text"),
        ({"fields": [{"name": "a", "indiff:role": "secret"}]}, "must be identifier, quasi"),
        (FRICTIONLESS | {"primaryKey": ["ill"]}, "must give 'ill' one role"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, said: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_metadata(write(tmp_path, said))


def test_one_of_several_tables_is_chosen_by_its_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"must describe 'x.csv' once; got others.csv, people.csv"):
        read_metadata(write(tmp_path, PACKAGE), "x.csv")
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(UserError, match="metadata are JSON"):
        read_metadata(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"tableSchema": "people.json"}, "by objects; got str"),
        ({"tables": {"people": []}}, "by objects; got list"),
        ({"columns": {"age": 1}}, "by objects; got int"),
        ({"resources": [{"name": "people", "schema": "schema.json"}]}, "must stand in the package"),
        ({"resources": [{"name": "people", "schema": [1]}]}, "by objects; got list"),
        ({"fields": [{"name": "age", "type": "integer"}], "primaryKey": ""}, "by a text; got ''"),
    ],
)
def test_metadata_of_another_shape(tmp_path: Path, said: dict[str, Any], rule: str) -> None:
    (tmp_path / "odd.json").write_text(json.dumps(said))
    with pytest.raises(UserError, match=re.escape(rule)):
        read_metadata(tmp_path / "odd.json")


def test_a_missing_value_with_its_label_or_without_a_value(tmp_path: Path) -> None:
    fields = [{"name": "age", "type": "integer"}]
    said = {
        "fields": fields,
        "missingValues": [{"value": "-9", "label": "refused"}, {"label": "x"}],
    }
    (tmp_path / "one.json").write_text(json.dumps(said))
    assert read_metadata(tmp_path / "one.json").missing_tokens == ["-9", ""]

"""``--metadata``: what is typed goes before, and what differs is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call, write_people


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    fields = [
        {"name": "id", "type": "string"},
        {"name": "age", "type": "string"},
        {"name": "town", "type": "string"},
        {"name": "wage", "type": "integer", "indiff:role": "other"},
        {"name": "smokes", "type": "string", "indiff:role": "sensitive"},
        {"name": "ill", "type": "string"},
    ]
    Path("schema.json").write_text(json.dumps({"fields": fields, "primaryKey": "id"}))
    return write_people(tmp_path)


def test_kinds_and_roles_come_from_the_metadata(people: Path) -> None:
    ended = call("risk", people, "--sensitive", "ill", "--metadata", "schema.json")
    assert ended.code == 0, ended.err
    assert "age, town, smokes" in ended.out  # neither the key nor what is other
    assert ended.err.strip() == (
        'metadata: sensitive is what was typed; the metadata also name "smokes"'
    )


def test_what_is_typed_goes_before_and_is_said(people: Path) -> None:
    words = ["--sensitive", "ill", "--quasi", "age,wage", "--other", "smokes", "--kind"]
    out = ["sanitize", str(people), *words, "age=numeric", "--sanitizer", "identity"]
    ended = call(*out, "--metadata", "schema.json", "--out", "release.csv")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines() == [
        "metadata: smokes: sensitive by the metadata, taken as other, as typed",
        "metadata: wage: other by the metadata, taken as quasi, as typed",
        "metadata: age: categorical by the metadata, taken as typed",
    ]


def test_metadata_of_another_table_are_refused(people: Path) -> None:
    Path("schema.json").write_text('{"fields": [{"name": "agee", "type": "integer"}]}')
    ended = call(
        "sanitize", people, "--sensitive", "ill", "--metadata", "schema.json", "--out", "r.csv"
    )
    assert ended.code == 2
    assert "no column 'agee': did you mean 'age'" in ended.err

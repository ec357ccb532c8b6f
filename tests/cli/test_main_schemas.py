"""The published schemas: what the commands write follows them, and what is altered does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.command_line import call, write_people

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
ROLES = ("--identifier", "id", "--quasi", "age,town")
ONE = (*ROLES, "--sensitive", "ill")
Document = dict[str, Any]

CALLS: dict[str, tuple[str, ...]] = {
    "test": ("test", *ONE, "--limit", "delta=1.5", "--why", "1", "--membership"),
    "test of one model, infinite": ("test", *ONE, "--model", "frequency", "--distance", "kl"),
    "test of several attributes": ("test", *ROLES, "--sensitive", "ill,smokes", "--targets", "5"),
    "test with limits of an estimate": (
        "test", *ONE, "--sanitizer", "laplace:epsilon=1", "--limit", "mean=0.1",
    ),
    "test of people": ("test", "--individual", "id", *ONE[2:], "--model", "naive-bayes"),
    "risk": ("risk", *ONE, "--limit", "k=2", "--combinations", "2"),
    "risk of keys and special uniques": ("risk", *ONE, "--keys", "age+town", "--special", "2"),
    "risk with values": ("risk", *ROLES, "--sensitive", "ill,wage", "--show-values"),
    "risk by a policy": ("risk", *ONE, "--policy", "ico-motivated-intruder"),
    "risk without a sensitive attribute": ("risk", *ROLES),
    "risk in a population": ("risk", *ROLES, "--sampling", "0.1", "--household", "ill"),
    "columns": ("columns",),
    "columns with a telling set": ("columns", "--share", "0.1", "--size", "2"),
    "compare": ("compare", *ONE, "--sanitizer", "mondrian:k=2,5", "--recommend", "delta=1.5"),
    "compare with failures": (
        "compare", *ONE, "--sanitizer", "mondrian:k=2,500", "--sanitizer", "laplace:epsilon=1",
    ),
}  # fmt: skip


def validator(command: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{command}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def written(command: str, folder: Path, *words: str | Path) -> Document:
    place = folder / "result.json"
    ended = call(command, write_people(folder), *words, "--json", place)
    assert place.exists(), ended.err
    found: Document = json.loads(place.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_results_follow_their_schema(name: str, tmp_path: Path) -> None:
    command, *words = CALLS[name]
    validator(command).validate(written(command, tmp_path, *words))


def test_a_policy_has_the_same_form_in_every_document() -> None:
    risk, audit = (
        json.loads(place.read_text(encoding="utf-8"))["$defs"]["policy"]
        for place in (SCHEMAS / "risk.schema.json", SCHEMAS.parent / "report.schema.json")
    )
    assert risk == audit


@pytest.mark.parametrize("sensitive", ["ill", "ill,smokes"])
def test_a_release_beside_its_original_follows_the_schema(sensitive: str, tmp_path: Path) -> None:
    people, release = write_people(tmp_path), tmp_path / "release.csv"
    roles = (*ROLES, "--sensitive", sensitive)
    release.write_text(people.read_text())
    document = written("test", tmp_path, *roles, "--release", release)
    assert document["kind"].startswith("release-test")
    validator("test").validate(document)


@pytest.mark.parametrize("sensitive", ["ill", "ill,smokes"])
def test_several_releases_follow_the_schema(sensitive: str, tmp_path: Path) -> None:
    people, places = write_people(tmp_path), [tmp_path / "one.csv", tmp_path / "two.csv"]
    for place in places:
        place.write_text(people.read_text())
    releases = [word for place in places for word in ("--release", place)]
    roles = (*ROLES, "--sensitive", sensitive)
    for more in ((), ("--show-values",)):
        document = written("test", tmp_path, *roles, *releases, *more)
        assert document["kind"].startswith("releases-test")
        validator("test").validate(document)


def _set(*path: Any, value: Any) -> Callable[[Document], object]:
    def alter(document: Document) -> None:
        inner: Any = document
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return alter


ALTERED: dict[str, list[Callable[[Document], object]]] = {
    "test": [
        _set("delta", value="inf"),
        _set("worst", 0, "name", value="Ann"),
        _set("limits", 0, "exceeded", value="no"),
        lambda document: document.pop("columns"),
    ],
    "risk": [
        _set("schema", value=1),
        _set("groups", "delta_disclosure", value="inf"),
        _set("method", "fingerprint", value="0"),
        _set("policy", value={"name": "cell-5"}),
        lambda document: document["reidentification"].pop("itpr"),
    ],
    "compare": [
        _set("rows", 0, "status", value="fine"),
        _set("limits", "speed", value=1.0),
        lambda document: document["rows"].clear(),
    ],
}


@pytest.mark.parametrize("command", ALTERED)
def test_an_altered_result_does_not_follow_its_schema(command: str, tmp_path: Path) -> None:
    document = written(command, tmp_path, *CALLS[command][1:])
    check = validator(command)
    everywhere = [
        _set("format", value=2),
        _set("kind", value="other"),
        _set("more", value=0),
        lambda altered: altered.pop("format"),
    ]
    for number, alter in enumerate([*everywhere, *ALTERED[command]]):
        altered = copy.deepcopy(document)
        alter(altered)
        assert altered != document
        assert not check.is_valid(altered), f"alteration {number}"

"""The declared options: one description for plans, schemas and the shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from indiff.audit.plan.changes import COMMANDS
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.recipe import OPTIONS, Recipe, lists, numbers, options_of
from indiff.errors import UserError


def test_every_key_of_a_plan_is_declared_with_its_default_and_help() -> None:
    schema = Plan.model_json_schema()["$defs"]
    for one in OPTIONS.values():
        if one.section in ("", "limits"):
            continue
        described = schema[one.section.title()]["properties"][one.field]
        assert described["description"] == one.option.help
        assert described.get("default", ...) == one.default


def test_declarations_need_neither_pydantic_nor_typer() -> None:
    code = (
        "import sys, indiff.audit.plan.recipe\n"
        "assert not {'pydantic', 'typer', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_given_is_the_default(command: str) -> None:
    recipe = Recipe(command, {})
    for one in options_of(command):
        assert recipe[one.name] == one.default


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("worst", 1001, "--worst must be between 0 and 1000; got 1001."),
        ("confidence", 1.0, r"--confidence must be between 0 and 1; got 1.0\."),
        ("runs", 0, "--runs must be at least 1; got 0."),
        ("jobs", 0, r"--jobs must be -1 \(all cores\) or from 1 to 1,024; got 0\."),
    ],
)
def test_ranges_are_checked_in_one_wording(name: str, value: float, message: str) -> None:
    with pytest.raises(UserError, match=message) as raised:
        Recipe("audit", {name: value})[name]
    assert raised.value.field == name


def test_a_plan_says_the_same_from_texts_and_from_sections() -> None:
    recipe = Recipe(
        "audit",
        {"data": "people.csv", "sensitive": ["ill"], "kind": ["age=ordinal"], "bins": ["4"],
         "missing-token": ["?"], "targets": "0-2", "order": ["age=a,b"]},
    )  # fmt: skip
    assert recipe.plan(limits={"k": 5.0}) == Plan(
        data={"path": "people.csv", "sensitive": "ill", "kinds": {"age": "ordinal"}, "bins": 4,
              "missing_tokens": ["", "?"], "orders": {"age": ["a", "b"]}},
        adversary={"targets": [0, 1, 2]}, limits={"k": 5},
    )  # fmt: skip


def test_a_refusal_of_the_shell_names_no_section() -> None:
    with pytest.raises(UserError, match=r"^no sanitizer 'mondrain'"):
        Recipe("audit", {"sensitive": ["ill"], "sanitizer": "mondrain"}).plan()


def test_texts_of_columns_are_read() -> None:
    assert lists("--order", ["size=small,medium,large"]) == {"size": ["small", "medium", "large"]}
    assert numbers("--edges", ["age=18,65.5"]) == {"age": [18.0, 65.5]}


@pytest.mark.parametrize(
    ("name", "typed", "read"),
    [
        ("bins", ["1000,50000.5"], [1000.0, 50000.5]),
        ("bins", ["income=4", "age=30,60"], {"income": 4, "age": [30.0, 60.0]}),
        ("date-format", ["%d.%m.%Y"], "%d.%m.%Y"),
        ("date-format", ["birth=excel"], {"birth": "excel"}),
        ("quasi", ["age,sex", "zip"], ["age", "sex", "zip"]),
        ("json", "-", Path("/dev/stdout")),
        ("json", Path("result.json"), Path("result.json")),
    ],
)
def test_a_text_of_the_shell_is_read(name: str, typed: Any, read: Any) -> None:
    assert Recipe("test", {name: typed})[name] == read

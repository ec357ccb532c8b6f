"""A first plan is valid TOML, and has no value of the table."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa

import indiff
from indiff.audit.plan.plan import Context
from indiff.audit.plan.plan_text import plan_text, quoted
from indiff.risk.identifying.roles import guess_roles

HOSTILE = ['a"b', "c\\d", "e\nf", "#g", "\u202eh", "x" * 10_000]


def test_the_plan_is_read_back(tmp_path: Path) -> None:
    frame = pa.table({name: [1, 1, 2, 2] for name in HOSTILE} | {"income": [5, 6, 7, 7]})
    text = plan_text("data.csv", guess_roles(frame))
    sections = tomllib.loads(text)
    assert sections["data"]["quasi"] == HOSTILE
    assert "bins" not in sections["data"]
    place = tmp_path / "plan.toml"
    place.write_text(text, encoding="utf-8")
    assert indiff.read_plan(place).data.sensitive == ["income"]
    assert all(len(line) < 11_000 for line in text.splitlines())


def test_the_context_is_there_to_be_filled_in(tmp_path: Path) -> None:
    """Every key of the context stands in a comment that is a line of a plan."""
    text = plan_text("data.csv", guess_roles(pa.table({"age": [1, 2, 2], "illness": list("abb")})))
    assert indiff.Plan(**tomllib.loads(text)).context == Context()
    before, _, after = text.partition("[context]\n")
    lines, _, rest = after.partition("\n\n")
    filled = "\n".join(line.removeprefix("# ") for line in lines.splitlines())
    plan = indiff.Plan(**tomllib.loads(f"{before}[context]\n{filled}\n\n{rest}"))
    said = plan.context.model_dump(exclude={"confirmed"})
    assert all(value is not None for value in said.values())


def test_no_value_of_the_table_is_written() -> None:
    frame = pa.table({"token": ["qqa", "qqb", "qqb"], "disease": ["zzx", "zzy", "zzx"]})
    text = plan_text("data.csv", guess_roles(frame))
    for value in ("qqa", "qqb", "zzx", "zzy"):
        assert value not in text


def test_toml_texts() -> None:
    for text in [*HOSTILE, "\x7f", "\t", "é😀"]:
        assert tomllib.loads(f"a = {quoted(text)}")["a"] == text


def test_only_many_values_are_binned() -> None:
    """Answers such as 0, 1, 2 stay apart: in quantiles some of them would be one value."""
    few = pa.table({"age": list(range(40)) * 2, "salary": [0, 1, 2, 12] * 20})
    many = pa.table({"age": [1, 2] * 40, "salary": list(range(80))})
    assert "bins" not in tomllib.loads(plan_text("d.csv", guess_roles(few)))["data"]
    many = many.set_column(1, "salary", pa.array([float(x) for x in range(80)]))
    assert tomllib.loads(plan_text("d.csv", guess_roles(many)))["data"]["bins"] == {"salary": 4}

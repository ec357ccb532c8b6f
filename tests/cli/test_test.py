"""The parts of ``indiff test``: what goes together, who is an identifier, how it ends."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import typer
from rich.console import Console

import indiff
from indiff.audit.verdict import Exit, Verdict
from indiff.cli import test as room
from indiff.cli.beside.releases import records_of
from indiff.cli.questions import Answers
from indiff.cli.test import (
    check_options,
    document_of,
    finish,
    identifiers,
    run,
    split_orders,
)
from indiff.errors import UserError
from indiff.report.terminal import tables

USUAL: dict[str, Any] = {
    "backend": "loky", "scheduler": None, "retries": 2, "individual": None, "why": None,
    "key": None, "rows-in-order": False, "release": None, "release-encoding": None,
    "sanitizer": "mondrian:k=5", "method": "auto", "membership": False, "run": None, "time": None,
    "model": ["auto"], "join": [], "claim": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "order"),
    [
        ({}, None),
        ({}, "worst-first"),
        ({}, "random"),
        ({"backend": "dask", "scheduler": "tcp://here:1"}, None),
        ({"individual": "who"}, None),
        ({"why": [3]}, None),
        ({"model": ["tree", "knn"]}, "given"),
        ({"claim": {"epsilon": 1.0}}, "outlying"),
        ({"claim": {"epsilon": 1.0}}, "random"),
        ({"release": "r.csv"}, None),
        ({"release": "r.csv", "key": "id"}, None),
        ({"release": "r.csv", "rows-in-order": True}, None),
        ({"release": "r.csv", "release-encoding": "latin-1"}, None),
        ({"release": "r.csv", "model": ["tree"]}, None),
    ],
)
def test_what_goes_together(given: Any, order: Any) -> None:
    check_options(USUAL | given, order)


@pytest.mark.parametrize(
    ("given", "order", "message"),
    [
        ({"backend": "cloud"}, None, "no backend 'cloud'"),
        ({"backend": "dask"}, None, "belong together; got only --backend"),
        ({"scheduler": "tcp://here:1"}, None, "belong together; got only --scheduler"),
        ({}, "best-first", "no order 'best-first'"),
        ({}, "outlying", "no order 'outlying'"),
        ({"individual": "who", "why": [3]}, None, "--why explains single records"),
        ({"release": "r", "key": "id", "rows-in-order": True}, None, "not by both"),
        ({"release": "r", "sanitizer": "identity"}, None, "there is no --sanitizer"),
        ({"release": "r", "method": "refit"}, None, "there is no --method"),
        ({"release": "r", "membership": True}, None, "there is no --membership"),
        ({"release": "r", "why": [1]}, None, "there is no --why"),
        ({"release": "r", "run": "folder"}, None, "there is no --run"),
        ({"release": "r", "time": 60}, None, "there is no --time"),
        ({"release": "r", "individual": "who"}, None, "there is no --individual"),
        ({"release": "r", "model": ["tree", "knn"]}, None, "there is no second --model"),
        ({"release": "r"}, "random", "there is no --order of targets"),
    ],
)
def test_what_does_not(given: Any, order: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_options(USUAL | given, order)


@pytest.mark.parametrize(
    ("texts", "columns", "targets"),
    [
        (None, [], None),
        ([], [], None),
        (["size=s,l"], ["size=s,l"], None),
        (["random"], [], "random"),
        (["a=1,2", "b=3,4", "given"], ["a=1,2", "b=3,4"], "given"),
    ],
)
def test_the_order_of_values_has_an_equals_sign(texts: Any, columns: Any, targets: Any) -> None:
    assert split_orders(texts) == (columns, targets)


def test_targets_have_one_order() -> None:
    with pytest.raises(UserError, match="may be given once; got random, given"):
        split_orders(["random", "a=1,2", "given"])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, ["id"]),
        ({"individual": "who"}, ["id", "who"]),
        ({"individual": "id"}, ["id"]),
        ({"individual": "age"}, ["id"]),
        ({"individual": "ill"}, ["id"]),
        ({"individual": "note"}, ["id"]),
        ({"individual": "age", "quasi": None}, ["id", "age"]),
    ],
)
def test_whoever_names_people_is_an_identifier_unless_it_is_something_else(
    given: Any, found: Any
) -> None:
    usual = {
        "individual": None, "identifier": ["id"], "quasi": ["age"], "sensitive": ["ill"],
        "other": ["note"],
    }  # fmt: skip
    assert identifiers(usual | given) == found


FRAME = pa.table(
    {
        "born": pa.array([0, 1, 2, 3, 4, 5], pa.date32()),
        "age": [30, 30, 40, 40, 50, 50],
        "ill": ["a", "b", "a", "b", "b", "a"],
        "poor": ["y", "n", "n", "n", "y", "y"],
    }
)


def read(*sensitive: str) -> Any:
    roles: dict[str, Any] = {"quasi": ["age"], "other": ["born"]}
    if "poor" not in sensitive:
        roles["other"].append("poor")
    return indiff.read_table(FRAME, sensitive=list(sensitive), **roles)


def results_of(table: Any) -> list[Any]:
    return [
        indiff.differential_test(table.focus(one.name), "mondrian:k=2", model="frequency")
        for one in table.sensitives
    ]


def test_one_result_is_its_own_document_and_several_stand_below_their_names() -> None:
    table = read("ill")
    (result,) = results_of(table)
    one = document_of(table, [result], [Answers()])
    assert one == result.to_dict() | {"columns": one["columns"]}
    assert {column["name"]: (column["role"], column["kind"]) for column in one["columns"]} == {
        "born": ("other", "date"),
        "age": ("quasi", "numeric"),
        "ill": ("sensitive", "categorical"),
        "poor": ("other", "categorical"),
    }
    two = read("ill", "poor")
    results = results_of(two)
    several = document_of(two, results, [Answers(), Answers()])
    assert list(several) == ["format", "kind", "results", "columns"]
    assert several["kind"] == "differential-tests"
    assert {name: one["delta"] for name, one in several["results"].items()} == {
        result.sensitive_name: result.delta for result in results
    }
    with pytest.raises(ValueError, match="argument"):
        document_of(two, results, [Answers()])
    beside = [
        indiff.test_release(two.focus(name), FRAME, rows_in_order=True, model="frequency")
        for name in ("ill", "poor")
    ]
    released = document_of(two, beside, [Answers(), Answers()])
    assert list(released) == ["format", "kind", "results"]
    assert released["kind"] == "release-tests"
    assert document_of(table, beside[:1], [Answers()])["kind"] == "release-test"


def ended(
    monkeypatch: pytest.MonkeyPatch, table: Any, results: Any, verdict: Verdict, **given: Any
) -> tuple[int, str]:
    """Return how it ended and what a terminal with colours showed."""
    stream = io.StringIO()
    console = Console(file=stream, width=200, color_system="standard", force_terminal=True)
    monkeypatch.setattr(tables, "open_console", lambda: console)
    recipe = {"json": None, "records": None, "data": "here/people.csv", "show-values": False}
    with pytest.raises(typer.Exit) as exit_:
        finish(recipe | given, table, results, verdict, [Answers()] * len(results))  # type: ignore[arg-type]
    return exit_.value.exit_code, stream.getvalue()


@pytest.mark.parametrize("code", [Exit.NOTHING_EXCEEDED, Exit.EXCEEDED, Exit.INCOMPLETE])
def test_a_pass_alone_is_green_and_the_code_is_the_verdicts(
    code: Exit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = read("ill")
    verdict = Verdict(code, ("so it is",))
    got, shown = ended(monkeypatch, table, results_of(table), verdict)
    assert got == code
    (line,) = (one for one in shown.splitlines() if "so it is" in one)
    assert ("\x1b[1;32m" in line) == (code == 0)
    assert ("\x1b[1;31m" in line) == (code != 0)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "Table people.csv" in plain
    assert "δ, the largest" in plain
    assert "Why" not in plain
    assert "Membership" not in plain
    assert list(tmp_path.iterdir()) == []


def test_files_hold_the_document_with_its_verdict_and_the_records(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = read("ill")
    (result,) = results_of(table)
    verdict = Verdict(Exit.EXCEEDED, ("so it is",))
    files = {"json": tmp_path / "r.json", "records": tmp_path / "r.csv"}
    ended(monkeypatch, table, [result], verdict, **files)
    document = json.loads(files["json"].read_text())
    assert document["verdict"] == {"status": "fail", "exit_code": 1, "reasons": ["so it is"]}
    assert document["delta"] == result.delta
    assert len(files["records"].read_text().splitlines()) == 7


def test_what_cannot_be_written_leaves_the_results_on_the_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(room, "write_text", full)
    table = read("ill")
    recipe = {
        "json": tmp_path / "r.json", "records": None, "data": "people.csv", "show-values": False,
    }  # fmt: skip
    verdict = Verdict(Exit.NOTHING_EXCEEDED, ("so it is",))
    with pytest.raises(OSError, match="no space left"):
        finish(recipe, table, results_of(table), verdict, [Answers()])  # type: ignore[arg-type]
    shown = capsys.readouterr().out
    assert "δ, the largest" in shown
    assert "so it is" not in shown  # the verdict goes along


def test_drawn_records_are_named_by_number() -> None:
    frame = pa.table({"age": [None, 30, 30, 40, 40], "ill": ["a", "b", "a", "b", "a"]})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", missing="drop")
    assert records_of(table, None, 0) is None
    assert records_of(table, [4, 1], 0) == [4, 1]
    some = records_of(table, 2, 0)
    assert some is not None
    assert len(set(some)) == 2
    assert set(some) <= {1, 2, 3, 4}
    assert records_of(table, 4, 0) == [1, 2, 3, 4]


def test_an_interruption_or_the_end_of_the_time_leaves_the_rest_untested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from indiff import differential

    table = indiff.read_table(FRAME, quasi=["age"], sensitive=["ill", "poor", "born"])
    plan = indiff.Plan(
        data={"quasi": ["age"], "sensitive": ["ill", "poor", "born"]},
        release={"sanitizer": "mondrian:k=2"},
    )
    asked: list[tuple[str, Any]] = []

    def stopped(interrupted: bool, out_of_time: bool) -> Any:
        def test(table: Any, sanitizer: Any, **given: Any) -> Any:
            asked.append((table.sensitive.name, given["run"]))
            return SimpleNamespace(interrupted=interrupted, out_of_time=out_of_time)

        return test

    class Recipe(dict[str, Any]):
        model = "frequency"

    recipe: Any = Recipe(retries=0, backend="loky", scheduler=None, run=tmp_path)
    for interrupted, out_of_time, untested in (
        (False, False, []),
        (True, False, ["poor", "born"]),
        (False, True, ["poor", "born"]),
    ):
        monkeypatch.setattr(differential, "differential_test", stopped(interrupted, out_of_time))
        asked.clear()
        results, left = run(table, plan, recipe, ["mondrian:k=2"])
        assert left == untested
        assert len(results) == len(asked) == 3 - len(untested)
    folders = [folder for _, folder in asked]
    assert tmp_path not in folders  # each attribute has a folder of its own
    asked.clear()
    monkeypatch.setattr(differential, "differential_test", stopped(False, False))
    run(table, plan, recipe, ["mondrian:k=2"])
    assert [name for name, _ in asked] == ["ill", "poor", "born"]
    assert len({folder for _, folder in asked}) == 3
    asked.clear()
    run(read("ill"), plan, recipe, ["mondrian:k=2"])
    assert asked == [("ill", tmp_path)]


def test_an_attribute_that_tells_nothing_is_refused_before_the_first_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from indiff import differential

    frame = FRAME.set_column(3, "poor", pa.array(["y"] * 6))
    table = indiff.read_table(frame, quasi=["age"], sensitive=["ill", "poor"], other=["born"])
    plan = indiff.Plan(data={"quasi": ["age"], "sensitive": ["ill", "poor"]})
    asked: list[Any] = []
    monkeypatch.setattr(differential, "differential_test", lambda *one, **_: asked.append(one))
    recipe: Any = {}
    with pytest.raises(UserError, match="needs at least 2 values; 'poor' has 1"):
        run(table, plan, recipe, ["mondrian:k=2"])
    assert asked == []

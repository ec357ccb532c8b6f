"""No error says a value of a hostile table without marking it, whatever goes wrong."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.data.hierarchy import Hierarchy
from indiff.data.table import read_table
from indiff.errors import UserError
from indiff.release.regions import Interval, Mask

# Every text of the table has this in it, every number these digits; no column or file does.
TOKEN, DIGITS, CLOCK = "Qxv", "73619", "07:36:19"
ERRORS: list[UserError] = []


@pytest.fixture(autouse=True)
def _every_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every error that is made, those that are caught on the way included."""
    made = UserError.__init__

    def kept(self: UserError, *given: Any, **more: Any) -> None:
        made(self, *given, **more)
        ERRORS.append(self)

    ERRORS.clear()
    monkeypatch.setattr(UserError, "__init__", kept)


def secrets(text: str) -> list[str]:
    return [one for one in (TOKEN, DIGITS, CLOCK) if one in text.replace(",", "")]


def frame(**other: Any) -> Any:
    return pa.table(
        {
            "street": [f"{TOKEN}{number % 4}" for number in range(12)],
            "pay": [int(f"{DIGITS}{number}") for number in range(12)],
            "ill": [f"{TOKEN}a", f"{TOKEN}b", f"{TOKEN}c"] * 4,
        }
        | other
    )


def table(**more: Any) -> Any:
    return read_table(frame(), **{"quasi": ["street", "pay"], "sensitive": "ill"} | more)


def read(**columns: Any) -> Any:
    return read_table(frame(**columns), quasi=["street", *columns], sensitive="ill")


def written(folder: Path, text: str) -> str:
    (folder / "side.csv").write_text(text)
    return str(folder / "side.csv")


def ground(folder: Path, text: str) -> str:
    return f"emd:{written(folder, text)}"


def released(folder: Path, **cells: Any) -> Any:
    columns = {"street": ["*"] * 12, "pay": ["*"] * 12, "ill": frame()["ill"]}
    pyarrow.csv.write_csv(pa.table(columns | cells), folder / "release.csv")
    return indiff.read_release(folder / "release.csv", table())


def strange(cell: str) -> Any:
    return [cell] + ["*"] * 11


def tree(*lines: str) -> Any:
    return Hierarchy.from_lines(list(lines))


def partial_tree() -> Any:
    return tree(f"{TOKEN}0;{TOKEN}up;*", f"{TOKEN}a;{TOKEN}up;*")


def measured(**more: Any) -> Any:
    return indiff.differential_test(table(), indiff.Mondrian(k=2), jobs=1, **more)


def raising(frame: Any) -> Any:
    raise RuntimeError(f"no level for {frame['street'][0]}")


def wrong_frame(frame: Any) -> Any:
    return frame.set_column(0, "street", pa.array(strange(f"{TOKEN}~{TOKEN}?")))


def noisy(**more: Any) -> Any:
    return indiff.Laplace(epsilon=1, **more).sanitize(table(), np.random.default_rng(0))


A, B, C = (f"{TOKEN}{letter}" for letter in "abc")
MOMENT = datetime.datetime.fromisoformat(f"2024-01-01 {CLOCK}")
CASES: dict[str, Callable[[Path], Any]] = {
    "text declared numeric": lambda _: table(kinds={"street": "numeric"}),
    "many sensitive numbers": lambda _: read_table(
        pa.table({"street": ["x"] * 3000, "pay": [int(f"{DIGITS}{n}") for n in range(3000)]}),
        quasi=["street"], sensitive="pay"),
    "order with a value twice": lambda _: table(orders={"street": [f"{TOKEN}0", f"{TOKEN}0"]}),
    "order without a value": lambda _: table(orders={"street": [f"{TOKEN}0", f"{TOKEN}11"]}),
    "hierarchy without a value": lambda _: table(hierarchies={"street": partial_tree()}),
    "sensitive hierarchy": lambda _: table(hierarchies={"ill": partial_tree()}),
    "bins": lambda _: table(quasi=["street"], sensitive="pay", bins=[f"{DIGITS}x"]),
    "whole numbers with missing ones": lambda _: read_table(
        frame(big=[None, int(f"{DIGITS}000000000000")] + [1] * 10), quasi=["big"],
        sensitive="ill", missing="split"),
    "expression": lambda _: table(sensitive=f"CAST(street AS INTEGER) > {len(TOKEN)}"),
    "hierarchy cycle": lambda _: tree(f"{A};{B};{A};*"),
    "hierarchy two parents": lambda _: tree(f"{A};{B};*", f"{A};{C};*"),
    "hierarchy circle": lambda _: tree(f"{A};{B};*", f"{B};{A};*"),
    "hierarchy label": lambda _: partial_tree().node(f"{TOKEN}upp"),
    "infinite float": lambda _: read(x=pa.array([1.0] * 11 + [float("inf")])),
    "time of day": lambda _: read(x=pa.array([MOMENT] * 12, pa.timestamp("s"))),
    "value and its text": lambda _: read_table(
        pandas.DataFrame({"x": [int(DIGITS), DIGITS], "ill": [A, B]}),
        quasi=["x"], sensitive="ill"),
    "decimal": lambda _: read_table(
        pandas.DataFrame({"x": [decimal.Decimal("Infinity")] * 2, "ill": [A, B]}),
        quasi=["x"], sensitive="ill"),
    "missing tokens": lambda _: read_table(frame(), quasi=["pay"], sensitive="ill",
                                           missing_tokens=TOKEN),
    "ground numeric": lambda _: measured(distance="emd:numeric"),
    "ground matrix lacks": lambda to: measured(distance=ground(to, f",{A}\n{A},0\n")),
    "ground matrix twice": lambda to: measured(distance=ground(to, f",{A},{A}\n{A},0,0\n")),
    "ground row twice": lambda to: measured(distance=ground(to, f",{A}\n{A},0\n{A},0\n")),
    "ground not a number": lambda to: measured(distance=ground(to, f",{A}\n{A},{TOKEN}\n")),
    "ground diagonal": lambda to: measured(distance=ground(
        to, f",{A},{B},{C}\n{A},1,1,1\n{B},1,0,1\n{C},1,1,0\n")),
    "ground uneven": lambda to: measured(distance=ground(
        to, f",{A},{B},{C}\n{A},0,1,1\n{B},2,0,1\n{C},1,1,0\n")),
    "ground places": lambda to: measured(distance=ground(
        to, f"value,latitude,longitude\n{A},1,1\n{A},1,1\n")),
    "prior lacks": lambda _: measured(prior={A: 0.5, B: 0.5}),
    "prior of a text": lambda _: measured(prior={A: TOKEN}),
    "prior no share": lambda _: measured(prior={0: {A: 1}, 1: TOKEN}),
    "prior keys": lambda _: measured(prior={TOKEN: {A: 1}}),
    "prior file head": lambda to: measured(prior=written(to, f"{A},{B}\n1,2\n")),
    "prior file number": lambda to: measured(
        prior=written(to, f"value,probability\n{A},{TOKEN}\n")),
    "prior file record": lambda to: measured(prior=written(to, f"record,{A}\n{TOKEN},1\n")),
    "no sensitive value": lambda to: released(to, ill=strange(f"{TOKEN}d")),
    "no region of a number": lambda to: released(to, pay=strange(f"{DIGITS}x")),
    "interval the wrong way": lambda to: released(to, pay=strange(f"[{DIGITS}9, {DIGITS}0]")),
    "empty interval": lambda to: released(to, pay=strange(f"({DIGITS}9, {DIGITS}9)")),
    "infinite comparison": lambda to: released(to, pay=strange("<inf")),
    "mask of numbers": lambda to: released(to, pay=strange(f"{DIGITS}*")),
    "set of numbers": lambda to: released(to, pay=strange(f"{{{DIGITS}0, {TOKEN}}}")),
    "two ranges": lambda to: released(to, pay=strange(f"{DIGITS}-{DIGITS}-{DIGITS}")),
    "no value": lambda to: released(to, street=strange(f"{TOKEN}00")),
    "no mask": lambda to: released(to, street=strange(f"{TOKEN}9*")),
    "no member": lambda to: released(to, street=strange(f"{{{TOKEN}0, {TOKEN}9}}")),
    "open quote": lambda to: released(to, street=strange(f'{{"{TOKEN}0, {TOKEN}9}}')),
    "missing region": lambda to: released(to, street=strange("missing")),
    "ends of an interval": lambda _: Interval(TOKEN, 3),  # type: ignore[arg-type]
    "interval": lambda _: Interval(int(DIGITS), 3),
    "open interval": lambda _: Interval(int(DIGITS), int(DIGITS), low_closed=False),
    "mask": lambda _: Mask(f"{TOKEN}*"),
    "covers": lambda _: indiff.Mondrian(k=2).sanitize(table()).covers("pay", TOKEN),
    "risk order": lambda _: indiff.measure_risk(
        frame(), quasi=["pay"], sensitive="ill", orders={"ill": [A, f"{TOKEN}bb"]}),
    "risk hierarchy": lambda _: indiff.measure_risk(
        frame(), quasi=["pay"], sensitive="ill", hierarchies={"ill": partial_tree()}),
    "risk kind": lambda _: indiff.measure_risk(
        frame(), quasi=["pay"], sensitive="ill", kinds={"ill": "numeric"}),
    "edges": lambda _: noisy(edges={"pay": [int(DIGITS), 1]}),
    "edges of text": lambda _: noisy(edges={"pay": [TOKEN]}),
    "edges no list": lambda _: noisy(edges={"pay": TOKEN}),
    "domain lacks": lambda _: noisy(domains={"street": [f"{TOKEN}0"]}),
    "domain twice": lambda _: noisy(domains={"street": [f"{TOKEN}0"] * 2}),
    "domain of the sensitive": lambda _: noisy(domains={"ill": [A, B]}),
    "constraint": lambda _: indiff.Mondrian(l=3).sanitize(read_table(
        frame(ill=[A] * 6 + [B, C] * 3), quasi=["pay"], sensitive="ill")),
    "function raises": lambda _: indiff.differential_test(table(), raising, jobs=1),
    "function returns": lambda _: indiff.differential_test(table(), wrong_frame, jobs=1),
    "command": lambda _: indiff.differential_test(
        table(), "command:sh -c 'cat $0 >&2; exit 3' {input} {output}", jobs=1),
}  # fmt: skip
# These say nothing of the table; they are here so that they stay so.
SILENT = {
    "decimal", "infinite float", "infinite comparison", "missing region", "hierarchy circle",
    "no region of a number", "interval the wrong way", "empty interval", "mask of numbers",
    "set of numbers", "two ranges", "open quote",
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_an_error_says_of_the_table_is_marked(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        CASES[name](tmp_path)
    assert ERRORS
    for error in ERRORS:
        assert secrets(error.worded(data=lambda part: "")) == []
    if name not in SILENT:  # else a mark could be removed, and nobody would see it
        assert any(secrets(str(error)) for error in ERRORS)

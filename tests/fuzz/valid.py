"""Makes what every command accepts: a table in every format, and the files beside it."""

# ruff: noqa: E501 - tables of Arrow's types

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fuzz.strange import Rows

RECORDS = 36
NAMES = ("id", "age", "town", "zip", "born", "wage", "ill")
ROLES = (
    "--identifier",
    "id",
    "--quasi",
    "age,town",
    "--other",
    "zip,born,wage",
    "--sensitive",
    "ill",
)
ILL = ("flu", "cold", "gout")


def people() -> Rows:
    """Return a table with every kind of column; each group of ages has several towns."""
    day = datetime.date(1976, 7, 4)
    return [
        list(NAMES),
        *(
            [
                f"p{row}", str(20 + row * 7 % 40), f"town{row % 4}", f"{75000 + row % 6 * 10}",
                str(day + datetime.timedelta(days=97 * row)), f"{1000.5 + 17 * row}", ILL[row * row % 7 % 3],
            ]
            for row in range(RECORDS)
        ),
    ]  # fmt: skip


def hierarchy(column: str) -> Rows:
    """Return a hierarchy of a column, as a file has it."""
    values = sorted({row[NAMES.index(column)] for row in people()[1:]})
    if column == "age":
        return [[value, f"{int(value) // 10 * 10}s", "any"] for value in values]
    return [[value, f"{column} group {place % 2}", "any"] for place, value in enumerate(values)]


def priors() -> list[Rows]:
    """Return a prior of everybody's values, and one of each record's."""
    return [
        [["value", "probability"], ["flu", "0.5"], ["cold", "0.25"], ["gout", "0.25"]],
        [["record", *ILL], *([str(record), "0.5", "0.25", "0.25"] for record in range(RECORDS))],
    ]


def grounds() -> list[Rows]:
    """Return a matrix of distances between the sensitive values, and their places."""
    return [
        [["", *ILL], ["flu", "0", "1", "2"], ["cold", "1", "0", "1"], ["gout", "2", "1", "0"]],
        [["value", "latitude", "longitude"], ["flu", "48.1", "11.5"], ["cold", "52.5", "13.4"], ["gout", "53.5", "10"]],
    ]  # fmt: skip


def arx_release(rows: Rows | None = None) -> Rows:
    """Return a release as ARX exports it: intervals, masked digits, suppressed rows, raw others."""
    released: Rows = [list(NAMES)]
    for place, (_, age, town, code, born, wage, ill) in enumerate((rows or people())[1:]):
        low = int(float(age)) // 10 * 10
        cells = [
            "*",
            f"[{low}, {low + 10}[",
            f"{{{town}, town0}}",
            code[:3] + "**",
            born[:4],
            wage,
            ill,
        ]
        released.append([*["*"] * 6, ill] if place % 11 == 10 else cells)
    return released  # fmt: skip


def by_tens(rows: Rows) -> Rows:
    """Return a release with ages in tens, as a function of the table alone."""
    return [
        ["age", "town", "ill"],
        *([f"{row[1][0]}0-{row[1][0]}9", row[2], row[6]] for row in rows[1:]),
    ]


PLAN: dict[str, dict[str, Any]] = {
    "data": {"path": "people.csv", "identifier": ["id"], "quasi": ["age", "town"], "sensitive": ["ill"],
             "other": ["zip", "born", "wage"], "hierarchies": {"town": "town.csv"}, "kinds": {"age": "numeric"}},
    "release": {"sanitizer": "mondrian:k=3"},
    "adversary": {"models": ["naive-bayes", "frequency"], "distance": "wasserstein", "targets": "0-2", "prior": "prior.csv"},
    "context": {"purpose": "research", "recipients": "everybody", "release_model": "public", "review_by": "2027-12-31"},
    "limits": {"delta": 0.5, "k": 2},
    "report": {"title": "A title", "min_cell": 5, "worst": 3, "parameter": "mondrian:k=2,3"},
    "run": {"seed": 1, "jobs": 1},
}  # fmt: skip
POLICY: dict[str, Any] = {
    "title": "Rules of our board", "document": "Decision", "year": 2026, "section": "paragraph 4", "verified": True,
    "note": "For adults.", "pr_attack": 0.3,
    "limits": [{"metric": "prosecutor", "label": "Largest chance of a correct link", "limit": 0.05, "kind": "maximum",
                "scope": "sample"}],
    "checklist": [{"item": "Purpose is written down", "context": ["purpose"]}, {"item": "No e-mail addresses", "scan": "emails"},
                  {"item": "What one record gives away", "metrics": ["delta"]}, {"item": "The board has agreed", "confirm": "board"}],
    "crosswalk": [{"clause": "4.2 Risk of inference", "section": "Inference"}],
}  # fmt: skip


def arrow_columns(rows: int, dice: random.Random) -> list[Callable[[], Any]]:
    """Return a maker of a column for every one of Arrow's types."""
    import decimal

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    rng = np.random.default_rng(dice.randrange(2**32))
    numbers = rng.integers(0, 5, rows)
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30)
    return [
        *(lambda kind=kind: pa.array(numbers.tolist(), kind) for kind in (
            pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
            pa.float32(), pa.float64(), pa.duration("s"), pa.duration("ns"), pa.time32("s"), pa.time32("ms"),
            pa.date32(), pa.date64(), pa.time64("us"), pa.time64("ns"), pa.timestamp("ms"),
            pa.timestamp("us", "Europe/Berlin"), pa.decimal32(5, 1), pa.decimal64(12, 3),
        )),
        *(lambda kind=kind: pa.array(list(map(str, numbers)), kind) for kind in (
            pa.string(), pa.large_string(), pa.string_view(), pa.large_binary(), pa.binary_view(),
            pa.dictionary(pa.int8(), pa.large_string()),
        )),
        *(lambda kind=kind: pa.array([[int(n)] * 2 for n in numbers], kind) for kind in (
            pa.large_list(pa.int8()), pa.list_(pa.int8(), 2), pa.list_view(pa.int8()), pa.large_list_view(pa.int8()),
        )),
        lambda: pa.array([[("a", int(n))] for n in numbers], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([(int(n), 1, 2) for n in numbers], pa.month_day_nano_interval()),
        lambda: pa.array(numbers.tolist(), pa.int64()).dictionary_encode(),
        lambda: pa.compute.run_end_encode(pa.array(numbers.tolist(), pa.int64())),
        lambda: pa.UnionArray.from_sparse(
            pa.array([int(n % 2) for n in numbers], pa.int8()),
            [pa.array(numbers.tolist(), pa.int64()), pa.array(list(map(str, numbers)), pa.string())],
        ),
        lambda: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes([n] * 16) for n in numbers], pa.binary(16))),
        lambda: pa.ExtensionArray.from_storage(pa.json_(), pa.array([f"[{n}]" for n in numbers], pa.string())),
        lambda: pa.ExtensionArray.from_storage(pa.bool8(), pa.array((numbers % 2).tolist(), pa.int8())),
        lambda: pa.array(numbers.astype(np.float16)),
        lambda: pa.array(rng.choice([1.0, 0.5, -0.0, np.nan, np.inf, -1.7e308, 1.7e308], rows)),
        lambda: pa.array(rng.choice([1.0, 0.5, -0.0, 0.0, 1e-320, 2.0**53, 2.0**53 + 2], rows)),
        lambda: pa.array([2**63 + int(n) for n in numbers], pa.uint64()),
        lambda: pa.array([-(2**63) + int(n) for n in numbers], pa.int64()),
        lambda: pa.array([bool(n % 2) for n in numbers]),
        lambda: pa.nulls(rows),
        lambda: pa.array([decimal.Decimal(int(n)) / 7 for n in numbers], pa.decimal128(38, 30)),
        lambda: pa.array([decimal.Decimal(10) ** 60 + int(n) for n in numbers], pa.decimal256(70, 2)),
        lambda: pa.array([day + datetime.timedelta(int(n)) for n in numbers], pa.date32()),
        lambda: pa.array([datetime.date(1, 1, 1 + int(n)) for n in numbers], pa.date32()),
        lambda: pa.array([moment + datetime.timedelta(int(n)) for n in numbers], pa.timestamp("ns", "UTC")),
        lambda: pa.array([moment] * rows, pa.timestamp("s")),
        lambda: pa.array([bytes([n]) for n in numbers], pa.binary()),
        lambda: pa.array([bytes([n] * 4) for n in numbers], pa.binary(4)),
        lambda: pa.array([[int(n)] for n in numbers], pa.list_(pa.int64())),
        lambda: pa.array([{"a": int(n)} for n in numbers], pa.struct([("a", pa.int64())])),
        lambda: pa.array([str(n) for n in numbers], pa.string()).dictionary_encode(),
        lambda: pa.array([None if n == 0 else f"v{n}" for n in numbers], pa.string()),
        lambda: pa.array([None if n == 0 else int(n) for n in numbers], pa.int64()),
    ]  # fmt: skip


def arrow_table(typed: Any = None, column: str = "age") -> Any:
    """Return the people as a table of Arrow; one column may have another type."""
    import pyarrow as pa

    rows = people()
    cells = {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}
    columns: dict[str, Any] = {name: pa.array(cells[name]) for name in NAMES}
    columns["age"] = pa.array([int(cell) for cell in cells["age"]])
    columns["wage"] = pa.array([float(cell) for cell in cells["wage"]])
    columns["born"] = pa.array([datetime.date.fromisoformat(cell) for cell in cells["born"]])
    if typed is not None:
        columns[column] = typed
    return pa.table(columns)


def workbook() -> Any:
    """Return the people as a workbook, with numbers and dates as such."""
    import openpyxl

    book = openpyxl.Workbook()
    for place, row in enumerate(people()):
        cells: list[Any] = list(row)
        if place:
            cells[1], cells[3], cells[5] = int(row[1]), int(row[3]), float(row[5])
            cells[4] = datetime.date.fromisoformat(row[4])
        book.active.append(cells)
    return book


def write_beside(folder: Path) -> None:
    """Write the people and one valid file of every kind beside them."""
    import tomli_w

    from tests.fuzz.strange import written

    for name, rows in (
        ("people", people()), ("town", hierarchy("town")), ("ages", hierarchy("age")), ("ills", hierarchy("ill")),
        ("prior", priors()[0]), ("ground", grounds()[0]), ("places", grounds()[1]),
    ):  # fmt: skip
        (folder / f"{name}.csv").write_bytes(written(rows))
    (folder / "arx.csv").write_bytes(written(arx_release(), ";"))
    (folder / "plan.toml").write_text(tomli_w.dumps(PLAN))
    (folder / "policy.toml").write_text(tomli_w.dumps(POLICY))


def json_lines() -> str:
    """Return the people as lines of JSON."""
    rows = people()
    return "\n".join(json.dumps(dict(zip(rows[0], row, strict=True))) for row in rows[1:]) + "\n"

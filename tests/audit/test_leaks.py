"""The report leaks nothing: no rare value in any output, whatever part of the plan held it."""

from __future__ import annotations

import datetime
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.naming import RARE, Naming
from indiff.table import read_table

RECORDS = 60


def unique_frame():
    """Every text a token of its own, every number nine digits of its own."""
    rng = np.random.default_rng(5)
    numbers = iter(rng.choice(np.arange(100_000_000, 999_999_999, 7919), 4 * RECORDS, False))
    letters = np.array(list("bcdfghjkmpqrtvwxz"))
    tokens = iter({"".join(rng.choice(letters, 8)) for _ in range(6 * RECORDS)})

    def texts():
        return [next(tokens) for _ in range(RECORDS)]

    def integers():
        return [int(next(numbers)) for _ in range(RECORDS)]

    return pa.table(
        {"who": texts(), "street": texts(), "pay": integers(), "code": integers(),
         "size": texts(), "ill": texts(), "debt": integers()}
    )  # fmt: skip


def outputs(result):
    return {"json": result.to_json(), "md": result.to_markdown(), "html": result.to_html()}


def audited(frame, **sections):
    sections.setdefault("release", {"sanitizer": "mondrian:k=5"})
    return indiff.run_audit(indiff.Plan(**sections), frame)


@pytest.mark.parametrize("sensitive", ["ill", "debt"])
def test_no_value_of_a_table_of_unique_values(sensitive):
    frame = unique_frame()
    order = frame["size"].to_pylist()
    edges = sorted(frame["debt"].to_pylist())[10:50:15]
    data = {
        "identifier": "who", "quasi": ["street", "pay", "code", "size"], "sensitive": sensitive,
        "orders": {"size": order},
    }  # fmt: skip
    if sensitive == "debt":
        data["bins"] = edges
    result = audited(
        frame,
        data=data,
        adversary={"models": ["naive-bayes", "frequency"], "targets": list(range(RECORDS))},
        limits={"delta": 0.1, "k": 5},
        report={"parameter": "mondrian:k=2,5"},
        run={"jobs": 1},
    )
    assert len(result.document["charts"]["worst"]) == 10
    assert result.document["plan"]["data"]["orders"]["size"] == [RARE] * RECORDS
    values = {str(value) for name in frame.column_names for value in frame[name].to_pylist()}
    for kind, text in outputs(result).items():
        assert [value for value in values if value in text] == [], kind


def test_no_rare_value_of_a_normal_table():
    frame = indiff.datasets.demo(records=600)
    result = audited(
        frame,
        data={
            "identifier": "patient_id",
            "quasi": ["age", "sex", "zip", "marital_status", "admitted"],
            "sensitive": "diagnosis",
        },
    )
    rare = set()
    for name in ("patient_id", "zip", "marital_status", "admitted", "diagnosis"):
        counted = frame[name].cast(pa.string()).value_counts().to_pylist()
        rare |= {one["values"] for one in counted if one["counts"] < 10}
    assert {"tetanus", "leprosy"} <= rare
    for kind, text in outputs(result).items():
        near = [value for value in rare if value in text]
        found = [value for value in near if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)]
        assert found == [], kind


def test_a_reason_that_quotes_a_cell_does_not(tmp_path):
    """A release from elsewhere with a wrong cell: the finding fails, and does not tell it."""
    frame = indiff.datasets.demo(records=200).select(["age", "sex", "diagnosis"])
    wrong = frame["diagnosis"].to_pylist()
    unique = next(value for value in wrong if wrong.count(value) == 1)
    release = pa.table({"age": ["0-120"] * 200, "sex": ["*"] * 200, "diagnosis": wrong})
    release = release.set_column(1, "sex", pa.array([unique] + ["*"] * 199))
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    result = audited(
        frame,
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        release={"file": str(tmp_path / "release.csv")},
        limits={"k": 5},
    )
    k = result.finding("k")
    assert k.status == "failed"
    assert result.verdict["exit_code"] == 3
    assert k.before is not None
    assert RARE in str(k.reason)
    for text in outputs(result).values():
        assert unique not in text
        assert str(tmp_path) not in text


def test_naming():
    frame = pa.table(
        {"age": [30] * 10 + [47, 123456], "ill": ["flu"] * 10 + ["HIV", "heart failure"]}
    )
    table = read_table(frame, quasi=["age"], sensitive="ill")
    naming = Naming(table, 10)
    assert naming.value("ill", "flu") == "flu"
    assert naming.value("ill", "HIV") == RARE
    assert naming.value("age", 47.0) == RARE
    assert naming.value("age", 30) == 30
    assert naming.value("ill", "never seen") == "never seen"
    assert naming.text("it holds 'HIV' and flu") == "it holds a rare value and flu"
    assert naming.text("row 3: heart failure here") == f"row 3: {RARE} here"
    assert naming.text("got 123,456 or 123456.0") == f"got {RARE} or {RARE}"
    assert naming.text("column 'ill' has 47 records") == "column 'ill' has 47 records"
    days = [datetime.date(2024, 2, 28)] * 10 + [datetime.date(2023, 5, 17)] * 2
    dated = read_table(frame.append_column("day", pa.array(days)), quasi=["day"], sensitive="ill")
    told = Naming(dated, 10, paths=("/home/me/data.csv",)).text(
        "2024-02-28 and 2023-05-17 in '/home/me/data.csv'"
    )
    assert told == f"2024-02-28 and {RARE} in 'data.csv'"
    assert Naming(table, 10, show_values=True).text("holds 'HIV'") == "holds 'HIV'"
    assert Naming(table, 1).value("ill", "HIV") == "HIV"


def test_show_values_is_explicit_and_marked():
    frame = indiff.datasets.demo(records=200)
    data = {"quasi": ["age", "sex"], "sensitive": "diagnosis"}
    shown = audited(frame, data=data, report={"show_values": True})
    assert shown.document["show_values"] is True
    assert "CONFIDENTIAL: this report shows values" in shown.to_markdown()
    assert any("[" in one["why"] for one in shown.document["charts"]["worst"])
    hidden = audited(frame, data=data)
    assert "CONFIDENTIAL" not in hidden.to_markdown()
    assert not any("[" in one["why"] for one in hidden.document["charts"]["worst"])


HOSTILE = [
    "<script>alert(1)</script>", "=HYPERLINK(\"http://x\")", "\u202eevil", "😀", "x" * 10_000,
    "a\x1b[31m\x07\n|b", "`code` [link](http://x) {brace}",
]  # fmt: skip


def test_hostile_names_and_values():
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(HOSTILE, 80).tolist() for name in HOSTILE[:-1]}
    frame = pa.table(columns | {HOSTILE[-1]: rng.choice(HOSTILE[:3], 80).tolist()})
    result = audited(frame, data={"quasi": HOSTILE[:-1], "sensitive": HOSTILE[-1]})
    assert json.loads(result.to_json()) == result.document
    text = result.to_markdown()
    assert re.search(r"(?<!\\)<", text) is None
    assert "x" * 200 not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("|--"):  # every row of a table has as many cells as its head
            cells = len(re.findall(r"(?<!\\)\|", line))
            rows = lines[place - 1 :]
            for row in rows[: next((i for i, r in enumerate(rows) if not r), None)]:
                assert len(re.findall(r"(?<!\\)\|", row)) == cells
    assert "<script>alert" not in result._repr_html_()
    assert "<script>alert(1)" not in result.to_html()

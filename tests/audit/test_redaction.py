"""The report leaks nothing: no rare value in any output, whatever part of the plan held it."""

from __future__ import annotations

import datetime
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import indiff
from indiff.audit.redaction import RARE, Redaction, held, other_names
from indiff.data.table import read_table
from indiff.errors import HIDDEN, WITHHELD, Message, UserError, from_data, marked, said
from indiff.report.page.html import chart_bundle
from indiff.text import name as short_name

RECORDS = 60


def unique_frame() -> Any:
    """Every text a token of its own, every number nine digits of its own."""
    rng = np.random.default_rng(5)
    numbers = iter(rng.choice(np.arange(100_000_000, 999_999_999, 7919), 4 * RECORDS, False))
    letters = np.array(list("bcdfghjkmpqrtvwxz"))
    tokens = iter({"".join(rng.choice(letters, 8)) for _ in range(6 * RECORDS)})

    def texts() -> Any:
        return [next(tokens) for _ in range(RECORDS)]

    def integers() -> Any:
        return [int(next(numbers)) for _ in range(RECORDS)]

    return pa.table(
        {"who": texts(), "street": texts(), "pay": integers(), "code": integers(),
         "size": texts(), "ill": texts(), "debt": integers()}
    )  # fmt: skip


def outputs(result: Any) -> Any:
    page = result.to_html().replace(chart_bundle(), "")  # a megabyte that is the same for all
    assert len(page) < 600_000
    return {"json": result.to_json(), "md": result.to_markdown(), "html": page}


def audited(frame: Any, **sections: Any) -> Any:
    sections.setdefault("release", {"sanitizer": "mondrian:k=5"})
    return indiff.run_audit(indiff.Plan(**sections), frame)


@pytest.mark.parametrize("sensitive", ["ill", "debt"])
def test_no_value_of_a_table_of_unique_values(sensitive: Any) -> None:
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
    assert result.document["plan"]["data"]["orders"]["size"] == [HIDDEN]
    values = {str(value) for name in frame.column_names for value in frame[name].to_pylist()}
    for kind, text in outputs(result).items():
        assert [value for value in values if value in text] == [], kind


def test_no_rare_value_of_a_normal_table() -> None:
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


def test_a_refusal_of_a_cell_does_not_tell_it(tmp_path: Path) -> None:
    """A release from elsewhere with a wrong cell is bad input, before anything is measured."""
    frame = indiff.datasets.demo(records=200).select(["age", "sex", "diagnosis"])
    wrong = frame["diagnosis"].to_pylist()
    unique = next(value for value in wrong if wrong.count(value) == 1)
    release = pa.table({"age": ["0-120"] * 200, "sex": ["*"] * 200, "diagnosis": wrong})
    release = release.set_column(1, "sex", pa.array([unique] + ["*"] * 199))
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    with pytest.raises(indiff.UserError, match=r"column 'sex', row 1: 'a+") as caught:
        audited(
            frame,
            data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
            release={"file": str(tmp_path / "release.csv")},
            limits={"k": 5},
        )
    assert unique not in str(caught.value)


@pytest.mark.parametrize(("threes", "shown"), [(9, [HIDDEN]), (10, ["I", "II", "III", "IV"])])
def test_an_order_with_a_rare_member_is_left_out(threes: int, shown: Any) -> None:
    """I, II, a rare value, IV: everybody knows which."""
    stages = ["I"] * 20 + ["II"] * 20 + ["III"] * threes + ["IV"] * 20
    frame = pa.table({"stage": stages, "sex": ["m", "f"] * 30 + ["m"] * (len(stages) - 60)})
    data = {"quasi": ["stage"], "sensitive": "sex", "orders": {"stage": ["I", "II", "III", "IV"]}}
    result = audited(frame, data=data, adversary={"models": ["naive-bayes"]})
    assert result.document["plan"]["data"]["orders"]["stage"] == shown
    if threes < 10:
        for kind, text in outputs(result).items():
            assert not re.search(r"(?<!\w)I{1,3}V?(?![\w.])", text), kind  # "I." is an author


def test_bins_with_a_rare_edge_are_left_out() -> None:
    pay = [10] * 20 + [20] * 20 + [21, 22] + [30] * 20
    frame = pa.table({"age": [1, 2] * 31, "pay": pay})
    for edges, shown in (([15, 21, 25], [HIDDEN]), ([15, 25], [15, 25])):
        data = {"quasi": ["age"], "sensitive": "pay", "bins": edges}
        result = audited(frame, data=data, adversary={"models": ["naive-bayes"]})
        assert result.document["plan"]["data"]["bins"] == shown


def test_a_value_is_counted_as_text_too() -> None:
    assert held(pa.chunked_array([[3, 4, 4]]), "4.0") == 2
    assert held(pa.chunked_array([["a", None]]), "a") == 1


def test_values_and_messages() -> None:
    frame = pa.table(
        {"age": [30] * 10 + [47, 123456], "ill": ["flu"] * 10 + ["HIV", "heart failure"]}
    )
    table = read_table(frame, quasi=["age"], sensitive="ill")
    redaction = Redaction(table, 10)
    assert redaction.value("ill", "flu") == "flu"
    assert redaction.value("ill", "HIV") == RARE
    assert redaction.value("age", 47.0) == RARE
    assert redaction.value("age", 30) == 30
    assert redaction.value("ill", "never seen") == "never seen"
    assert redaction.value("no column of it", "HIV") == "HIV"
    told = Message(f"row 47: it holds {from_data('HIV')}, {from_data(123456.0)}, {from_data(30)}")
    assert redaction.text(told) == f"row 47: it holds {RARE}, {RARE}, 30"
    assert Redaction(table, 10, show_values=True).text(told) == told
    assert Redaction(table, 1).value("ill", "HIV") == "HIV"
    days = [datetime.date(2024, 2, 28)] * 10 + [datetime.date(2023, 5, 17)] * 2
    dated = read_table(frame.append_column("day", pa.array(days)), quasi=["day"], sensitive="ill")
    message = Message(f"{from_data('2024-02-28')}, {from_data('2023-05-17')}, '/home/me/data.csv'")
    shown = Redaction(dated, 10, paths=("/home/me/data.csv",)).text(message)
    assert shown == f"'2024-02-28', {RARE}, 'data.csv'"


AWKWARD = ['O\'Brien "Bob"', "tab\tname", "back\\slash", "multi\nline", "'quoted'", "q" * 200,
           "\ue000\ue002\ue001x\ue002"]  # fmt: skip


@pytest.mark.parametrize("value", AWKWARD)
def test_a_marked_value_is_withheld_however_it_is_written(value: Any) -> None:
    frame = pa.table({"age": [30] * 12, "ill": ["flu"] * 11 + [value]})
    redaction = Redaction(read_table(frame, quasi=["age"], sensitive="ill"), 10)
    error = UserError(f"{from_data(value)} is no level; 'mondrian:k=5' needs it")
    assert redaction.text(str(error)) == f"{RARE} is no level; 'mondrian:k=5' needs it."
    assert redaction.text(Message(f"it has {from_data('flu')}")) == "it has 'flu'"
    # What no record holds may be made of what some do.
    for part in (value[:6] + "~", [value], (value, "flu"), {value: 1}):
        assert redaction.text(Message(f"got {from_data(part)}.")) == "got a hidden text."
    assert redaction.text(Message(f"it said {said(value)}")) == f"it said {WITHHELD}"
    assert redaction.text(Message(f"it said {said(value)}").shortened(12)).endswith(f"{WITHHELD}…")


def test_a_message_in_another_one_stays_marked() -> None:
    inner = UserError("no level", from_data("Smith"))
    outer = pickle.loads(pickle.dumps(UserError(f"row 3: {marked(inner)}")))
    frame = pa.table({"age": [30] * 12, "ill": ["flu"] * 11 + ["Smith"]})
    redaction = Redaction(read_table(frame, quasi=["age"], sensitive="ill"))
    assert str(outer) == "row 3: no level; got 'Smith'."
    assert redaction.text(outer.message) == f"row 3: no level; got {RARE}."
    assert redaction.document({"notes": [outer.message]}) == {
        "notes": [f"row 3: no level; got {RARE}."]
    }


def test_a_command_is_shown_without_what_may_be_a_value() -> None:
    ages = [30] * 10 + [123, 1234]
    frame = pa.table({"age": ages, "ill": ["flu"] * 11 + ["Smith"]})
    table = read_table(frame, quasi=["age"], sensitive="ill")

    def shown(text: str) -> Any:
        found = Redaction(table, sanitizers=(text,))
        told = found.text(f"{text!r} failed").replace('"', "'")
        assert told == f"'{found.document(text)}' failed"
        return found.document(text)

    plain = "command:sh tool.sh --k=30 {input} {output}"
    assert shown(plain) == plain
    assert shown("command:sh tool.sh --drop=Smith") == "command:sh tool.sh a hidden text"
    assert shown("command:Rscript -e 'x != \"Smi\"'") == "command:Rscript -e a hidden text"
    assert shown("command:sh 'open") == "command:a hidden text"
    assert shown("command:sh --k=123 --drop=1234") == "command:sh --k=123 a hidden text"


def test_only_usual_tokens_for_suppressed_cells_are_shown(tmp_path: Path) -> None:
    frame = pa.table({"age": [30] * 20, "ill": ["a", "b"] * 10})
    release = pa.table({"age": ["Smith", "NA"] * 10, "ill": ["a", "b"] * 10})
    pyarrow.csv.write_csv(release, tmp_path / "release.csv")
    made = {"file": str(tmp_path / "release.csv"), "suppressed": ["Smith", "NA", ""]}
    found = audited(frame, data={"quasi": ["age"], "sensitive": "ill"}, release=made)
    assert found.document["plan"]["release"]["suppressed"] == ["a hidden text", "NA", ""]
    assert all("Smith" not in text for text in outputs(found).values())


def test_only_usual_tokens_for_missing_are_shown() -> None:
    frame = pa.table({"age": [30] * 20, "ill": ["a", "b"] * 9 + ["Smith", "n/a"]})
    data = {"quasi": ["age"], "sensitive": "ill", "missing_tokens": ["", "Smith", "N/A", "47"]}
    found = audited(frame, data=data)
    hidden = "a hidden text"
    assert found.document["plan"]["data"]["missing_tokens"] == ["", hidden, "N/A", hidden]
    assert all("Smith" not in text for text in outputs(found).values())
    shown = audited(frame, data=data, report={"show_values": True})
    assert shown.document["plan"]["data"]["missing_tokens"] == data["missing_tokens"]


def failing_tool(tmp_path: Path, ends: Any) -> Any:
    tool = tmp_path / "tool.sh"
    tool.write_text(
        'if [ "$(wc -l < "$1")" -lt ' + str(ends) + " ]; then\n"
        'tail -n 3 "$1" | tr a-z A-Z >&2; exit 4\nfi\ncp "$1" "$2"\n'
    )
    return f"command:sh {tool} {{input}} {{output}}"


@pytest.mark.parametrize("ends", [31, 99])
def test_what_a_failing_program_says_is_left_out(tmp_path: Path, ends: Any) -> None:
    """It fails without a record (31), or on the whole table (99), and prints rows in capitals."""
    frame = unique_frame().slice(0, 30)
    result = audited(
        frame,
        data={"quasi": ["street", "pay"], "sensitive": "ill"},
        release={"sanitizer": failing_tool(tmp_path, ends)},
        adversary={"targets": [0, 1]},
        limits={"delta": 2},
        run={"jobs": 1},
    )
    # What it returns of the whole table is a copy, with columns that name people.
    assert result.verdict["exit_code"] == (1 if ends == 31 else 3)
    reason = str(result.finding("delta:ill:naive-bayes").reason)
    assert "ended with code 4" in reason
    assert reason.endswith("It said: (its words are left out: they may hold values)")
    values = {
        str(value).upper() for name in frame.column_names for value in frame[name].to_pylist()
    }
    for kind, text in outputs(result).items():
        assert [value for value in values if value in text] == [], kind


class Telltale:
    """A model that fails without a record, and whose error holds the sensitive values."""

    def beliefs(self, release: Any, targets: Any) -> Any:
        if len(release) == 20:
            return np.full((len(targets), 20), 1 / 20)
        raise RuntimeError(f"cannot tell {[str(v).upper() for v in release.sensitive_values]}")


def test_what_a_failing_model_says_is_left_out() -> None:
    frame = unique_frame().slice(0, 20)
    table = read_table(frame, quasi=["street"], sensitive="ill")
    tested = indiff.differential_test(
        table, "mondrian:k=5", model=Telltale(), targets=[3], method="refit", jobs=1
    )
    told = Redaction(table).text(tested.failures[0])
    assert "RuntimeError: (its words are left out" in told
    assert not any(value.upper() in told for value in frame["ill"].to_pylist())


def test_show_values_is_explicit_and_marked() -> None:
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


def test_hostile_names_and_values() -> None:
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


PAID = 200
FRAME = pa.table(
    {
        "age": [20 + number % 10 for number in range(PAID)],  # 20 records each
        "pay": [1000 * (number % 20) for number in range(PAID - 1)] + [762_431],
        "ill": ["flu", "cold"] * 99 + ["Rarissima", "O'Rare"],
    }
)


@pytest.mark.parametrize(
    "expression",
    [
        "pay > 4500",  # nobody's, and many on both sides
        "pay > 5000",  # held by ten
        "pay > 500",  # ten below it
        "pay > 5e3",
        '"pay" between 3000 and 5000',
        "ill = 'flu'",
        "age > 25 and ill in ('flu', 'cold')",
        "pay > age * age",
        "pay > 4500 and age > 25.5",  # each among its own column's values
        "pay > 4500 and ill = 'flu'",
    ],
)
def test_what_many_hold_is_named(expression: str) -> None:
    assert other_names(read_table(FRAME, quasi=["age"], sensitive=expression), 10) == {}


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("pay > 762430.5", "a condition on pay"),  # one record alone above it
        ("pay = 762431", "a condition on pay"),
        ("pay > 762_430", "a condition on pay"),
        ("pay > 7624.305e+2", "a condition on pay"),  # not read as a number: who knows what it is
        ("ill = 'Rarissima'", "a condition on ill"),
        ("ill LIKE 'Raris%'", "a condition on ill"),
        ("ill = 'O''Rare'", "a condition on ill"),
        ("ill = 'flu' /* Rarissima */", "a condition on ill"),
        ("ill = $$Rarissima$$", "a condition on ill"),
        ("pay > 4500 and ill <> 'O''Rare'", "a condition on pay and ill"),
        ("concat(ill, 'Rarissima')", "an expression over ill"),
    ],
)
def test_what_few_hold_is_not(expression: str, name: str) -> None:
    table = read_table(FRAME, quasi=["age"], sensitive=expression)
    assert other_names(table, 10) == {expression: name}


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("pay > 4321", "a condition on pay"),
        (
            "pay > 4321 and age > 25",
            "a condition on age and pay",
        ),  # nobody is so old
    ],
)
def test_a_threshold_that_is_one_persons_value_is_not_named(expression: str, name: str) -> None:
    """Many are below and above it, and still it is what one person has."""
    frame = FRAME.set_column(1, "pay", pa.array([*FRAME["pay"].to_pylist()[:-1], 4321]))
    table = read_table(frame, quasi=["age"], sensitive=expression)
    assert other_names(table, 10) == {expression: name}


def test_a_text_that_nobody_holds_is_not_named() -> None:
    """Even where one record is enough to be named: nobody knows whose it is."""
    table = read_table(FRAME, quasi=["age"], sensitive="'x' = 'x'")
    assert other_names(table, 1) == {"'x' = 'x'": "a condition on nothing"}


def test_what_keeps_its_name_is_written_as_it_was_cut() -> None:
    """A long sanitizer that may be named stays short where a sentence shortened it."""
    text = f"folder:{'releases/' * 20}"
    cut = short_name(text)
    assert len(cut) < len(text)
    kept = Redaction(read_table(FRAME, quasi=["age"], sensitive="ill"), sanitizers=(text,))
    assert kept.text(f"{cut} made it") == f"{cut} made it"


def test_two_expressions_keep_names_of_their_own() -> None:
    both = ["pay > 762430", "pay < 762000"]
    found = other_names(read_table(FRAME, quasi=["age"], sensitive=both), 10)
    assert list(found.values()) == ["a condition on pay", "a condition on pay (2)"]


def test_an_expression_inside_another_does_not_spoil_its_name() -> None:
    """The longer one has the shorter name, and is still looked for first."""
    inner = "ill = 'Rarissima'"
    outer = f"{inner} or ill = 'flu'"
    table = read_table(FRAME, quasi=["age"], sensitive=[outer, inner])
    names = other_names(table, 10)
    assert len(names[outer]) < len(names[inner])
    redaction = Redaction(table, 10)
    assert redaction.text(f"{outer} failed") == f"{names[outer]} failed"
    assert redaction.text(f"{inner} failed") == f"{names[inner]} failed"


def test_a_column_that_reads_like_an_expression_is_a_column() -> None:
    frame = FRAME.append_column("pay over there: 762431", FRAME["ill"])
    read = read_table(frame, quasi=["age"], sensitive="pay over there: 762431")
    assert other_names(read, 10) == {}


@pytest.mark.parametrize(
    ("expression", "secret"),
    [
        ("pay > 762430", "762430"),
        # Two kinds of quotes, which repr escapes; and longer than a title may be.
        ("ill = 'O''Rare' or \"ill\" = 'Rarissima'", "Raris"),
        ("ill = 'Rarissima'" + " or ill = 'Rarissima'" * 9, "Raris"),
    ],
)
def test_no_output_has_it(expression: str, secret: str) -> None:
    column = "ill" if "ill" in expression else "pay"
    result = audited(
        FRAME,
        data={"quasi": ["age", column], "sensitive": expression},
        limits={f"inference.{expression}.itpr": 1, "delta": 2},
        report={"parameter": "mondrian:k=2,500"},
    )
    shown = f"a condition on {column}"
    (note,) = result.document["table"]["notes"]
    assert note.replace('"', "'") == (
        f"'{column}' is a quasi-identifier and '{shown}' follows from it"
    )
    assert result.finding(f"delta:{shown}:naive-bayes").about == shown
    assert result.verdict["status"] == "pass"
    for text in outputs(result).values():
        assert secret not in text
        assert secret.upper() not in text
    assert secret not in result._repr_html_()


def test_show_values_shows_it() -> None:
    result = audited(
        FRAME,
        data={"quasi": ["age"], "sensitive": "pay > 762430"},
        report={"show_values": True},
    )
    assert "pay > 762430" in result.to_markdown().replace("\\", "")


def test_a_comparison_has_the_same_name() -> None:
    table = indiff.read_table(FRAME, quasi=["age"], sensitive="ill = 'Rarissima'")
    found: Any = indiff.compare(table, "mondrian:k=5,500")
    assert found.sensitive == found.task == "a condition on ill"
    assert found.rows[1].reason.endswith("got 500. Lower k.")
    assert "Raris" not in found.to_json()


# The edge of what may be named: nine records of ten asked for are too few, ten are enough.

NINE_AND_TEN = pa.table(
    {
        "town": ["Ninefold"] * 9 + ["Tenfold"] * 10 + ["Elsewhere"] * 30,
        "ill": ["x", "y"] * 24 + ["x"],
    }
)


@pytest.mark.parametrize(("town", "shown"), [("Ninefold", RARE), ("Tenfold", "Tenfold")])
def test_a_value_is_named_from_min_cell_records_on(town: str, shown: str) -> None:
    table = read_table(NINE_AND_TEN, quasi=["town"], sensitive="ill")
    redaction = Redaction(table, min_cell=10)
    assert redaction.value("town", town) == shown
    sentence = redaction.text(Message(f"{from_data(town)} is no place."))
    assert sentence.replace("'", "") == f"{shown} is no place."
    expression = f"town = '{town}'"
    named = other_names(read_table(NINE_AND_TEN, quasi=["ill"], sensitive=expression), 10)
    assert (named.get(expression, expression) == expression) == (shown == town)


def test_very_long_column_names_are_cut_in_a_sentence() -> None:
    long, longer = "n" * 61, "n" * 61 + "m"  # the one is the beginning of the other
    frame = pa.table({"age": [1, 2], long: [1, 2], longer: [1, 2], "p" * 60: [1, 2]})
    table = read_table(frame, quasi=["age", long, longer], sensitive="p" * 60)
    said = Redaction(table).text(f"age, {longer}, {long} and {'p' * 60}")
    assert re.fullmatch(r"age, n{30}…n{28}m, n{30}…n{29} and p{60}", said), said


def test_numbers_too_large_for_a_float_are_counted() -> None:
    assert held(pa.chunked_array([[2**60 + 1, 5, 5]]), 5) == 2
    assert held(pa.chunked_array([pa.array([1.5, None, 1.5])]), "1.5") == 2
    assert held(pa.chunked_array([[1, 2]]), "nan") == held(pa.chunked_array([[1, 2]]), "one") == 0


@pytest.mark.parametrize("few", [1, 9])
def test_a_text_that_many_hold_here_and_few_there_is_not_named(few: int) -> None:
    towns = ["Florence"] * 12 + ["Rome"] * 12
    frame = pa.table({"town": towns, "name": ["Florence"] * few + ["Ann"] * (24 - few)})
    expression = "town = 'Florence' or name = 'Ann'"
    table = read_table(
        frame.append_column("x", pa.array([1, 2] * 12)), quasi=["x"], sensitive=expression
    )
    assert other_names(table, 10) == {expression: "a condition on town and name"}
    assert other_names(table, few) == {}


def test_a_number_that_few_hold_is_not_named_though_many_lie_around_it() -> None:
    frame = pa.table({"age": [1, 2] * 22, "pay": [0] * 20 + [7] * 3 + [20] * 21})
    for expression, shown in (("pay > 7", False), ("pay > 8", True), ("pay > 6", True)):
        table = read_table(frame, quasi=["age"], sensitive=expression)
        assert (other_names(table, 10) == {}) == shown

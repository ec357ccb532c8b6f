"""Input that is meant to break the program: it ends with 2 and a sentence, or works."""

from __future__ import annotations

import hashlib
import json
import os
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.data.joining import memory
from tests.command_line import Ended, call, write_people
from tests.fuzz.valid import RECORDS, arrow_columns, arrow_table

LONG = "9" * 5000
ROLES = ("--sensitive", "ill", "--quasi", "age,town")


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_people(tmp_path)


def refused(ended: Ended) -> str:
    assert ended.code == 2, (ended.code, ended.err)
    assert ended.err.startswith("indiff: ")
    assert ended.err.count("\n") == 1
    return ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("--bins", LONG), ("--sheet", f"#{LONG}"), ("--seed", LONG), ("--targets", LONG),
        ("--targets", f"0-{LONG}"), ("--jobs", LONG), ("--sanitizer", f"mondrian:k={LONG}"),
        ("--sanitizer", f"mondrian:recursive={LONG}/{LONG}"), ("--limit", f"delta={LONG}"),
        ("--time", LONG), ("--distance", f"emd:{'x' * 300}"),
    ],
)  # fmt: skip
def test_numbers_of_thousands_of_digits(people: Path, words: tuple[str, str]) -> None:
    refused(call("test", people, *ROLES, *words))


@pytest.mark.parametrize("words", [("--share", LONG), ("--size", LONG), ("--share", "nan")])
def test_numbers_that_are_no_share_and_no_size(people: Path, words: tuple[str, str]) -> None:
    refused(call("columns", people, *words))


def test_a_cell_of_thousands_of_digits_is_a_value(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "digits.csv"
    lines = [f"{LONG if row == 3 else row},t{row % 3},{'ab'[row % 2]}" for row in range(12)]
    path.write_text("age,town,ill\n" + "\n".join(lines) + "\n")
    for command in ("test", "risk"):
        assert call(command, path, *ROLES).code == 0
    assert call("columns", path).code == 0
    (tmp_path / "digits.jsonl").write_text(f'{{"age": {LONG}, "ill": "a"}}\n')
    refused(call("test", tmp_path / "digits.jsonl", "--sensitive", "ill"))


PLANS = {
    "lists": "a = " + "[" * 3000 + "]" * 3000,
    "tables": "a = " + "{a = " * 3000 + "1" + "}" * 3000,
    "a dotted section": "[" + ".".join("a" * 100_000) + "]\nb = 1",
    "a dotted key": ".".join("a" * 100_000) + " = 1",
    "dotted limits": "[data]\npath = 'people.csv'\nsensitive = ['ill']\n[limits."
    + ".".join("a" * 90) + "]\nb = 1",
    "a number": f"[run]\nseed = {LONG}",
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_plans_and_policies_that_are_nested_deeply(people: Path, name: str) -> None:
    Path("plan.toml").write_text(PLANS[name] + "\n")
    assert "plan.toml" in refused(call("audit", "plan.toml"))
    refused(call("audit", people, *ROLES, "--policy", "plan.toml"))


def test_json_that_is_nested_deeply(people: Path) -> None:
    for depth in (100, 100_000):
        text = f'{{"age": {"[" * depth}{"]" * depth}, "ill": "a"}}\n{{"age": 1, "ill": "b"}}\n'
        Path("deep.jsonl").write_text(text)
        for command in ("test", "risk"):
            refused(call(command, "deep.jsonl", "--sensitive", "ill"))
        refused(call("columns", "deep.jsonl"))


@pytest.mark.parametrize(
    "name", ["punycode", "idna", "unicode_escape", "raw-unicode-escape", "undefined", "rot13"]
)
def test_codecs_that_are_no_encodings_of_files(people: Path, name: str) -> None:
    told = refused(call("test", people, *ROLES, "--encoding", name))
    assert "encoding must be the name of a text encoding" in told


def test_half_a_character(people: Path, tmp_path: Path) -> None:
    (tmp_path / "half.csv").write_bytes(b"age,town,ill\n1,+2AA-,a\n2,t,b\n")
    told = refused(call("test", tmp_path / "half.csv", *ROLES, "--encoding", "utf-7"))
    assert "half a character" in told
    refused(call("test", people, *ROLES, "--missing-token", "\udcff"))


def test_links_that_lead_to_themselves(people: Path) -> None:
    for name in ("loop.csv", "loop.parquet", "loop.xlsx", "loop.toml", "loop"):
        os.symlink(name, name)
    for file in ("loop.csv", "loop.parquet", "loop.xlsx"):
        for command in ("test", "risk"):
            assert "is a link to none" in refused(call(command, file, *ROLES))
        assert "is a link to none" in refused(call("columns", file))
    refused(call("audit", "loop.toml"))
    for words in (
        ("--prior", "loop.csv"), ("--hierarchy", "age=loop.csv"), ("--distance", "emd:loop.csv"),
        ("--json", "loop.csv"), ("--records", "loop.csv"), ("--run", "loop", "--method", "refit"),
        ("--release", "loop.csv", "--rows-in-order"), ("--sanitizer", "releases:loop"),
    ):  # fmt: skip
        refused(call("test", people, *ROLES, *words))
    refused(call("audit", people, *ROLES, "--out", "loop"))


OUTPUTS = {
    "release": ("sanitize", "--out", ".csv"),
    "release in Parquet": ("sanitize", "--out", ".parquet"),
    "records": ("test", "--records", ".csv"),
    "records in Parquet": ("test", "--records", ".parquet"),
    "risk's records": ("risk", "--records", ".csv"),
    "risk's records in Parquet": ("risk", "--records", ".parquet"),
    "JSON": ("test", "--json", ".json"),
    "risk's JSON": ("risk", "--json", ".json"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_to_a_pipe_that_cannot_seek(people: Path, name: str) -> None:
    command, option, ending = OUTPUTS[name]
    pipe, file = Path(f"pipe{ending}"), Path(f"file{ending}")
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    seed = ("--seed", "1") if command == "sanitize" else ()
    assert call(command, people, *ROLES, *seed, option, pipe).code == 0
    reader.join(timeout=10)
    assert call(command, people, *ROLES, *seed, option, file).code == 0
    if ending == ".parquet":
        assert pq.read_table(pa.BufferReader(read[0])) == pq.read_table(file)
    elif ending == ".csv":
        assert read[0] == file.read_bytes()
    else:
        assert json.loads(read[0]).keys() == json.loads(file.read_bytes()).keys()


@pytest.mark.parametrize(
    "said",
    [b"{", b"\xff", b"[]", b"[" * 100_000, b'{"index_columns": 1}', b'{"index_columns": [1, {}]}'],
)
def test_a_note_of_pandas_that_pandas_never_wrote(tmp_path: Path, said: bytes) -> None:
    table = arrow_table().replace_schema_metadata({b"pandas": said})
    pq.write_table(table, tmp_path / "noted.parquet")
    assert call("risk", tmp_path / "noted.parquet", *ROLES).code == 0


def test_whole_numbers_beyond_the_exact_ones_among_fractions(tmp_path: Path) -> None:
    ill = [0.5, 2.0**53 + 2, None, 1.0] * 9
    path = tmp_path / "large.parquet"
    pq.write_table(arrow_table(pa.array(ill, pa.float64()), "ill"), path)
    words = ("--sanitizer", "suppress", "--out", tmp_path / "out.parquet")
    assert call("sanitize", path, *ROLES, *words).code == 0
    released = pq.read_table(tmp_path / "out.parquet")["ill"].to_pylist()
    assert sorted(released, key=str) == sorted(ill, key=str)


def test_output_to_a_device(people: Path) -> None:
    for command in ("test", "risk"):
        assert call(command, people, *ROLES, "--json", "/dev/null").code == 0
    assert call("columns", people, "--json", "/dev/null").code == 0


@pytest.mark.parametrize("column", ["age", pytest.param("ill", marks=pytest.mark.system)])
def test_every_type_of_arrow_is_read_or_refused(tmp_path: Path, column: str) -> None:
    """Whatever a column holds: numbers are counted, and what is no value is named."""
    path = tmp_path / "typed.feather"
    codes: dict[str, set[int]] = {}
    for made in arrow_columns(RECORDS, random.Random(1)):
        table = arrow_table(made(), column).select(["age", "town", "ill"])
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
        ended = [
            call("risk", path, *ROLES),
            call("sanitize", path, *ROLES, "--out", tmp_path / "o.csv"),
            call("columns", path),
            call("risk", path, *ROLES, "--special", "2", "--records", tmp_path / "r.csv"),
        ]
        for one in ended:
            assert one.code in (0, 2), (made().type, one.err)
            assert one.code == 0 or one.err.startswith("indiff: "), one.err
            assert "Warning" not in one.err
        if ended[-1].code == 0:  # no record is lost, whatever the engine calls its type
            assert len((tmp_path / "r.csv").read_text().splitlines()) == table.num_rows + 1
        codes.setdefault(str(made().type), set()).add(ended[0].code)
    for name in ("int8", "uint64", "float", "double", "string", "date32[day]", "bool", "halffloat"):
        assert 0 in codes[name], name
    for name in ("struct<a: int64>", "list<item: int64>", "map<string, int64>"):
        assert codes[name] == {2}, name


def test_more_targets_threads_and_processes_than_there_are(people: Path) -> None:
    for targets in ("0-99999999999", "0-20000000", "0-60"):
        refused(call("test", people, *ROLES, "--targets", targets))
    assert "from 1 to 1,024" in refused(call("test", people, *ROLES, "--jobs", "99999999"))
    for engine in ("duckdb", "in-process"):
        words = ("risk", people, *ROLES, "--engine", engine)
        assert "at most 1,024" in refused(call(*words, "--threads", "99999999"))
        assert "memory-limit must suffice" in refused(call(*words, "--memory-limit", "1B"))


def test_a_stray_cell_far_away_is_named(people: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["age", "ill"], *([age, "ab"[age % 2]] for age in range(20))):
        sheet.append(row)
    book.save("table.xlsx")
    assert call("risk", "table.xlsx", "--sensitive", "ill").code == 0
    sheet.cell(1_048_576, 16_384, "x")
    book.save("stray.xlsx")
    told = refused(call("risk", "stray.xlsx", "--sensitive", "ill"))
    assert "go as far as row 1,048,576 and column 16,384" in told


def test_more_columns_than_an_array_has_dimensions(people: Path) -> None:
    columns = {f"c{place}": ["a", "b", "c"] for place in range(70)}
    pq.write_table(pa.table({**columns, "ill": ["x", "y", "x"]}), "wide.parquet")
    words = ("risk", "wide.parquet", "--sensitive", "ill", "--quasi", ",".join(columns))
    assert "at most 32 columns" in refused(call(*words, "--engine", "in-process"))


@pytest.mark.parametrize("star", ["*", "COLUMNS(*)", "records.*"])
def test_an_expression_that_gives_every_column(people: Path, star: str) -> None:
    told = refused(call("test", people, "--quasi", "age", "--sensitive", star))
    assert "is neither a column nor an expression over columns" in told


def begin_run(people: Path, *method: str) -> tuple[str | Path, ...]:
    words: list[str | Path] = ["test", people, *ROLES, "--method", *(method or ["refit"])]
    words += ["--model", "naive-bayes", "--jobs", "1", "--targets", "0-3", "--run", "run"]
    assert call(*words).code == 0
    return (*words,)


def written(content: Any) -> bytes:
    """A line with the checksum that it should have."""
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode() + b" " + text + b"\n"


ENTRIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list for the beliefs": lambda entry: {**entry, "without": [[1.0]]},
    "a list in a list": lambda entry: {**entry, "without": [[[0.5, 0.5, 0]]]},
    "a text for the beliefs": lambda entry: {**entry, "with": "x"},
    "no beliefs": lambda entry: {key: entry[key] for key in entry if key != "without"},
    "no calls": lambda entry: {key: entry[key] for key in entry if key != "calls"},
    "a list for calls": lambda entry: {**entry, "calls": []},
    "a list for lost": lambda entry: {**entry, "lost": [True] * 9},
    "a list for the target": lambda entry: {**entry, "target": [1]},
    "no target": lambda entry: {key: entry[key] for key in entry if key != "target"},
    "no object": lambda entry: [entry],
    "no JSON": lambda entry: b"{",
    "no UTF-8": lambda entry: b'{"target": "\xff"}',
    "deep": lambda entry: b"[" * 100_000,
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_run_with_a_line_that_no_run_wrote(people: Path, name: str) -> None:
    refuse_line(begin_run(people), ENTRIES[name])


SAMPLES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no record": lambda entry: {**entry, "records": []},
    "two records": lambda entry: {**entry, "records": entry["records"] * 2},
    "other values": lambda entry: changed_sample(entry, "with", [1.0]),
    "other values without it": lambda entry: changed_sample(entry, "without", [0.5, 0.5]),
    "other runs": lambda entry: changed_sample(entry, "changed", [0.0]),
    "no distance": lambda entry: changed_sample(entry, "measured", []),
    "a distance of other runs": lambda entry: changed_sample(
        entry, "measured", [[0.0, 0.0, 1.0, [0.0]]]
    ),
}


def changed_sample(entry: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    return {**entry, "records": [{**entry["records"][0], key: value}]}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sampled_run_with_a_line_that_no_run_wrote(people: Path, name: str) -> None:
    refuse_line(begin_run(people, "sampled", "--runs", "3"), SAMPLES[name])


def refuse_line(words: Sequence[str | Path], change: Callable[[dict[str, Any]], Any]) -> None:
    journal = Path("run/journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    entry = json.loads(lines[2].partition(b" ")[2])
    lines[2] = written(change(entry))
    journal.write_bytes(b"".join(lines))
    assert "is damaged" in refused(call(*words))
    assert journal.read_bytes() == b"".join(lines)


def test_a_run_whose_settings_are_none(people: Path) -> None:
    words = begin_run(people)
    journal = Path("run/journal")
    rest = journal.read_bytes().splitlines(keepends=True)[1:]
    for first in (b"[]", b"1", b"{}", b'{"run": []}', b'{"run": 1, "seed": [[1]]}'):
        journal.write_bytes(b"".join([written(first), *rest]))
        assert "run" in refused(call(*words))
    for text in (b"\xff\xfe", b"\0" * 100, journal.read_bytes()[:100]):
        journal.write_bytes(text)
        refused(call(*words))
        assert journal.read_bytes() == text


def test_beliefs_that_do_not_fit_are_refused_before_they_are_made(
    people: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """60 records and 3 values make 4 arrays of 8 bytes each: 5,760 bytes."""
    monkeypatch.setattr("indiff.differential.memory.LITTLE", 0)
    for free, code in ((5, 2), (6, 0)):  # kibibytes
        (tmp_path / "proc").mkdir(exist_ok=True)
        (tmp_path / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:    {free} kB\n")
        monkeypatch.setattr(memory, "ROOT", tmp_path)
        ended = call("test", people, *ROLES)
        assert ended.code == code, ended.err
        assert ("the beliefs about 60 records over 3 sensitive values need" in ended.err) == (
            code == 2
        )


@pytest.mark.parametrize("model", ["naive-bayes", "tree", "logistic"])
def test_the_widest_range_that_numbers_have(tmp_path: Path, model: str) -> None:
    path = tmp_path / "wide.csv"
    ages = ["-8e307", "8e307", "0", "1", "7e307", "-1e-300"] * 4
    lines = [f"{age},{'ab'[row % 2]}" for row, age in enumerate(ages)]
    path.write_text("age,ill\n" + "\n".join(lines) + "\n")
    ended = call("test", path, "--sensitive", "ill", "--model", model, "--targets", "0-3",
                 "--sanitizer", "mondrian:k=3")  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    if model == "tree":
        for numeric in ("Scaling", "Bounds", "Binary", "QuantilesA"):
            for other in ("Hot", "Binary", "HotA", "TF"):
                words = ("--model", f"tree:encoding={numeric}-{other}", "--targets", "0-1")
                ended = call("test", path, "--sensitive", "ill", *words, "--jobs", "1")
                assert ended.code in (0, 2), ended.err
                assert "Warning" not in ended.err
    path.write_text(path.read_text().replace("8e307", "1.7e308"))
    told = refused(call("test", path, "--sensitive", "ill", "--model", model))
    assert "must lie less than 1.8e308 apart" in told

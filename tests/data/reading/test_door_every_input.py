"""Every input in every command: what docs/inputs.md lists is read alike by test, audit and risk."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import indiff
from indiff.errors import UserError
from indiff.risk import measure_risk
from tests.command_line import call

PEOPLE = pa.table(
    {
        "age": [20 + (7 * i) % 50 for i in range(60)],
        "sex": ["fm"[i % 2] for i in range(60)],
        "ill": ["no" if i % 3 else "yes" for i in range(60)],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill"}
DOCS = Path(__file__).parents[3] / "docs" / "inputs.md"


def text(sign: str = ",", table: pa.Table = PEOPLE) -> bytes:
    rows = [table.column_names, *zip(*table.to_pydict().values(), strict=True)]
    return "".join(sign.join(map(str, row)) + "\n" for row in rows).encode()


def lines() -> bytes:
    return "".join(json.dumps(row) + "\n" for row in PEOPLE.to_pylist()).encode()


def written(name: str, data: bytes) -> Callable[[Path], Any]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return make


def zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "people.zip", "w") as archive:
        archive.writestr("people.csv", text())
        archive.writestr("__MACOSX/people.csv", b"\0")
    return folder / "people.zip"


def by(write: Callable[[Path], Any], name: str) -> Callable[[Path], Any]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def parts(ending: str, pattern: str | None) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        (folder / "parts").mkdir()
        for number, half in enumerate((PEOPLE.slice(0, 30), PEOPLE.slice(30))):
            path = folder / "parts" / f"{number}{ending}"
            if ending == ".parquet":
                pq.write_table(half, path)
            else:
                path.write_bytes(text(table=half))
        return folder / "parts" if pattern is None else str(folder / "parts" / pattern)

    return make


def partitioned(folder: Path) -> Path:
    for sex in "fm":
        (folder / "parts" / f"sex={sex}").mkdir(parents=True)
        rows = PEOPLE.filter(pa.array([one == sex for one in PEOPLE["sex"].to_pylist()]))
        pq.write_table(rows.drop_columns(["sex"]), folder / "parts" / f"sex={sex}" / "0.parquet")
    return folder / "parts"


def statistics(writer: str, name: str) -> Callable[[Path], Any]:
    def make(folder: Path) -> Path:
        pyreadstat = pytest.importorskip("pyreadstat")
        getattr(pyreadstat, writer)(PEOPLE.to_pandas(), str(folder / name))
        return folder / name

    return make


FILES: dict[str, Callable[[Path], Any]] = {
    "CSV": written("people.csv", text()),
    "TSV": written("people.tsv", text("\t")),
    "CSV, gzip": written("people.csv.gz", gzip.compress(text())),
    "CSV, bzip2": written("people.csv.bz2", bz2.compress(text())),
    "CSV, zip": zipped,
    "Parquet": by(lambda path: pq.write_table(PEOPLE, path), "people.parquet"),
    "Feather, Arrow": by(
        lambda path: pyarrow.feather.write_feather(PEOPLE, path), "people.feather"
    ),
    "JSON lines": written("people.jsonl", lines()),
    "JSON lines, gzip": written("people.jsonl.gz", gzip.compress(lines())),
    "Excel": by(lambda path: PEOPLE.to_pandas().to_excel(path, index=False), "people.xlsx"),
    "Stata": statistics("write_dta", "people.dta"),
    "SPSS": statistics("write_sav", "people.sav"),
    "SAS transport": statistics("write_xport", "people.xpt"),
    "Folder of text": parts(".csv", None),
    "Folder of Parquet": parts(".parquet", None),
    "Partitioned folder": partitioned,
    "Pattern": parts(".csv", "*.csv"),
    "Pattern of Parquet": parts(".parquet", "*.parquet"),
}
FRAMES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: PEOPLE.to_pandas(),
    "Polars": lambda _: pl.from_arrow(PEOPLE),
    "Polars, lazy": lambda _: pl.DataFrame(pl.from_arrow(PEOPLE)).lazy(),
    "PyArrow table": lambda _: PEOPLE,
    "PyArrow batch": lambda _: PEOPLE.combine_chunks().to_batches()[0],
    "PyArrow reader": lambda _: PEOPLE.to_reader(),
    "PyArrow dataset": lambda _: pyarrow.dataset.dataset(PEOPLE),
    "DuckDB relation": lambda _: duckdb.from_arrow(PEOPLE),
}
WAYS = FILES | FRAMES


@pytest.fixture(scope="module")
def truth() -> tuple[int, str]:
    table = indiff.read_table(PEOPLE, **ROLES)
    return len(set(zip(*PEOPLE.drop_columns(["ill"]).to_pydict().values(), strict=True))), (
        table.fingerprint
    )


def order_free(frame: pa.Table) -> list[Any]:
    return sorted(zip(*(frame[name].to_pylist() for name in PEOPLE.column_names), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_the_test_reads_it(way: str, tmp_path: Path, truth: tuple[int, str]) -> None:
    table = indiff.read_table(WAYS[way](tmp_path), **ROLES)
    assert order_free(table.source) == order_free(PEOPLE)
    assert table.fingerprint == truth[1]


@pytest.mark.parametrize("way", WAYS)
def test_the_audit_reads_it(way: str, tmp_path: Path) -> None:
    from indiff.audit.plan.plan import Plan
    from indiff.audit.run import read_data

    made = WAYS[way](tmp_path)
    path = str(made) if way in FILES else None
    plan = Plan(data={"path": path, "quasi": ["age", "sex"], "sensitive": "ill"})
    read = read_data(plan, None if way in FILES else made)
    assert order_free(read.source) == order_free(PEOPLE)


@pytest.mark.parametrize("way", WAYS)
def test_risk_reads_it(way: str, tmp_path: Path, truth: tuple[int, str]) -> None:
    risk = measure_risk(WAYS[way](tmp_path), engine="duckdb", details=False, **ROLES)
    assert risk.groups.groups == truth[0]
    assert risk.method.fingerprint == truth[1]


def test_the_page_lists_every_way() -> None:
    page = DOCS.read_text(encoding="utf-8")
    assert [way for way in [*WAYS, "Standard input", "Spark DataFrame"] if way not in page] == []


def indiff_reads(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; sys.argv[0] = 'indiff'; from indiff.cli.main import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, input=data, capture_output=True, check=False)


@pytest.mark.parametrize(
    "data", [text(), lines(), gzip.compress(text())], ids=["csv", "json", "gz"]
)
def test_standard_input_and_output(data: bytes) -> None:
    done = indiff_reads(
        data, "risk", "-", "--quasi", "age,sex", "--sensitive", "ill", "--json", "-"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 60
    assert b"standard input" in done.stderr or b"Risk" in done.stderr


def test_a_test_of_standard_input_is_that_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(text())
    roles = ("--quasi", "age,sex", "--sensitive", "ill", "--sanitizer", "mondrian:k=5")
    asked = (*roles, "--model", "frequency", "--json")
    typed = indiff_reads(text(), "test", "-", *asked, "-")
    named = call("test", tmp_path / "people.csv", *asked, tmp_path / "named.json")
    assert typed.returncode == named.code == 0, typed.stderr
    one = json.loads(typed.stdout)
    other = json.loads((tmp_path / "named.json").read_text(encoding="utf-8"))
    assert one["delta"] == other["delta"] > 0
    assert one["fingerprint"] == other["fingerprint"]


def test_an_audit_of_standard_input(tmp_path: Path) -> None:
    out = tmp_path / "report"
    roles = ("--quasi", "age,sex", "--sensitive", "ill", "--sanitizer", "mondrian:k=5")
    done = indiff_reads(
        text(), "audit", "-", *roles, "--model", "frequency", "--limit", "k=5", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert document["table"]["records"] == 60


def test_what_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", text())
        archive.writestr("b.csv", text())
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n[2]\n')
    (tmp_path / "bad.feather").write_text("no")
    (tmp_path / "bad.dta").write_text("no")
    (tmp_path / "empty").mkdir()
    for name, words in {
        "two.zip": "must hold one file.*2 files",
        "bad.jsonl": "line 2 of .* is not",
        "bad.feather": "must be readable",
        "bad.dta": "must be readable",
        "empty": "folder must hold",
    }.items():
        for read in (indiff.read_table, measure_risk):
            with pytest.raises(UserError, match=words):
                read(tmp_path / name, **ROLES)


def test_expressions_and_bins_on_risk(tmp_path: Path) -> None:
    path = written("people.csv", text())(tmp_path)
    asked: dict[str, Any] = {"quasi": ["sex"], "sensitive": "age > 40"}
    over = measure_risk(path, engine="duckdb", **asked)
    table = indiff.read_table(path, **asked)
    assert (
        over.inference["age > 40"].itpr == measure_risk(table, **asked).inference["age > 40"].itpr
    )
    binned = measure_risk(path, quasi=["sex"], sensitive="age", bins=4)
    assert binned.method.kinds == {"age": "ordinal"}


def test_decimal_commas_are_numbers_to_risk_as_to_the_test(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("q;s\n" + "".join(f"{i % 3};{i % 4},5\n" for i in range(60)))
    risk = measure_risk(path, quasi=["q"], sensitive="s")
    assert risk.method.kinds == {"s": "numeric"}
    assert (
        risk.method.fingerprint == indiff.read_table(path, quasi=["q"], sensitive="s").fingerprint
    )


def test_a_signalling_nan_is_an_error() -> None:
    import decimal

    frame = pd.DataFrame({"a": [decimal.Decimal("1"), decimal.Decimal("sNaN")], "ill": ["n", "y"]})
    with pytest.raises(UserError, match="column 'a'"):
        indiff.read_table(frame, sensitive="ill")


@pytest.mark.system
def test_spark_frames_are_read(spark: Any, truth: tuple[int, str]) -> None:
    rows = list(zip(*PEOPLE.to_pydict().values(), strict=True))
    frame = spark.createDataFrame(rows, PEOPLE.column_names)
    assert indiff.read_table(frame, **ROLES).fingerprint == truth[1]
    assert measure_risk(frame, details=False, **ROLES).groups.groups == truth[0]

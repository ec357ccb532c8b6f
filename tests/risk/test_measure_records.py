"""One row per record, written by the engine."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from indiff.engines.duckdb import DuckDBEngine
from indiff.errors import UserError
from indiff.risk import measure_risk
from tests.risk import oracle
from tests.risk.test_metrics_definitions import random_table

QUASI = ["age", "zip"]


def read(path: Path) -> dict[str, list[Any]]:
    """Read a file, or the folder of files that Spark writes."""
    kind = "parquet" if path.suffix == ".parquet" else "csv"
    files = [path] if path.is_file() else sorted(path.glob(f"part-*.{kind}"))
    tables = [pq.read_table(f) if kind == "parquet" else pc.read_csv(f) for f in files]
    return pa.concat_tables(tables).sort_by("record").to_pydict()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_record_has_its_group(suffix: str, engine: Any, tmp_path: Path) -> None:
    data = random_table(7)
    out = tmp_path / f"records.{suffix}"
    risk = measure_risk(
        pa.table(data), quasi=QUASI, sensitive="disease", engine=engine, records=out, details=False
    )
    found = read(out)
    keys = [tuple(oracle.value(data[n][row]) for n in QUASI) for row in range(60)]
    sizes = Counter(keys)
    groups, _ = oracle.grouped(keys, data["disease"])
    assert found["record"] == list(range(60))
    assert found["group_size"] == [sizes[key] for key in keys]
    assert found["singled_out"] == [int(sizes[key] == 1) for key in keys]
    h = risk.inference["disease"].h
    expected = [1 - len(groups) * sizes[key] / 60 * oracle.entropy(groups[key]) / h for key in keys]
    assert found["itpr:disease"] == pytest.approx(expected, abs=1e-12)
    assert max(found["itpr:disease"]) == pytest.approx(risk.inference["disease"].itpr, abs=1e-12)
    assert max(found["itpr"]) == pytest.approx(risk.reidentification.itpr, abs=1e-12)


def test_special_uniques_add_their_columns(tmp_path: Path) -> None:
    """By hand: the second alone is 40, the first needs both columns, the others are alike."""
    out = tmp_path / "records.csv"
    people = pa.table({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 30]})
    measure_risk(people, quasi=["sex", "age"], special=2, records=out)
    found = read(out)
    assert found["special_score"] == [1, 1, 0, 0]
    # U = P = 2, π = 0.1: DIS is 0.1 of the file, and of each of two records with equal scores
    assert found["special_dis"] == pytest.approx([0.1, 0.1, 0, 0])
    measure_risk(people, quasi=["sex", "age"], records=out)
    assert "special_score" not in read(out)


def test_records_of_people_have_their_group_s_term(engine: Any, tmp_path: Path) -> None:
    """Eq. 10 with X the person: 1 − groups · n · H(X|group) / N / H(X), from the counts alone."""
    who, group = [*"AABCDEEE"], [*"xxxxyyyy"]
    out = tmp_path / "records.csv"
    risk = measure_risk(
        pa.table({"who": who, "q": group}), quasi="q", individual="who", engine=engine,
        records=out, details=False,
    )  # fmt: skip
    found = read(out)
    h = oracle.entropy(Counter(who))
    inside = {
        name: Counter(w for w, g in zip(who, group, strict=True) if g == name) for name in "xy"
    }
    terms = {name: 1 - 2 * 4 / 8 * oracle.entropy(people) / h for name, people in inside.items()}
    assert found["itpr"] == pytest.approx([terms[name] for name in group], abs=1e-12)
    assert max(found["itpr"]) == pytest.approx(risk.reidentification.itpr, abs=1e-12)
    assert found["group_size"] == [len(inside[name]) for name in group]


def test_records_are_numbered_as_in_the_files(engine: Any, tmp_path: Path) -> None:
    # The second file is larger: Spark reads large files first.
    for number, size in enumerate((3, 200)):
        ages = pa.table({"age": [number * 1000 + i // 2 for i in range(size)]})
        pq.write_table(ages, tmp_path / f"part {number}.parquet")
    out = tmp_path / "out" / "records.parquet"
    out.parent.mkdir()
    measure_risk(
        str(tmp_path / "*.parquet"), quasi="age", engine=engine, records=out, details=False
    )
    found = read(out)
    assert found["record"] == list(range(203))
    assert found["group_size"] == [2, 2, 1] + [2] * 200


def test_csv_rows_are_numbered_in_order(engine: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('age,name\n30,x\n31,"two\nlines"\n30,y\n')
    out = tmp_path / "records.csv"
    measure_risk(tmp_path / "a.csv", quasi="age", engine=engine, records=out, details=False)
    assert read(out)["group_size"] == [2, 1, 2]


@pytest.mark.parametrize("name", ["records.csv", "records.parquet"])
def test_only_the_owner_can_read_them(name: str, tmp_path: Path) -> None:
    people = pa.table({"age": [30, 30, 47], "ill": ["a", "b", "a"]})
    measure_risk(people, quasi="age", sensitive="ill", records=tmp_path / name)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"cannot be written \(No such file or directory\); choose another place"
    ):
        measure_risk(
            pa.table({"age": [1]}), quasi="age", engine="duckdb", records=tmp_path / "no" / "a.csv"
        )


def test_individuals_are_counted_once(engine: Any, tmp_path: Path) -> None:
    data = pa.table({"age": [30, 30, 40, 40], "who": ["a", "a", "b", "c"]})
    out = tmp_path / "records.parquet"
    measure_risk(data, quasi="age", individual="who", engine=engine, records=out, details=False)
    found = ds.dataset(out).to_table().sort_by("record").to_pydict()
    assert found["group_size"] == [1, 1, 2, 2]
    assert found["singled_out"] == [1, 1, 0, 0]


def test_every_table_that_records_are_joined_with_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An engine may have to move them to where the records are, as Spark does."""
    joined: list[str] = []
    write = DuckDBEngine.write

    def look(self: Any, sql: str, path: str, tables: Any) -> None:
        joined.extend(re.findall(r" JOIN (\w+) ", sql))
        assert sorted(joined) == sorted(tables)
        write(self, sql, path, tables)

    monkeypatch.setattr(DuckDBEngine, "write", look)
    frame = pa.table({"age": [30, 30, 47], "w": [2.0, 3.5, 4.0], "hid": list("aab")})
    measure_risk(
        frame, quasi="age", weight="w", household="hid", special=1, records=tmp_path / "out.csv"
    )
    assert len(joined) == 4  # groups, their risks, special uniques and households

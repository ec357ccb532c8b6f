"""One DuckDB for all parts of an audit: started once, and nothing goes from part to part."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import indiff
from indiff.databases import one_database, opened


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The settings of each DuckDB that was started."""
    found: list[Any] = []
    connect = duckdb.connect

    def watched(config: Any) -> Any:
        found.append(config)
        return connect(config=config)

    monkeypatch.setattr(duckdb, "connect", watched)
    return found


def test_each_that_asks_has_its_own_and_within_a_scope_all_share_one(started: list[Any]) -> None:
    for _ in range(2):
        with opened() as alone:
            assert alone.execute("SELECT 1").fetchall() == [(1,)]
    assert len(started) == 2
    with one_database():
        assert len(started) == 2  # not before it is asked for
        for _ in range(3):
            with opened() as part:
                assert part.execute("SELECT 1").fetchall() == [(1,)]
        assert len(started) == 3
    spill = Path(started[-1]["temp_directory"])
    assert not spill.exists()
    with opened():
        assert len(started) == 4


def test_parts_see_nothing_of_each_other() -> None:
    """Not at the same time, nor one after the other; each may use the same names."""
    made = (
        "CREATE TABLE people AS SELECT 47 AS age",
        "CREATE TEMP TABLE t0 AS SELECT 1 AS n",
        "CREATE TYPE kind AS ENUM ('a')",
    )
    with one_database():
        for _ in range(2):
            with opened() as one, opened() as other:
                for part in (one, other):
                    assert part.execute("SHOW TABLES").fetchall() == []
                    for sql in made:
                        part.execute(sql)
                    part.from_arrow(pa.table({"a": [1]})).create_view("source")
                    assert len(part.execute("SHOW TABLES").fetchall()) == 3
        with opened() as last:
            named = [name for name, *_ in last.execute("SHOW DATABASES").fetchall()]
            assert len(named) == 2  # its own, and the one that all began with


def test_a_part_that_fails_leaves_nothing() -> None:
    with one_database():
        with pytest.raises(duckdb.Error), opened() as part:
            part.execute("CREATE TABLE people AS SELECT 47 AS age; SELECT no FROM people")
        with opened() as part:
            assert part.execute("SHOW TABLES").fetchall() == []


def test_settings_and_other_threads_have_their_own(started: list[Any]) -> None:
    def ask() -> None:
        with opened() as own:
            own.execute("SELECT 1")

    with one_database(), opened(), opened(threads=1) as slow:
        assert slow.execute("SELECT current_setting('threads')").fetchall() == [(1,)]
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    assert len(started) == 3


def test_an_audit_starts_one(started: list[Any]) -> None:
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        release={"sanitizer": "mondrian:k=5"}, limits={"k": 5},
    )  # fmt: skip
    result = indiff.run_audit(plan, indiff.datasets.demo(records=100))
    assert result.bug is None
    assert len(started) == 1

"""Every fault at every write of the store: all or nothing, said, and the same state in the end."""

from __future__ import annotations

import itertools
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from indiff.errors import UserError
from indiff.web.store import store as stores
from indiff.web.store.settings import Settings
from indiff.web.store.store import Store
from tests.faults import Killed, each

DATASET = "0123456789abcdef"
RAISED = (sqlite3.OperationalError, UserError, OSError, MemoryError, Killed)


@pytest.fixture(autouse=True)
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and times that are the same in every run."""
    monkeypatch.setattr(stores, "now", lambda: "2026-01-01T00:00:00.000+00:00")


def upload(store: Store) -> None:
    path = store.settings.dataset_folder(DATASET) / "people.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("age,ill\n30,yes\n")
    store.add_dataset(id=DATASET, name="people.csv", path=path, origin="upload", reading={})


def profile(store: Store) -> None:
    columns = [{"name": name, "role": "quasi", "kind": None} for name in ("age", "ill")]
    store.set_profile(DATASET, {"records": 1, "preview": ["x" * 9000]}, columns)


def finish(store: Store) -> None:
    job = store.jobs(kind="run")[-1]
    store.finish(job["id"], job["attempt"], answer={"delta": 1}, document='{"a": 1}')


STEPS: list[Callable[[Store], object]] = [
    upload,
    profile,
    lambda store: store.set_roles(DATASET, [{"name": "ill", "role": "sensitive", "kind": None,
                                             "order": None}]),
    lambda store: store.add_jobs("run", DATASET, [("one", {"k": 5}), ("two", {"k": 10})]),
    lambda store: store.begin(store.jobs(kind="run")[-1]["id"]),
    lambda store: store.report(store.jobs(kind="run")[-1]["id"], 1, step="testing", done=3),
    finish,
    lambda store: store.begin(store.jobs(kind="run")[0]["id"]),
    lambda store: store.queue_again(),
    lambda store: store.end(store.jobs(kind="run")[0]["id"], "cancelled"),
    lambda store: store.label(store.jobs(kind="run")[-1]["id"], name="first"),
]  # fmt: skip


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let a step give the same names whenever it is done."""

    def begin(step: int) -> None:
        number = itertools.count()
        monkeypatch.setattr(stores, "new_id", lambda: f"{step:08x}{next(number):08x}")

    return begin


def state(store: Store) -> list[Any]:
    """Everything in the store, once it is known to be intact."""
    connection = sqlite3.connect(store.settings.database)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    tables = ("datasets", "columns", "jobs", "documents")
    found = [connection.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall()
             for name in tables]  # fmt: skip
    events = connection.execute("SELECT job, text FROM events ORDER BY id").fetchall()
    connection.close()
    return [*found, events]


def play(settings: Settings, names: Callable[[int], None]) -> list[Any]:
    """Do every step, and return the state after each, the empty one first."""
    store = Store.open(settings)
    states = [state(store)]
    for number, step in enumerate(STEPS):
        names(number)
        step(store)
        states.append(state(store))
    return states


def fresh(settings: Settings) -> Settings:
    shutil.rmtree(settings.data_dir, ignore_errors=True)
    return settings


def go_on(settings: Settings, step: int, states: list[Any], names: Callable[[int], None]) -> None:
    """Do a step again after a fault, as the next server would, unless it was kept."""
    store = Store.open(settings)
    if state(store) != states[step + 1]:
        assert state(store) == states[step], "half of a step was kept"
        names(step)
        STEPS[step](store)
    assert state(store) == states[step + 1]
    assert store.sweep() == 0


def test_each_step_is_kept_or_not_whatever_fails(
    tmp_path: Path, names: Callable[[int], None]
) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    states = play(fresh(settings), names)
    whole = tmp_path / "before"
    for step, do in enumerate(STEPS):
        fresh(settings)
        store = Store.open(settings)
        for number in range(step):
            names(number)
            STEPS[number](store)
        store.database.forget_log()
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(settings.data_dir, whole)

        def again(do: Callable[[Store], object] = do, step: int = step) -> None:
            shutil.rmtree(settings.data_dir)
            shutil.copytree(whole, settings.data_dir)
            names(step)
            do(Store(settings, store.database))  # noqa: B023 - of this step

        for disk in each(again):
            with disk(), pytest.raises(RAISED):
                again()
            go_on(settings, step, states, names)


def test_the_tables_are_made_whole_or_made_again(
    tmp_path: Path, names: Callable[[int], None]
) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    states = play(settings, names)
    for disk in each(lambda: Store.open(fresh(settings))):
        fresh(settings)
        told = {"memory": MemoryError, "killed": Killed}.get(str(disk.fault), UserError)
        with disk(), pytest.raises(told):
            Store.open(settings)
        assert state(Store.open(settings)) == states[0]


def sizes(settings: Settings) -> Iterator[int]:
    """Each length of the log at which one more write would begin: a page and its header."""
    log = settings.database.with_name(settings.database.name + "-wal")
    yield from range(0, log.stat().st_size + 4120, 4120)


def test_a_log_that_cannot_grow_at_any_page(tmp_path: Path, names: Callable[[int], None]) -> None:
    """The system refuses the n-th write of a page, for every n, under SQLite itself."""
    settings = Settings(data_dir=tmp_path / "data")
    store = Store.open(settings)
    with store.database.held_open():
        states = play(settings, names)
        places = list(sizes(settings))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    failed = set()
    for place in places:
        store = Store.open(fresh(settings))
        with store.database.held_open():
            step = 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (place, before[1]))
            try:
                for step, do in enumerate(STEPS):
                    names(step)
                    do(store)
            except (sqlite3.OperationalError, OSError):
                failed.add(step)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
        go_on(settings, step, states, names)
    assert len(failed) >= len(STEPS) // 2

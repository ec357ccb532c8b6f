"""Deleted runs: kept for a while, and removed at once where there is no room."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from indiff.web.jobs.queue import Queue
from indiff.web.store import deleted
from indiff.web.store.store import Store
from tests.web.site import Site, people


@pytest.fixture
def run(site: Site) -> str:
    dataset = site.upload(people())["id"]
    (job,) = site.server.store.add_jobs("run", dataset, [("mondrian", {})])
    site.server.settings.run_folder(job).mkdir()
    return job


def put_aside(store: Store, run: str) -> None:
    deleted.put_aside(store, run, lambda job: store.end(job, "cancelled"), lambda jobs: None)


def test_it_stays_until_its_time_is_up(site: Site, run: str) -> None:
    store, folder = site.server.store, site.server.settings.run_folder(run)
    put_aside(store, run)
    assert [job["id"] for job in store.deleted()] == [run]
    assert store.sweep() == 0
    for minutes, is_there in ((9, True), (11, False)):
        moment = datetime.now(UTC) - timedelta(minutes=minutes)
        store.label(run, deleted=moment.isoformat(timespec="milliseconds"))
        deleted.remove_old(store, lambda jobs: None)
        assert folder.exists() is is_there


def test_on_a_full_disk_it_goes_at_once(
    site: Site, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = site.server.store

    def full(self: Store, job: str, **values: str | None) -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("PRAGMA max_page_count = 1")
            connection.execute("CREATE TABLE more (x)")
            connection.execute("CREATE TABLE still_more (x)")

    monkeypatch.setattr(Store, "label", full)
    put_aside(store, run)
    assert not site.server.settings.run_folder(run).exists()
    assert store.jobs(kind="run") == store.deleted() == []


def test_a_server_that_stops_or_starts_keeps_none(site: Site, run: str) -> None:
    store, folder = site.server.store, site.server.settings.run_folder(run)
    put_aside(store, run)
    queue = Queue(store)
    queue.stop()
    assert not folder.exists()
    assert store.deleted() == []

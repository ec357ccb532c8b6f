"""Keeps a deleted run for a few minutes, so that it can be had back; then removes it for good."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Callable

from indiff.web.refusals import NotFoundError, is_disk_full
from indiff.web.store.store import EndWorkers, Store, now

UNDO_MINUTES = 10
Cancel = Callable[[str], object]


def put_aside(store: Store, run: str, cancel: Cancel, end_workers: EndWorkers) -> None:
    """Delete a run so that it can be had back; on a full disk, at once and for good."""
    try:
        cancel(run)
        store.label(run, deleted=now())
    except sqlite3.OperationalError as error:
        if not is_disk_full(error):
            raise
        store.delete_run(run, end_workers)


def bring_back(store: Store, run: str) -> None:
    """Undo the deletion of a run that is still there."""
    _find(store, run)
    store.label(run, deleted=None)


def remove(store: Store, run: str, end_workers: EndWorkers) -> None:
    """Remove a run that was deleted before from the store and from the disk."""
    _find(store, run)
    store.delete_run(run, end_workers)


def remove_old(store: Store, end_workers: EndWorkers, *, minutes: float = UNDO_MINUTES) -> None:
    """Remove what was deleted more than some minutes ago."""
    last = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=minutes)
    for job in store.deleted():
        if datetime.datetime.fromisoformat(job["deleted"]) <= last:
            store.delete_run(job["id"], end_workers)


def _find(store: Store, run: str) -> None:
    if run not in [job["id"] for job in store.deleted()]:
        raise NotFoundError("there is no such deleted run; it may be back, or gone for good.")

"""Keeps datasets with their roles, releases, jobs with their states, documents and events."""

from __future__ import annotations

import datetime
import json
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.web.refusals import NotFoundError, is_disk_full
from indiff.web.store.database import Database
from indiff.web.store.rows import Row, decoded, insert, update
from indiff.web.store.settings import Settings

EndWorkers = Callable[[Sequence[str]], None]
UNFINISHED = ("queued", "running")


def new_id() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_hex(8)


def now() -> str:
    """Return the time as text, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Store:
    """The store of one server: the SQLite file, and the files that it speaks of."""

    settings: Settings
    database: Database

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """Make folders and tables where they are missing."""
        settings.make_folders()
        database = Database(settings.database)
        database.prepare()
        return cls(settings, database)

    def _one(self, what: str, query: str, *values: Any) -> Row:
        found = self._all(query, *values)
        if not found:
            raise NotFoundError(f"there is no such {what}; it may have been deleted.")
        return found[0]

    def _all(self, query: str, *values: Any) -> list[Row]:
        with self.database.reading() as connection:
            return [decoded(row) for row in connection.execute(query, values)]

    # Datasets and their roles

    def add_dataset(
        self,
        *,
        id: str,
        name: str,
        path: Path,
        origin: str,
        reading: Mapping[str, Any],
        draft: Mapping[str, Any] | None = None,
        hierarchies: Mapping[str, str] | None = None,
    ) -> str:
        """Keep a dataset and queue its profile, which attaches the hierarchies; return its job."""
        with self.database.writing() as connection:
            insert(
                connection, "datasets", id=id, name=name, path=str(path), origin=origin,
                bytes=path.stat().st_size, created=now(), reading=dict(reading),
                draft=dict(draft or {}),
            )  # fmt: skip
            task = {"hierarchies": dict(hierarchies or {})}
            return _add_job(connection, "profile", id, f"profile of {name}", task)

    def read_again(self, dataset: str, reading: Mapping[str, Any], task: Mapping[str, Any]) -> str:
        """Profile a dataset anew, read in another way; the task tells what was there before."""
        with self.database.writing() as connection:
            values = {"reading": dict(reading), "profile": None}
            update(connection, "datasets", values, "id = ?", dataset)
            connection.execute("DELETE FROM columns WHERE dataset = ?", (dataset,))
            return _add_job(connection, "profile", dataset, "profile", task)

    def dataset(self, dataset: str) -> Row:
        """Return one dataset."""
        return self._one("dataset", "SELECT * FROM datasets WHERE id = ?", dataset)

    def datasets(self) -> list[Row]:
        """Return every dataset, the newest first."""
        return self._all("SELECT * FROM datasets ORDER BY created DESC, id")

    def set_profile(
        self, dataset: str, profile: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]
    ) -> None:
        """Keep what was found out about a dataset, with the guessed roles."""
        with self.database.writing() as connection:
            update(connection, "datasets", {"profile": profile}, "id = ?", dataset)
            connection.execute("DELETE FROM columns WHERE dataset = ?", (dataset,))
            for place, column in enumerate(columns):
                known = {name: column[name] for name in ("name", "role", "kind")}
                order = column.get("order")
                insert(connection, "columns", dataset=dataset, place=place, **known, ordering=order)

    def columns(self, dataset: str) -> list[Row]:
        """Return a dataset's columns with their roles."""
        return self._all("SELECT * FROM columns WHERE dataset = ? ORDER BY place", dataset)

    def set_roles(self, dataset: str, roles: Iterable[Mapping[str, Any]]) -> None:
        """Keep roles, kinds and orders of columns that exist."""
        with self.database.writing() as connection:
            for one in roles:
                values = {"role": one["role"], "kind": one["kind"], "ordering": one["order"]}
                update(
                    connection, "columns", values, "dataset = ? AND name = ?", dataset, one["name"]
                )

    def set_hierarchy(self, dataset: str, column: str, path: Path | None) -> None:
        """Attach a hierarchy's file to a column, or take it off."""
        with self.database.writing() as connection:
            _check_dataset(connection, dataset)
            values = {"hierarchy": None if path is None else str(path)}
            update(connection, "columns", values, "dataset = ? AND name = ?", dataset, column)

    def drop_hierarchy(self, dataset: str, path: Path) -> None:
        """Take a hierarchy's file off whichever column still has it, and remove it."""
        with self.database.writing() as connection:
            known = (dataset, str(path))
            values = {"hierarchy": None}
            update(connection, "columns", values, "dataset = ? AND hierarchy = ?", *known)
        path.unlink(missing_ok=True)

    def set_draft(self, dataset: str, draft: Mapping[str, Any]) -> None:
        """Keep what a person has filled in so far."""
        with self.database.writing() as connection:
            update(connection, "datasets", {"draft": dict(draft)}, "id = ?", dataset)

    def delete_dataset(self, dataset: str, end_workers: EndWorkers = lambda jobs: None) -> None:
        """Remove a dataset and everything made from it, from the store and from the disk.

        ``end_workers`` gets the jobs that are no more, before their files go.
        """
        folder = self.settings.dataset_folder(dataset)
        self._delete("datasets", dataset, "dataset", folder, end_workers)

    def delete_run(self, run: str, end_workers: EndWorkers = lambda jobs: None) -> None:
        """Remove a run from the store and its files from the disk."""
        self._delete("jobs", run, "id", self.settings.run_folder(run), end_workers)

    def _delete(
        self, table: str, id: str, jobs_by: str, folder: Path, end_workers: EndWorkers
    ) -> None:
        """Delete a row, and files: first on a full disk, where that cannot be written down."""
        try:
            jobs = self._forget(table, id, jobs_by)
        except sqlite3.OperationalError as error:
            if not is_disk_full(error):
                raise
            _remove(folder)
            jobs = self._forget(table, id, jobs_by)
        end_workers(jobs)
        for place in (*map(self.settings.run_folder, jobs), folder):
            _remove(place)
        self.database.forget_log()

    def _forget(self, table: str, id: str, jobs_by: str) -> list[str]:
        with self.database.writing() as connection:
            query = f"SELECT id FROM jobs WHERE {jobs_by} = ?"
            jobs = [row["id"] for row in connection.execute(query, (id,))]
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (id,))
        return jobs

    # Releases made elsewhere

    def add_release(self, *, id: str, dataset: str, name: str, path: Path) -> None:
        """Keep a release that was made elsewhere."""
        with self.database.writing() as connection:
            _check_dataset(connection, dataset)
            insert(
                connection, "releases", id=id, dataset=dataset, name=name, path=str(path),
                bytes=path.stat().st_size, created=now(),
            )  # fmt: skip

    def releases(self, dataset: str) -> list[Row]:
        """Return the uploaded releases of a dataset, the oldest first."""
        return self._all("SELECT * FROM releases WHERE dataset = ? ORDER BY created, id", dataset)

    def release(self, dataset: str, release: str) -> Row:
        """Return one uploaded release of a dataset."""
        query = "SELECT * FROM releases WHERE id = ? AND dataset = ?"
        return self._one("release", query, release, dataset)

    def delete_release(self, release: Row) -> None:
        """Remove an uploaded release, from the store and from the disk."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM releases WHERE id = ?", (release["id"],))
        _remove(Path(release["path"]).parent)
        self.database.forget_log()

    # Jobs

    def add_jobs(
        self, kind: str, dataset: str, tasks: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[str]:
        """Queue jobs, (title, task) each, as one batch; return their names."""
        batch = new_id()
        with self.database.writing() as connection:
            return [_add_job(connection, kind, dataset, *one, batch) for one in tasks]

    def job(self, job: str, *kinds: str) -> Row:
        """Return one job, of one of these kinds if any are named."""
        query = "SELECT * FROM jobs WHERE deleted IS NULL AND id = ?"
        if kinds:
            query += f" AND kind IN ({', '.join('?' * len(kinds))})"
        return self._one("run", query, job, *kinds)

    def jobs(self, **asked: str | None) -> list[Row]:
        """Return the jobs of a ``dataset``, ``kind`` or ``batch``, the newest first."""
        given = {name: value for name, value in asked.items() if value is not None}
        where = " AND ".join(["deleted IS NULL", *(f"{name} = ?" for name in given)])
        query = f"SELECT * FROM jobs WHERE {where} ORDER BY created DESC, rowid DESC"
        return self._all(query, *given.values())

    def deleted(self) -> list[Row]:
        """Return the deleted jobs that can still be had back, the latest first."""
        return self._all("SELECT * FROM jobs WHERE deleted IS NOT NULL ORDER BY deleted DESC")

    def label(self, job: str, **values: str | None) -> None:
        """Change a job's name or note, or when it was deleted: None takes that back."""
        with self.database.writing() as connection:
            update(connection, "jobs", values, "id = ?", job)

    def unfinished(self) -> list[Row]:
        """Return the jobs that wait or run, the oldest first."""
        query = "SELECT * FROM jobs WHERE state IN (?, ?) ORDER BY created, rowid"
        return self._all(query, *UNFINISHED)

    def begin(self, job: str) -> int | None:
        """Mark a waiting job as running; return its attempt, or None if it waits no longer."""
        with self.database.writing() as connection:
            row = connection.execute(
                "UPDATE jobs SET state = 'running', attempt = attempt + 1, "
                "started = coalesce(started, ?) WHERE id = ? AND state = 'queued' "
                "RETURNING attempt",
                (now(), job),
            ).fetchone()
            if row is None:
                return None
            _add_event(connection, job, "started" if row["attempt"] == 1 else "started again")
        return int(row["attempt"])

    def report(self, job: str, attempt: int, **values: Any) -> None:
        """Write a worker's progress, unless its attempt is over."""
        with self.database.writing() as connection:
            update(connection, "jobs", values, _RUNNING, job, attempt)

    def finish(
        self, job: str, attempt: int, *, answer: Any = None, document: str | None = None
    ) -> bool:
        """Keep what a worker made, unless its attempt is over."""
        values = {"state": "done", "answer": answer, "ended": now()}
        with self.database.writing() as connection:
            changed = update(connection, "jobs", values, _RUNNING, job, attempt)
            if changed and document is not None:
                connection.execute("DELETE FROM documents WHERE run = ?", (job,))
                insert(connection, "documents", run=job, document=document)
            if changed:
                _add_event(connection, job, "done")
        return bool(changed)

    def end(self, job: str, state: str, problem: UserError | None = None) -> bool:
        """End an unfinished job as failed or cancelled."""
        values = {"state": state, "problem": problem, "ended": now()}
        with self.database.writing() as connection:
            changed = update(connection, "jobs", values, _UNFINISHED, job, *UNFINISHED)
            if changed:
                _add_event(connection, job, state)
        return bool(changed)

    def queue_again(self) -> int:
        """Queue every job that ran when the server ended; return how many."""
        with self.database.writing() as connection:
            jobs = connection.execute(
                "UPDATE jobs SET state = 'queued' WHERE state = 'running' RETURNING id"
            ).fetchall()
            for job in jobs:
                _add_event(connection, job["id"], "the server ended: queued again")
        return len(jobs)

    def sweep(self) -> int:
        """Remove folders that the store knows nothing of: uploads that a kill cut off."""
        rows = self._all("SELECT id FROM datasets UNION SELECT id FROM jobs")
        known = {row["id"] for row in rows}
        kept = [self.settings.data_dir / kind for kind in ("datasets", "runs")]
        stray = [one for place in kept for one in place.iterdir() if one.name not in known]
        for folder in stray:
            _remove(folder)
        return len(stray)

    def document(self, run: str) -> Row:
        """Return the document of a finished run."""
        query = "SELECT * FROM documents WHERE run = ?"
        return json.loads(self._one("result; the run has none yet or", query, run)["document"])

    def events(self, job: str) -> list[Row]:
        """Return what happened to a job."""
        return self._all("SELECT at, text FROM events WHERE job = ? ORDER BY id", job)


_RUNNING = "id = ? AND attempt = ? AND state = 'running'"
_UNFINISHED = "id = ? AND state IN (?, ?)"


def _add_job(
    connection: sqlite3.Connection,
    kind: str,
    dataset: str,
    title: str,
    task: Mapping[str, Any],
    batch: str | None = None,
) -> str:
    _check_dataset(connection, dataset)
    job = new_id()
    insert(
        connection, "jobs", id=job, kind=kind, dataset=dataset, batch=batch or job, title=title,
        task=dict(task), state="queued", created=now(),
    )  # fmt: skip
    _add_event(connection, job, "queued")
    return job


def _check_dataset(connection: sqlite3.Connection, dataset: str) -> None:
    if connection.execute("SELECT 1 FROM datasets WHERE id = ?", (dataset,)).fetchone() is None:
        raise NotFoundError("there is no such dataset; it may have been deleted.")


def _add_event(connection: sqlite3.Connection, job: str, text: str) -> None:
    insert(connection, "events", job=job, at=now(), text=text)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)

"""What is kept: datasets with their roles, releases, jobs with their states, documents, events."""

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
from indiff.web.store.database import Database, is_disk_full
from indiff.web.store.settings import Settings

Row = dict[str, Any]
EndWorkers = Callable[[Sequence[str]], None]
UNFINISHED = ("queued", "running")
JSON_FIELDS = ("reading", "profile", "draft", "task", "running_cdf", "answer", "ordering")


class NotFoundError(UserError):
    """Something that is not, or is no longer, in the store."""


def new_id() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_hex(8)


def now() -> str:
    """Return the time as text, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _plain(row: sqlite3.Row) -> Row:
    return {
        name: json.loads(row[name]) if name in JSON_FIELDS and row[name] is not None else row[name]
        for name in row.keys()  # noqa: SIM118 - a row's own iteration gives its values
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


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
        with self.database.reading() as connection:
            row = connection.execute(query, values).fetchone()
        if row is None:
            raise NotFoundError(f"there is no such {what}; it may have been deleted.")
        return _plain(row)

    def _all(self, query: str, *values: Any) -> list[Row]:
        with self.database.reading() as connection:
            return [_plain(row) for row in connection.execute(query, values)]

    # Datasets and their roles

    def add_dataset(
        self, *, id: str, name: str, path: Path, origin: str, reading: Mapping[str, Any]
    ) -> str:
        """Keep a dataset and queue its profile; return the profile's job."""
        job = new_id()
        with self.database.writing() as connection:
            connection.execute(
                "INSERT INTO datasets (id, name, path, origin, bytes, created, reading) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (id, name, str(path), origin, path.stat().st_size, now(), _text(dict(reading))),
            )
            _add_job(connection, job, "profile", id, f"profile of {name}", {})
        return job

    def read_again(self, dataset: str, reading: Mapping[str, Any]) -> str:
        """Profile a dataset anew, read in another way."""
        job = new_id()
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE datasets SET reading = ?, profile = NULL WHERE id = ?",
                (_text(dict(reading)), dataset),
            )
            connection.execute("DELETE FROM columns WHERE dataset = ?", (dataset,))
            _add_job(connection, job, "profile", dataset, "profile", {})
        return job

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
            connection.execute(
                "UPDATE datasets SET profile = ? WHERE id = ?", (_text(profile), dataset)
            )
            connection.execute("DELETE FROM columns WHERE dataset = ?", (dataset,))
            connection.executemany(
                "INSERT INTO columns (dataset, place, name, role, kind) VALUES (?, ?, ?, ?, ?)",
                [
                    (dataset, place, column["name"], column["role"], column["kind"])
                    for place, column in enumerate(columns)
                ],
            )

    def columns(self, dataset: str) -> list[Row]:
        """Return a dataset's columns with their roles."""
        return self._all("SELECT * FROM columns WHERE dataset = ? ORDER BY place", dataset)

    def set_roles(self, dataset: str, roles: Iterable[Mapping[str, Any]]) -> None:
        """Keep roles, kinds and orders of columns that exist."""
        with self.database.writing() as connection:
            for column in roles:
                connection.execute(
                    "UPDATE columns SET role = ?, kind = ?, ordering = ? "
                    "WHERE dataset = ? AND name = ?",
                    (
                        column["role"],
                        column["kind"],
                        None if column["order"] is None else _text(column["order"]),
                        dataset,
                        column["name"],
                    ),
                )

    def set_hierarchy(self, dataset: str, column: str, path: Path | None) -> None:
        """Attach a hierarchy's file to a column, or take it off."""
        with self.database.writing() as connection:
            _check_dataset(connection, dataset)
            connection.execute(
                "UPDATE columns SET hierarchy = ? WHERE dataset = ? AND name = ?",
                (None if path is None else str(path), dataset, column),
            )

    def set_draft(self, dataset: str, draft: Mapping[str, Any]) -> None:
        """Keep what a person has filled in so far."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE datasets SET draft = ? WHERE id = ?", (_text(dict(draft)), dataset)
            )

    def delete_dataset(self, dataset: str, end_workers: EndWorkers = lambda jobs: None) -> None:
        """Remove a dataset and everything made from it, from the store and from the disk.

        ``end_workers`` gets the jobs that are no more, before their files go.
        """
        jobs: list[str] = []

        def forget(connection: sqlite3.Connection) -> None:
            query = "SELECT id FROM jobs WHERE dataset = ?"
            jobs[:] = [row["id"] for row in connection.execute(query, (dataset,))]
            connection.execute("DELETE FROM datasets WHERE id = ?", (dataset,))

        self._forget(forget, self.settings.dataset_folder(dataset))
        end_workers(jobs)
        for job in jobs:
            _remove(self.settings.run_folder(job))
        _remove(self.settings.dataset_folder(dataset))
        self.database.forget_log()

    def _forget(self, forget: Callable[[sqlite3.Connection], None], folder: Path) -> None:
        """Delete rows; on a full disk, which leaves no room to write that down, files go first."""
        try:
            with self.database.writing() as connection:
                forget(connection)
        except sqlite3.OperationalError as error:
            if not is_disk_full(error):
                raise
            _remove(folder)
            with self.database.writing() as connection:
                forget(connection)

    # Releases made elsewhere

    def add_release(self, *, id: str, dataset: str, name: str, path: Path) -> None:
        """Keep a release that was made elsewhere."""
        with self.database.writing() as connection:
            _check_dataset(connection, dataset)
            connection.execute(
                "INSERT INTO releases (id, dataset, name, path, bytes, created) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (id, dataset, name, str(path), path.stat().st_size, now()),
            )

    def releases(self, dataset: str) -> list[Row]:
        """Return the uploaded releases of a dataset, the oldest first."""
        return self._all("SELECT * FROM releases WHERE dataset = ? ORDER BY created, id", dataset)

    def release(self, dataset: str, release: str) -> Row:
        """Return one uploaded release of a dataset."""
        return self._one(
            "release", "SELECT * FROM releases WHERE id = ? AND dataset = ?", release, dataset
        )

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
        jobs = [new_id() for _ in tasks]
        with self.database.writing() as connection:
            for job, (title, task) in zip(jobs, tasks, strict=True):
                _add_job(connection, job, kind, dataset, title, task, batch=batch)
        return jobs

    def job(self, job: str, *kinds: str) -> Row:
        """Return one job, of one of these kinds if any are named."""
        found = self._one("run", "SELECT * FROM jobs WHERE id = ?", job)
        if kinds and found["kind"] not in kinds:
            raise NotFoundError("there is no such run; it may have been deleted.")
        return found

    def jobs(
        self, *, dataset: str | None = None, kind: str | None = None, batch: str | None = None
    ) -> list[Row]:
        """Return jobs, the newest first."""
        asked = {"dataset": dataset, "kind": kind, "batch": batch}
        tests = [f"{name} = ?" for name, value in asked.items() if value is not None]
        where = f"WHERE {' AND '.join(tests)} " if tests else ""
        return self._all(
            f"SELECT * FROM jobs {where}ORDER BY created DESC, rowid DESC",
            *(value for value in asked.values() if value is not None),
        )

    def unfinished(self) -> list[Row]:
        """Return the jobs that wait or run, the oldest first."""
        return self._all(
            "SELECT * FROM jobs WHERE state IN (?, ?) ORDER BY created, rowid", *UNFINISHED
        )

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
        names = ", ".join(f"{name} = ?" for name in values)
        texts = [
            _text(v) if name in JSON_FIELDS and v is not None else v for name, v in values.items()
        ]
        with self.database.writing() as connection:
            connection.execute(
                f"UPDATE jobs SET {names} WHERE id = ? AND attempt = ? AND state = 'running'",
                (*texts, job, attempt),
            )

    def finish(
        self, job: str, attempt: int, *, answer: Any = None, document: str | None = None
    ) -> bool:
        """Keep what a worker made, unless its attempt is over."""
        with self.database.writing() as connection:
            changed = connection.execute(
                "UPDATE jobs SET state = 'done', answer = ?, ended = ? "
                "WHERE id = ? AND attempt = ? AND state = 'running'",
                (_text(answer), now(), job, attempt),
            ).rowcount
            if changed:
                if document is not None:
                    connection.execute(
                        "INSERT OR REPLACE INTO documents (run, document) VALUES (?, ?)",
                        (job, document),
                    )
                _add_event(connection, job, "done")
        return bool(changed)

    def end(self, job: str, state: str, problem: str | None = None) -> bool:
        """End an unfinished job as failed or cancelled."""
        with self.database.writing() as connection:
            changed = connection.execute(
                "UPDATE jobs SET state = ?, problem = ?, ended = ? "
                "WHERE id = ? AND state IN (?, ?)",
                (state, problem, now(), job, *UNFINISHED),
            ).rowcount
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
        query = "SELECT id FROM datasets UNION ALL SELECT id FROM jobs"
        with self.database.reading() as connection:
            known = {row[0] for row in connection.execute(query)}
        stray = [
            folder
            for kind in ("datasets", "runs")
            for folder in (self.settings.data_dir / kind).iterdir()
            if folder.name not in known
        ]
        for folder in stray:
            _remove(folder)
        return len(stray)

    def document(self, run: str) -> Row:
        """Return the document of a finished run."""
        query = "SELECT * FROM documents WHERE run = ?"
        row = self._one("result; the run has none yet or", query, run)
        found: Row = json.loads(row["document"])
        return found

    def events(self, job: str) -> list[Row]:
        """Return what happened to a job."""
        return self._all("SELECT at, text FROM events WHERE job = ? ORDER BY id", job)

    def delete_run(self, run: str, end_workers: EndWorkers = lambda jobs: None) -> None:
        """Remove a run from the store and its files from the disk."""

        def forget(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM jobs WHERE id = ?", (run,))

        self._forget(forget, self.settings.run_folder(run))
        end_workers([run])
        _remove(self.settings.run_folder(run))
        self.database.forget_log()


def _add_job(
    connection: sqlite3.Connection,
    job: str,
    kind: str,
    dataset: str,
    title: str,
    task: Mapping[str, Any],
    batch: str | None = None,
) -> None:
    _check_dataset(connection, dataset)
    connection.execute(
        "INSERT INTO jobs (id, kind, dataset, batch, title, task, state, created) "
        "VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)",
        (job, kind, dataset, batch or job, title, _text(dict(task)), now()),
    )
    _add_event(connection, job, "queued")


def _check_dataset(connection: sqlite3.Connection, dataset: str) -> None:
    if connection.execute("SELECT 1 FROM datasets WHERE id = ?", (dataset,)).fetchone() is None:
        raise NotFoundError("there is no such dataset; it may have been deleted.")


def _add_event(connection: sqlite3.Connection, job: str, text: str) -> None:
    connection.execute("INSERT INTO events (job, at, text) VALUES (?, ?, ?)", (job, now(), text))


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)

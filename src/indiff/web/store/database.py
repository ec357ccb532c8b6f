"""Opens the one SQLite file: for its owner alone, up to date, and intact whatever is killed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from indiff.errors import UserError, reason_of

# Each script takes a file from its place in this list to the next; none is ever changed.
MIGRATIONS = (
    """
    CREATE TABLE datasets (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        path TEXT NOT NULL,
        origin TEXT NOT NULL CHECK (origin IN ('upload', 'folder')),
        bytes INTEGER NOT NULL,
        created TEXT NOT NULL,
        reading TEXT NOT NULL,
        profile TEXT,
        draft TEXT NOT NULL DEFAULT '{}'
    ) STRICT;
    CREATE TABLE columns (
        dataset TEXT NOT NULL REFERENCES datasets ON DELETE CASCADE,
        place INTEGER NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('identifier', 'quasi', 'sensitive', 'other')),
        kind TEXT CHECK (kind IN ('numeric', 'categorical', 'ordinal')),
        ordering TEXT,
        hierarchy TEXT,
        PRIMARY KEY (dataset, place),
        UNIQUE (dataset, name)
    ) STRICT;
    CREATE TABLE releases (
        id TEXT PRIMARY KEY,
        dataset TEXT NOT NULL REFERENCES datasets ON DELETE CASCADE,
        name TEXT NOT NULL,
        path TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        created TEXT NOT NULL
    ) STRICT;
    CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN ('profile', 'hierarchy', 'estimate', 'run')),
        dataset TEXT NOT NULL REFERENCES datasets ON DELETE CASCADE,
        batch TEXT NOT NULL,
        title TEXT NOT NULL,
        task TEXT NOT NULL,
        state TEXT NOT NULL
            CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
        attempt INTEGER NOT NULL DEFAULT 0,
        step TEXT,
        done INTEGER,
        total INTEGER,
        running_cdf TEXT,
        problem TEXT,
        answer TEXT,
        created TEXT NOT NULL,
        started TEXT,
        ended TEXT
    ) STRICT;
    CREATE INDEX jobs_by_state ON jobs (state, created);
    CREATE INDEX jobs_by_dataset ON jobs (dataset);
    CREATE TABLE documents (
        run TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
        document TEXT NOT NULL
    ) STRICT;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
        at TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX events_by_job ON events (job);
    """,
    # A problem is kept in its parts: the rule, what was received, the way out, the field.
    "UPDATE jobs SET problem = json_array(problem, NULL, '', NULL) WHERE problem IS NOT NULL;",
    # A run has a name and a note of a person's own; a deleted one can be had back for a while.
    "ALTER TABLE jobs ADD COLUMN name TEXT; ALTER TABLE jobs ADD COLUMN note TEXT;"
    "ALTER TABLE jobs ADD COLUMN deleted TEXT;",
)

BUSY_SECONDS = 30.0


@dataclass(frozen=True)
class Database:
    """The store's file. Every use has a connection of its own, in whatever process it is."""

    path: Path

    def prepare(self) -> None:
        """Make the file, private to its owner, and bring its tables up to date."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self.path.chmod(0o600)
            self._bring_up_to_date()
        except (OSError, sqlite3.OperationalError) as error:
            reason = reason_of(error)
            raise UserError(
                f"{str(self.path)!r} must be a file that can be written; it is not ({reason})",
                way_out="See to the disk, or choose another --data-dir",
            ) from None
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise
            raise UserError(
                f"{str(self.path)!r} must be the SQLite file of an indiff server; it is "
                "not, or it is damaged",
                way_out="Put a copy of it back, or choose another --data-dir",
            ) from None

    def _bring_up_to_date(self) -> None:
        with self._connected() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found > len(MIGRATIONS):
                raise UserError(
                    f"{str(self.path)!r} was written by a newer indiff (format {found}; "
                    f"this one knows {len(MIGRATIONS)})",
                    way_out="Update indiff, or choose another --data-dir",
                )
            for version in range(found, len(MIGRATIONS)):
                connection.executescript(
                    f"BEGIN IMMEDIATE;{MIGRATIONS[version]}PRAGMA user_version = {version + 1};"
                    "COMMIT;"
                )

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        with closing(connection):
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that sees one state of the store throughout."""
        with self._connected() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all of it is kept, or nothing."""
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """Keep the log and its index while a server runs: on a full disk none can be made."""
        with self._connected() as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield

    def forget_log(self) -> None:
        """Write the log back and empty it, so that what was deleted is in neither file."""
        with self._connected() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

"""Opens DuckDB: one for each that asks or, within an audit or a comparison, one for all parts.

Starting one takes some ten times as long as a statement on a small table. Nothing is kept from
one part to the next: each has a catalogue of its own, which is dropped when the part is done.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from indiff.temporary import temporary_prefix

if TYPE_CHECKING:
    import duckdb

_numbers = itertools.count()


@dataclass
class _Shared:
    """The DuckDB of all that is open within one scope, started when it is first asked for."""

    stack: ExitStack
    started: list[duckdb.DuckDBPyConnection] = field(default_factory=list)

    def connection(self) -> duckdb.DuckDBPyConnection:
        if not self.started:
            self.started.append(self.stack.enter_context(_start({})))
        return self.started[0]


_shared: ContextVar[_Shared | None] = ContextVar("shared", default=None)


@contextmanager
def one_database() -> Iterator[None]:
    """Let whatever opens a DuckDB of the usual settings in here, in this thread, share one."""
    with ExitStack() as stack:
        before = _shared.set(_Shared(stack))
        try:
            yield
        finally:
            _shared.reset(before)


@contextmanager
def opened(**settings: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB with nothing in it; what is spilled to disk goes when it is closed.

    >>> with one_database(), opened() as one, opened() as other:
    ...     _ = one.execute("CREATE TABLE people AS SELECT 47 AS age")
    ...     len(one.execute("SHOW TABLES").fetchall()), len(other.execute("SHOW TABLES").fetchall())
    (1, 0)
    """
    shared = _shared.get()
    if shared is None or settings:
        with _start(settings) as connection:
            yield connection
        return
    name = f"part{next(_numbers)}"
    with closing(shared.connection().cursor()) as cursor:
        cursor.execute(f"ATTACH ':memory:' AS {name}")
        cursor.execute(f"USE {name}")
        try:
            yield cursor
        finally:
            cursor.execute("USE memory")
            cursor.execute(f"DETACH {name}")


@contextmanager
def _start(settings: dict[str, Any]) -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as spill:
        config = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": spill,
        }
        with closing(duckdb.connect(config=config | settings)) as connection:
            yield connection

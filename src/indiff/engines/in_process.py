"""Counts in this process: Arrow batches and a compiled kernel, for columns with few values.

Every value gets a code when it is first seen, every row a key (its codes in mixed radix), and
the kernel counts keys in a dense array. Two threads count different row groups, where they can by
the indices that a file has already, without decoding its rows. The counts, which are few, are then
a DuckDB table like any other: the second stage is the same SQL as everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa  # and pyarrow.parquet, slow to import, only where it is used
from numpy.typing import NDArray

from indiff.data.reading.source import in_utc
from indiff.engines.duckdb import DuckDBEngine
from indiff.engines.held import Held
from indiff.engines.pages import Leaf, combinations, leaves
from indiff.engines.protocol import UNCOUNTED, Countings, no_records, unreadable
from indiff.engines.tally import (
    BATCH,
    MOST_SORTED,
    MOST_VALUES,
    Coder,
    NotCountedHere,
    Tally,
)
from indiff.errors import option, reason_of

if TYPE_CHECKING:
    import pyarrow.parquet as pq

MOST_COLUMNS = 32  # as many dimensions as any version of NumPy has
PROBE = 2**12
WORTH_INDICES = BATCH  # fewer rows are decoded as quickly as their combinations are looked up

# Columns, and how many rows each of theirs stands for where it is not one.
Batches = Iterator[tuple[list[pa.Array], NDArray[np.int64] | None]]


def _parts_of(
    engine: DuckDBEngine, *, each_row: bool
) -> tuple[list[Callable[[], Batches]], int | None]:
    """Return what one thread reads at a time (a row group, or a stretch of a frame), and the rows.

    With ``each_row``, rows that have the same values are not counted together. Of a relation
    nobody knows beforehand how many rows it has.
    """
    source, names = engine.source, engine.columns
    if source.kind == "parquet":
        import pyarrow.parquet as pq

        footers = [(path, pq.read_metadata(path)) for path in source.paths]
        return [
            partial(_row_group, path, footer, group, names, columns)
            for path, footer in footers
            for columns in [None if each_row else leaves(footer, names)]
            for group in range(footer.num_row_groups)
        ], sum(footer.num_rows for _, footer in footers)
    if (table := source.frame) is not None:
        step = max(BATCH, -(-table.num_rows // (os.cpu_count() or 1)))
        starts = range(0, table.num_rows, step)
        return [partial(_stretch, table, start, step) for start in starts], table.num_rows
    wanted = ", ".join(f"{engine.identifier(name)} AS c{i}" for i, name in enumerate(names))
    return [lambda: _split(source.relation.select(wanted).to_arrow_reader(BATCH))], None


def _row_group(
    path: str,
    footer: pq.FileMetaData,
    group: int,
    names: Sequence[str],
    columns: Sequence[Leaf] | None,
) -> Batches:
    if columns is not None and footer.row_group(group).num_rows > WORTH_INDICES:
        found = combinations(path, footer, group, columns)
        if found is not None:
            yield found
            return
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, metadata=footer, read_dictionary=list(names)) as file:
        batches = file.iter_batches(BATCH, [group], columns=list(names), use_threads=False)
        yield from (([batch.column(name) for name in names], None) for batch in batches)


def _stretch(table: pa.Table, start: int, length: int) -> Batches:
    return _split(table.slice(start, length).to_batches(BATCH))


def _split(batches: Any) -> Batches:
    yield from ((batch.columns, None) for batch in batches)


class InProcessEngine(DuckDBEngine):
    """Stage one by the kernel; stage two by DuckDB over the counts."""

    name = "in-process"

    def count(self, countings: Countings, weight: int | None = None) -> None:
        """Run stage one: a table of counts for every counting."""
        try:
            self._count_here(countings, weight)
        except NotCountedHere:
            if not self._resources.spills:
                raise
            self.name = DuckDBEngine.name
            super().count(countings, weight)

    def _count_here(self, asked: Countings, weight: int | None) -> None:
        countings = {name: one for name, one in asked.items() if name not in UNCOUNTED}
        if max(map(len, countings.values()), default=0) > MOST_COLUMNS:
            raise NotCountedHere(
                f"the in-process engine counts at most {MOST_COLUMNS} columns together",
                len(self.columns),
                f"Use {option('engine', 'duckdb')}",
                field="engine",
            )
        coders = [Coder(self.tokens) for _ in self.columns]
        parts, rows = _parts_of(self, each_row=weight is not None)
        workers = max(1, min(len(parts), self._resources.threads or os.cpu_count() or 1))
        weighed = None if weight is None else (list(countings).index("cells"), weight)
        # Whoever limits memory needs what spills to disk; individuals are reduced in DuckDB anyway.
        few = rows is not None and rows <= MOST_SORTED and self._resources.memory_limit is None
        most = MOST_VALUES if few and weight is None and len(countings) == 1 else 0
        tallies = [Tally(coders, list(countings.values()), weighed, most) for _ in range(workers)]
        queue, lock = iter(parts), Lock()
        if self.source.frame is not None:  # too many combinations mostly show in the first rows
            if self.source.frame.num_rows > MOST_VALUES:
                most = min(most, PROBE // 2)
            for batch in _split(self.source.frame.slice(0, PROBE).to_batches()):
                Tally(coders, list(countings.values()), weighed, most).add(*batch)

        def work(tally: Tally) -> None:
            while True:
                with lock:
                    part = next(queue, None)
                if part is None:
                    return
                for batch in part():
                    tally.add(*batch)

        try:
            if workers == 1:
                work(tallies[0])
            else:
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(work, tallies))
        except (pa.ArrowException, OSError, UnicodeDecodeError, duckdb.Error) as error:
            raise unreadable(self.source, reason_of(error)) from None
        if not any(tally.rows for tally in tallies):
            raise no_records(self.source)
        self.held = {
            name: self._held(tallies, number, positions, coders)
            for number, (name, positions) in enumerate(countings.items())
        }
        made = {name: partial(self._load, held) for name, held in self.held.items()}
        rows_of = {name: self._each_row(asked[name]) for name in UNCOUNTED if name in asked}
        self.counts = _Tables(made, rows_of)

    def _held(
        self,
        tallies: Sequence[Tally],
        number: int,
        positions: Sequence[int],
        coders: Sequence[Coder],
    ) -> Held:
        """Return the combinations of one counting, with sums of their weights."""
        sums = Tally.sums(tallies, number)
        if sums:
            places = np.nonzero(Tally.total(tallies, number))
            sums = {name: total[places] for name, total in sums.items()}
        values = [in_utc(pa.table({"x": coders[at].values()}))["x"] for at in positions]
        return Held(
            self._connection,
            tuple(positions),
            Tally.combinations(tallies, number),
            tuple(column.combine_chunks() for column in values),
            sums,
        )

    def _load(self, held: Held) -> str:
        return self.numbered(self.load(held.table()), held.positions)


class _Tables(Mapping[str, str]):
    """The tables of counts, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], str]], made: dict[str, str]) -> None:
        self._makers, self._made = makers, made

    def __getitem__(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._makers, **self._made})

    def __len__(self) -> int:
        return len({**self._makers, **self._made})

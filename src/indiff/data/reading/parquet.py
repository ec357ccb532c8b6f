"""Reads Parquet files: one as a table, or several to be counted, with what their folders say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa  # and pyarrow.parquet, slow to import, only where it is used

from indiff.data.reading.columns import Column
from indiff.data.reading.frames import read_arrow
from indiff.data.reading.kinds import arrow_reader, nested, require_columns
from indiff.errors import UserError, reason_of, said

NOTHING = "__HIVE_DEFAULT_PARTITION__"
BATCH = 1 << 17


def read_parquet(
    paths: Sequence[Path], tokens: Sequence[str], where: str, *, folder: Path
) -> tuple[list[tuple[str, Column]], list[str]]:
    """Return the named, typed columns of one file, or of those of a folder; and the notes."""
    if len(paths) > 1 or folder.is_dir():
        folders = partitions(folder, paths)
        names = check_files(paths, ()).names
        types = check_files(paths, names)
        wanted = [*names, *folders[0]]
        blocks = list(partitioned_blocks(paths, wanted, folders))
        fields = [types.field(name) for name in names]
        empty = pa.schema([*fields, *((name, pa.string()) for name in folders[0])]).empty_table()
        table = pa.concat_tables([empty.replace_schema_metadata(), *blocks])
        table = table.replace_schema_metadata(types.metadata)
    else:
        table = _whole_file(paths[0], where)
    index = [name for name in _index_columns(table.schema) if name in table.column_names]
    columns, notes = read_arrow(table.drop_columns(index), tokens=tokens, where=where)
    return columns, notes + [f"column {name!r} is a pandas row index: left out" for name in index]


def _index_columns(schema: pa.Schema) -> list[str]:
    """Return the columns that pandas wrote for rows without names, by what it noted in the file.

    >>> _index_columns(pa.schema([], {b"pandas": b'{"index_columns": ["__index_level_0__", 3]}'}))
    ['__index_level_0__']
    >>> _index_columns(pa.schema([], {b"pandas": b"{"}))
    []
    """
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):  # anybody may write what only pandas should
        return []
    named = said.get("index_columns") if isinstance(said, dict) else None
    return [
        name
        for name in (named if isinstance(named, list) else ())
        if isinstance(name, str) and re.fullmatch(r"__index_level_\d+__", name)
    ]


def _whole_file(path: Path, where: str) -> pa.Table:
    import pyarrow.parquet as pq

    data = path.read_bytes()
    if not data:
        raise UserError(f"a table needs a header and records; {where} is empty: check the file.")
    try:
        return pq.ParquetFile(arrow_reader(data)).read()
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(where, error) from None


def _unreadable(where: str, error: Exception) -> UserError:
    return UserError(
        f"a Parquet file must be readable; {where} is not ({said(reason_of(error))}): "
        "write it again."
    )


def check_files(paths: Sequence[Path], columns: Sequence[str]) -> pa.Schema:
    """Read every file's footer: one bad file among many must not surface half-way."""
    import pyarrow.parquet as pq

    first: pa.Schema | None = None
    for path in paths:
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(repr(str(path)), error) from None
        require_columns(columns, schema.names)
        for name in columns:
            kind = schema.field(name).type
            if pa.types.is_nested(kind):
                raise nested(name, kind)
            if pa.types.is_decimal256(kind):
                raise UserError(
                    f"a decimal may have 38 digits; {name!r} is {kind}",
                    way_out="Convert it to text first",
                )
            if first is not None and first.field(name).type != kind:
                raise UserError(
                    f"a column must have one type in all files; {name!r} is "
                    f"{first.field(name).type} in {str(paths[0])!r} and {kind} in {str(path)!r}",
                    way_out="Rewrite one of them",
                )
        first = first or schema
    assert first is not None
    return first


def partitions(folder: Path, paths: Sequence[Path]) -> list[dict[str, str | None]]:
    """Return what the folders ``key=value`` between a folder and each of its files say."""
    import pyarrow.parquet as pq

    if not folder.is_dir():
        return [{} for _ in paths]
    found: list[dict[str, str | None]] = []
    for path in paths:
        pairs = (part.split("=", 1) for part in path.relative_to(folder).parts[:-1] if "=" in part)
        found.append(
            {unquote(key): None if value == NOTHING else unquote(value) for key, value in pairs}
        )
    for path, one in zip(paths, found, strict=True):
        if list(one) != list(found[0]):
            raise UserError(
                "the folders of partitioned files must have the same keys",
                f"{', '.join(found[0]) or 'none'} and, for {str(path)!r}, "
                f"{', '.join(one) or 'none'}",
                "Name the files with a pattern, or move them",
            )
        for name in set(one).intersection(pq.read_schema(path).names):
            raise UserError(
                "a column is in the files or in their folders' names, not in both",
                f"{name!r} in {str(path)!r}",
                "Rename the folders, or name the files with a pattern",
            )
    return found


def partitioned_blocks(
    paths: Sequence[Path], columns: Sequence[str], said_by_folders: Sequence[dict[str, str | None]]
) -> Iterator[pa.Table]:
    """Yield the wanted columns of partitioned files, those of the folders' names as text."""
    import pyarrow.parquet as pq

    for path, values in zip(paths, said_by_folders, strict=True):
        inside = [name for name in columns if name not in values]
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=inside):
                rows = pa.Table.from_batches([batch])
                for name in columns:
                    if name in values:
                        cells = pa.repeat(pa.scalar(values[name], pa.string()), batch.num_rows)
                        rows = rows.append_column(name, cells)
                yield rows.select(list(columns))

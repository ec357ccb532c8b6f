"""Keeps Arrow data in memory of its own, or in a private file where it is large."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

MOST_IN_MEMORY = 1 << 28


def arrow_reader(data: bytes) -> pa.BufferReader:
    """Return a reader of a copy that Arrow owns.

    Arrow's worker threads may drop their last hold on a Python object while the interpreter shuts
    down, which aborts the process after its work is done. Memory of its own is free of that.

    >>> arrow_reader(b"age").read()
    b'age'
    """
    copy = pa.allocate_buffer(len(data))
    np.frombuffer(copy, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return pa.BufferReader(copy)


def gathered(blocks: Iterable[pa.Table], schema: pa.Schema) -> tuple[pa.Table, Any]:
    """Return all blocks as one table, and the private folder that holds it beyond 256 MB.

    A table in a file is read where it lies: the system keeps in memory what there is room for.

    >>> gathered([pa.table({"a": [1]}), pa.table({"a": [2]})], pa.schema({"a": pa.int64()}))
    (pyarrow.Table
    a: int64
    ----
    a: [[1],[2]], None)
    """
    waiting, size = [], 0
    blocks = iter(blocks)
    for block in blocks:
        waiting.append(block)
        size += block.nbytes
        if size > MOST_IN_MEMORY:
            break
    else:
        return pa.concat_tables(waiting or [schema.empty_table()]), None
    folder = tempfile.TemporaryDirectory(prefix="indiff-", ignore_cleanup_errors=True)
    place = str(Path(folder.name) / "cells.arrow")
    try:
        with pa.OSFile(place, "wb") as file, pa.ipc.new_file(file, schema) as writer:
            while waiting:
                writer.write_table(waiting.pop(0))
            for block in blocks:
                writer.write_table(block)
        return pa.ipc.open_file(pa.memory_map(place)).read_all(), folder
    except BaseException:
        folder.cleanup()
        raise

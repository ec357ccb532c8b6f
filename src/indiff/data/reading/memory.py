"""Bytes that Arrow's threads may read, and let go of after Python has ended."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


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

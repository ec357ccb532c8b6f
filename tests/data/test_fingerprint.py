"""The fingerprint of a table's records."""

from __future__ import annotations

import pyarrow as pa

from tests.data.test_table import COLUMNS, read


def test_a_fingerprint_is_of_what_is_in_use() -> None:
    one = read(quasi=["age"], sensitive="ill")
    assert one.fingerprint == read(quasi=["age"], sensitive="ill").fingerprint
    other = {**COLUMNS, "age": [20, 30, 40, 50, 60, 71]}
    assert one.fingerprint != read(pa.table(other), quasi=["age"], sensitive="ill").fingerprint
    unused = {**COLUMNS, "name": ["x"] * 6}
    assert one.fingerprint == read(pa.table(unused), quasi=["age"], sensitive="ill").fingerprint

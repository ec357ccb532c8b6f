"""Reading bytes through a file, and the one sentence that bad input gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indiff.data.reading.door import Raw, read_raw
from indiff.errors import UserError


def raw_of(folder: Path, data: bytes | str, name: str = "t.csv", **options: Any) -> Raw:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    before = path.read_bytes()
    raw = read_raw(path, **options)
    assert path.read_bytes() == before
    return raw


def columns_of(folder: Path, data: bytes | str, name: str = "t.csv", **options: Any) -> Any:
    return raw_of(folder, data, name, **options).frame.to_pydict()


def error_of(folder: Path, data: bytes | str, name: str = "t.csv", **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        raw_of(folder, data, name, **options)
    message = str(caught.value)
    assert message.endswith((".", "?"))
    assert "\n" not in message
    return message

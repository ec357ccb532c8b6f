"""Every fault at every write of a file: the old one, or the new one, and one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from indiff.errors import UserError
from indiff.files import write_frame, write_text
from tests.faults import Disk, Killed, each, sweep

TOLD: dict[str, type[BaseException]] = {
    "full": UserError, "failing": UserError, "memory": MemoryError, "killed": Killed,
}  # fmt: skip


@pytest.mark.parametrize("name", ["report.html", "release.csv", "records.parquet"])
def test_a_file_is_the_old_one_or_the_new_one(tmp_path: Path, name: str) -> None:
    path, old = tmp_path / name, b"what was there"

    def write() -> None:
        if name == "report.html":
            write_text(path, "<p>" * 20_000)
        else:
            write_frame(pa.table({"age": list(range(5_000))}), path)

    write()
    new, tried = path.read_bytes(), []
    for disk in each(write):
        path.write_bytes(old)
        with disk(), pytest.raises(TOLD[str(disk.fault)]) as caught:
            write()
        if TOLD[str(disk.fault)] is UserError:
            assert f"{name}' cannot be written (" in str(caught.value)
        if disk.fault == "killed":
            sweep(tmp_path)
        assert path.read_bytes() == old
        assert os.listdir(tmp_path) == [name]
        tried.append(disk.names[-1])
        write()
        assert path.read_bytes() == new
    assert {"open", "write", "fsync", "replace"} <= set(tried)


def test_the_layer_sees_what_is_written(tmp_path: Path) -> None:
    with Disk()() as disk:
        write_text(tmp_path / "a", "text")
        (tmp_path / "ours").write_text("not by indiff")
    assert disk.names == ["open", "open", "write", "fsync", "replace"]

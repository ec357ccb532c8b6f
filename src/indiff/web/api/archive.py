"""Sends a finished run as one zip file: plan, report, release, and what the plan needs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from indiff.errors import UserError
from indiff.web.api.common import ERRORS, RunId, TheServer
from indiff.web.jobs.portable import portable

router = APIRouter(tags=["results"], responses=ERRORS)
CHUNK = 1 << 18
# Not the distance of every record, which concerns single people, nor the table itself.
PACKED = ("plan.toml", "report.html", "report.json", "report.md", "release.csv")


@router.get(
    "/runs/{run}/archive",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string"}}}}},
)
def archive(server: TheServer, run: RunId) -> StreamingResponse:
    """Download plan, report and release in one file, with the hierarchies that the plan names."""
    row = server.store.job(run, "run")
    if row["state"] != "done":
        raise UserError(
            f"files come with the result; this run is {row['state']}",
            way_out="Wait until it is done",
        )
    folder = server.settings.run_folder(run)
    _, needed = portable(row["task"]["plan"])
    places = {name: folder / name for name in PACKED}
    places |= {name: Path(path) for name, path in list(needed.items())[1:]}  # without the table
    found = {name: path for name, path in places.items() if path.is_file()}
    headers = {"content-disposition": f'attachment; filename="audit-{run}.zip"'}
    return StreamingResponse(packed(found), media_type="application/zip", headers=headers)


def packed(places: dict[str, Path]) -> Iterator[bytes]:
    """Pack files as they are sent: nothing is written to the disk, and little is in memory."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in places.items():
            with path.open("rb") as source, archive.open(name, "w", force_zip64=True) as entry:
                while chunk := source.read(CHUNK):
                    entry.write(chunk)
                    yield sink.taken()
    yield sink.taken()


class _Sink(io.BufferedIOBase):
    """What a zip file is written to: it only moves forward, and hands on what it has."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        found, self._parts = b"".join(self._parts), []
        return found

"""Types what is known of a release that was made elsewhere: its file, and what was recognised."""

from __future__ import annotations

from pydantic import BaseModel

from indiff.web.api.models import Failure, State


class CellShape(BaseModel):
    """A shape that cells of a released column have: how many, and how many different ones."""

    name: str
    cells: int
    regions: int


class RecognisedColumn(BaseModel):
    """A quasi-identifier of a release, and what its cells look like."""

    name: str
    shapes: list[CellShape]


class UnmeasuredColumn(BaseModel):
    """A column of a release of which nothing is measured; one that names people fails it."""

    name: str
    names_people: bool
    content: str


class Recognised(BaseModel):
    """What was recognised in a release; ``keys`` and ``in_order`` say how rows can be matched."""

    rows: int
    records: int
    columns: list[RecognisedColumn]
    unmeasured: list[UnmeasuredColumn]
    notes: list[Failure]
    keys: list[str]
    in_order: str | None


class UploadedRelease(BaseModel):
    """A release that was made elsewhere, and what was found when it was looked at."""

    id: str
    dataset: str
    name: str
    bytes: int
    created: str
    state: State | None = None
    problem: Failure = None
    recognised: Recognised | None = None

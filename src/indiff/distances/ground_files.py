"""Files of ground distances: a matrix, or latitudes and longitudes; checked, in a given order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.side_files import read_cells
from indiff.errors import UserError, from_data

Floats = NDArray[np.float64]

EARTH_KM = 6371.0088  # the mean radius (IUGG)
PLACES = ("value", "latitude", "longitude")


def read_ground(path: Path, labels: Sequence[str]) -> Floats:
    """Read the ground distances between these values, in this order."""
    alike = next((label for label, times in Counter(labels).items() if times > 1), None)
    if alike is not None:  # they would be 0 apart
        raise UserError(
            "a file of ground distances names each value once; two sensitive values "
            f"are both called {from_data(alike)} there",
            way_out="Rename one of them in the table",
        )
    lines = read_cells(path, "ground distances")
    if len(lines) < 2:
        raise UserError(
            f"{path.name} has no ground distances; expected a matrix with the values as first row "
            f"and first column, or the columns {', '.join(PLACES)}."
        )
    header = [cell.strip().lower() for cell in lines[0][1]]
    if sorted(header) == sorted(PLACES):
        return _places(path, header, lines[1:], labels)
    return _matrix(path, lines, labels)


def great_circle(latitude: Floats, longitude: Floats) -> Floats:
    """Return the distances in kilometres between places on a sphere of the Earth's mean radius.

    >>> great_circle(np.array([0.0, 0.0]), np.array([0.0, 90.0])).round(1)[0, 1]
    np.float64(10007.6)
    """
    up, along = np.radians(latitude), np.radians(longitude)
    half_up = np.sin((up[:, None] - up) / 2) ** 2
    half_along = np.sin((along[:, None] - along) / 2) ** 2
    chord = half_up + np.cos(up[:, None]) * np.cos(up) * half_along
    return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.clip(chord, 0, 1))), np.float64)


def _places(
    path: Path, header: list[str], lines: list[tuple[int, list[str]]], labels: Sequence[str]
) -> Floats:
    order = [header.index(name) for name in PLACES]
    found: dict[str, tuple[float, float]] = {}
    for number, cells in lines:
        label, up, along = (cells[place] for place in order)
        latitude = _number(path, number, up, "a latitude", -90, 90)
        longitude = _number(path, number, along, "a longitude", -180, 180)
        if label in found:
            raise UserError(
                f"{path.name}, line {number}: {from_data(label)} has a second place; keep one."
            )
        found[label] = latitude, longitude
    _check_complete(path, labels, found)
    spots = np.array([found[label] for label in labels])
    return great_circle(spots[:, 0], spots[:, 1])


def _matrix(path: Path, lines: list[tuple[int, list[str]]], labels: Sequence[str]) -> Floats:
    columns = lines[0][1][1:]
    if len(set(columns)) < len(columns):
        twice = next(label for label in columns if columns.count(label) > 1)
        raise UserError(
            f"{path.name}: {from_data(twice)} is named twice in the first row; keep one."
        )
    found: dict[str, dict[str, float]] = {}
    for number, cells in lines[1:]:
        if cells[0] in found:
            raise UserError(
                f"{path.name}, line {number}: {from_data(cells[0])} has a second row; keep one."
            )
        found[cells[0]] = {
            label: _number(path, number, cell, "a ground distance", 0, math.inf)
            for label, cell in zip(columns, cells[1:], strict=True)
        }
    _check_complete(path, labels, found, "row")
    _check_complete(path, labels, columns, "column")
    costs = np.array([[found[one][other] for other in labels] for one in labels])
    if costs.diagonal().any():
        label = labels[int(np.flatnonzero(costs.diagonal())[0])]
        raise UserError(
            f"{path.name}: a value is 0 away from itself; "
            f"{from_data(label)} is {found[label][label]:g}."
        )
    uneven = np.argwhere(~np.isclose(costs, costs.T, rtol=1e-9, atol=0))
    if len(uneven):
        one, other = (labels[place] for place in uneven[0])
        raise UserError(
            f"{path.name}: ground distances are the same both ways; "
            f"{from_data(one)} to {from_data(other)} is "
            f"{found[one][other]:g} and back {found[other][one]:g}."
        )
    return costs


def _check_complete(path: Path, labels: Sequence[str], found: Any, part: str = "line") -> None:
    missing = [label for label in labels if label not in found]
    if missing:
        names = ", ".join(
            from_data(label) if label else "'' (the missing value)" for label in missing
        )
        raise UserError(
            f"{path.name} must name every sensitive value; it has no {part} for {names}",
            way_out="Add it",
        )


def _number(path: Path, line: int, cell: str, what: str, low: float, high: float) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not (low <= number <= high and math.isfinite(number)):
        span = f"from {low} to {high}" if math.isfinite(high) else "of at least 0"
        raise UserError(f"{path.name}, line {line}: {what} is a number {span}", from_data(cell))
    return number

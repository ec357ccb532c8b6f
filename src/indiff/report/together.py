"""Lays out what a release tells together with those that were published before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from indiff import text as plain
from indiff.text import number

_MOST = 10  # pairs and groups that are listed, the worst first

_HEADS = (
    "release", "rows", "looked up by", "alone", "so far", "closest", "one row", "rows left",
    "values",
)  # fmt: skip
_WIDE = ("rows", "looked up by", "closest")


class Grid(NamedTuple):
    """A table of the report: its title, what its columns are called, and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def is_told(document: Mapping[str, Any]) -> bool:
    """Tell whether a report has anything to say about releases that were published before."""
    return any(one["question"] == "together" for one in document["findings"])


def narrow(document: Mapping[str, Any]) -> list[Grid]:
    """Return the tables without the columns for which a terminal is too narrow."""
    kept = [place for place, head in enumerate(_HEADS) if head not in _WIDE]
    return [
        Grid(one.title, tuple(_HEADS[place] for place in kept),
             [tuple(row[place] for place in kept) for row in one.rows])
        if one.heads == _HEADS
        else one
        for one in together(document)
    ]  # fmt: skip


def together(document: Mapping[str, Any]) -> list[Grid]:
    """Return the tables of all sensitive attributes: release by release, pairs, differences."""
    return [grid for one in document.get("together") or () for grid in _grids(one)]


def _grids(told: Mapping[str, Any]) -> list[Grid]:
    about = plain.name(told["about"])
    growth = []
    for own, so_far in zip(told["releases"], told["growth"], strict=True):
        left, values = so_far["candidates_left"], so_far["values_left"]
        growth.append((
            plain.name(own["release"]), number(own["released_rows"]),
            ", ".join(map(plain.name, own["quasi"])), number(own["determined_alone"]),
            number(so_far["determined"]), number(so_far["determined_by_closest"]),
            number(so_far["one_candidate"]), "" if left is None else number(left["median"]),
            "" if values is None else number(values["median"]),
        ))  # fmt: skip
    heads: tuple[str, ...]
    found = [Grid(f"People left with their own {about} alone, release by release", _HEADS, growth)]
    pairs = [
        (_both(one), number(one["determined"]), number(one["only_together"]))
        for one in told["pairs"][:_MOST]
    ]
    if len(pairs) > 1:
        heads = ("releases", "determined", "by neither alone")
        found.append(Grid(f"The pairs that tell most about {about}", heads, pairs))
    small = [one for one in told["differences"] if one["groups"]][:_MOST]
    rows = [(_both(one), number(one["groups"]), number(one["smallest"])) for one in small]
    if rows:
        heads = ("releases", f"groups below {small[0]['below']} rows", "smallest")
        found.append(Grid("Groups in which two releases differ by few rows", heads, rows))
    named = [
        (_both(one), number(each["size"]), _group(each["regions"]))
        for one in small
        for each in one.get("named", ())
    ]
    if named:
        heads = ("releases", "rows", "group")
        found.append(Grid("Where these groups are", heads, named[:_MOST]))
    return found


def _both(one: Mapping[str, Any]) -> str:
    return " and ".join(map(plain.name, one["releases"]))


def _group(regions: Mapping[str, str]) -> str:
    told = ", ".join(f"{plain.name(name)} {plain.name(one)}" for name, one in regions.items())
    return told or "all rows"

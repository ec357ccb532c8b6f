"""Reads several tables of a plan, ``[[data]]``, as one that the others are joined to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indiff.errors import UserError, option

READING = (
    "missing_tokens", "encoding", "sheet", "header_row", "decimal", "date_format", "separator",
)  # fmt: skip
_LISTS = ("quasi", "sensitive", "identifier", "other", "on")
_BY_COLUMN = ("kinds", "orders", "hierarchies")


def as_one(tables: Sequence[Any]) -> dict[str, Any]:
    """Return the first table with what is said of the columns of the others, which it joins.

    >>> people = {"path": "people.csv", "on": "id", "quasi": ["age"], "sensitive": []}
    >>> visits = {"path": "visits.csv", "quasi": "ward", "sensitive": "ill"}
    >>> as_one([people, visits])["join"], as_one([people, visits])["quasi"]
    (['visits.csv'], ['age', 'ward'])
    """
    if not tables or not all(isinstance(one, Mapping) for one in tables):
        raise UserError("[[data]] names a table each time, the table of people first")
    first, *others = tables
    found = dict(first) | {"join": [*_listed(first.get("join"))]}
    for place, one in enumerate(others, 2):
        known = ("path", *_LISTS, *_BY_COLUMN)
        stray = [name for name in one if name not in known]
        if stray:
            raise UserError(
                f"table {place} of [[data]] has a path and says what its columns are; "
                f"{stray[0]} is said once, of the first table",
                way_out=f"Known: {', '.join(known)}",
                field=stray[0],
            )
        if not isinstance(one.get("path"), str):
            raise UserError(f"table {place} of [[data]] needs a path", field="path")
        found["join"].append(one["path"])
        for name in _LISTS:
            if name in one:
                more = [*_listed(found.get(name)), *_listed(one[name])]
                found[name] = list(dict.fromkeys(more))
        for name in _BY_COLUMN:
            if name in one:
                found[name] = {**found.get(name, {}), **one[name]}
    return found


def check_join(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with the person that its first key names; refuse a join without a key.

    >>> check_join({"join": ["visits.csv"], "on": "id"})["individual"]
    'id'
    """
    joined, keys = _listed(data.get("join")), _listed(data.get("on"))
    if not joined and not keys:
        return dict(data)
    if not joined or not keys:
        raise UserError(
            f"{option('join')} names a table, and {option('on')} the column by which it is joined",
            f"only {option('join' if joined else 'on')}",
            "Give both",
            field="on" if joined else "join",
        )
    if data.get("individual") not in (None, keys[0]):
        raise UserError(
            f"the first key of joined tables names a person; {option('individual')} names another "
            "column",
            way_out="Leave it out",
            field="individual",
        )
    return {**data, "individual": keys[0]}


def check_places(name: str, given: Mapping[str, Any], count: int) -> None:
    """Refuse what is said of a sanitizer that there is not; the first is that of the plan itself.

    >>> check_places("tables", {"2": "2024.csv"}, 2)
    >>> check_places("tables", {"3": "2024.csv"}, 2)
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: tables= names the second of several sanitizers, or a later one, ...
    """
    known = [str(place) for place in range(2, count + 1)]
    for place in given:
        if place not in known:
            raise UserError(
                f"{option(name)} names the second of several sanitizers, or a later one, by its "
                "number",
                f"{place!r} of {count}",
                f"Known: {', '.join(known)}"
                if known
                else "Name a second sanitizer, or leave it out",
                field=name,
            )


def _listed(names: Any) -> list[Any]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)

"""Finds the columns of a wide table that a page shows: some at a time, by their name or role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args
from urllib.parse import urlencode

from indiff.web.api.models import ColumnState, KindName, RoleName

AT_ONCE = 200
LONGEST = 200
ROLES: tuple[str, ...] = get_args(RoleName)
KINDS: tuple[str, ...] = get_args(KindName)


@dataclass(frozen=True)
class View:
    """What a person looks for, and the part of it that is shown."""

    find: str = ""
    role: str = ""
    part: int = 1

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> View:
        """Read a view from the fields of a form; what makes no sense is the first part of all.

        >>> View.of({"find": " Age ", "role": "king", "part": "x"})
        View(find='Age', role='', part=1)
        """
        part = str(given.get("part", "1"))
        role = str(given.get("role", ""))
        return cls(
            find=str(given.get("find", "")).strip()[:LONGEST],
            role=role if role in ROLES else "",
            part=max(1, int(part)) if part.isdecimal() and len(part) < 7 else 1,
        )

    def address(self, dataset: str, part: int | None = None) -> str:
        """Return the page that shows this view, or another part of it.

        >>> View("age", "quasi").address("d"), View().address("d"), View().address("d", 2)
        ('/data/d?find=age&role=quasi', '/data/d', '/data/d?part=2')
        """
        wanted = {"find": self.find, "role": self.role, "part": part or self.part}
        said = {name: value for name, value in wanted.items() if value not in ("", 1)}
        return f"/data/{dataset}" + (f"?{urlencode(said)}" if said else "")


@dataclass(frozen=True)
class Shown:
    """The places of the columns on a page, how many fit the view, and how many parts these have."""

    view: View
    places: Sequence[int]
    found: int
    parts: int


def look(columns: Sequence[ColumnState], view: View) -> Shown:
    """Return the columns of a view; a part beyond the last is the last.

    >>> columns = [ColumnState(name=f"c{n}", role="quasi", kind=None, order=None, hierarchy=False)
    ...            for n in range(450)]
    >>> shown = look(columns, View(part=9))
    >>> shown.view.part, shown.parts, shown.places[0], len(shown.places)
    (3, 3, 400, 50)
    >>> look(columns, View(find="C44")).found
    11
    """
    wanted = view.find.casefold()
    fitting = [
        place
        for place, column in enumerate(columns)
        if wanted in column.name.casefold() and view.role in ("", column.role)
    ]
    parts = max(1, -(-len(fitting) // AT_ONCE))
    part = min(view.part, parts)
    places = fitting[(part - 1) * AT_ONCE : part * AT_ONCE]
    return Shown(replace(view, part=part), places, len(fitting), parts)

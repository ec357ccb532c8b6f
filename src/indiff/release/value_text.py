"""Categorical and ordinal regions as text: a value, ``{a, b}``, ``a~b~c``, ``3551*``, a label.

In ``{…}`` a member may stand in double quotes, a quote inside it doubled: ``{"a, b", "5"" nail"}``.
A quoted member is always a value, never ``*``, ``missing`` or an inner node of the hierarchy. The
missing value is written ``missing``, or ``missing value`` where the column has ``missing`` as a
value or label of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, count

from indiff.data.hierarchy import ROOT
from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import InternalError, UserError, did_you_mean, from_data
from indiff.release.regions import (
    MISSING,
    Anything,
    Interval,
    Mask,
    Missing,
    Node,
    Region,
    UnreadableRegion,
    Value,
    ValueSet,
    node_region,
    plain,
    prefix_range,
    shown,
)

_MEMBER = re.compile(r'\s*"((?:[^"]++|"")*)"\s*(?:,|\Z)|(?!\s*")([^,]*)(?:,|\Z)')
_MOST_READINGS = 64
_LONGEST_HINT = 200  # characters: a longer word is near to nothing


class ValueText:
    """Writes and reads the regions of one categorical or ordinal column."""

    def __init__(self, column: Attribute) -> None:
        self._tree = column.hierarchy
        self._labels = self._tree.labels if self._tree is not None else ()
        self._ordinal = column.kind == Kind.ORDINAL
        values = [plain(value) for value in column.values.tolist()]
        if self._tree is not None:
            held = set(values)
            values += [value for value in self._tree.values if value not in held]
        self._rank = {value: rank for rank, value in enumerate(values)}

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(value for value in self._rank if isinstance(value, str))

    @cached_property
    def _missing(self) -> str | None:
        """The name of the missing value, if it is one of this column's."""
        if None not in self._rank:
            return None
        if self._tree is not None and None in self._tree.code_of:
            return self._tree.labels[self._tree.value_node[self._tree.code_of[None]]]
        names = chain((MISSING, f"{MISSING} value"), (f"{MISSING} value {i}" for i in count(2)))
        return next(name for name in names if name not in self._rank and name not in self._labels)

    @cached_property
    def _most_inside(self) -> dict[str, int]:
        """For each separator, how often it occurs in one value at most."""
        return {mark: max((v.count(mark) for v in self._sorted), default=0) for mark in ",~"}

    def _extent(self, region: Region) -> frozenset[Value]:
        match region:
            case ValueSet(values) | Node(_, values):
                return values
            case Mask(prefix):
                start, stop = prefix_range(self._sorted, prefix)
                return frozenset(self._sorted[start:stop])
            case Anything():
                return frozenset(self._rank)
            case Missing():
                return frozenset({None})
            case Interval():
                raise UserError(
                    "an interval needs a numeric column",
                    f"{from_data(region, str)} in a column of text",
                    "Declare the column numeric",
                )

    # Reading

    def read(self, text: str | None) -> Region:
        """Return the region that a cell stands for."""
        forms = [] if text is None else [text, text.strip()]  # a value may have blanks around it
        for form in forms:
            region = self._read_whole(form)
            if region is not None:
                return region
        text = text or ""
        if text.strip() in ("", MISSING):
            if self._missing is not None:
                return self._missing_region()
            raise UnreadableRegion(
                f"{repr(MISSING) if text.strip() else 'an empty cell'} needs a column with missing "
                "values; the original has none here: write '*' for a suppressed cell."
            )
        return self._read_parts(text)

    def _read_whole(self, text: str) -> Region | None:
        if text == ROOT:
            return Anything()
        if self._tree is not None and text in self._tree:
            return node_region(self._tree, text)
        if text in self._rank:
            return ValueSet(frozenset({text}))
        return self._missing_region() if text == self._missing else None

    def _missing_region(self) -> Region:
        if self._tree is not None and self._missing is not None and self._missing in self._tree:
            return node_region(self._tree, self._missing)
        return Missing() if self._ordinal else ValueSet(frozenset({None}))

    def _read_parts(self, text: str) -> Region:
        """Read a set or a mask; two readings that cover different values are an error."""
        stripped = text.strip()
        readings: list[Region] = []
        problems: list[str] = []
        if stripped[0] == "{" and stripped[-1] == "}":
            self._collect(self._brace_members(stripped), ",", readings, problems)
        if "~" in stripped:
            self._collect([(part, False) for part in stripped.split("~")], "~", readings, problems)
        if stripped[-1] == "*":
            masks = [Mask(form.rstrip("*")) for form in dict.fromkeys((text.rstrip(), stripped))]
            known = [mask for mask in masks if self._extent(mask)]
            readings += known
            if not known:
                problems.append(
                    f"the mask {shown(stripped)} matches no value of this column"
                    f"{self._hint(stripped.rstrip('*'))}"
                )
        extents = {self._extent(region): region for region in reversed(readings)}
        if len(extents) == 1:
            return next(iter(extents.values()))
        if extents:
            raise UnreadableRegion(
                f"{shown(stripped)} can be read in more than one way; put its values in quotes: "
                '{"a", "b"}.'
            )
        no_value = f"{shown(stripped)} is no value of this column"
        raise UnreadableRegion(problems[0] if problems else no_value + self._hint(stripped))

    def _hint(self, word: str) -> str:
        known = [*self._sorted, *self._labels] if len(word) <= _LONGEST_HINT else []
        near = did_you_mean(word, known, from_data)
        return near or "; write a value of it, {a, b}, a~b, a mask such as 35*, or *."

    @staticmethod
    def _brace_members(text: str) -> list[tuple[str, bool]]:
        """Split ``{…}`` at the commas outside quotes: each part, and whether it was quoted."""
        inner, position = text[1:-1], 0
        members: list[tuple[str, bool]] = []
        while position <= len(inner):
            found = _MEMBER.match(inner, position)
            if found is None:
                raise UnreadableRegion(
                    f"the set {shown(text)} has a quoted member that does not end before the next "
                    'comma; close it, and double the quotes inside it: {"5"" nail"}.'
                )
            quoted, bare = found[1], found[2]
            members.append((bare, False) if quoted is None else (quoted.replace('""', '"'), True))
            position = found.end() + (not found[0].endswith(","))  # a comma has a member behind it
        return members

    def _collect(
        self,
        parts: list[tuple[str, bool]],
        mark: str,
        readings: list[Region],
        problems: list[str],
    ) -> None:
        """Add every set that the parts can stand for; a value may itself contain the mark."""
        spans: list[list[tuple[int, Value]]] = []
        for start in range(len(parts)):
            found: list[tuple[int, Value]] = []
            joined = ""
            for stop in range(start + 1, min(len(parts), start + 1 + self._most_inside[mark]) + 1):
                part, quoted = parts[stop - 1]
                if quoted:
                    if stop == start + 1 and part in self._rank:
                        found.append((stop, part))
                    break
                joined = part if stop == start + 1 else joined + mark + part
                member = joined.strip()
                if self._is_member(member):
                    found.append((stop, None if member == self._missing else member))
            spans.append(found)
        if all(stop == start + 1 for start, found in enumerate(spans) for stop, _ in found):
            strange = next((start for start, found in enumerate(spans) if not found), None)
            if strange is None:
                readings.append(ValueSet(frozenset(found[0][1] for found in spans)))
            else:
                problems.append(self._no_member(*parts[strange]))
            return
        reached: list[set[frozenset[Value]]] = [{frozenset()}, *(set() for _ in parts)]
        for start, found in enumerate(spans):
            for stop, value in found:
                reached[stop] |= {before | {value} for before in reached[start]}
                if len(reached[stop]) > _MOST_READINGS:
                    raise UnreadableRegion(
                        "the set can be read in too many ways; put its values in quotes: "
                        '{"a", "b"}.'
                    )
        if reached[-1]:
            readings += [ValueSet(values) for values in reached[-1]]
            return
        furthest = max(place for place, sets in enumerate(reached) if sets)
        problems.append(self._no_member(*parts[furthest]))

    def _is_member(self, text: str) -> bool:
        """Say whether an unquoted member is one value and nothing else."""
        if text in ("", ROOT):
            return False
        if text == self._missing:
            return True
        if text not in self._rank:
            return False
        tree = self._tree
        return tree is None or text not in tree or tree.values_below(text) == {text}

    def _no_member(self, text: str, quoted: bool) -> str:
        member = text if quoted else text.strip()
        if not member and not quoted:
            return "a set has an empty member; name its values, as in {a, b}."
        if not quoted and member in self._rank:
            return (
                f"{shown(member)} in a set may be that value or all that it covers as a cell; "
                'put it in quotes for the value: {"a"}.'
            )
        return f"a set has {shown(member)}, which is no value of this column{self._hint(member)}"

    # Writing

    def write(self, region: Region) -> str:
        """Return the first text for the region that is read back to the same values."""
        if isinstance(region, Anything):
            return ROOT
        extent = self._extent(region)
        strange = [value for value in extent if value not in self._rank]
        if strange or not extent:
            none = from_data(region, str) + " covers none"
            what = f"{from_data(strange[0])} is none" if strange else none
            raise UserError(
                f"a region must be made of values of its column; {what}",
                way_out="Release values of the original, or '*'",
            )
        for text in self._texts(region, extent):
            try:
                back = self.read(text)
            except UnreadableRegion:
                continue
            if self._extent(back) == extent:
                return text
        raise InternalError(f"no text found for {region}")

    def _texts(self, region: Region, extent: frozenset[Value]) -> Iterator[str]:
        if isinstance(region, Node):
            yield region.label
        if isinstance(region, Mask):
            yield region.prefix + ("*" if region.prefix else "**")
            yield region.prefix + "***"
        ordered = sorted(extent, key=self._rank.__getitem__)
        if len(ordered) == 1:
            value = ordered[0]
            if value is None:
                yield self._missing or MISSING
            elif isinstance(value, str) and _is_clear(value):
                yield value
        yield "{" + ", ".join(self._write_member(value) for value in ordered) + "}"
        members = ", ".join(_quote(value, self._missing) for value in ordered)
        # Values and labels that are written just like this set cannot take every number of blanks.
        for blanks in range(len(self._rank) + len(self._labels) + 1):
            yield "{" + " " * blanks + members + "}"

    def _write_member(self, value: Value) -> str:
        if isinstance(value, str) and _is_clear(value) and self._is_member(value):
            return value if not set(value) & set(',{}"') else _quote(value, None)
        return _quote(value, self._missing)


def _is_clear(value: str) -> bool:
    """Say whether a value looks like nothing but itself."""
    return (
        value == value.strip()
        and value[:1] not in ("", "{")
        and value[-1] != "*"
        and '"' not in value
        and value != MISSING
    )


def _quote(value: Value, missing: str | None) -> str:
    return missing or MISSING if value is None else '"' + str(value).replace('"', '""') + '"'

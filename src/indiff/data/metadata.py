"""Reads what other tools' metadata say of a table: Frictionless, CSVW, Croissant and SDV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indiff.data.schema import Role
from indiff.data.side_files import read_text
from indiff.errors import UserError, reason_of
from indiff.text import message

ROLE = "indiff:role"  # the one word of a column's description that gives it a role
_KINDS = {
    "numeric": "integer int long short byte number decimal double float float64 int64 year "
    "numerical nonnegativeinteger positiveinteger unsignedint unsignedlong",
    "categorical": "string text boolean bool categorical any token normalizedstring url anyuri",
    "": "date datetime time yearmonth gyear gyearmonth datetimestamp duration id",  # by its values
}


@dataclass
class Metadata:
    """What metadata say: kinds, orders, roles and texts for what is missing; and what they cannot.

    A role is there only where the metadata give it: a primary key and what is marked as personal
    (SDV's ``pii``) are identifiers, and ``"indiff:role"`` of a column is taken by its word.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    identifier: list[str] = field(default_factory=list)
    quasi: list[str] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    missing_tokens: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: Any, kind: Any, about: Mapping[str, Any], order: Any = None) -> None:
        """Take over one column: its kind, its order, and its role where one is given."""
        _require_name(name)
        if isinstance(order, Sequence) and not isinstance(order, str) and len(order) > 1:
            self.kinds[name], self.orders[name] = "ordinal", [str(value) for value in order]
        else:
            self._add_kind(name, kind)
        if (role := about.get(ROLE)) is not None:
            if role not in [str(one) for one in Role]:
                raise UserError(
                    f"{ROLE} of {name!r} must be identifier, quasi, sensitive or other",
                    f"{role!r}",
                )
            self.give(name, str(role))

    def _add_kind(self, name: str, kind: Any) -> None:
        plain = str(kind).rpartition(":")[2].rpartition("/")[2].lower()
        for known, words in _KINDS.items():
            if plain in words.split():
                if known:
                    self.kinds[name] = known
                return
        if kind is not None:
            self.notes.append(f"{name}: the type {kind!r} is not known; its values tell its kind")

    def give(self, name: str, role: str) -> None:
        """Give a column its role; a second one is refused."""
        _require_name(name)
        for other in Role:
            if name in getattr(self, str(other)) and str(other) != role:
                raise UserError(f"metadata must give {name!r} one role", f"{other} and {role}")
        if name not in getattr(self, role):
            getattr(self, role).append(name)


def read_metadata(path: str | Path, table: str | Path | None = None) -> Metadata:
    """Read a file of metadata; ``table`` chooses one of several tables that it describes.

    Frictionless (a data package or a table schema), CSVW, Croissant, and SDV's metadata are told
    apart by their keys.
    """
    place = Path(path)
    try:
        said = json.loads(read_text(place, "metadata"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"metadata are JSON; {place.name!r} is not ({reason_of(error)}).") from None
    for tells, read in _FORMATS:
        if isinstance(said, dict) and tells(said):
            found = Metadata()
            read(said, found, None if table is None else Path(table).name)
            _check(found)
            return found
    raise UserError(
        f"{place.name!r} is no metadata that are known",
        way_out="Frictionless, CSVW, Croissant and SDV are",
        field="metadata",
    )


def _check(found: Metadata) -> None:
    """Refuse metadata that describe nothing, and shorten what is repeated of them."""
    if not (found.kinds or found.notes or found.identifier):
        raise UserError("metadata must describe a column; these describe none.", field="metadata")
    found.notes[:] = [message(note) for note in found.notes]


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise UserError("metadata name every column by a text", f"{name!r}", "Correct them")


def _one_of(tables: Sequence[tuple[Any, Any]], table: str | None) -> Any:
    """Return the description of one table, by the name of its file where there are several."""
    if len(tables) == 1:
        return tables[0][1]
    names = [Path(str(name)).name for name, _ in tables]
    fitting = [
        one for name, (_, one) in zip(names, tables, strict=True)
        if table is not None and name in (table, Path(table).stem)
    ]  # fmt: skip
    if len(fitting) != 1:
        raise UserError(
            f"metadata of several tables must describe {table!r} once",
            f"{', '.join(names) or 'none'}",
            field="metadata",
        )
    return fitting[0]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object of JSON, an empty one for nothing; refuse anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UserError(
            "metadata describe tables and columns by objects",
            f"{type(value).__name__}",
            field="metadata",
        )
    return value


def _mappings(values: Any) -> Iterator[Mapping[str, Any]]:
    return map(_object, _listed(values))


def _value(one: Any) -> Any:
    """Return a value that stands alone, or in an object with its label."""
    return one.get("value", "") if isinstance(one, Mapping) else one


def _frictionless(said: Mapping[str, Any], found: Metadata, table: str | None) -> None:
    if "resources" in said:
        resources = [
            (one.get("path") or one.get("name"), one) for one in _mappings(said["resources"])
        ]
        said = _one_of(resources, table).get("schema") or {}
        if isinstance(said, str):
            raise UserError("a table's schema must stand in the package; this is elsewhere.")
        said = _object(said)
    for one in _mappings(said.get("fields")):
        order = one.get("categories") if one.get("categoriesOrdered") else None
        found.add(one.get("name"), one.get("type"), one, [_value(x) for x in _listed(order)])
    for key in _listed(said.get("primaryKey")):
        found.give(str(key), "identifier")
    found.missing_tokens += [str(_value(one)) for one in _listed(said.get("missingValues"))]
    if said.get("foreignKeys"):
        found.notes.append("foreign keys are not followed: other tables may tell more")


def _csvw(said: Mapping[str, Any], found: Metadata, table: str | None) -> None:
    if "tables" in said:
        said = _one_of([(one.get("url"), one) for one in _mappings(said["tables"])], table)
    schema = _object(said.get("tableSchema"))
    titles: dict[str, str] = {}
    for one in _mappings(schema.get("columns")):
        if one.get("virtual"):
            continue
        title = one.get("titles")
        title = next(iter(title.values())) if isinstance(title, Mapping) else title
        title = _listed(title)[0] if title else one.get("name")
        titles[str(one.get("name"))] = str(title)
        kind = one.get("datatype", "string")
        found.add(title, kind.get("base", "string") if isinstance(kind, Mapping) else kind, one)
        found.missing_tokens += [str(text) for text in _listed(one.get("null"))]
    for key in _listed(schema.get("primaryKey")):
        found.give(titles.get(str(key), str(key)), "identifier")
    if schema.get("foreignKeys"):
        found.notes.append("foreign keys are not followed: other tables may tell more")


def _croissant(said: Mapping[str, Any], found: Metadata, table: str | None) -> None:
    sets = [(one.get("name") or one.get("@id"), one) for one in _mappings(said.get("recordSet"))]
    chosen = _one_of(sets, table)
    names: dict[str, str] = {}
    for one in _mappings(chosen.get("field")):
        source = one.get("source")
        extract = source.get("extract") if isinstance(source, Mapping) else None
        column = extract.get("column") if isinstance(extract, Mapping) else None
        name = column or one.get("name")
        names |= {str(one.get(key)): str(name) for key in ("@id", "name") if one.get(key)}
        kinds = _listed(one.get("dataType"))
        found.add(name, kinds[0] if kinds else None, one)
    for key in _listed(chosen.get("key")):
        told = str(key.get("@id") if isinstance(key, Mapping) else key)
        found.give(names.get(told, told.rpartition("/")[2]), "identifier")
    for word in ("rai:personalSensitiveInformation", "personalSensitiveInformation"):
        if said.get(word):
            found.notes.append("it speaks of sensitive information, of no column: say which it is")


def _sdv(said: Mapping[str, Any], found: Metadata, table: str | None) -> None:
    if "tables" in said:
        said = _object(_one_of(list(_object(said["tables"]).items()), table))
    for name, one in _object(said.get("columns")).items():
        about = _object(one)
        kind, personal = about.get("sdtype"), about.get("pii")
        if kind == "id" or personal:
            found.give(str(name), "identifier")
            found.add(name, None, about)
        else:
            found.add(name, kind, about, about.get("order"))
        if about.get("datetime_format"):
            found.notes.append(f"{name}: how its dates are written is told by its values")
    key = said.get("primary_key")
    for one in _listed(key):
        found.give(str(one), "identifier")


_FORMATS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Any], ...] = (
    (lambda said: "recordSet" in said, _croissant),
    (lambda said: "tableSchema" in said or ("tables" in said and "@context" in said), _csvw),
    (lambda said: "resources" in said or "fields" in said, _frictionless),
    (lambda said: isinstance(said.get("columns") or said.get("tables"), dict), _sdv),
)

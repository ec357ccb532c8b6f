"""Reads a project of ARX (.deid) into a plan: its roles, hierarchies, criteria and input table."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from indiff.audit.plan.plan_text import as_toml
from indiff.errors import UserError, reason_of
from indiff.files import make_folder, open_private, write_text
from indiff.text import escaped

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

PLAN, DATA = "plan.toml", "data.csv"
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
}
_KINDS = {"Integer": "numeric", "Decimal": "numeric", "String": "categorical"}
_LARGEST_SETTING = 32 << 20  # bytes of a definition, a configuration or a hierarchy
_MOST_PACKED = 1000  # bytes made of one, where it is more than a setting
_NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
_OF = r" for attribute '(.*)'"
# What ARX calls a criterion, and what it is here.
_CRITERIA: dict[str, Callable[[re.Match[str]], dict[str, str]]] = {
    r"([0-9]+)-anonymity": lambda found: {"k": found[1]},
    rf"distinct-([0-9]+)-diversity{_OF}": lambda found: {"distinct_l": found[1]},
    rf"shannon-entropy-{_NUMBER}-diversity{_OF}": lambda found: {"entropy_l": found[1]},
    rf"recursive-\({_NUMBER},([0-9]+)\)-diversity{_OF}": lambda found: {
        "recursive": f"{found[1]}/{found[2]}"
    },
    rf"{_NUMBER}-closeness with (?:equal|hierarchical) ground-distance{_OF}": lambda found: {
        "t": found[1]
    },
    rf"{_NUMBER}-closeness with ordered distance{_OF}": lambda found: {"t": found[1]},
}
_TECHNICAL = ("Inclusion",)  # says which records belong to the sample, and limits nothing


@dataclass(frozen=True)
class Imported:
    """What was written of a project: the plan, its place, and what could not be taken over."""

    plan: Plan | None
    place: Path
    notes: tuple[str, ...]


@dataclass
class _Found:
    """What a project says, gathered part by part."""

    roles: dict[str, list[str]] = field(default_factory=lambda: {r: [] for r in _ROLES.values()})
    kinds: dict[str, str] = field(default_factory=dict)
    hierarchies: dict[str, str] = field(default_factory=dict)  # the member of each column
    limits: dict[str, str] = field(default_factory=dict)
    ground: set[str] = field(default_factory=set)  # sensitive columns whose hierarchy is asked for
    suppression: str = "0"
    notes: list[str] = field(default_factory=list)


def import_arx(project: str | Path, folder: str | Path) -> Imported:
    """Write a project of ARX as a plan, its table and its hierarchies into a new folder.

    Roles, hierarchies, data types, k-anonymity, ℓ-diversity, t-closeness and the suppression limit
    are taken over; the release is then a full-domain recoding of ARX's kind, made here. What has
    no counterpart is in the notes and in the plan's comments, and nothing is left out in silence.
    ARX's own output is not read: audit the file that ARX exported with ``[release] file``.
    """
    path, out = Path(project), Path(folder)
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        rule = "--out must be a new or an empty folder"
        raise UserError(rule, f"{str(out)!r}", "Choose another", field="out")
    with _opened(path) as archive:
        found = _Found()
        syntax = _syntax(archive)
        _read_definition(_xml(archive, "input/definition.xml"), found)
        _read_criteria(_xml(archive, "input/config.xml"), found)
        make_folder(out)
        header = _write_data(archive, syntax, out / DATA)
        files = _write_hierarchies(archive, syntax, found, out)
    for name in (one for names in found.roles.values() for one in names):
        if name not in header:
            raise UserError(f"the project's table must have the column {name!r}; it has none.")
    unnamed = [name for name in header if not any(name in x for x in found.roles.values())]
    found.roles["other"] += unnamed
    found.notes += [f"{name}: the project gives it no role; taken as other" for name in unnamed]
    return _write_plan(path, out, found, files)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open the archive; whatever is wrong with it is said in one sentence."""
    try:
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                heavy = one.file_size > _LARGEST_SETTING
                if heavy and one.file_size > _MOST_PACKED * max(one.compress_size, 1):
                    raise UserError(f"{path.name} has a part that unpacks to a suspicious size.")
            yield archive
    except OSError as error:
        rule = f"a project of ARX must be readable; {str(path)!r} is not ({error.strerror})"
        raise UserError(rule, way_out="Check its name") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        reason = reason_of(error)
        rule = f"a project of ARX is a zip archive; {path.name!r} cannot be read ({reason})"
        raise UserError(rule, way_out="Save it again with ARX") from None


def _text(archive: zipfile.ZipFile, member: str) -> str:
    """Return the text of a small part."""
    try:
        found = archive.getinfo(member)
    except KeyError:
        raise UserError(
            f"a project of ARX must have {member!r}; this has none: save it again with ARX."
        ) from None
    if found.file_size > _LARGEST_SETTING:
        raise UserError(f"{member!r} of a project must be smaller than 32 MB.")
    try:
        return archive.read(found).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{member!r} of a project must be UTF-8 text.") from None


def _xml(archive: zipfile.ZipFile, member: str) -> Xml.Element:
    text = _text(archive, member)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # ARX writes neither; they can grow without end
        raise UserError(f"{member!r} of a project must be plain XML, without definitions.")
    try:
        return Xml.fromstring(text)
    except Xml.ParseError as error:
        reason = reason_of(error)
        raise UserError(f"{member!r} of a project must be XML; it is not ({reason}).") from None


def _syntax(archive: zipfile.ZipFile) -> str:
    """Return the sign between cells, as the project names it."""
    sign = _xml(archive, "project.xml").findtext("separator") or ";"
    if len(sign) != 1 or sign in '"\r\n':
        raise UserError("a project's separator must be one sign", f"{sign!r}")
    return sign


def _read_definition(root: Xml.Element, found: _Found) -> None:
    """Take over what each column is."""
    for one in root.iter("assigment"):  # ARX spells it so
        name, role = one.findtext("name"), one.findtext("type")
        if not name or role not in _ROLES:
            known = ", ".join(_ROLES)
            raise UserError(f"a column of a project has one of the types {known}", f"{role!r}")
        found.roles[_ROLES[role]].append(name)
        kind, member = str(one.findtext("datatype")), one.findtext("ref")
        if member:
            found.hierarchies[name] = f"input/{member}"
        elif kind in _KINDS:
            found.kinds[name] = _KINDS[kind]
        else:
            found.notes.append(f"{name}: its data type {kind} is told by its values here")
        bounds = {one.findtext("min") or "All", one.findtext("max") or "All"} - {"All"}
        if bounds:
            found.notes.append(f"{name}: its lowest and highest level are not taken over")
        if one.findtext("microAggregationFunction"):
            found.notes.append(f"{name}: its microaggregation is not taken over")


def _read_criteria(root: Xml.Element, found: _Found) -> None:
    """Take over the criteria and how many records may be suppressed."""
    for criterion in (one.text or "" for one in root.iter("criterion")):
        matches = [(re.fullmatch(rule, criterion), make) for rule, make in _CRITERIA.items()]
        known = [(match, make) for match, make in matches if match is not None]
        if not known:
            if criterion not in _TECHNICAL:
                found.notes.append(f"criterion not taken over: {criterion}")
            continue
        match, make = known[0]
        for name, value in make(match).items():
            if found.limits.setdefault(name, value) != value:
                found.notes.append(f"{name} is {found.limits[name]} here; not taken: {criterion}")
        if "hierarchical" in criterion:
            found.ground.add(match.groups()[-1])
        elif "-closeness" in criterion:
            found.notes.append(f"its ground distance goes by the column's kind here: {criterion}")
    found.suppression = root.findtext("relativeMaxOutliers") or "0"
    metric = root.findtext("metric") or ""
    if not metric.startswith("Loss"):
        found.notes.append(f"the loss is ARX's Loss here, not {metric}")


def _write_data(archive: zipfile.ZipFile, sign: str, place: Path) -> list[str]:
    """Write the input table as CSV; return its columns."""
    try:
        member = archive.open("data/input.csv")
    except KeyError:
        raise UserError(
            "a project of ARX must have its input table, data/input.csv; this has none."
        ) from None
    header: list[str] = []
    with member, open_private(place) as handle:
        lines = io.TextIOWrapper(member, encoding="utf-8-sig", newline="")
        text = io.TextIOWrapper(handle, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        for row in _rows(lines, sign):
            header = header or row
            writer.writerow(row)
        text.detach()
    return header


def _rows(lines: Any, sign: str) -> Iterator[list[str]]:
    try:
        yield from (row for row in csv.reader(lines, delimiter=sign, strict=True) if row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"a table of the project cannot be read ({reason_of(error)}).") from None


def _write_hierarchies(
    archive: zipfile.ZipFile, sign: str, found: _Found, out: Path
) -> dict[str, str]:
    """Write the hierarchies that are asked for, one file each; return their names."""
    files: dict[str, str] = {}
    for name, member in found.hierarchies.items():
        if name in found.roles["sensitive"] and name not in found.ground:
            continue  # it would be taken for the ground distance of t-closeness
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
        files[name] = f"hierarchy-{len(files) + 1}-{plain}.csv"
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=";", lineterminator="\n")
        writer.writerows(_rows(io.StringIO(_text(archive, member), newline=""), sign))
        write_text(out / files[name], text.getvalue())
    return files


def _write_plan(path: Path, out: Path, found: _Found, files: dict[str, str]) -> Imported:
    """Write the plan with its notes; it is checked where it can be run as it stands."""
    from indiff.audit.plan.plan import Plan

    asked = [f"{name}={value}" for name, value in found.limits.items()]
    share = float(found.suppression)
    asked += [f"suppression={share:g}"] if share else []
    shared = [name for name in ("k", "t") if name in found.limits]
    limits: dict[str, Any] = {name: float(found.limits[name]) for name in shared}
    sections: dict[str, dict[str, Any]] = {
        "data": {
            "path": DATA,
            "missing_tokens": ["", "NULL"],  # as ARX writes what is missing
            **found.roles,
            "kinds": found.kinds,
            "hierarchies": files,
        },
        "release": {"sanitizer": f"recoding:{','.join(asked)}"} if found.limits else {},
        "limits": limits,
    }
    if not found.limits:
        found.notes.append("no criterion was taken over: choose a sanitizer and limits")
    if not found.roles["sensitive"]:
        found.notes.append("no column is sensitive: say which, before the plan can be run")
    notes = _told(found.notes)
    text = as_toml({name: values for name, values in sections.items() if values})
    comments = [f"# From the project {escaped(path.name)} of ARX."]
    comments += [f"# Note: {note}" for note in notes]
    write_text(out / PLAN, "\n".join([*comments, text]))
    plan = Plan(**sections) if found.roles["sensitive"] else None
    return Imported(plan, out / PLAN, notes)


def _told(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(escaped(note) for note in notes)

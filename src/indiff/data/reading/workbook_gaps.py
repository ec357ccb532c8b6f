"""Cells of an Excel sheet without a value that are not empty: errors, formulas not solved."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from xml.etree import ElementTree

STEP = 1 << 20
LARGEST_INDEX = 1 << 24
LONGEST_CELL = 1 << 16  # bytes of one cell's own tags, its text aside

_ERROR = re.compile(rb'<c\s[^>]*\bt="e"')
_UNSOLVED = re.compile(rb"(?:</f>|<f(?:\s[^>]*)?/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def count_gaps(data: bytes, sheet: str) -> tuple[int, int] | None:
    """Return how many cells of a sheet hold an error, and how many a formula without its result.

    Readers of workbooks pass over both as if the cells were empty. Only Excel's own format of
    today (.xlsx, .xlsm) is looked at; of any other, and of one laid out strangely, the answer is
    None: nothing is known.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            place = _place(parts, sheet)
            return None if place is None else _count(parts, place)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, ElementTree.ParseError):
        return None  # another format, or one that only its reader understands


def _place(parts: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the part of the archive that holds a sheet."""
    names = ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
    if any(parts.getinfo(name).file_size > LARGEST_INDEX for name in names):
        return None
    book, relations = (ElementTree.fromstring(parts.read(name)) for name in names)
    links = {one.get("name"): one.get(_LINK) for one in book.iter(f"{_MAIN}sheet")}
    targets = {one.get("Id"): one.get("Target", "") for one in relations.iter(_RELATION)}
    target = targets.get(links.get(sheet))
    if target is None:
        return None
    return target.removeprefix("/") if target.startswith("/") else f"xl/{target}"


def _count(parts: zipfile.ZipFile, place: str) -> tuple[int, int]:
    errors = unsolved = 0
    with parts.open(place) as part:
        rest = b""
        while block := part.read(STEP):
            text = rest + block
            # Up to the end of the last whole cell; what follows is looked at with the next block.
            end = text.rfind(b"</c>") + len(b"</c>")
            if end < len(b"</c>"):
                rest = text[-LONGEST_CELL:]
                continue
            errors += len(_ERROR.findall(text, 0, end))
            unsolved += len(_UNSOLVED.findall(text, 0, end))
            rest = text[end:]
    return errors, unsolved

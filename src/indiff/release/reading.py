"""Reads a release that indiff or another tool wrote, cell by cell against the original's columns.

The first match wins: ``*``; a hierarchy label; a value of the column; then by kind, as
``number_text`` and ``value_text`` say. A cell that can be read in two ways, or in none, is an
error and never a guess.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.reading.door import Raw, read_raw, typed
from indiff.data.reading.input_files import Reading, format_of, opened
from indiff.data.reading.separated import SeparatedText
from indiff.data.side_files import label_of
from indiff.data.table import Table
from indiff.errors import Message, UserError, from_data, option, unknown
from indiff.release.cells import read_regions
from indiff.release.regions import UnreadableRegion
from indiff.release.release import Release, ReleasedColumn


def read_release(
    source: Any,
    table: Table,
    *,
    encoding: str | None = None,
    suppressed: Sequence[str] | str = (),
    others: bool = False,
) -> Release:
    """Read a release of ``table`` that indiff or another tool wrote.

    Cells are read against the original's columns (``docs/releases.md`` lists what is understood); a
    cell with no reading, or with two, is an error that names its column and its shape.
    ``suppressed`` are the texts that stand for a suppressed cell beside ``*``; the empty text is a
    blank cell, which otherwise is the missing value where the original column has it. A sensitive
    value that no record of the table has is refused, unless ``others`` may be in the release: it
    then has the class behind the last.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> release = read_release(pa.table({"age": ["<40", "NA", "40+"],
    ...                                  "ill": ["yes", "no", "no"]}), table, suppressed=["NA"])
    >>> release.covers("age", 30)
    array([ True,  True, False])
    """
    tokens = (suppressed,) if isinstance(suppressed, str) else tuple(suppressed)
    raw = read_released(source, table, encoding=encoding)
    frame = raw.frame
    wanted = [*(a.name for a in table.attributes), *table.sensitive.columns]
    for name in wanted:
        if name not in frame.column_names:
            raise unknown("column", name, frame.column_names)
    frame, left_out = _without_suppressed(frame, wanted, table, tokens)
    columns, notes = _read_columns(frame, table, tokens)
    if len(left_out):
        notes = (
            *notes,
            f"{len(left_out):,} released {'row says' if len(left_out) == 1 else 'rows say'} "
            "nothing, as every cell is suppressed: left out, as if not published",
        )
    weights = None
    if "weight" in frame.column_names and "weight" not in table.column_names:
        weights = _read_weights(frame["weight"])
        wanted.append("weight")
    return Release(
        columns=columns,
        sensitive_name=table.sensitive.name,
        sensitive_values=table.sensitive.values,
        classes=read_classes(frame, table, others),
        weights=weights,
        backend=raw.backend,
        sensitive_columns=table.sensitive.columns,
        unread=frame.select(
            [
                name
                for name in frame.column_names
                if name not in wanted and not _says_nothing(frame[name], tokens)
            ]
        ),
        notes=notes,
        left_out=left_out,
    )


def _without_suppressed(
    frame: pa.Table, wanted: Sequence[str], table: Table, tokens: Collection[str]
) -> tuple[pa.Table, NDArray[np.intp]]:
    """Leave out rows of which every cell is suppressed, the sensitive ones too; return which.

    They say nothing of anybody, and counted as rows they would only make others look safer.
    """
    hidden = {"*", *(token.strip() for token in tokens)}
    known = {label_of(part) for value in table.sensitive.values for part in _as_tuple(value)}
    if hidden & known:
        return frame, np.empty(0, np.intp)
    empty = np.ones(frame.num_rows, dtype=bool)
    for name in reversed(wanted):  # the sensitive ones, which are seldom suppressed, first
        if empty.any():
            cells = pc.utf8_trim_whitespace(pc.fill_null(frame[name].cast(pa.string()), ""))
            found = pc.is_in(cells, value_set=pa.array(sorted(hidden), pa.string()))
            empty &= found.to_numpy()
    if empty.all() or not empty.any():
        return frame, np.empty(0, np.intp)
    return frame.filter(pa.array(~empty)), np.flatnonzero(empty)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _read_columns(
    frame: pa.Table, table: Table, suppressed: Sequence[str]
) -> tuple[tuple[ReleasedColumn, ...], tuple[str, ...]]:
    """Read every quasi-identifier before anything is measured; say where blanks were added."""
    columns, notes, refusals = [], [], []
    for attribute in table.attributes:
        texts, cells = _distinct(frame[attribute.name].cast(pa.string()))
        try:
            dropped = table.missing == "drop"
            regions, index, style = read_regions(
                texts.to_pylist(), attribute, suppressed, dropped=dropped, index=cells
            )
        except UnreadableRegion as error:
            refusals.append((attribute.name, error))
            continue
        columns.append(ReleasedColumn.of(attribute, regions, index))
        if style is not None:
            notes.append(f"column {attribute.name!r} of the release is read as {style.words}")
        empty = np.array([not (text or "").strip() for text in texts.to_pylist()], np.bool_)
        blank = int(empty[cells].sum()) if "" not in suppressed else 0
        missing = table.source[attribute.name].null_count
        if blank > missing:
            notes.append(
                Message(
                    f"column {attribute.name!r} has {blank:,} blank cells in the release and "
                    f"{missing:,} in the original: they were read as missing values; if they are "
                    f"suppressed, give {option('suppressed', [''])}"
                )
            )
    if refusals:
        (_, first), others = refusals[0], [repr(name) for name, _ in refusals[1:]]
        if not others:
            raise first
        raise UnreadableRegion(
            first.rule,
            way_out=f"{first.way_out}. Cells of {', '.join(others)} cannot be read either",
            field=first.field,
        )
    return tuple(columns), tuple(notes)


def _distinct(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int32]]:
    """Return the distinct cells of a column, the first of them first, and which each cell is."""
    coded = column.combine_chunks().dictionary_encode("encode")
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    return coded.dictionary, coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)


def read_released(source: Any, table: Table, *, encoding: str | None = None) -> Raw:
    """Read a released file or frame; text stays as written, though it may look like numbers.

    In separated text ``1.0`` and ``1e5`` are numbers to a reader, and no longer the values ``1.0``
    and ``1e5`` that the original column of text has. Text that is not UTF-8 is in the encoding
    that is given, or else in the table's.
    """
    try:
        raw = read_raw(source, encoding=encoding, missing_tokens=(), detect=False)
    except UserError as error:
        if error.field != "encoding":
            raise
        if encoding is None and table.encoding is not None:
            return read_released(source, table, encoding=table.encoding)
        raise UserError(error.rule, error.got, error.way_out, field="release_encoding") from None
    if not isinstance(source, str | Path) or format_of(source) != "text":
        return raw
    frame = raw.frame
    changed = [
        name
        for name in frame.column_names
        if name in table.source.column_names
        and pa.types.is_string(table.source[name].type)
        and not pa.types.is_string(frame[name].type)
    ]
    if changed:
        with opened(Path(source)) as file:
            cells = SeparatedText(file, repr(str(source)), Reading(encoding=encoding)).table()
        for name in changed:
            frame = frame.set_column(frame.column_names.index(name), name, cells[name])
    return replace(raw, frame=frame)


def _read_weights(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the counts of a noisy table, or refuse what counts nothing."""
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    weights = np.asarray(column.to_numpy(), np.float64) if number else np.empty(0)
    wrong = np.flatnonzero(~(weights >= 0))  # a missing number is not
    if not number or len(wrong):
        got = f"row {int(wrong[0]) + 1} has none" if number else f"it holds {column.type}s"
        raise UserError(
            f"the column 'weight' of a release must have a count of at least 0 in every row; {got}",
            way_out="Write 0 for a negative count, or rename the column",
        )
    return weights


def _says_nothing(column: pa.ChunkedArray, suppressed: Collection[str] = ()) -> bool:
    """Tell whether every cell of a released column is suppressed or blank."""
    hidden = {"*", "", *(token.strip() for token in suppressed)}
    cells = column.unique().cast(pa.string()).to_pylist()
    return all((cell or "").strip() in hidden for cell in cells)


def read_classes(frame: pa.Table, table: Table, others: bool) -> NDArray[np.int32]:
    """Return the place of each row's sensitive value among the table's; ``others`` come last."""
    sensitive = table.sensitive
    joint = isinstance(sensitive.values[0], tuple)
    values = [value if joint else (value,) for value in sensitive.values]
    place = {tuple(map(label_of, value)): code for code, value in enumerate(values)}
    rows, parts = np.zeros(frame.num_rows, np.int64), []
    for spot, name in enumerate(sensitive.columns):
        distinct, index = _distinct(frame[name])
        texts = _texts(pa.chunked_array([distinct]), [value[spot] for value in values])
        parts.append((texts, index))
        rows = np.unique(rows * len(texts) + index, return_inverse=True)[1].ravel()
    if len(place) < len(sensitive.values):
        raise UserError(
            f"a release must tell the values of {sensitive.name!r} apart, but two of "
            "them are written alike, the empty text and the missing value",
            way_out=f"Read the table with the empty text among {option('missing_tokens')}",
        )
    firsts, back = np.unique(rows, return_index=True, return_inverse=True)[1:]
    classes = np.empty(len(firsts), np.int32)
    for spot in np.argsort(firsts).tolist():
        row = firsts[spot]
        cell = tuple(texts[index[row]] for texts, index in parts)
        if cell not in place and not others:
            raise UserError(
                f"row {int(row) + 1} of the release, column {sensitive.name!r}: "
                f"{from_data(cell if joint else cell[0])} is not a sensitive value of the table; a "
                "release keeps the sensitive values as they are",
                way_out="Where it is suppressed, suppress every cell of such a row, or publish "
                "without it: a row that shows the others still tells who was hidden",
            )
        classes[spot] = place.get(cell, len(place))
    return classes[back.ravel()]


def _texts(column: pa.ChunkedArray, values: Sequence[Any]) -> list[str]:
    """Return a column's cells as the table's values are written."""
    cells = column.to_pylist()
    known = {label_of(value) for value in values}
    if not any(isinstance(value, str) for value in values):
        if pa.types.is_string(column.type):  # 1.234,5
            blank = pc.equal(pc.utf8_trim_whitespace(column), "")
            read = typed("", pc.if_else(blank, pa.scalar(None, pa.string()), column)).values
            cells = cells if pa.types.is_string(read.type) else read.to_pylist()
        # An empty cell made text of a column of numbers, or another tool writes 2.0 for 2.
        return [cell if cell in known else _number_text(cell) for cell in map(label_of, cells)]
    if not pa.types.is_floating(column.type):
        return list(map(label_of, cells))
    # Numbers that were declared categorical are the texts that Arrow writes: 1e-7, not 1e-07.
    written = column.cast(pa.string()).to_pylist()
    return [
        one if (one := label_of(cell)) in known else (two or one)
        for cell, two in zip(cells, written, strict=True)
    ]


def _number_text(text: str) -> str:
    for number in (int, float):  # an integer that no float holds keeps its digits
        try:
            return label_of(number(text))
        except ValueError:
            continue
    return text

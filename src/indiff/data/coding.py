"""From a column of values to integer codes: the distinct values in order, and each row's place."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.errors import UserError, did_you_mean, from_data, option

MOST_SENSITIVE_NUMBERS = 50
LARGEST_WHOLE_NUMBER = 2**53  # above it, floating point no longer tells neighbours apart
Coded = tuple[NDArray[Any], NDArray[np.int32]]
"""The distinct values in order, and each row's place among them."""


def code_attribute(
    name: str,
    column: pa.ChunkedArray,
    kind: str | None,
    order: Sequence[str] | None,
    hierarchy: Hierarchy | None,
) -> dict[str, Any]:
    """Code a quasi-identifier: the fields of an ``Attribute``."""
    decided = decide_kind(name, column, kind, order, hierarchy)
    if decided == Kind.NUMERIC:
        values, codes = _code_numbers(name, column)
    elif hierarchy is not None:
        hierarchy, values, codes = _code_by_hierarchy(name, column, hierarchy)
    else:
        values, codes = _code_texts(name, column, order)
    return {
        "kind": decided,
        "values": values,
        "codes": codes,
        "is_date": decided == Kind.NUMERIC and pa.types.is_date(column.type),
        "hierarchy": hierarchy,
        "has_missing": bool(column.null_count),
    }


def code_sensitive(
    name: str,
    column: pa.ChunkedArray,
    kind: str | None,
    order: Sequence[str] | None,
    hierarchy: Hierarchy | None,
    bins: int | Sequence[float] | None,
) -> dict[str, Any]:
    """Code a sensitive attribute: the fields of a ``Sensitive``."""
    decided = decide_kind(name, column, kind, order, hierarchy)
    if decided == Kind.NUMERIC:
        numbers, codes = _code_numbers(name, column)
        has_missing = bool(column.null_count)
        known = numbers[: len(numbers) - has_missing]
        shown: list[Any] = [_plain(number) for number in known]
        if pa.types.is_date(column.type):
            shown = known.astype("datetime64[D]").astype(str).tolist()
        shown += [None] * has_missing
        if bins is not None:
            shown, codes = _bin(name, known.astype(np.float64), shown, codes, bins)
            decided = Kind.ORDINAL
        elif len(shown) > MOST_SENSITIVE_NUMBERS:
            middle = shown[len(shown) // 2]
            column_name = name if name.isidentifier() else f'"{name}"'
            example = f"{column_name} > {from_data(middle)}"
            raise UserError(
                f"a numeric sensitive attribute may have at most {MOST_SENSITIVE_NUMBERS} "
                f"distinct values; {name!r} has {len(shown):,}",
                way_out=(
                    f"Give {option('bins')} (a number of quantiles or a list of edges) or an "
                    f"expression such as: {example}"
                ),
                field="bins",
            )
        fields = {"kind": decided, "values": tuple(shown), "codes": codes}
        return {**fields, "binned": bins is not None}
    if bins is not None:
        raise UserError(
            f"{option('bins')} groups numbers; {name!r} is {decided}",
            way_out=f"Name the numeric attributes alone, as in {option('bins', {'income': 4})}",
            field="bins",
        )
    if hierarchy is not None:
        hierarchy, _, _ = _code_by_hierarchy(name, column, hierarchy)
    values, codes = _code_texts(name, column, order)
    # A declared value that no record holds is not a value that an adversary could find.
    held, places = np.unique(codes, return_inverse=True)
    return {
        "kind": decided,
        "values": tuple(values[held]),
        "codes": places.astype(np.int32),
        "hierarchy": hierarchy,
    }


def code_joint(parts: Sequence[Any]) -> dict[str, Any]:
    """Code several sensitive attributes as one whose values are the tuples that occur."""
    rows = np.stack([part.codes for part in parts])
    tuples, codes = np.unique(rows, axis=1, return_inverse=True)
    values = tuple(
        tuple(part.values[code] for part, code in zip(parts, combination, strict=True))
        for combination in tuples.T
    )
    return {"kind": Kind.CATEGORICAL, "values": values, "codes": codes.ravel().astype(np.int32)}


def decide_kind(
    name: str,
    column: pa.ChunkedArray,
    kind: str | None,
    order: Sequence[str] | None,
    hierarchy: Hierarchy | None,
) -> Kind:
    """Return a column's kind: as declared, or as its type, its order and its hierarchy tell."""
    is_number = plain_kind(column.type)[0] == Kind.NUMERIC
    if kind is None:
        if order is not None:
            return Kind.ORDINAL
        return Kind.NUMERIC if is_number and hierarchy is None else Kind.CATEGORICAL
    if kind not in tuple(Kind):
        raise UserError(f"a kind is one of {', '.join(Kind)}", f"{kind!r} for column {name!r}")
    if kind == Kind.NUMERIC and not is_number:
        raise UserError(
            f"column {name!r} cannot be numeric: it holds text such as "
            f"{from_data(_example(column))}",
            way_out="Declare it categorical or ordinal, or correct the column",
        )
    if kind == Kind.ORDINAL and order is None and not is_number:
        raise UserError(
            f"an ordinal column of text needs its order; {name!r} has none",
            way_out=f"Give {option('orders', {name: ['lowest', '…', 'highest']})}",
            field="orders",
        )
    if hierarchy is not None and kind != Kind.CATEGORICAL:
        raise UserError(
            f"a hierarchy makes a column categorical; {name!r} is declared {kind}",
            way_out="Remove the hierarchy or the kind",
        )
    return Kind(kind)


def plain_kind(type_: pa.DataType) -> tuple[Kind, bool]:
    """Return the kind that a type tells, and whether its values are dates."""
    is_date = pa.types.is_date(type_)
    numeric = is_date or pa.types.is_integer(type_) or pa.types.is_floating(type_)
    return Kind.NUMERIC if numeric else Kind.CATEGORICAL, is_date


def _example(column: pa.ChunkedArray) -> str:
    for value in column.drop_null().unique().to_pylist():
        try:
            float(value)
        except ValueError:
            return str(value)
    return str(column[0].as_py())


def _plain(number: Any) -> int | float:
    value = number.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _code_numbers(name: str, column: pa.ChunkedArray) -> Coded:
    """Return ascending values, NaN for the missing one last, and codes."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
    if pa.types.is_integer(column.type) and column.null_count:
        largest = pc.max(pc.abs(column)).as_py()
        if largest is not None and largest > LARGEST_WHOLE_NUMBER:
            raise UserError(
                f"whole numbers beyond {LARGEST_WHOLE_NUMBER:,} cannot be kept apart in a "
                f"numeric column with missing values; {name!r} has "
                f"{from_data(largest, '{:,}'.format)}",
                way_out="Declare it categorical",
            )
    numbers = np.asarray(column.to_numpy(zero_copy_only=False))  # nulls become NaN
    values, codes = np.unique(numbers, return_inverse=True)  # NaN sorts last, as one value
    known = values[: len(values) - bool(column.null_count)].astype(np.float64)
    with np.errstate(over="ignore"):
        if len(known) and not np.isfinite(known[-1] - known[0]):
            raise UserError(
                f"the numbers of a column must lie less than 1.8e308 apart; {name!r} goes from "
                f"{from_data(known[0], '{:g}'.format)} to {from_data(known[-1], '{:g}'.format)}",
                way_out="Declare it categorical, or correct it",
            )
    return values, codes.astype(np.int32)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _distinct_texts(column: pa.ChunkedArray) -> tuple[list[str], NDArray[Any]]:
    """Return the distinct texts, and each row's place among them; the missing one's is beyond."""
    encoded = _as_text(column).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    found = encoded.dictionary.to_pylist()
    places = pc.fill_null(encoded.indices, len(found)).to_numpy(zero_copy_only=False)
    return found, np.asarray(places)


def _coded(values: Sequence[str | None], found: Sequence[str], places: NDArray[Any]) -> Coded:
    """Return the values in their order, of which a missing one is the last, and each row's code."""
    code_of = {value: code for code, value in enumerate(values)}
    lookup = np.array([code_of[value] for value in found] + [len(values) - 1], np.int32)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array, lookup[places]


def _code_texts(name: str, column: pa.ChunkedArray, order: Sequence[str] | None) -> Coded:
    found, places = _distinct_texts(column)
    if order is None and not pa.types.is_string(column.type):
        ordered = _as_text(column.drop_null().unique().sort()).to_pylist()
    elif order is None:
        ordered = sorted(found)
    else:
        ordered = [_order_text(name, value) for value in order]
        if len(set(ordered)) < len(ordered):
            raise UserError(
                f"the order of {name!r} names a value twice: {from_data(ordered, ', '.join)}."
            )
        strange = sorted(set(found) - set(ordered))
        if strange:
            raise UserError(
                f"the order of {name!r} must name every value; it lacks {from_data(strange[0])}"
                f"{did_you_mean(strange[0], ordered, from_data) or '.'}"
            )
    return _coded([*ordered, *([None] if column.null_count else [])], found, places)


def _order_text(name: str, value: Any) -> str:
    """Return a declared value as the column's cells are written: 1.0 is 1, True is true."""
    if value is None:
        raise UserError(f"the missing value has no place in the order of {name!r}; leave it out.")
    return str(value if isinstance(value, str) else pa.scalar(value).cast(pa.string()))


def _code_by_hierarchy(
    name: str, column: pa.ChunkedArray, hierarchy: Hierarchy
) -> tuple[Hierarchy, NDArray[Any], NDArray[np.int32]]:
    found, places = _distinct_texts(column)
    tree = hierarchy.for_column(name, found)
    tree = tree.with_missing() if column.null_count else tree
    strange = [value for value in found if value not in tree.code_of]
    if strange:
        more = f" and {len(strange) - 1} more values" if len(strange) > 1 else ""
        raise UserError(
            f"every value of {name!r} must be in its hierarchy; "
            f"{from_data(strange[0])}{more} {'are' if more else 'is'} not"
            f"{did_you_mean(strange[0], hierarchy.labels, from_data) or '.'} "
            "Add a line that starts with it."
        )
    return tree, *_coded(tree.values, found, places)


def _bin(
    name: str,
    known: NDArray[np.float64],
    shown: Sequence[Any],
    codes: NDArray[np.int32],
    bins: int | Sequence[float],
) -> tuple[list[Any], NDArray[np.int32]]:
    """Group numbers by quantiles or by edges; the labels are closed intervals of what occurs."""
    rows = known[codes[codes < len(known)]]
    if not len(known):
        raise UserError(
            f"{option('bins')} groups numbers; {name!r} has none at all",
            way_out="Choose another column",
            field="bins",
        )
    inner = _inner_edges(name, rows, bins)
    place = np.searchsorted(np.unique(inner), known, side="left")  # edges close the lower bin
    present, compact = np.unique(place, return_inverse=True)
    labels: list[Any] = []
    for code in range(len(present)):
        inside = np.flatnonzero(compact == code)  # the numbers ascend
        low, high = shown[inside[0]], shown[inside[-1]]
        labels.append(f"[{low}, {high}]" if low != high else str(low))
    if len(shown) > len(known):  # the missing value
        labels.append(None)
        compact = np.append(compact, len(present))
    return labels, compact.astype(np.int32)[codes]


def _inner_edges(name: str, rows: NDArray[np.float64], bins: Any) -> NDArray[np.float64]:
    """Return where bins end: quantiles of the records, or as given."""
    if isinstance(bins, Integral):
        if bins < 2:
            raise UserError("bins must be at least 2", f"{bins} for {name!r}")
        # The smallest value that a share of the records does not exceed, in whole numbers: rounded
        # shares would put an edge one record too far.
        needed = -(-len(rows) * np.arange(1, int(bins), dtype=np.int64) // int(bins))
        return np.asarray(np.sort(rows)[needed - 1])
    try:
        edges = np.empty(0) if isinstance(bins, str) else np.array(sorted(bins), dtype=np.float64)
    except (TypeError, ValueError):
        edges = np.empty(0)
    if not len(edges) or not np.isfinite(edges).all():
        raise UserError(
            f"{option('bins')} is a number of quantiles or a list of finite edges",
            f"{from_data(bins)} for {name!r}",
            field="bins",
        )
    return edges


def domain_part(count: int, quantiles: int) -> NDArray[np.intp]:
    """Return the part of each of a domain's values, cut into equally many; none is empty.

    >>> domain_part(7, 3)
    array([0, 0, 1, 1, 2, 2, 2])
    """
    parts = min(quantiles, count)
    starts = count * np.arange(1, parts) // max(parts, 1)
    return np.searchsorted(starts, np.arange(count), side="right")

"""Tells whether a sanitizer or model is still the same one, by a digest of what it does."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

from indiff.data.table import Attribute, Sensitive, Table

_PLAIN = (type(None), bool, int, float, complex, str, bytes)

# Functions, classes and objects that were met; kept, so that no other takes their place.
_Seen = dict[int, Any]


def identity(part: object) -> str:
    """Return a digest of a sanitizer, model or distance: of its parameters and its code.

    Of a function: its code, its defaults and what it refers to in its own module. Of an object:
    its class, its public attributes, and a text ``fingerprint`` where it has one. It cannot see
    what lies outside: a file that is read later, or a service. Attributes that begin with an
    underscore are the object's own affair and do not count, nor do lists, mappings and objects of
    a module with such a name.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 1)
    True
    >>> identity(lambda x: x + 1) == identity(lambda x: x + 2)
    False
    """
    digest = hashlib.sha256()
    for piece in _pieces(part, {}):
        digest.update(piece.encode() + b"\x1f")
    return digest.hexdigest()


def _pieces(part: Any, seen: _Seen) -> Iterator[str]:
    if isinstance(part, _PLAIN):
        yield repr(part)
        return
    match part:
        case Mapping():
            yield "mapping"
            for key, value in part.items():
                yield from _pieces(key, seen)
                yield from _pieces(value, seen)
        case set() | frozenset():
            yield "set"
            yield from sorted("\x1e".join(_pieces(value, seen)) for value in part)
        case Sequence():
            yield f"sequence of {len(part)}"
            for value in part:
                yield from _pieces(value, seen)
        case np.ndarray() if part.dtype != object:
            yield f"array {part.dtype} {part.shape} {hashlib.sha256(part.tobytes()).hexdigest()}"
        case CodeType():
            yield from _code(part, seen)
        case _ if id(part) in seen:
            yield "again"
        case _:
            seen[id(part)] = part
            yield from _thing(part, seen)


def _thing(part: Any, seen: _Seen) -> Iterator[str]:
    match part:
        case FunctionType():
            yield from _function(part, seen)
        case MethodType():
            yield from _pieces(part.__func__, seen)
            yield from _pieces(part.__self__, seen)
        case ModuleType() | BuiltinFunctionType():
            yield part.__name__
        case type():
            yield from _class(part, seen)
        case _:
            yield from _object(part, seen)


def _function(function: FunctionType, seen: _Seen) -> Iterator[str]:
    yield f"function {function.__name__}"
    yield from _code(function.__code__, seen)
    yield from _pieces(function.__defaults__, seen)
    yield from _pieces(function.__kwdefaults__, seen)
    for cell in function.__closure__ or ():
        yield from _pieces(cell.cell_contents, seen)
    for name in dict.fromkeys(_names(function.__code__)):
        if name not in function.__globals__:
            continue
        used = function.__globals__[name]
        own = getattr(used, "__module__", None) == function.__module__
        if callable(used) and not own:  # of another module, whose version tells what it does
            yield f"{name} {getattr(used, '__module__', '')} {getattr(used, '__qualname__', '')}"
        elif not name.startswith("_") or isinstance(used, _PLAIN) or callable(used):
            yield name
            yield from _pieces(used, seen)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, also inside comprehensions and functions of its own."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _code(code: CodeType, seen: _Seen) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr(code.co_names)
    for constant in code.co_consts:
        yield from _pieces(constant, seen)


def _class(kind: type, seen: _Seen) -> Iterator[str]:
    yield f"class {kind.__module__}.{kind.__qualname__}"
    if kind.__module__.split(".")[0] in ("indiff", "builtins", "sklearn", "numpy"):
        return  # its version tells what it does
    for name, member in sorted(vars(kind).items()):
        if isinstance(member, FunctionType):
            yield name
            yield from _function(member, seen)


def _object(part: Any, seen: _Seen) -> Iterator[str]:
    yield from _class(type(part), seen)
    if hasattr(part, "__arrow_c_stream__"):  # anyone's frame: its content is its identity
        frame = pa.table(part)
        for name in frame.column_names:
            yield name
            yield from (hashlib.sha256(piece).hexdigest() for piece in _column(frame[name]))
        return
    print_of_it = getattr(part, "fingerprint", None)
    if isinstance(print_of_it, str):
        yield print_of_it
    if is_dataclass(part):
        counted = {f.name: getattr(part, f.name) for f in fields(part) if f.compare}
        yield from _pieces(counted, seen)
    elif hasattr(part, "__dict__"):
        public = {name: value for name, value in vars(part).items() if not name.startswith("_")}
        yield from _pieces(public, seen)
    else:
        try:
            yield hashlib.sha256(pickle.dumps(part)).hexdigest()
        except (TypeError, AttributeError, pickle.PicklingError):
            return  # a handle to something outside; its class is what can be said of it


def table_identity(table: Table) -> str:
    """Return a digest of the table and of every column that a sanitizer gets to see.

    >>> from indiff.data.table import read_table
    >>> ages = pa.table({"age": [28, 36], "name": ["x", "y"], "ill": ["no", "yes"]})
    >>> others = ages.set_column(1, "name", pa.array(["x", "z"]))
    >>> one, two = (read_table(frame, quasi=["age"], sensitive="ill") for frame in (ages, others))
    >>> one.fingerprint == two.fingerprint, table_identity(one) == table_identity(two)
    (True, False)
    """
    digest = hashlib.sha256()  # with no key: a run may go on on another machine
    digest.update(np.ascontiguousarray(table.records, "<i8").tobytes())
    digest.update(f"{table.describe()}\x1f{table.missing}\x1f{table.backend}\x1f".encode())
    parts: list[Attribute | Sensitive] = [*table.attributes, *table.sensitives]
    for part in parts:  # coded by kinds, orders and bins
        digest.update("\x1f".join([part.name, part.kind, *map(repr, part.values)]).encode())
        digest.update(np.ascontiguousarray(part.codes, "<i4").tobytes())
    for attribute in table.attributes:
        if attribute.hierarchy is not None:
            digest.update(identity(attribute.hierarchy).encode())
    for name in table.source.column_names:
        digest.update(name.encode() + b"\x1f")
        for piece in _column(table.source[name]):
            digest.update(piece)
    return digest.hexdigest()


def _column(column: pa.ChunkedArray) -> Iterator[bytes]:
    """Yield a column's content, whatever is stored below its nulls."""
    if pa.types.is_nested(column.type):
        yield repr(column.to_pylist()).encode()
        return
    whole = column.combine_chunks()
    coded = whole if pa.types.is_dictionary(column.type) else whole.dictionary_encode()
    for chunk in coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]:
        yield repr(chunk.dictionary.to_pylist()).encode()
        yield chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False).tobytes()

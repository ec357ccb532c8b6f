"""Guesses the role and the kind of every column, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from indiff.data.reading.door import read_raw
from indiff.risk.identifying.kinds import KINDS, words_of
from indiff.risk.identifying.recognise import FEW, Column

_MOST = 0.5  # of the cells that say something
_NUMBERED = ("nr", "number", "nummer", "numero")
_SENSITIVE = (
    "diagnos", "disease", "illness", "condition", "icd", "medic", "drug", "treatment", "health",
    "income", "salary", "wage", "earning", "debt", "religio", "ethnic", "race", "politic",
    "party", "union", "sexual", "orientation", "crime", "offence", "offense", "convict",
)  # fmt: skip


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    column: str
    role: str
    kind: str
    reason: str
    distinct: int


def guess_roles(source: str | Path | pa.Table, **reading: object) -> list[Guess]:
    """Guess every column's role and kind from its name and its counts, and tell no single value.

    A column names people if it is different in every record, or if its values are those of e-mail
    addresses, telephone or national numbers and the like; one whose name speaks of health, money or
    belief is sensitive; everything else could be known to an attacker. A guess is a start: whoever
    publishes the table decides.

    >>> people = pa.table({"id": ["a", "b", "c"], "age": [30, 30, 47], "income": [1, 2, 2]})
    >>> for guess in guess_roles(people):
    ...     print(guess.column, guess.role, guess.kind)
    id identifier categorical
    age quasi numeric
    income sensitive numeric
    """
    frame = read_raw(source, **reading).frame  # type: ignore[arg-type]
    return guess_all([Column.of(name, frame[name]) for name in frame.column_names])


def guess_all(columns: Sequence[Column]) -> list[Guess]:
    """Guess the roles of columns whose values are counted."""
    found = []
    for column in columns:
        role, reason = _role(column)
        kind = _kind(column.values.type)
        found.append(Guess(column.name, role, kind, reason, len(column.values)))
    if any(guess.role == "sensitive" for guess in found):
        return found
    return _with_a_sensitive_one(found)


def _role(column: Column) -> tuple[str, str]:
    """Return the role and the reason for it."""
    kind, distinct, records = column.values.type, len(column.values), column.told + column.missing
    values = [one for one in column.evidence if KINDS[one.kind].direct and one.cells]
    if values and values[0].share >= _MOST:
        return "identifier", str(values[0])
    text = not pa.types.is_floating(kind) and not pa.types.is_date(kind)
    if distinct == records > 1 and text:
        return "identifier", "different in every record"
    words = words_of(column.name)
    named = any(one.is_named(column.name) for one in KINDS.values() if one.direct)
    if (named or any(word in _NUMBERED for word in words)) and distinct > records / 2:
        return "identifier", "its name, and different in most records"
    if distinct <= 1:
        return "other", "the same in every record: it tells nothing"
    if values:
        return "other", f"{values[0]}: READ IT"
    if any(stem in "".join(words) for stem in _SENSITIVE):
        return "sensitive", "its name speaks of health, money or belief"
    if column.is_free_text:
        return "other", "free text, long and nearly always different: READ IT"
    if pa.types.is_date(kind):
        births = any(one.how == "spread" for one in column.evidence)
        said = "as spread as births are" if births else "often known from elsewhere"
        return "quasi", f"dates, {said}"
    if _kind(kind) == "numeric":
        return "quasi", f"a number with {distinct:,} distinct values"
    few = "few" if distinct <= FEW else "many"
    return "quasi", f"a text with {few} distinct values ({distinct:,})"


def _with_a_sensitive_one(found: list[Guess]) -> list[Guess]:
    """Take the last column that could be sensitive; somebody must confirm it."""
    quasi = [guess for guess in found if guess.role == "quasi"]
    few = [guess for guess in quasi if 2 <= guess.distinct <= FEW]
    if not few or len(quasi) < 2:
        return found
    reason = "the last column with few values: A GUESS, choose yourself"
    return [
        replace(one, role="sensitive", reason=reason) if one is few[-1] else one for one in found
    ]


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return "date"
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return "numeric" if numeric else "categorical"

"""Guessed roles and kinds for a first plan, each with its reason; and the plan as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.door import read_raw
from indiff.text import escaped
from indiff.text import name as short_name

FEW = 30  # distinct values that a person could still list
LONG = 25  # characters of a value that is more than a name or a code, on average

_SENSITIVE = (
    "diagnos", "disease", "illness", "condition", "icd", "medic", "drug", "treatment", "health",
    "income", "salary", "wage", "earning", "debt", "religio", "ethnic", "race", "politic",
    "party", "union", "sexual", "orientation", "crime", "offence", "offense", "convict",
)  # fmt: skip
_IDENTIFIER = (
    "name", "surname", "email", "mail", "phone", "ssn", "passport", "id", "uuid", "iban",
    "account", "nr", "number",
)  # fmt: skip


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why."""

    column: str
    role: str
    kind: str
    reason: str
    distinct: int = 0


def guess_roles(source: str | Path | pa.Table, **reading: object) -> list[Guess]:
    """Guess every column's role and kind from its name and its counts, never from single values.

    A unique column names people; a column whose name speaks of health, money or belief is
    sensitive; everything else could be known to an attacker. A guess is a start: whoever
    publishes the table decides.

    >>> people = pa.table({"id": ["a", "b", "c"], "age": [30, 30, 47], "income": [1, 2, 2]})
    >>> for guess in guess_roles(people):
    ...     print(guess.column, guess.role, guess.kind)
    id identifier categorical
    age quasi numeric
    income sensitive numeric
    """
    frame = read_raw(source, **reading).frame  # type: ignore[arg-type]
    found = [_guess(name, frame[name]) for name in frame.column_names]
    if any(guess.role == "sensitive" for guess in found):
        return found
    return _with_a_sensitive_one(found, frame)


def _guess(name: str, cells: pa.ChunkedArray) -> Guess:
    distinct = int(pc.count_distinct(cells, mode="only_valid").as_py())
    return replace(_role(name, cells, distinct), distinct=distinct)


def _role(name: str, cells: pa.ChunkedArray, distinct: int) -> Guess:
    kind, records = _kind(cells.type), len(cells)
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    unique = distinct == records > 1
    text = not pa.types.is_floating(cells.type) and not pa.types.is_date(cells.type)
    if unique and text:
        return Guess(name, "identifier", kind, "different in every record")
    if any(word in _IDENTIFIER for word in words) and distinct > records / 2:
        return Guess(name, "identifier", kind, "its name, and different in most records")
    if distinct <= 1:
        return Guess(name, "other", kind, "the same in every record: it tells nothing")
    if any(stem in "".join(words) for stem in _SENSITIVE):
        return Guess(name, "sensitive", kind, "its name speaks of health, money or belief")
    if _is_free_text(cells, distinct):
        return Guess(name, "other", kind, "free text, long and nearly always different: READ IT")
    if kind == "date":
        return Guess(name, "quasi", kind, "dates are often known from elsewhere")
    if kind == "numeric":
        return Guess(name, "quasi", kind, f"a number with {distinct:,} distinct values")
    few = "few" if distinct <= FEW else "many"
    return Guess(name, "quasi", kind, f"a text with {few} distinct values ({distinct:,})")


def _is_free_text(cells: pa.ChunkedArray, distinct: int) -> bool:
    """Tell whether a column has many different long values, as remarks have."""
    if not pa.types.is_string(cells.type) or distinct <= FEW:
        return False
    many = distinct > (len(cells) - cells.null_count) / 2
    return many and (pc.mean(pc.utf8_length(cells)).as_py() or 0) >= LONG


def _with_a_sensitive_one(found: list[Guess], frame: pa.Table) -> list[Guess]:
    """Take the last column that could be sensitive; somebody must confirm it."""
    chosen = next(
        (
            guess
            for guess in reversed(found)
            if guess.role == "quasi"
            and 2 <= int(pc.count_distinct(frame[guess.column]).as_py()) <= FEW
        ),
        None,
    )
    if chosen is None or sum(guess.role == "quasi" for guess in found) < 2:
        return found
    reason = "the last column with few values: A GUESS, choose yourself"
    return [
        replace(one, role="sensitive", reason=reason) if one is chosen else one for one in found
    ]


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return "date"
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return "numeric" if numeric else "categorical"


def plan_text(
    data: str,
    guesses: list[Guess],
    how_read: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return a commented plan for a table whose roles were guessed, with what was noted of it."""
    reading = [
        f"{name} = {_value(value)}"
        for name, value in (how_read or {}).items()
        if value not in (None, [""])
    ]
    if notes:
        reading += ["", "# What was noted while reading:"]
        reading += [f"#   {escaped(note)}" for note in notes]
    sensitive = _named(guesses, "sensitive")
    numeric = [
        guess.column
        for guess in guesses
        if guess.role == "sensitive" and guess.kind == "numeric" and guess.distinct > FEW
    ]
    return "\n".join(
        [
            "# A plan for indiff. Check every role below, then run: indiff audit plan.toml",
            "# Files are relative to this one.",
            "",
            "[data]",
            f"path = {quoted(data)}",
            *reading,
            "",
            "# Guessed roles. They are guesses from names and counts: correct them.",
            *(_comment(guess) for guess in guesses),
            "",
            "# Columns that name people: left out of every release.",
            f"identifier = {_value(_named(guesses, 'identifier'))}",
            "# What an attacker may know from elsewhere.",
            f"quasi = {_value(_named(guesses, 'quasi'))}",
            "# What nobody should learn about a person. THIS IS YOURS TO DECIDE.",
            f"sensitive = {_value(sensitive)}",
            "# Columns that are neither.",
            f"other = {_value(_named(guesses, 'other'))}",
            *_bins(numeric),
            '# missing = "drop"       # or "split": records without a numeric quasi-identifier',
            "# [data.hierarchies]     # a column's hierarchy file: value;parent;…;*",
            '# zip = "zip.csv"',
            "",
            "[release]",
            'sanitizer = "mondrian:k=5"   # or mondrian:l=3, laplace:epsilon=0.5, identity …',
            '# file = "release.csv"       # instead: a release made elsewhere',
            "",
            "[adversary]",
            'models = ["auto"]            # the strongest of the fast ones; or naive-bayes, tree …',
            'distance = "wasserstein"',
            "",
            "# What must hold for exit code 0. Without a limit nothing can be exceeded.",
            "[limits]",
            "k = 5                        # at least",
            "delta = 0.5                  # at most",
            "",
            "[report]",
            "min_cell = 10                # a value is named only if so many records hold it",
            'parameter = "mondrian:k=2,5,10,20"   # δ against k; leave out to save time',
            "",
            "[run]",
            "seed = 0",
            "",
        ]
    )


def _comment(guess: Guess) -> str:
    return f"#   {short_name(guess.column)}: {guess.role} ({guess.kind}), {guess.reason}"


def _bins(numeric: list[str]) -> list[str]:
    """Bin the sensitive numbers with many values; few stay as they are, as somebody wrote them."""
    if not numeric:
        return []
    bins = _value(dict.fromkeys(numeric, 4))
    return ["# A sensitive number is taken in quantiles.", f"bins = {bins}"]


def _named(guesses: list[Guess], role: str) -> list[str]:
    return [guess.column for guess in guesses if guess.role == role]


def as_toml(plan: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a whole plan; what is not set is left out, as TOML has no word for it.

    >>> print(as_toml({"data": {"path": "a b.csv", "sheet": None}, "limits": {"delta": 0.1}}))
    # Run this audit again in a terminal, in the folder of this file:
    #   indiff audit plan.toml
    <BLANKLINE>
    [data]
    path = "a b.csv"
    <BLANKLINE>
    [limits]
    delta = 0.1
    <BLANKLINE>
    """
    lines = [
        "# Run this audit again in a terminal, in the folder of this file:",
        "#   indiff audit plan.toml",
    ]
    for section, values in plan.items():
        said = [f"{_key(key)} = {_value(one)}" for key, one in values.items() if one is not None]
        lines += ["", f"[{section}]", *said] if said else []
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return quoted(value) if isinstance(value, str) else repr(value).lower()


def quoted(text: str) -> str:
    r"""Return a text as TOML writes it.

    >>> quoted('a "b"\n')
    '"a \\"b\\"\\n"'
    """
    # JSON's escapes are TOML's; what does not print, such as a mark that turns text, is one too.
    return "".join(
        one if one.isprintable() else f"\\U{ord(one):08x}"
        for one in json.dumps(text, ensure_ascii=False)
    )

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
    found = []
    for name in frame.column_names:
        kind = _kind(frame[name].type)
        distinct = int(pc.count_distinct(frame[name], mode="only_valid").as_py())
        role, reason = _role(name, frame[name], kind, distinct)
        found.append(Guess(name, role, kind, reason, distinct))
    if any(guess.role == "sensitive" for guess in found):
        return found
    return _with_a_sensitive_one(found)


def _role(name: str, cells: pa.ChunkedArray, kind: str, distinct: int) -> tuple[str, str]:
    """Return the role and the reason for it."""
    records = len(cells)
    words = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower())
    unique = distinct == records > 1
    text = not pa.types.is_floating(cells.type) and not pa.types.is_date(cells.type)
    if unique and text:
        return "identifier", "different in every record"
    if any(word in _IDENTIFIER for word in words) and distinct > records / 2:
        return "identifier", "its name, and different in most records"
    if distinct <= 1:
        return "other", "the same in every record: it tells nothing"
    if any(stem in "".join(words) for stem in _SENSITIVE):
        return "sensitive", "its name speaks of health, money or belief"
    if _is_free_text(cells, distinct):
        return "other", "free text, long and nearly always different: READ IT"
    if kind == "date":
        return "quasi", "dates are often known from elsewhere"
    if kind == "numeric":
        return "quasi", f"a number with {distinct:,} distinct values"
    few = "few" if distinct <= FEW else "many"
    return "quasi", f"a text with {few} distinct values ({distinct:,})"


def _is_free_text(cells: pa.ChunkedArray, distinct: int) -> bool:
    """Tell whether a column has many different long values, as remarks have."""
    if not pa.types.is_string(cells.type) or distinct <= FEW:
        return False
    many = distinct > (len(cells) - cells.null_count) / 2
    return many and (pc.mean(pc.utf8_length(cells)).as_py() or 0) >= LONG


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


def plan_text(
    data: str,
    guesses: list[Guess],
    how_read: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return a commented plan for a table whose roles were guessed, with what was noted of it."""
    reading = [
        f"{name} = {toml_value(value)}"
        for name, value in (how_read or {}).items()
        if value not in (None, [""])
    ]
    if notes:
        reading += ["", "# What was noted while reading:"]
        reading += [f"#   {escaped(note)}" for note in notes]
    # Sensitive numbers with many values are binned; few stay as they are, as somebody wrote them.
    many = {
        one.column: 4
        for one in guesses
        if one.role == "sensitive" and one.kind == "numeric" and one.distinct > FEW
    }
    bins = (
        ["# A sensitive number is taken in quantiles.", f"bins = {toml_value(many)}"]
        if many
        else []
    )
    comments = [
        f"#   {short_name(one.column)}: {one.role} ({one.kind}), {one.reason}" for one in guesses
    ]
    roles = {
        role: toml_value([one.column for one in guesses if one.role == role])
        for role in ("identifier", "quasi", "sensitive", "other")
    }
    return _PLAN.format(
        reading="\n".join([f"path = {quoted(data)}", *reading]),
        comments="\n".join(comments),
        other="\n".join([roles.pop("other"), *bins]),
        **roles,
    )


_PLAN = """\
# A plan for indiff. Check every role below, then run: indiff audit plan.toml
# Files are relative to this one.

[data]
{reading}

# Guessed roles. They are guesses from names and counts: correct them.
{comments}

# Columns that name people: left out of every release.
identifier = {identifier}
# What an attacker may know from elsewhere.
quasi = {quasi}
# What nobody should learn about a person. THIS IS YOURS TO DECIDE.
sensitive = {sensitive}
# Columns that are neither: not tested, and not in the release.
other = {other}
# missing = "drop"       # or "split": records without a numeric quasi-identifier
# [data.hierarchies]     # a column's hierarchy file: value;parent;…;*
# zip = "zip.csv"

# [population]           # who these people are a sample of (docs/risk.md)
# source = "register.csv"  # a file with the same columns, or a number of people; or sampling = 0.05
# weight = "w"           # the column of survey weights; household = "hid"

[release]
sanitizer = "mondrian:k=5"   # groups of at least 5; with distinct_l=2, of two values or more each
# file = "release.csv"       # instead: a release made elsewhere

[adversary]
models = ["auto"]            # the strongest of the fast ones; or naive-bayes, tree …
distance = "wasserstein"

# Why the data is released, for whoever reads the report. Fill in what you know.
[context]
# policy = "ema-0070"        # whose limits must hold, too (docs/policies.md), or your own file
# purpose = "research on the course of the disease"
# recipients = "universities in the EU"
# release_model = "public"   # or "controlled" (by agreement), "internal"
# controller = "who is responsible for the data"
# author = "who made this assessment"
# data_period = "2019 to 2023"
# attackers = "who might try to find people in it, and why"
# knowledge = "what they may know from elsewhere"
# limits_by = "who chose the limits, and why these"
# review_by = 2027-12-31     # when this is looked at again
# confidentiality = "confidential"
# confirmed_by = "who vouches for what no program can check"

# What must hold for exit code 0. Without a limit nothing can be exceeded. These are no more than a
# start: decide what is enough before you see the numbers.
# k: in how large a crowd everyone must stand; 5 means that an attacker picks the right one of 5.
# delta: how far one person's own record may move a guess at their sensitive value. Half of it is in
#   percentage points of belief: 0.1 moves at most 5 (from 20% to 25%), 0.5 moves 25, 1 moves 50 (a
#   coin becomes a certainty), and 2, the largest, turns one certainty into another.
[limits]
k = 5                        # at least
delta = 0.5                  # at most

[report]
min_cell = 10                # a value is named only if so many records hold it
parameter = "mondrian:k=2,5,10,20"   # tests each of these, too, which takes as long as four tests;
#                                      leave out to save time

[run]
seed = 0
"""


def as_toml(plan: Mapping[str, Mapping[str, Any]], command: str = "indiff audit plan.toml") -> str:
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
        f"#   {command}",
    ]
    for section, values in plan.items():
        said = [
            f"{_key(key)} = {toml_value(one)}" for key, one in values.items() if one is not None
        ]
        lines += ["", f"[{section}]", *said] if said else []
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(name)} = {toml_value(one)}" for name, one in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
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

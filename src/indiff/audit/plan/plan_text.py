"""Writes a first plan for a table whose roles were guessed, and any plan as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from indiff.risk.identifying.recognise import FEW
from indiff.risk.identifying.roles import Guess
from indiff.text import escaped
from indiff.text import name as short_name


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

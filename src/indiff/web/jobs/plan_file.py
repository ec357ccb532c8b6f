"""Writes a plan as TOML, with the command that gives the same result in a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from indiff.audit.plan.guess import quoted


def plan_text(plan: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a plan; what is not set is left out, as TOML has no word for it.

    >>> print(plan_text({"data": {"path": "a b.csv", "sheet": None}, "limits": {"delta": 0.1}}))
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
        set_values = {key: value for key, value in values.items() if value is not None}
        if set_values:
            lines += ["", f"[{section}]"]
            lines += [f"{_key(key)} = {_value(value)}" for key, value in set_values.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return quoted(value)
    return repr(value).lower()  # true and false, as TOML writes them

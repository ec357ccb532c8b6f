"""Writes the plan in effect and the versions into an audit's document."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from indiff.audit.plan.plan import Plan
from indiff.audit.redaction import HIDDEN, RARE, Redaction
from indiff.data.schema import Role
from indiff.differential.method import choose_model
from indiff.differential.test import describe
from indiff.sanitizers.protocol import Sanitizer
from indiff.version import __version__

DIGITS = 12  # what a number of the document keeps: rounding noise would differ by machine
_LIBRARIES = ("numpy", "numba", "pyarrow", "duckdb", "scikit-learn", "scipy", "pydantic")
# Tokens for what is missing that everybody writes: any other may be a value of somebody.
_USUAL_TOKENS = frozenset(
    ("", "?", "-", "--", ".", "*", "na", "n/a", "#n/a", "nan", "null", "nil", "none", "missing",
     "unknown", "not available")
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions that a repetition needs."""
    return {"indiff": __version__, "python": platform.python_version(), **_libraries()}


@cache
def _libraries() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


def plan_block(plan: Plan, redaction: Redaction, sanitizer: Sanitizer | None) -> dict[str, Any]:
    """Return every parameter in effect: files by their names, values only if enough hold them."""
    found = plan.model_dump(mode="json")
    data, adversary = found["data"], found["adversary"]
    data["path"] = _file(data["path"])
    for role in Role:  # as they were decided, where the plan left them open
        data[str(role)] = list(redaction.table.schema.names(role))
    data["hierarchies"] = {name: _file(path) for name, path in data["hierarchies"].items()}
    data["orders"] = {
        name: [redaction.value(name, value) for value in order]
        for name, order in data["orders"].items()
    }
    data["bins"] = _bins(plan, redaction)
    data["missing_tokens"] = [
        token if redaction.show_values or token.strip().casefold() in _USUAL_TOKENS else HIDDEN
        for token in plan.data.missing_tokens
    ]
    found["release"]["file"] = _file(found["release"]["file"])
    adversary["prior"] = _file(adversary["prior"])
    if adversary["distance"].lower().endswith(".csv"):
        adversary["distance"] = f"emd:{_file(adversary['distance'].removeprefix('emd:'))}"
    if sanitizer is not None:
        adversary["models"] = [
            describe(choose_model(name, sanitizer)) for name in plan.adversary.models
        ]
    if isinstance(adversary["targets"], list):
        adversary["targets"] = ranges(adversary["targets"])
    return found


def _file(path: str | None) -> str | None:
    return None if path is None else Path(path).name


def _bins(plan: Plan, redaction: Redaction) -> Any:
    """Return the bins without an edge that is a rare value of the column."""
    bins = plan.data.bins

    def edges(column: str | None, one: int | list[float]) -> Any:
        if isinstance(one, int):
            return one
        columns = plan.data.sensitive if column is None else [column]
        return [
            RARE if RARE in [redaction.value(name, edge) for name in columns] else edge
            for edge in one
        ]

    if isinstance(bins, Mapping):
        return {name: edges(name, one) for name, one in bins.items()}
    return None if bins is None else edges(None, bins)


def ranges(numbers: Sequence[int]) -> str:
    """Write record numbers as the command line does.

    >>> ranges([0, 1, 2, 7, 9, 10])
    '0-2,7,9-10'
    """
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in found)

"""Prints a fix: how δ moved, what was removed, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.text import number

if TYPE_CHECKING:
    from indiff.utility import Utility

_MEASURES = {
    "ncp": "NCP (0 to 1, less is better)",
    "discernibility": "discernibility (less is better)",
    "average_group": "average group (less is better)",
    "accuracy": "analyst's accuracy (more is better)",
}
MOST_ROUNDS = 40


def show_fix(console: Console, fixed: Any, paths: Mapping[str, Path] | None = None) -> None:
    """Show δ at each round, what was removed and lost, and what it does not prove."""
    heading = f"Removing outliers until δ is at most {fixed.limit:g}"
    rows = [
        (str(place), f"{one.removed:,}", number(one.delta), number(one.mean), f"{one.above:,}")
        for place, one in enumerate(fixed.rounds)
    ]
    if len(rows) > MOST_ROUNDS:
        rows[MOST_ROUNDS - 1 : -1] = [("…",) * 5]
    columns = right("round", "removed", "δ", "mean", "above the limit")
    show_grid(console, heading, columns, rows)
    lines = [
        ("sanitizer", plain.message(fixed.sanitizer)),
        ("model", plain.message(fixed.model)),
        ("outcome", plain.message(fixed.reason)),
        ("removed", f"{len(fixed.removed):,} of {fixed.records:,} (budget {fixed.budget:,})"),
        ("verified", _verified(fixed)),
    ]
    lines += _lost(fixed.utility_before, fixed.utility_after)
    lines += [("written", plain.message(str(path))) for path in (paths or {}).values()]
    if paths is not None and fixed.release is None:
        lines.append(("no release", "none is written, since none is below the limit"))
    lines.append(("proves not", fixed.does_not_prove))
    section(console, "Fix", lines)


def _verified(fixed: Any) -> str:
    if fixed.verified_delta is None:
        return plain.message(fixed.verified_by)
    return f"δ = {number(fixed.verified_delta)} by {fixed.verified_by}, from scratch"


def _lost(before: Utility | None, after: Utility | None) -> list[tuple[str, str]]:
    if before is None or after is None:
        return []
    lines = []
    for name, title in _MEASURES.items():
        was, now = getattr(before, name), getattr(after, name)
        if was is not None and now is not None:
            lines.append(("utility", f"{title}: {number(was)} → {number(now)}"))
    return lines

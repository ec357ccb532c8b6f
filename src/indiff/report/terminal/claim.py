"""Shows in the terminal what runs say of a claim of differential privacy, and of members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from indiff import text as plain
from indiff.report.limits import claim_lines
from indiff.report.terminal.tables import right, section, show_grid

_SHOWN = 10  # records, and statistics


def show_claim(console: Console, found: Mapping[str, Any]) -> None:
    """Show one test of a claim."""
    section(console, f"The claim of {plain.name(found['sanitizer'])}", claim_lines(found))


def show_membership_by_runs(console: Console, found: Mapping[str, Any]) -> None:
    """Show how well single releases of a randomized sanitizer tell members from others."""
    at = next(iter(found["overall"].values()))["true_positives_at"]
    rates = {f"at {100 * float(rate):g} %": rate for rate in at}

    def cells(one: Mapping[str, Any]) -> list[str]:
        return [_span(one["advantage"])] + [
            _span(one["true_positives_at"][rate]) for rate in rates.values()
        ]

    titles = [("", "fold"), *right("advantage", *rates)]  # numbers are never cut
    ranked = sorted(found["overall"].items(), key=lambda pair: -pair[1]["advantage"]["value"])
    rows = [[plain.name(name), *cells(one)] for name, one in ranked[:_SHOWN]]
    size, runs = len(found["records"]), found["runs"]
    show_grid(console, f"Members of {size:,} records told by one release", titles, rows)
    each = [[f"record {one['record']:,}", *cells(one)] for one in found["worst"][:_SHOWN]]
    by = plain.name(found["strongest"])
    show_grid(console, f"By {by}, the strongest statistic", titles, each)
    lines = [
        ("at", "the true-positive rate at so many false positives"),
        ("limits", f"{found['confidence']:.4g} confidence each, {runs:,} runs with and without"),
        *(("note", plain.message(note)) for note in found["notes"]),
    ]
    section(console, "Membership inference", lines)


def _span(one: Mapping[str, Any]) -> str:
    return f"{one['value']:.2f} ({one['lower']:.2f}–{one['upper']:.2f})"

"""Membership inference by runs in a terminal of 80 columns: names may fold, numbers are whole."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from indiff.report.terminal.claim import show_membership_by_runs


def found_by(name: str) -> dict[str, Any]:
    share = {"value": 0.36, "lower": 0.09, "upper": 0.61}
    one = {"advantage": share, "true_positives_at": {"0.001": share, "0.01": share}}
    return {
        "overall": {name: one}, "records": [7], "runs": 100, "strongest": name, "notes": [],
        "worst": [{"record": 7, **one}], "confidence": 0.95,
    }  # fmt: skip


def test_numbers_are_whole_in_eighty_columns() -> None:
    out = io.StringIO()
    name = "narrowest regions that cover it"
    show_membership_by_runs(Console(file=out, width=80), found_by(name))
    told = out.getvalue()
    assert told.count("0.36 (0.09–0.61)") == 6
    assert "…" not in told
    assert max(map(len, told.splitlines())) <= 80

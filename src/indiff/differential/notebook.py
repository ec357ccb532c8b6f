"""Shows a differential test in a notebook: a short table, without any value of the table."""

from __future__ import annotations

from typing import Any

from indiff.text import html, html_table, number

_WORST = 5


def tested(result: Any) -> str:
    """Return the differential test's numbers and its worst records, by number."""
    models = getattr(result, "results", {result.model: result})
    one = next(iter(models.values()))
    about = f"Differential test of {one.sensitive_name}: {one.sanitizer}"
    rows = []
    for name, each in models.items():
        upper = "" if each.delta_interval is None else number(each.delta_upper)
        counts = f"{len(each.distances):,} of {each.population:,}"
        changed = f"{each.changed_predictions:.3g} ({each.changed_exactness})"
        rows.append(
            (name, number(each.delta), upper, number(each.mean), changed, counts, each.exactness)
        )
    heads = ("model", "δ", "δ may be", "mean", "% predictions changed", "tested", "exactness")
    worst = [
        (
            f"{row['record']}",
            number(row["distance"]),
            f"{row['belief']:.4f}",
            f"{row['belief_without']:.4f}",
            row.get("model", one.model),
        )
        for row in result.worst(_WORST)
    ]
    below = ("record", "distance", "belief with", "without", "seen by")
    return f"<div><h3>{html(about)}</h3>{html_table(heads, rows)}{html_table(below, worst)}</div>"

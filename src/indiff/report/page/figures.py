"""Figures: each chart of a document with its title, its sentence and its numbers as a table.

A figure is plain data. The report and the web application show it the same way: the specification
is drawn by the chart bundle, and the text stands for it where nothing can be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indiff import text as plain
from indiff.text import number, percent

MOST_ROWS = 200
MOST_DRAWN = 30  # as many as the charts of plot show
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True)
class Figure:
    """One chart and the text that stands for it; ``spec`` is Vega-Lite without any address."""

    id: str
    question: str
    title: str
    summary: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spec: dict[str, Any]
    note: str = ""


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of an audit's document, in the order of the report.

    A chart that the document holds nothing for is left out; nothing is measured here.

    >>> [figure.id for figure in figures({"findings": [], "charts": {"risk": [
    ...     {"metric": "ITPR", "about": "re-identification", "before": 1, "after": 0.5,
    ...      "range": [0, 1]}]}})]
    ['risk']
    """
    charts = document["charts"]
    limit = _delta_limit(document["findings"])
    found = []
    if any(_known(row) for row in charts.get("risk") or []):
        found.append(_risk(charts["risk"]))
    if any(_known(row) for row in charts.get("columns") or []):
        found.append(_columns(charts["columns"]))
    if charts.get("cdf"):
        found.append(_cdf(charts["cdf"], limit))
    if charts.get("parameter") and charts["parameter"]["points"]:
        found.append(_parameter(charts["parameter"], limit))
    if charts.get("worst"):
        found.append(_worst(charts["worst"]))
    return found


def _known(row: Mapping[str, Any]) -> bool:
    return row["before"] is not None or row["after"] is not None


def _delta_limit(findings: Sequence[Mapping[str, Any]]) -> float | None:
    """The strictest limit on δ."""
    limits = [one["limit"] for one in findings if one.get("limit")]
    values = [float(limit["value"]) for limit in limits if limit["name"] == "delta"]
    return min(values, default=None)


def _spec(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict(validate=False)  # tests draw every chart with Vega
    spec.pop("config", None)
    spec["width"] = "container"
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return themed(spec)


def themed(spec: dict[str, Any]) -> dict[str, Any]:
    """Replace the charts' colours by the page's, so that one drawing fits light, dark and print."""
    from indiff.plot import style

    names = {colour: f"var(--chart-{place + 1})" for place, colour in enumerate(style.SERIES)}
    names[style.LIMIT] = "var(--chart-limit)"

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                key: inner if key in ("datasets", "data") else walk(inner)
                for key, inner in part.items()
            }
        if isinstance(part, list):
            return [walk(inner) for inner in part]
        return names.get(part, part) if isinstance(part, str) else part

    return {**walk(spec), "config": CONFIG}


_TEXT = {"labelColor": "var(--ink-soft)", "titleColor": "var(--ink-soft)"}
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
CONFIG: dict[str, Any] = {
    "aria": False,  # the figure's sentence and table speak instead of hundreds of marks
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": "transparent"},
    "axis": {
        **_TEXT,
        "gridColor": "var(--line)",
        "domainColor": "var(--line-strong)",
        "tickColor": "var(--line-strong)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    },
    "legend": {"labelColor": "var(--ink)", "labelFontSize": 12, "offset": 8, "rowPadding": 4},
    "text": {"font": _FONT},
}


def _cdf(curves: Sequence[Mapping[str, Any]], limit: float | None) -> Figure:
    from indiff.plot import cdf

    named = [{**curve, "name": plain.name(str(curve["name"]))} for curve in curves]
    sentences, rows = [], []
    for curve in named:
        points = [(float(d), float(share)) for d, share in zip(curve["x"], curve["y"], strict=True)]
        zero = max((share for d, share in points if d == 0), default=0.0)
        finite = [(d, share) for d, share in points if math.isfinite(d)]
        infinite = 1 - finite[-1][1] if finite else 1.0
        largest = f"the largest is {number(points[-1][0])}"
        sentences.append(
            f"{curve['name']}: {percent(zero)} of the records have a distance of exactly 0, half "
            f"have at most {number(_quantile(points, 0.5))}, and {largest}."
            + (f" {percent(infinite)} are infinite and not drawn." if infinite > 1e-12 else "")
        )
        rows.append(
            (
                curve["name"],
                percent(zero),
                *(number(_quantile(points, share)) for share in _SHARES),
                number(points[-1][0]),
            )
        )
    return Figure(
        id="cdf",
        question="inference",
        title="How far one person's record moves the adversary's belief",
        summary=" ".join(sentences),
        headers=(
            "adversary",
            "exactly 0",
            *(f"{100 * share:g}% at most" for share in _SHARES),
            "largest (δ)",
        ),
        rows=tuple(rows),
        spec=_spec(cdf(named, limit=limit)),
        note="The axis is logarithmic and has no 0: a curve starts at the left edge with the share "
        "of records at or below it. The disc marks the largest finite distance. A curve far to the "
        "right is a leak.",
    )


def _quantile(points: Sequence[tuple[float, float]], share: float) -> float:
    """The smallest kept distance that at least this share of the records does not exceed."""
    return next((d for d, reached in points if reached >= share - 1e-12), points[-1][0])


def _parameter(part: Mapping[str, Any], limit: float | None) -> Figure:
    from indiff.plot import parameter

    name = plain.name(str(part["parameter"]))
    points = [{**one, "setting": plain.name(str(one["setting"]))} for one in part["points"]]
    deltas = [(float(one["delta"]), one["setting"]) for one in points if one["delta"] is not None]
    known = [pair for pair in deltas if not math.isnan(pair[0])]
    if known:
        low, high = min(known), max(known)
        summary = (
            f"δ goes from {number(low[0])} ({low[1]}) to {number(high[0])} ({high[1]}) over "
            f"{len(points)} settings of {name}."
        )
    else:
        summary = f"No setting of {name} could be measured."
    if any(math.isinf(delta) for delta, _ in deltas):
        summary += " Infinite numbers are not drawn."
    return Figure(
        id="parameter",
        question="inference",
        title=f"Distance against {name}",
        summary=summary,
        headers=("setting", "δ", "mean", "note"),
        rows=tuple(
            (one["setting"], number(one["delta"]), number(one["mean"]), one.get("reason") or "")
            for one in points
        ),
        spec=_spec(parameter({"parameter": name, "points": points}, limit=limit)),
        note="A stricter setting need not make δ smaller: the curve shows whether it does here.",
    )


def _risk(lines: Sequence[Mapping[str, Any]]) -> Figure:
    from indiff.plot import risk

    rows = [
        {**row, "metric": plain.name(str(row["metric"])), "about": plain.name(str(row["about"]))}
        for row in lines
    ]
    moved = [
        (float(row["before"]), float(row["after"]))
        for row in rows
        if row["before"] is not None and row["after"] is not None
    ]
    lower = sum(after < before for before, after in moved)
    higher = sum(after > before for before, after in moved)
    worst = max(rows, key=lambda row: _or_least(row["after"]))
    summary = "Only the original could be measured."
    if worst["after"] is not None:
        summary = (
            f"Sanitizing lowers {_of(lower, len(rows))}, raises {_of(higher, len(rows))}. The "
            f"largest afterwards is {worst['metric']} of {worst['about']}: "
            f"{number(worst['after'])}, from {number(worst['before'])}."
        )
    unbounded = sum(row.get("range") is not None and row["range"][1] is None for row in rows)
    return Figure(
        id="risk",
        question="singling-out",
        title="Risk before and after sanitizing",
        summary=summary
        + (f" {unbounded} without an upper end are not drawn." if unbounded else ""),
        headers=("metric", "about", "before", "after", "range"),
        rows=tuple(
            (
                row["metric"],
                row["about"],
                number(row["before"]),
                number(row["after"]),
                _range(row.get("range")),
            )
            for row in rows
        ),
        spec=_spec(risk(rows)),
    )


def _of(count: int, total: int) -> str:
    """Say how many of the metrics.

    >>> _of(4, 4), _of(0, 4), _of(1, 4)
    ('all 4 risk metrics', 'none', '1 of 4')
    """
    if not count:
        return "none"
    return f"all {total} risk metrics" if count == total else f"{count} of {total}"


def _or_least(value: Any) -> float:
    return -math.inf if value is None or math.isnan(float(value)) else float(value)


def _range(limits: Sequence[Any] | None) -> str:
    if limits is None:
        return "—"
    return f"{number(limits[0])} to {'∞' if limits[1] is None else number(limits[1])}"


def _columns(lines: Sequence[Mapping[str, Any]]) -> Figure:
    from indiff.plot import columns

    rows = [
        {**row, "column": plain.name(str(row["column"])), "metric": plain.name(str(row["metric"]))}
        for row in lines
    ]
    before = max(rows, key=lambda row: _or_least(row["before"]))
    after = max(rows, key=lambda row: _or_least(row["after"]))
    summary = (
        f"Before sanitizing {before['column']} tells most on its own "
        f"({before['metric']} {number(before['before'])})"
    )
    if after["after"] is not None:
        summary += f"; afterwards it is {after['column']} ({number(after['after'])})"
    left_out = len(rows) - MOST_ROWS
    return Figure(
        id="columns",
        question="singling-out",
        title="What each column gives away on its own",
        summary=summary
        + "."
        + (f" The {MOST_DRAWN} worst are drawn." if len(rows) > MOST_DRAWN else "")
        + (f" {left_out:,} more lines are in the JSON file." if left_out > 0 else ""),
        headers=("column", "metric", "before", "after"),
        rows=tuple(
            (row["column"], row["metric"], number(row["before"]), number(row["after"]))
            for row in rows[:MOST_ROWS]
        ),
        spec=_spec(columns(rows)),
        note="Columns that tell little alone may tell much together. A released region depends on "
        "the record's other columns too, so a column can tell more alone than it did before.",
    )


def _worst(lines: Sequence[Mapping[str, Any]]) -> Figure:
    from indiff.plot import worst

    rows = [
        {**row, **{key: plain.name(str(row[key])) for key in ("about", "model") if key in row}}
        for row in by_distance(lines)[:MOST_ROWS]
    ]
    first = rows[0]
    several = len({row.get("about") for row in rows}) > 1
    return Figure(
        id="worst",
        question="worst",
        title="Belief in the true value, with and without the record",
        summary=f"Record {first['record']} is exposed most: with it in the table the belief in its "
        f"true value is {percent(first['belief'])}, without it "
        f"{percent(first['belief_without'])} (distance {number(first['distance'])}, by "
        f"{first['model']})."
        + (f" The {MOST_DRAWN} worst are drawn." if len(rows) > MOST_DRAWN else ""),
        headers=(
            "record",
            *(["about"] if several else []),
            "distance",
            "belief with",
            "belief without",
            "adversary",
        ),
        rows=tuple(
            (
                str(row["record"]),
                *([row["about"]] if several else []),
                number(row["distance"]),
                percent(row["belief"]),
                percent(row["belief_without"]),
                row["model"],
            )
            for row in rows
        ),
        spec=_spec(worst(rows, count=MOST_DRAWN)),
    )


def by_distance(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the worst records of all sensitive attributes together, the most exposed first."""
    return sorted(lines, key=lambda row: -_or_least(row["distance"]))

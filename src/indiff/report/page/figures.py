"""Makes the figures of a report: each chart with its title, its sentence and its numbers.

A figure is plain data. The report and the web application show it the same way: the specification
is drawn by the chart bundle, and the text stands for it where nothing can be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indiff import text as plain
from indiff.report.finding import against, setting_note
from indiff.report.parts import COLUMNS_NOTE, by_distance, or_least
from indiff.text import number, percent

MOST_ROWS = 200
MOST_DRAWN = 30  # as many as the charts of plot show
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
Lines = Sequence[Mapping[str, Any]]


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
    """
    charts = {name: lines for name, lines in document["charts"].items() if lines}
    limits = [one["limit"] for one in document["findings"] if one.get("limit")]
    deltas = [float(limit["value"]) for limit in limits if limit["name"] == "delta"]
    limit = min(deltas, default=None)  # the strictest
    found = [
        make(charts[name])
        for name, make in (("risk", _risk), ("columns", _columns))
        if any(
            row["before"] is not None or row["after"] is not None for row in charts.get(name, ())
        )
    ]
    if "cdf" in charts:
        found.append(_cdf(charts["cdf"], limit))
    if "parameter" in charts and charts["parameter"]["points"]:
        found.append(_parameter(charts["parameter"], limit))
    if "worst" in charts:
        found.append(_worst(charts["worst"]))
    return found


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
    names |= {style.LIMIT: "var(--chart-limit)", style.PAPER: "var(--paper)"}

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


_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
CONFIG: dict[str, Any] = {
    "aria": False,  # the figure's sentence and table speak instead of hundreds of marks
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": "transparent"},
    "axis": {
        "labelColor": "var(--ink-soft)", "titleColor": "var(--ink-soft)",
        "gridColor": "var(--line)", "domainColor": "var(--line-strong)",
        "tickColor": "var(--line-strong)", "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "titlePadding": 10,
    },
    "legend": {"labelColor": "var(--ink)", "labelFontSize": 12, "offset": 8, "rowPadding": 4},
    "text": {"font": _FONT},
}  # fmt: skip


def _named(lines: Lines, *keys: str) -> list[dict[str, Any]]:
    """Return lines with what comes from the table as names that can be shown."""
    return [
        {**line, **{key: plain.name(str(line[key])) for key in keys if key in line}}
        for line in lines
    ]


def _cells(lines: Lines, **columns: Callable[[Any], str]) -> tuple[tuple[str, ...], ...]:
    """Write the lines' values, each column in its way."""
    return tuple(tuple(how(line.get(key)) for key, how in columns.items()) for line in lines)


def _drawn(lines: Lines) -> str:
    return f" The {MOST_DRAWN} worst are drawn." if len(lines) > MOST_DRAWN else ""


def _cdf(curves: Lines, limit: float | None) -> Figure:
    from indiff.plot import cdf

    named = _named(curves, "name")
    sentences, rows = [], []
    for curve in named:
        points = [(float(d), float(share)) for d, share in zip(curve["x"], curve["y"], strict=True)]
        zero = percent(max((share for d, share in points if d == 0), default=0.0))
        finite = [share for d, share in points if math.isfinite(d)]
        infinite = 1 - finite[-1] if finite else 1.0
        largest = number(points[-1][0])
        none = "no record has" if zero == "0%" else f"{zero} of the records have"
        sentences.append(
            f"{_short(curve['name'], named)}: {none} a distance of exactly 0, half have at most "
            f"{number(_quantile(points, 0.5))}, and the largest is {largest}."
            + (f" {percent(infinite)} are infinite and not drawn." if infinite > 1e-12 else "")
        )
        quantiles = [number(_quantile(points, share)) for share in _SHARES]
        rows.append((curve["name"], zero, *quantiles, largest))
    shares = [f"{100 * share:g}% at most" for share in _SHARES]
    return Figure(
        id="cdf",
        question="inference",
        title="How far one person's record moves the adversary's belief",
        summary=" ".join(sentences),
        headers=("adversary", "exactly 0", *shares, "largest (δ)"),
        rows=tuple(rows),
        spec=_spec(cdf(named, limit=limit)),
        note="The axis is logarithmic and has no 0: a curve starts at the left edge with the share "
        "of records at or below it. The disc marks the largest finite distance. A curve far to the "
        "right is a leak.",
    )


def _short(name: str, curves: Lines) -> str:
    """Return a curve's adversary alone where all curves are about the same attribute."""
    several = len({one["name"].rpartition(": ")[0] for one in curves}) > 1
    return name if several else name.rpartition(": ")[2]


def _quantile(points: Sequence[tuple[float, float]], share: float) -> float:
    """The smallest kept distance that at least this share of the records does not exceed."""
    return next((d for d, reached in points if reached >= share - 1e-12), points[-1][0])


def _parameter(part: Mapping[str, Any], limit: float | None) -> Figure:
    from indiff.plot import parameter

    name = plain.name(str(part["parameter"]))
    points = _named(part["points"], "setting")
    noted = [{**one, "reason": setting_note(one)} for one in points]
    deltas = [
        (float(one["delta"]), _value(name, one)) for one in points if one["delta"] is not None
    ]
    known = [pair for pair in deltas if not math.isnan(pair[0])]
    if known:
        low, high = (_at(known, end(known)[0]) for end in (min, max))
        summary = f"Of {len(points)} settings of {name}, δ is smallest with {low} and largest with "
        summary += high
        if low == high and len(known) > 1:
            summary = f"All {len(known)} settings of {name} that were measured have the same δ "
            summary += f"({number(known[0][0])})"
        summary += f"{against(part['points'][0].get('models', ()))}."
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
        rows=_cells(noted, setting=str, delta=number, mean=number, reason=str),
        spec=_spec(parameter({"parameter": name, "points": points}, limit=limit)),
        note="A stricter setting need not make δ smaller: the curve shows whether it does here.",
    )


def _value(name: str, point: Mapping[str, Any]) -> str:
    """Name a setting by the parameter that differs, where it is a number."""
    value = point.get("value")
    return f"{name} = {value:g}" if isinstance(value, int | float) else str(point["setting"])


def _at(known: Sequence[tuple[float, str]], value: float) -> str:
    """Name the settings whose δ reads like this one."""
    alike = [setting for delta, setting in known if number(delta) == number(value)]
    return f"{' and '.join(alike)} ({number(value)})"


def _risk(lines: Lines) -> Figure:
    from indiff.plot import risk

    rows = _named(lines, "metric", "about")
    moved = [
        (float(row["before"]), float(row["after"]))
        for row in rows
        if row["before"] is not None and row["after"] is not None
    ]
    lower = sum(after < before for before, after in moved)
    higher = sum(after > before for before, after in moved)
    worst = max(rows, key=lambda row: or_least(row["after"]))
    summary = "Only the original could be measured."
    if worst["after"] is not None:
        summary = (
            f"Of the {plain.counted(len(rows), 'risk metric')} in this chart, sanitizing lowers "
            f"{_of(lower, len(rows))} and raises {_of(higher, len(rows))}. The largest afterwards "
            f"is {worst['metric']} of {worst['about']}: "
            f"{number(worst['after'])}, from {number(worst['before'])}."
        )
    if unbounded := sum((row.get("range") or (0, 0))[1] is None for row in rows):
        summary += f" {unbounded} without an upper end are not drawn."
    return Figure(
        id="risk",
        question="singling-out",
        title="Risk before and after sanitizing",
        summary=summary,
        headers=("metric", "about", "before", "after", "range"),
        rows=_cells(rows, metric=str, about=str, before=number, after=number, range=_range),
        spec=_spec(risk(rows)),
    )


def _of(count: int, total: int) -> str:
    if not count:
        return "none"
    return "all" if count == total else str(count)


def _range(limits: Sequence[Any] | None) -> str:
    if limits is None:
        return "—"
    return f"{number(limits[0])} to {'∞' if limits[1] is None else number(limits[1])}"


def _columns(lines: Lines) -> Figure:
    from indiff.plot import columns

    rows = _named(lines, "column", "metric")
    before = max(rows, key=lambda row: or_least(row["before"]))
    after = max(rows, key=lambda row: or_least(row["after"]))
    now = number(after["after"])
    summary = (
        f"Before sanitizing, the column {before['column']} tells most on its own "
        f"({before['metric']} {number(before['before'])})"
    )
    if after["after"] is not None and after["column"] == before["column"]:
        summary += f", and it still does afterwards ({now})"
    elif after["after"] is not None:
        summary += f"; afterwards it is {after['column']} ({now})"
    summary += f".{_drawn(rows)}"
    if len(rows) > MOST_ROWS:
        summary += f" {len(rows) - MOST_ROWS:,} more lines are in the JSON file."
    return Figure(
        id="columns",
        question="singling-out",
        title="What each column gives away on its own",
        summary=summary,
        headers=("column", "metric", "before", "after"),
        rows=_cells(rows[:MOST_ROWS], column=str, metric=str, before=number, after=number),
        spec=_spec(columns(rows)),
        note=COLUMNS_NOTE,
    )


def _worst(lines: Lines) -> Figure:
    from indiff.plot import worst

    rows = _named(by_distance(lines)[:MOST_ROWS], "about", "model")
    first = rows[0]
    equal = sum(row["distance"] == first["distance"] for row in rows)
    most = f"Record {first['record']} is exposed most"
    if equal > 1:
        most = f"{equal} of these records have the same largest distance, such as record "
        most += str(first["record"])
    about = {"about": "about"} if len({row.get("about") for row in rows}) > 1 else {}
    beliefs = {"belief": "belief with", "belief_without": "belief without", "model": "adversary"}
    titles = {"record": "record", **about, "distance": "distance", **beliefs}
    how: dict[str, Callable[[Any], str]]
    how = {"distance": number, "belief": percent, "belief_without": percent}
    return Figure(
        id="worst",
        question="worst",
        title="Belief in the true value, with and without the record",
        summary=f"{most}: with that record in the table the belief in its "
        f"true value is {percent(first['belief'])}, without it "
        f"{percent(first['belief_without'])} (distance {number(first['distance'])}, by "
        f"{first['model']}).{_drawn(rows)}",
        headers=tuple(titles.values()),
        rows=_cells(rows, **{key: how.get(key, str) for key in titles}),
        spec=_spec(worst(rows, count=MOST_DRAWN)),
    )

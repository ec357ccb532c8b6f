"""Draws what was measured: curves of distances, and pairs of numbers before and after."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from indiff.errors import UserError
from indiff.plot import style
from indiff.plot.style import coded, data, drawn, labels, layered, number, tips

if TYPE_CHECKING:  # a document is drawn without loading what measured it
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.risk.measure import Risk

STEP = 23
MOST_ROWS = 30
# Smaller distances are rounding; a logarithmic axis would give them most of its width.
SMALLEST_DRAWN = 1e-6
HEIGHT = 200


def cdf(
    results: DifferentialResult
    | StrongestResult
    | Mapping[str, DifferentialResult]
    | Sequence[Any],
    *,
    limit: float | None = None,
) -> alt.LayerChart:
    """Draw the share of records whose distance is at most d (DIT v2, Figure 2).

    ``results`` is a result, several (a mapping names them), or the document's ``charts.cdf``. The
    axis is logarithmic: a curve starts at the left edge with the share of distances at or below
    it, exact zeros included, and ends where its last finite distance is; infinite ones are the
    share it lacks to 100%. It shows *these* adversaries, and says nothing of others.

    >>> import indiff
    >>> table = indiff.read_table(
    ...     indiff.datasets.demo(records=200), quasi=["age", "sex"], sensitive="diagnosis"
    ... )
    >>> result = indiff.differential_test(table, indiff.Mondrian(k=5))
    >>> indiff.plot.cdf(result, limit=0.1).to_dict()["layer"][0]["mark"]["interpolate"]
    'step-after'
    """
    curves = _curves(results)
    names = labels(name for name, _, _ in curves)
    finite = [d for _, across, _ in curves for d in across if d > 0 and math.isfinite(d)]
    asked = [limit] if limit is not None and limit > 0 else []
    right = max([*finite, *asked], default=1.0)
    left = 10.0 ** math.floor(math.log10(max(min([*finite, *asked], default=1e-3), SMALLEST_DRAWN)))
    if left >= right:
        left = right / 10
    edge = right * 1.1
    rows: list[dict[str, Any]] = []
    ends: list[dict[str, Any]] = []
    for name, (_, across, up) in zip(names, curves, strict=True):
        reached = [(d, share) for d, share in zip(across, up, strict=True) if math.isfinite(d)]
        below = [share for d, share in reached if d <= left]
        inside = [(d, share) for d, share in reached if d > left]
        last = reached[-1][1] if reached else 0.0
        points = [(left, below[-1] if below else 0.0), *inside, (edge, last)]
        rows += [{"series": name, "d": d, "share": share} for d, share in points]
        if reached:
            d = reached[-1][0]
            ends.append({"series": name, "d": max(d, left), "share": last, "largest": d})
    colour = coded(alt.Color, "series:N", names, style.SERIES, lines=True)
    dash = coded(alt.StrokeDash, "series:N", names, style.DASHES, lines=True)
    x = alt.X(
        "d:Q",
        title="distance d (logarithmic)",
        scale=alt.Scale(type="log", domain=[left, edge], nice=False),
        axis=style.log_axis(left, edge),
    )
    y = alt.Y(
        "share:Q",
        title="share of records",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", tickCount=5),
    )
    tooltip = [
        *tips({"series:N": "adversary", "largest:Q": "largest finite distance"}),
        alt.Tooltip("share:Q", title="share of records up to it", format=".2%"),
    ]
    layers: list[alt.Chart] = [
        alt.Chart(data(rows))
        .mark_line(interpolate="step-after", strokeWidth=2, clip=True)
        .encode(x=x, y=y, color=colour, strokeDash=dash),
        alt.Chart(data(ends))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x=x, y=y, color=colour, tooltip=tooltip),
    ]
    if asked:
        # Beyond the middle the words stand before the line: behind it a phone has no room.
        far = asked[0] > math.sqrt(left * edge)
        layers += _limit_line(asked[0], "x", align="right" if far else "left")
    return layered(*layers, height=HEIGHT)


def _curves(results: Any) -> list[tuple[str, list[float], list[float]]]:
    if not isinstance(results, Mapping | Sequence):
        results = getattr(results, "results", [results])  # the strongest of several has each
    named = results.items() if isinstance(results, Mapping) else results
    found = []
    for one in named:
        if isinstance(one, Mapping):
            name, across, up = one["name"], one["x"], one["y"]
        else:
            name, result = one if isinstance(one, tuple) else (one.model, one)
            if not len(result.distances):
                continue
            across, up = style.thinned(*result.cdf())
        found.append((str(name), [number(d) for d in across], [number(share) for share in up]))
    if not found:
        raise UserError("a chart of distances needs a result with at least one tested record.")
    return found


def parameter(
    points: Mapping[Any, Any], *, name: str | None = None, limit: float | None = None
) -> alt.LayerChart:
    """Draw δ and the mean distance against a sanitizer's parameter (DIT v2, Section 4).

    ``points`` maps each value of the parameter to its result, or is the document's
    ``charts.parameter``. The axis is logarithmic where no number is 0. Infinite numbers are not
    drawn. A larger k need not make δ smaller: the curve shows whether it does on this table.

    >>> import indiff
    >>> table = indiff.read_table(
    ...     indiff.datasets.demo(records=200), quasi=["age", "sex"], sensitive="diagnosis"
    ... )
    >>> results = {k: indiff.differential_test(table, indiff.Mondrian(k=k)) for k in (2, 5)}
    >>> chart = indiff.plot.parameter(results, name="k")
    """
    if "points" in points:
        name = str(points["parameter"]) if name is None else name
        found = [
            (one["setting"] if (value := one.get("value")) is None else value, one["delta"],
             one["mean"])
            for one in points["points"]
        ]  # fmt: skip
    else:
        found = [(value, result.delta, result.mean) for value, result in points.items()]
    if not found:
        raise UserError("a chart against a parameter needs at least one setting.")
    settings = labels(f"{v:g}" if isinstance(v, float) else v for v, _, _ in found)
    names = ("δ, the largest distance", "mean distance")
    rows: list[dict[str, Any]] = [
        {"setting": setting, "place": place, "series": what, "value": drawn(value)}
        for place, (setting, (_, delta, mean)) in enumerate(zip(settings, found, strict=True))
        for what, value in zip(names, (delta, mean), strict=True)
    ]
    rows = [row for row in rows if row["value"] is not None]
    numbers: list[float] = [row["value"] for row in rows]
    numbers += [] if limit is None else [limit]
    if numbers and min(numbers) > 0:
        low, high = min(numbers) / 1.5, max(numbers) * 1.5
        scale = alt.Scale(type="log", domain=[low, high], nice=False)
        axis = style.log_axis(low, high)
    else:
        scale, axis = alt.Scale(), alt.Axis(format="~g", tickCount=5)
    x = alt.X(
        "setting:O",
        sort=None,
        title=style.label(name or "setting"),
        axis=alt.Axis(labelAngle=0, labelLimit=90),
        scale=alt.Scale(domain=settings),
    )
    y = alt.Y("value:Q", title="distance", scale=scale, axis=axis)
    layers: list[alt.Chart] = [
        alt.Chart(data([row for row in rows if row["series"] == what]))
        .mark_line(strokeWidth=2, color=colour, strokeDash=dash)
        .encode(x=x, y=y)
        for what, colour, dash in zip(names, style.SERIES, style.DASHES, strict=False)
    ]
    layers.append(
        alt.Chart(data(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=x,
            y=y,
            color=coded(alt.Color, "series:N", names, style.SERIES),
            shape=coded(alt.Shape, "series:N", names, ("circle", "square")),
            tooltip=tips({"setting:N": "setting", "series:N": "what", "value:Q": "distance"}),
        )
    )
    if limit is not None:
        layers += _limit_line(limit, "y")
    return layered(*layers, height=HEIGHT)


def _limit_line(
    limit: float, axis: str, *, align: Literal["left", "right"] = "left"
) -> list[alt.Chart]:
    """A dashed line at the limit, and what it is in words."""
    row = data([{"limit": limit, "text": f"limit {limit:g}"}])
    line = alt.Chart(row).mark_rule(color=style.LIMIT, strokeDash=[4, 3], strokeWidth=1.5)
    place: dict[str, Any] = {
        "fontSize": 11,
        "align": align,
        "baseline": "bottom",
        "dx": 5 if align == "left" else -5,
        "dy": 0 if axis == "x" else -4,
    }
    words = [  # on a rim of paper, so that no curve hides them
        alt.Chart(row).mark_text(stroke=style.PAPER, strokeWidth=5, strokeJoin="round", **place),
        alt.Chart(row).mark_text(color=style.LIMIT, **place),
    ]
    at = {"x": alt.X("limit:Q")} if axis == "x" else {"y": alt.Y("limit:Q")}
    beside = {"y": alt.value(HEIGHT - 6)} if axis == "x" else {"x": alt.value(4)}
    return [line.encode(**at), *(one.encode(**at, **beside, text="text:N") for one in words)]


def risk(before: Risk | Sequence[Mapping[str, Any]], after: Risk | None = None) -> alt.LayerChart:
    """Draw each risk metric of a table before and after sanitizing (ITPR paper, Section 5).

    Takes two risks, or the document's ``charts.risk``. A metric is drawn as a share of its own
    range; one without an upper end is not drawn. A low risk after sanitizing does not bound an
    attacker who knows other columns.

    >>> import indiff
    >>> table = indiff.datasets.demo(records=200)
    >>> before = indiff.measure_risk(table, quasi=["age", "sex"], sensitive="diagnosis")
    >>> after = indiff.measure_risk(table, quasi=["sex"], sensitive="diagnosis")
    >>> len(indiff.plot.risk(before, after).to_dict()["layer"])
    3
    """
    rows = list(before) if isinstance(before, Sequence) else _risk_rows(before, after)
    shown = labels(f"{row['metric']} · {row['about']}" for row in rows)
    pairs = [
        (name, _share(row["before"], row.get("range")), _share(row["after"], row.get("range")))
        for name, row in zip(shown, rows, strict=True)
    ]
    known = [pair for pair in pairs if pair[1] is not None or pair[2] is not None]
    return _dumbbells(known, title="share of its range (1 is worst)")


def columns(
    before: Risk | Sequence[Mapping[str, Any]], after: Risk | None = None
) -> alt.LayerChart:
    """Draw what each quasi-identifier tells alone (ITPR paper, Section 5.3).

    Takes one risk or two, or the document's ``charts.columns``; at most the 30 worst lines are
    drawn. Two columns that tell little alone may tell much together.

    >>> import indiff
    >>> table = indiff.datasets.demo(records=200)
    >>> found = indiff.measure_risk(table, quasi=["age", "sex"], sensitive="diagnosis")
    >>> chart = indiff.plot.columns(found)
    """
    rows = list(before) if isinstance(before, Sequence) else _column_rows(before, after)
    rows.sort(key=lambda row: -max(drawn(row["before"]) or 0.0, drawn(row["after"]) or 0.0))
    metrics = {str(row["metric"]): None for row in rows}
    drawn_rows = rows[:MOST_ROWS]
    shown = labels(
        f"{row['column']} · {row['metric']}" if len(metrics) > 1 else row["column"]
        for row in drawn_rows
    )
    pairs = [
        (name, drawn(row["before"]), drawn(row["after"]))
        for name, row in zip(shown, drawn_rows, strict=True)
    ]
    title = f"{next(iter(metrics)) if len(metrics) == 1 else 'risk'} of the column alone"
    return _dumbbells(pairs, title=title)


def worst(
    result: DifferentialResult | StrongestResult | Sequence[Mapping[str, Any]], count: int = 10
) -> alt.LayerChart:
    """Draw the records with the largest distances: belief in the true value without and with them.

    Takes a result, or the document's ``charts.worst``. The number at the right is the distance d.
    The two beliefs can be close where d is large: then it is another value that moved.

    >>> import indiff
    >>> table = indiff.read_table(
    ...     indiff.datasets.demo(records=200), quasi=["age", "sex"], sensitive="diagnosis"
    ... )
    >>> chart = indiff.plot.worst(indiff.differential_test(table, indiff.Mondrian(k=5)))
    """
    rows = list(result[:count] if isinstance(result, Sequence) else result.worst(count))
    telling = [key for key in ("about", "model") if len({row.get(key) for row in rows}) > 1]
    shown = labels(
        " · ".join([f"record {row['record']}", *(str(row[key]) for key in telling)]) for row in rows
    )
    distances = [
        {"line": name, "text": f"d = {number(row['distance']):.3g}".replace("inf", "∞")}
        for name, row in zip(shown, rows, strict=True)
    ]
    words = (
        alt.Chart(data(distances))
        .mark_text(align="right", fontSize=11, color=style.GREY)
        .encode(y=alt.Y("line:N", sort=None), x=alt.datum(1.18), text="text:N")
    )
    return _dumbbells(
        [
            (name, drawn(row["belief_without"]), drawn(row["belief"]))
            for name, row in zip(shown, rows, strict=True)
        ],
        names=("without the record", "with the record"),
        title="belief in the true value",
        most=1.18,
        beside=words,
    )


def _share(value: Any, limits: Sequence[Any] | None) -> float | None:
    """The value as a share of its range; nothing where the range has no upper end."""
    low, high = (0.0, 1.0) if limits is None else (number(limits[0]), number(limits[1]))
    if not math.isfinite(high - low) or high <= low:
        return None
    return drawn((number(value) - low) / (high - low))


def _risk_rows(before: Risk, after: Risk | None) -> list[dict[str, Any]]:
    if after is None:
        raise UserError("plot.risk compares two risks: give the one after sanitizing as well.")
    pairs = [("re-identification", before.reidentification, after.reidentification)]
    pairs += [
        (name, found, after.inference[name])
        for name, found in before.inference.items()
        if name in after.inference
    ]
    return [
        {"metric": metric.upper(), "about": about, "before": getattr(old, metric),
         "after": getattr(new, metric), "range": [0, 1]}
        for about, old, new in pairs
        for metric in ("itpr", "dr")
    ]  # fmt: skip


def _column_rows(before: Risk, after: Risk | None) -> list[dict[str, Any]]:
    later = {} if after is None else {one.column: one.alone.dr for one in after.contributions}
    return [
        {"column": one.column, "metric": "DR", "before": one.alone.dr,
         "after": later.get(one.column)}
        for one in before.contributions
    ]  # fmt: skip


def _dumbbells(
    pairs: Sequence[tuple[str, float | None, float | None]],
    *,
    title: str,
    names: tuple[str, str] = ("before sanitizing", "after sanitizing"),
    most: float = 1.0,
    beside: alt.Chart | None = None,
) -> alt.LayerChart:
    """Draw one line per pair: a square for the first number, a disc for the second."""
    order = [name for name, _, _ in pairs]
    spans = [
        {"line": name, "low": min(first, second), "high": max(first, second)}
        for name, first, second in pairs
        if first is not None and second is not None
    ]
    ends: list[dict[str, Any]] = [
        {"line": name, "series": what, "value": value}
        for name, first, second in pairs
        for what, value in zip(names, (first, second), strict=True)
        if value is not None
    ]
    domain: list[float] = [
        min([0.0, *(end["value"] for end in ends)]),
        max([most, *(end["value"] for end in ends)]),
    ]
    y = alt.Y(
        "line:N",
        sort=None,
        title=None,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(labelLimit=170, labelPadding=10, ticks=False, domain=False, grid=True),
    )
    scale = alt.Scale(domain=domain, nice=False)
    axis = alt.Axis(format="~g", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    rules = (
        alt.Chart(data(spans))
        .mark_rule(strokeWidth=3, color=style.GREY, opacity=0.45)
        .encode(y=y, x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q")
    )
    points = [
        alt.Chart(data([end for end in ends if end["series"] == what]))
        .mark_point(filled=True, size=size, opacity=1)
        .encode(
            y=y,
            x=alt.X("value:Q", title=title, scale=scale, axis=axis),
            color=coded(alt.Color, "series:N", names, (style.ORANGE, style.BLUE)),
            shape=coded(alt.Shape, "series:N", names, ("square", "circle")),
            tooltip=tips({"line:N": "what", "series:N": "when", "value:Q": "value"}),
        )
        for what, size in zip(names, (150, 70), strict=True)  # equal numbers are both seen
    ]
    layers = [rules, *points] if beside is None else [rules, *points, beside]
    return layered(*layers, height=STEP * max(1, len(order)))

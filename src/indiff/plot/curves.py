"""Curves: the share of records up to each distance, and δ against a sanitizer's parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from indiff.errors import UserError
from indiff.plot.style import (
    DASHES,
    LIMIT,
    SERIES,
    data,
    drawn,
    label,
    labels,
    layered,
    legend,
    log_axis,
    number,
    series,
    thinned,
)

if TYPE_CHECKING:  # a document is drawn without loading what measured it
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

# Smaller distances are rounding; a logarithmic axis would give them most of its width.
SMALLEST_DRAWN = 1e-6
HEIGHT = 280


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
        rows += _steps(name, across, up, left, edge)
        reached = [(d, share) for d, share in zip(across, up, strict=True) if math.isfinite(d)]
        if reached:
            d, share = reached[-1]
            ends.append({"series": name, "d": max(d, left), "share": share, "largest": d})
    colour, dash = series(names)
    x = alt.X(
        "d:Q",
        title="distance d (logarithmic)",
        scale=alt.Scale(type="log", domain=[left, edge], nice=False),
        axis=log_axis(left, edge),
    )
    y = alt.Y(
        "share:Q",
        title="share of records",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", tickCount=5),
    )
    tooltip = [
        alt.Tooltip("series:N", title="adversary"),
        alt.Tooltip("largest:Q", title="largest finite distance", format=".4~g"),
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


def _steps(
    name: str, across: Sequence[float], up: Sequence[float], left: float, edge: float
) -> list[dict[str, Any]]:
    """The points of one curve inside the axis, from its left edge to its right."""
    pairs = list(zip(across, up, strict=True))
    below = [share for d, share in pairs if d <= left]
    inside = [(d, share) for d, share in pairs if left < d and math.isfinite(d)]
    last = inside[-1][1] if inside else (below[-1] if below else 0.0)
    points = [(left, below[-1] if below else 0.0), *inside, (edge, last)]
    return [{"series": name, "d": d, "share": share} for d, share in points]


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
            across, up = thinned(*result.cdf())
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
            (
                one["setting"] if one.get("value") is None else one["value"],
                one["delta"],
                one["mean"],
            )
            for one in points["points"]
        ]
    else:
        found = [(value, result.delta, result.mean) for value, result in points.items()]
    if not found:
        raise UserError("a chart against a parameter needs at least one setting.")
    settings = labels(_short(value) for value, _, _ in found)
    rows: list[dict[str, Any]] = [
        {"setting": setting, "place": place, "series": what, "value": drawn(number(value))}
        for place, (setting, (_, delta, mean)) in enumerate(zip(settings, found, strict=True))
        for what, value in (("δ, the largest distance", delta), ("mean distance", mean))
    ]
    rows = [row for row in rows if row["value"] is not None]
    numbers: list[float] = [row["value"] for row in rows]
    numbers += [] if limit is None else [limit]
    if numbers and min(numbers) > 0:
        low, high = min(numbers) / 1.5, max(numbers) * 1.5
        scale = alt.Scale(type="log", domain=[low, high], nice=False)
        axis = log_axis(low, high)
    else:
        scale, axis = alt.Scale(), alt.Axis(format="~g", tickCount=5)
    names = ["δ, the largest distance", "mean distance"]
    colours = alt.Scale(domain=names, range=list(SERIES[:2]))
    x = alt.X(
        "setting:O",
        sort=None,
        title=label(name or "setting"),
        axis=alt.Axis(labelAngle=0, labelLimit=90),
        scale=alt.Scale(domain=settings),
    )
    y = alt.Y("value:Q", title="distance", scale=scale, axis=axis)
    shape = alt.Shape(
        "series:N",
        scale=alt.Scale(domain=names, range=["circle", "square"]),
        legend=legend(),
    )
    layers: list[alt.Chart] = [
        alt.Chart(data([row for row in rows if row["series"] == what]))
        .mark_line(strokeWidth=2, color=colour, strokeDash=dash)
        .encode(x=x, y=y)
        for what, colour, dash in zip(names, SERIES, DASHES, strict=False)
    ]
    layers.append(
        alt.Chart(data(rows))
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("series:N", scale=colours, legend=legend()),
            shape=shape,
            tooltip=[
                alt.Tooltip("setting:N", title="setting"),
                alt.Tooltip("series:N", title="what"),
                alt.Tooltip("value:Q", title="distance", format=".4~g"),
            ],
        )
    )
    if limit is not None:
        layers += _limit_line(limit, "y")
    return layered(*layers, height=HEIGHT)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _limit_line(
    limit: float, axis: str, *, align: Literal["left", "right"] = "left"
) -> list[alt.Chart]:
    """A dashed line at the limit, and what it is in words."""
    row = data([{"limit": limit, "text": f"limit {limit:g}"}])
    line = alt.Chart(row).mark_rule(color=LIMIT, strokeDash=[4, 3], strokeWidth=1.5)
    words = alt.Chart(row).mark_text(
        color=LIMIT,
        fontSize=11,
        align=align,
        baseline="bottom",
        dx=5 if align == "left" else -5,
        dy=0 if axis == "x" else -4,
    )
    if axis == "x":
        return [
            line.encode(x=alt.X("limit:Q")),
            words.encode(x=alt.X("limit:Q"), y=alt.value(HEIGHT - 6), text="text:N"),
        ]
    return [
        line.encode(y=alt.Y("limit:Q")),
        words.encode(y=alt.Y("limit:Q"), x=alt.value(4), text="text:N"),
    ]

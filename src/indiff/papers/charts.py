"""Draws charts in the papers' layout, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.papers.pages import spread
from indiff.plot.style import thinned

MOST_POINTS = 60
SMALLEST = 1e-6  # the left end of a logarithmic axis
Row = Mapping[str, Any]
Spec = dict[str, Any]


def tidy(value: float) -> float:
    """Round a drawn number to four significant digits, which a chart cannot show more of."""
    return float(f"{value:.4g}")


def point(x: object, values: Sequence[float], series: str = "", facet: str = "") -> Row:
    """Return the middle of some numbers, with their range where they differ.

    >>> point(2, [0.1, 0.3, 0.2], "k")
    {'x': '2', 'y': 0.2, 'series': 'k', 'facet': '', 'low': 0.1, 'high': 0.3}
    """
    middle, low, high = spread(values)
    row = {"x": str(x), "y": tidy(middle), "series": series, "facet": facet}
    return row if low == high else row | {"low": tidy(low), "high": tidy(high)}


def curves(
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    ordered: Sequence[object] = (),
    log_y: bool = False,
    width: int = 300,
) -> Spec:
    """Return lines with points over named places of the x axis, and bands from low to high.

    Rows hold ``x``, ``y``, the series and, where there is a spread, ``low`` and ``high``.
    """
    scale = {"type": "log"} if log_y else {"zero": True}
    up = _of("y", y, scale=scale)
    if log_y:
        up["axis"] = {"tickCount": 5, "format": ".0e", "grid": False}
    places = {
        "x": _of("x", x, "ordinal", sort=[str(place) for place in ordered],
                 axis={"labelAngle": 0}),
        "color": _of("series", "", "nominal"),
    }  # fmt: skip
    layers: list[Spec] = [
        {"mark": {"type": "line", "point": True}, "encoding": {**places, "y": up}}
    ]
    if any("low" in row for row in rows):
        low = {"field": "low", "type": "quantitative", "scale": scale}
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "opacity": 0.5},
                "encoding": {**places, "y": low, "y2": {"field": "high"}},
            }
        )
    return _faceted({"layer": layers, "width": width, "height": 200}, rows)


def cumulative(
    columns: Mapping[tuple[str, str], NDArray[np.float64]], *, x: str, series: str
) -> Spec:
    """Return cumulative shares on a logarithmic axis; keys are (panel, series)."""
    rows: list[Row] = []
    for (panel, name), distances in columns.items():
        values, counts = np.unique(np.maximum(distances, SMALLEST), return_counts=True)
        across, up = thinned(values, np.cumsum(counts) / len(distances), most=MOST_POINTS)
        rows += [
            {"x": tidy(a), "y": tidy(b), "series": name, "facet": panel}
            for a, b in zip(across, up, strict=True)
        ]
    names = list(dict.fromkeys(name for _, name in columns))
    encoding = {
        "x": _of("x", x, **_log(6, ".0e")),
        "y": _of("y", "share of records"),
        "color": _of("series", series, "ordinal", sort=names, scale={"scheme": "viridis"}),
    }
    mark = {"type": "line", "interpolate": "step-after"}
    return _faceted({"mark": mark, "encoding": encoding, "width": 300, "height": 200}, rows)


def bars(rows: Sequence[Row], *, x: str, y: str, ordered: Sequence[str]) -> Spec:
    """Return one bar for each named thing, a panel below another."""
    encoding = {
        "x": _of("x", x, "nominal", sort=list(ordered), axis={"labelAngle": -60}),
        "y": _of("y", y),
    }
    spec = {"mark": "bar", "encoding": encoding, "width": 560, "height": 160}
    return _faceted(spec, rows, columns=1)


def panels(curves: Mapping[str, Sequence[tuple[float, float]]], x: str, alone: str) -> Spec:
    """Return (a) the curves of some metrics and (b) one alone, over one quantity."""
    together = [metric for metric in curves if metric != alone]
    order = [*together, alone]
    found = []
    for title, metrics in (("(a)", together), ("(b)", [alone])):
        rows = [{"x": tidy(a), "y": tidy(round(b, 6)), "metric": metric}
                for metric in metrics for a, b in curves[metric]]  # fmt: skip
        encoding = {
            "x": _of("x", x),
            "y": _of("y", "risk", scale={"zero": metrics is together}),
            "color": _of("metric", "metric", "nominal", sort=order, scale={"domain": order}),
        }
        mark = {"type": "line", "point": True}
        found.append({"title": title, **_small(rows), "mark": mark, "encoding": encoding})
    return {"hconcat": found}


def heat_map(values: Mapping[tuple[int, float], float], x: str, y: str) -> Spec:
    """Return a map of numbers from 0 to 1 over two quantities, each number written in it."""
    rows = [{"x": a, "y": b, "value": tidy(value)} for (a, b), value in values.items()]
    places = {
        "x": _of("x", x, "ordinal", axis={"labelAngle": 0}),
        "y": _of("y", y, "ordinal", sort="descending"),
    }
    shade = _of("value", "ITPR", scale={"domain": [0, 1], "scheme": "blues"})
    written = {"field": "value", "type": "quantitative", "format": ".2f"}
    colour = {"condition": {"test": "datum.value > 0.5", "value": "white"}, "value": "black"}
    layers = [
        {"mark": "rect", "encoding": {**places, "color": shade}},
        {"mark": {"type": "text"}, "encoding": {**places, "text": written, "color": colour}},
    ]
    return {**_small(rows), "layer": layers}


def times(rows: Sequence[Row]) -> Spec:
    """Return seconds by number of rows; only ours are joined, of the others two are known."""
    encoding = {
        "x": _of("rows", "number of records", **_log(5, ".0e")),
        "y": _of("seconds", "seconds", **_log(4)),
        "color": _of("series", None, "nominal"),
    }
    layers = [
        {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": encoding},
        {"transform": [{"filter": "datum.series === 'ours'"}], "mark": "line",
         "encoding": encoding},
    ]  # fmt: skip
    return {**_small(rows), "layer": layers, "width": 340}


def _of(field: str, title: str | None, kind: str = "quantitative", **more: Any) -> Spec:
    return {"field": field, "type": kind, "title": title, **more}


def _log(ticks: int, digits: str | None = None) -> Spec:
    axis: Spec = {"format": digits} if digits else {}
    return {"scale": {"type": "log"}, "axis": {**axis, "tickCount": ticks, "grid": False}}


def _small(rows: Sequence[Row]) -> Spec:
    return {"data": {"values": [dict(row) for row in rows]}, "width": 300, "height": 220}


def _faceted(spec: Spec, rows: Sequence[Row], columns: int = 2) -> Spec:
    """Show a panel for each ``facet`` of the rows, where there are several."""
    data = {"data": {"values": [dict(row) for row in rows]}}
    panels = list(dict.fromkeys(str(row.get("facet", "")) for row in rows))
    if len(panels) < 2:
        return {**data, **spec}
    return {
        **data,
        "facet": {"field": "facet", "type": "nominal", "sort": panels, "title": None},
        "columns": columns,
        "spec": spec,
        "resolve": {"scale": {"x": "independent"}},
    }

"""Charts in the papers' layout, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.plot.thinning import thinned

MOST_POINTS = 60
SMALLEST = 1e-6  # the left end of a logarithmic axis
Row = Mapping[str, Any]


def tidy(value: float) -> float:
    """Round a drawn number to four significant digits, which a chart cannot show more of."""
    return float(f"{value:.4g}")


def curves(
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    series: str = "series",
    facet: str | None = None,
    ordered: Sequence[Any] = (),
    log_y: bool = False,
    width: int = 300,
) -> dict[str, Any]:
    """Return lines with points over named places of the x axis, and bands from low to high.

    Rows hold ``x``, ``y``, the series and, where there is a spread, ``low`` and ``high``.
    """
    scale = {"type": "log"} if log_y else {"zero": True}
    up: dict[str, Any] = {"field": "y", "type": "quantitative", "title": y, "scale": scale}
    if log_y:
        up["axis"] = {"tickCount": 5, "format": ".0e", "grid": False}
    across = {"field": "x", "type": "ordinal", "sort": list(ordered), "title": x,
              "axis": {"labelAngle": 0}}  # fmt: skip
    colour = {"field": "series", "type": "nominal", "title": series}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "point": True},
            "encoding": {"x": across, "color": colour, "y": up},
        }
    ]  # fmt: skip
    if any("low" in row for row in rows):
        layers.append({
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "opacity": 0.5},
            "encoding": {"x": across, "color": colour,
                         "y": {"field": "low", "type": "quantitative", "scale": scale},
                         "y2": {"field": "high"}},
        })  # fmt: skip
    return _faceted({"layer": layers, "width": width, "height": 200}, rows, facet)


def cumulative(
    columns: Mapping[tuple[str, str], NDArray[np.float64]], *, x: str, series: str, width: int = 300
) -> dict[str, Any]:
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
    layer = {
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "scale": {"type": "log"}, "title": x,
                  "axis": {"format": ".0e", "tickCount": 6, "grid": False}},
            "y": {"field": "y", "type": "quantitative", "title": "share of records"},
            "color": {"field": "series", "type": "ordinal", "sort": names, "title": series,
                      "scale": {"scheme": "viridis"}},
        },
        "width": width,
        "height": 200,
    }  # fmt: skip
    return _faceted(layer, rows, "facet")


def bars(
    rows: Sequence[Row], *, x: str, y: str, ordered: Sequence[str], facet: str | None = "facet"
) -> dict[str, Any]:
    """Return one bar for each named thing, a panel below another."""
    spec = {
        "mark": "bar",
        "encoding": {
            "x": {"field": "x", "type": "nominal", "sort": list(ordered), "title": x,
                  "axis": {"labelAngle": -60}},
            "y": {"field": "y", "type": "quantitative", "title": y},
        },
        "width": 560,
        "height": 160,
    }  # fmt: skip
    return _faceted(spec, rows, facet, columns=1)


def _faceted(
    spec: dict[str, Any], rows: Sequence[Row], facet: str | None, columns: int = 2
) -> dict[str, Any]:
    data = {"data": {"values": [dict(row) for row in rows]}}
    panels = list(dict.fromkeys(str(row[facet]) for row in rows)) if facet else []
    if len(panels) < 2:
        return {**data, **spec}
    return {
        **data,
        "facet": {"field": facet, "type": "nominal", "sort": panels, "title": None},
        "columns": columns,
        "spec": spec,
        "resolve": {"scale": {"x": "independent"}},
    }

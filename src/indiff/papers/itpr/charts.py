"""The ITPR paper's charts as Vega-Lite specifications: two panels side by side, and a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from indiff.papers.charts import tidy
from indiff.papers.itpr.curves import Point

PANELS = (("ITPR", "DR", "MI", "CP", "ELD"), ("MIL",))


def panels(points: Sequence[Point], x: str) -> dict[str, Any]:
    """Return (a) the metrics that are compared with ITPR and (b) MIL, over one quantity."""
    return {"hconcat": [_lines(points, x, metrics) for metrics in PANELS]}


def _lines(points: Sequence[Point], x: str, metrics: Sequence[str]) -> dict[str, Any]:
    rows = [
        {"x": tidy(point.x), "y": tidy(round(point.value(metric), 6)), "metric": metric}
        for metric in metrics
        for point in points
    ]
    return {
        "title": "(a)" if len(metrics) > 1 else "(b)",
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": x},
            "y": {"field": "y", "type": "quantitative", "title": "risk",
                  "scale": {"zero": len(metrics) > 1}},
            "color": {"field": "metric", "type": "nominal", "sort": list(PANELS[0] + PANELS[1]),
                      "title": "metric",
                      "scale": {"domain": list(PANELS[0] + PANELS[1])}},
        },
        "width": 300,
        "height": 220,
    }  # fmt: skip


def heat_map(values: Mapping[tuple[int, float], float], x: str, y: str) -> dict[str, Any]:
    """Return a map of numbers from 0 to 1 over two quantities, each number written in it."""
    rows = [{"x": a, "y": b, "value": tidy(value)} for (a, b), value in values.items()]
    across = {"field": "x", "type": "ordinal", "title": x, "axis": {"labelAngle": 0}}
    up = {"field": "y", "type": "ordinal", "title": y, "sort": "descending"}
    shade = {"field": "value", "type": "quantitative", "title": "ITPR",
             "scale": {"domain": [0, 1], "scheme": "blues"}}  # fmt: skip
    written = {"field": "value", "type": "quantitative", "format": ".2f"}
    return {
        "data": {"values": rows},
        "layer": [
            {"mark": "rect", "encoding": {"x": across, "y": up, "color": shade}},
            {
                "mark": {"type": "text"},
                "encoding": {
                    "x": across,
                    "y": up,
                    "text": written,
                    "color": {"condition": {"test": "datum.value > 0.5", "value": "white"},
                              "value": "black"},
                },
            },
        ],
        "width": 300,
        "height": 220,
    }  # fmt: skip


def times(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return seconds by number of rows; only ours are joined, of the others two are known."""
    encoding = {
        "x": {"field": "rows", "type": "quantitative", "title": "number of records",
              "scale": {"type": "log"}, "axis": {"format": ".0e", "tickCount": 5, "grid": False}},
        "y": {"field": "seconds", "type": "quantitative", "title": "seconds",
              "scale": {"type": "log"}, "axis": {"tickCount": 4, "grid": False}},
        "color": {"field": "series", "type": "nominal", "title": None},
    }  # fmt: skip
    return {
        "data": {"values": [dict(row) for row in rows]},
        "layer": [
            {"mark": {"type": "point", "filled": True, "size": 60}, "encoding": encoding},
            {
                "transform": [{"filter": "datum.series === 'ours'"}],
                "mark": "line",
                "encoding": encoding,
            },
        ],
        "width": 340,
        "height": 220,
    }

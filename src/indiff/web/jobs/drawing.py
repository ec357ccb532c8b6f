"""Draws the charts of finished runs, once in the worker: the pages only hand them on."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from indiff.files import write_text
from indiff.report.plain_words import step_words
from indiff.text import number

FILE = "figures.json"
Figure = dict[str, Any]


def write_figures(document: Mapping[str, Any], folder: Path) -> None:
    """Keep a document's figures beside its report."""
    from indiff.report.page.figures import figures

    write_text(folder / FILE, json.dumps([asdict(figure) for figure in figures(document)]))


def figures_of(document: Mapping[str, Any], folder: Path) -> list[Figure]:
    """Return the figures of a run; of one from before they were kept, make them now."""
    if not (folder / FILE).is_file():
        write_figures(document, folder)
    found: list[Figure] = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return found


def with_threshold(spec: Mapping[str, Any], threshold: float) -> tuple[Figure, list[float]]:
    """Add a line at a threshold that the page can move; return the ends of the axis too.

    >>> axis = {"x": {"scale": {"domain": [0.01, 2]}}}
    >>> spec, ends = with_threshold({"layer": [{"encoding": axis}]}, 0.1)
    >>> spec["params"], ends
    ([{'name': 'threshold', 'value': 0.1}], [0.01, 2])
    """
    made = copy.deepcopy(dict(spec))
    across = made["layer"][0]["encoding"]["x"]
    low, high = across["scale"]["domain"]
    made["params"] = [*made.get("params", []), {"name": "threshold", "value": threshold}]
    made["layer"].append(
        {
            "data": {"values": [{}]},
            "mark": {"type": "rule", "color": "var(--ink)", "strokeWidth": 2, "clip": True},
            "encoding": {
                "x": {
                    "datum": {"expr": f"clamp(threshold, {low!r}, {high!r})"},
                    "type": "quantitative",
                }
            },
        }
    )
    return made, [low, high]


def running_chart() -> Figure:
    """Return the chart of the distances so far; the page puts them in while they come."""
    from indiff.report.page.figures import CONFIG

    return {
        "width": "container",
        "height": 160,
        "autosize": {"type": "fit-x", "contains": "padding"},
        # Replaced by the first distances; without any, the axes would have no ends.
        "data": {"name": "curve", "values": [{"d": 0.001, "share": 0}, {"d": 1, "share": 0}]},
        "mark": {
            "type": "line",
            "interpolate": "step-after",
            "strokeWidth": 2,
            "color": "var(--chart-1)",
        },
        "encoding": {
            "x": {
                "field": "d",
                "type": "quantitative",
                "title": "distance d (logarithmic)",
                "scale": {"type": "log", "nice": False},
                "axis": {"tickCount": 4, "format": "~g", "labelOverlap": True},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "share so far",
                "scale": {"domain": [0, 1]},
                "axis": {"tickCount": 3, "format": ".0%"},
            },
        },
        "config": CONFIG,
    }


def drawn_together(
    runs: Sequence[tuple[str, Mapping[str, Any]]], rows: Sequence[Mapping[str, Any]]
) -> list[Figure]:
    """Return the figures of several runs: risk against utility, and all their curves."""
    from indiff.audit.compare import UTILITIES, on_front
    from indiff.plot import tradeoff
    from indiff.report.page.figures import figures, themed

    found: list[Figure] = []
    for utility, measure, better, title in (
        ("ncp", "information lost", "less information lost", "Risk against information lost"),
        ("accuracy", "accuracy", "a higher accuracy", "Risk against what an analyst keeps"),
    ):
        finite = [row for row in rows if row["delta"] not in (None, "Infinity")]
        both = [row for row in finite if row[utility] is not None]
        if len(both) < 2:
            continue
        places = [(float(row["delta"]), UTILITIES[utility] * float(row[utility])) for row in both]
        points = [
            None if row["constraint_met"] is False else place
            for row, place in zip(both, places, strict=True)
        ]
        marked = [{**row, "on_front": on} for row, on in zip(both, on_front(points), strict=True)]
        front = [str(row["setting"]) for row in marked if row["on_front"]]
        spec: dict[str, Any] = tradeoff(marked, utility=utility).to_dict()
        spec.pop("config", None)
        spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
        _break_titles(spec)
        summary = "No release meets its own constraint, so none is on the front."
        if front:
            told = f"No other run has both a smaller δ and {better} than {' and '.join(front)}."
            summary = step_words(told)
        found.append(
            {
                "id": f"trade-{utility}",
                "title": title,
                "summary": summary,
                "headers": ("run", "δ", measure),
                "rows": [
                    (str(row["setting"]), number(row["delta"]), number(row[utility]))
                    for row in marked
                ],
                "spec": themed(spec),
                "note": "",
            }
        )
    names = {curve["name"] for _, one in runs for curve in one["charts"].get("cdf") or []}
    curves = [
        {**curve, "name": f"{title}: {curve['name']}" if len(names) > 1 else title}
        for title, document in runs
        for curve in document["charts"].get("cdf") or []
    ]
    if curves:
        shown = figures({"findings": [], "charts": {"cdf": curves}})
        found += [asdict(one) | {"summary": step_words(one.summary)} for one in shown]
    return found


def _break_titles(spec: Figure) -> None:
    """Put what an axis' title says in brackets on a line of its own: a phone is narrow."""
    for layer in spec["layer"]:
        across = layer["encoding"].get("x", {})
        if isinstance(across.get("title"), str):
            head, sign, rest = across["title"].partition(" (")
            across["title"] = [head, f"({rest}"] if sign else head

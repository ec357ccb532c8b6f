"""The trade: how much a setting exposes against what it leaves of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from indiff.errors import UserError, unknown
from indiff.plot.style import BLUE, GREEN, GREY, coded, data, drawn, label, labels, layered, tips

RISKS = {
    "delta": "δ, the largest distance (lower is safer)",
    "mean": "mean distance (lower is safer)",
    "itpr": "ITPR (lower is safer)",
}
UTILITIES = {
    "ncp": "normalised certainty penalty (lower keeps more)",
    "discernibility": "discernibility penalty (lower keeps more)",
    "average_group": "average group size (lower keeps more)",
    "accuracy": "accuracy of a legitimate analyst (higher keeps more)",
}
FRONT, BEATEN, CHOSEN = "on the front", "beaten by another setting", "recommended"


def tradeoff(
    comparison: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    risk: str = "delta",
    utility: str = "ncp",
) -> alt.LayerChart:
    """Draw each setting of a comparison: its risk against what it leaves of the data.

    Takes the comparison's document or its rows. Settings on the Pareto front, which no other one
    beats in both, are named and joined by a line. A setting without one of the two numbers
    (failed, infinite) is not drawn. The front holds for the two measures shown.

    >>> rows = [
    ...     {"setting": "mondrian:k=2", "delta": 1.5, "ncp": 0.1, "on_front": True},
    ...     {"setting": "mondrian:k=9", "delta": 0.4, "ncp": 0.3, "on_front": True},
    ... ]
    >>> chart = tradeoff(rows)
    """
    if risk not in RISKS:
        raise unknown("risk", risk, RISKS)
    if utility not in UTILITIES:
        raise unknown("utility", utility, UTILITIES)
    document = comparison if isinstance(comparison, Mapping) else {"rows": comparison}
    recommended = document.get("recommended")
    found = list(document["rows"])
    rows = []
    for name, row in zip(labels(row["setting"] for row in found), found, strict=True):
        across, up = drawn(row.get(utility)), drawn(row.get(risk))
        if across is None or up is None:
            continue
        kind = FRONT if row.get("on_front") else BEATEN
        if recommended is not None and row["setting"] == recommended:
            kind = CHOSEN
        named = kind != BEATEN
        rows.append(
            {"setting": name, "kind": kind, "x": across, "y": up, "name": name if named else ""}
        )
    if not rows:
        raise UserError(
            f"no setting has both {risk} and {utility}: measure one that has, or "
            "choose other measures",
            way_out=f"Risks: {', '.join(RISKS)}; utilities: {', '.join(UTILITIES)}",
        )
    return _drawn(rows, label(UTILITIES[utility]), label(RISKS[risk]))


def _drawn(rows: list[dict[str, Any]], across: str, up: str) -> alt.LayerChart:
    kinds = [kind for kind in (CHOSEN, FRONT, BEATEN) if any(row["kind"] == kind for row in rows)]
    looks = {CHOSEN: (GREEN, "diamond"), FRONT: (BLUE, "circle"), BEATEN: (GREY, "square")}
    low, high = min(row["x"] for row in rows), max(row["x"] for row in rows)
    room = 0.08 * ((high - low) or high or 1.0)
    top = max(row["y"] for row in rows) or 1.0
    x = alt.X(
        "x:Q",
        title=across,
        scale=alt.Scale(domain=[max(0.0, low - room), high + room], nice=False),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    y = alt.Y(
        "y:Q",
        title=up,
        scale=alt.Scale(domain=[0, 1.1 * top], nice=False),
        axis=alt.Axis(format="~g", tickCount=6),
    )
    front = sorted(
        (row for row in rows if row["kind"] != BEATEN), key=lambda row: (row["x"], row["y"])
    )
    line = (
        alt.Chart(data(front)).mark_line(color=BLUE, strokeWidth=1.5, opacity=0.5).encode(x=x, y=y)
    )
    points = (
        alt.Chart(data(rows))
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=x,
            y=y,
            color=coded(alt.Color, "kind:N", kinds, [looks[kind][0] for kind in kinds]),
            shape=coded(alt.Shape, "kind:N", kinds, [looks[kind][1] for kind in kinds]),
            tooltip=tips({"setting:N": "setting", "y:Q": "risk", "x:Q": "utility"}),
        )
    )
    middle = (low + high) / 2
    sides: list[tuple[bool, Literal["left", "right"], int, int]] = [
        (False, "left", 8, -9),
        (True, "right", -8, 14),
    ]
    words = [
        alt.Chart(data([row for row in rows if (row["x"] > middle) == on_the_right]))
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11, color=GREY, limit=200)
        .encode(x=x, y=y, text="name:N")
        for on_the_right, align, dx, dy in sides
    ]
    return layered(line, points, *words, height=320)

"""Pairs: a number before and after, without and with, one line per metric, column or record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from indiff.errors import UserError
from indiff.plot.style import BLUE, GREY, ORANGE, data, drawn, labels, layered, legend, number

if TYPE_CHECKING:  # a document is drawn without loading what measured it
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.risk.measure import Risk

STEP = 30
MOST_ROWS = 30


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
    return _dumbbells(
        [pair for pair in pairs if pair[1] is not None or pair[2] is not None],
        names=("before sanitizing", "after sanitizing"),
        title="share of its range (1 is worst)",
    )


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
    rows.sort(key=lambda row: -max(_or_zero(row["before"]), _or_zero(row["after"])))
    several = len({row["metric"] for row in rows}) > 1
    drawn_rows = rows[:MOST_ROWS]
    shown = labels(
        f"{row['column']} · {row['metric']}" if several else row["column"] for row in drawn_rows
    )
    pairs = [
        (name, drawn(number(row["before"])), drawn(number(row["after"])))
        for name, row in zip(shown, drawn_rows, strict=True)
    ]
    metrics = list(dict.fromkeys(str(row["metric"]) for row in rows))
    title = (
        "risk of the column alone"
        if several or not metrics
        else f"{metrics[0]} of the column alone"
    )
    return _dumbbells(pairs, names=("before sanitizing", "after sanitizing"), title=title)


def _or_zero(value: Any) -> float:
    return drawn(number(value)) or 0.0


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
        {"line": name, "text": f"d = {_text(number(row['distance']))}"}
        for name, row in zip(shown, rows, strict=True)
    ]
    words = (
        alt.Chart(data(distances))
        .mark_text(align="right", fontSize=11, color=GREY)
        .encode(y=alt.Y("line:N", sort=None), x=alt.datum(1.18), text="text:N")
    )
    return _dumbbells(
        [
            (name, drawn(number(row["belief_without"])), drawn(number(row["belief"])))
            for name, row in zip(shown, rows, strict=True)
        ],
        names=("without the record", "with the record"),
        title="belief in the true value",
        most=1.18,
        beside=words,
    )


def _text(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.3g}"


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
        {
            "metric": metric.upper(),
            "about": about,
            "before": getattr(old, metric),
            "after": getattr(new, metric),
            "range": [0, 1],
        }
        for about, old, new in pairs
        for metric in ("itpr", "dr")
    ]


def _column_rows(before: Risk, after: Risk | None) -> list[dict[str, Any]]:
    later = {} if after is None else {one.column: one.alone.dr for one in after.contributions}
    return [
        {
            "column": one.column,
            "metric": "DR",
            "before": one.alone.dr,
            "after": later.get(one.column),
        }
        for one in before.contributions
    ]


def _dumbbells(
    pairs: Sequence[tuple[str, float | None, float | None]],
    *,
    names: tuple[str, str],
    title: str,
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
    colours = alt.Scale(domain=list(names), range=[ORANGE, BLUE])
    shapes = alt.Scale(domain=list(names), range=["square", "circle"])
    rules = (
        alt.Chart(data(spans))
        .mark_rule(strokeWidth=3, color=GREY, opacity=0.45)
        .encode(y=y, x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q")
    )
    points = [
        alt.Chart(data([end for end in ends if end["series"] == what]))
        .mark_point(filled=True, size=size, opacity=1)
        .encode(
            y=y,
            x=alt.X("value:Q", title=title, scale=scale, axis=axis),
            color=alt.Color("series:N", scale=colours, legend=legend()),
            shape=alt.Shape("series:N", scale=shapes, legend=legend()),
            tooltip=[
                alt.Tooltip("line:N", title="what"),
                alt.Tooltip("series:N", title="when"),
                alt.Tooltip("value:Q", title="value", format=".4~g"),
            ],
        )
        for what, size in zip(names, (150, 70), strict=True)  # equal numbers are both seen
    ]
    layers = [rules, *points] if beside is None else [rules, *points, beside]
    return layered(*layers, height=STEP * max(1, len(order)))

"""Draws how many records of Adult several releases determine together, each of them 5-anonymous.

``python -m benchmarks.several_releases FILE.svg`` prints the table of ``docs/several-releases.md``
and draws its figure. Each release is Mondrian's at k = 5, of the same people: at another order of
the columns, which decides between columns that are equally wide; or of four in five of them, drawn
anew, as where people enter and leave from year to year.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import altair as alt
import numpy as np

from indiff import Mondrian, datasets, test_releases
from indiff.data.table import Table
from indiff.release.release import Release

RELEASES = 5
SHARE = 0.8


def by_order(table: Table) -> list[Release]:
    """Return the releases at five orders of the columns."""
    found = []
    for seed in range(RELEASES):
        order = np.random.default_rng(seed).permutation(len(table.attributes))
        attributes = tuple(table.attributes[place] for place in order)
        found.append(Mondrian(k=5).sanitize(replace(table, attributes=attributes)))
    return found


def by_people(table: Table) -> list[Release]:
    """Return the releases of five random draws of the people."""
    found = []
    for seed in range(RELEASES):
        drawn = np.random.default_rng(seed).random(len(table)) < SHARE
        found.append(Mondrian(k=5).sanitize(table.take(np.flatnonzero(drawn))))
    return found


def main(place: str) -> None:
    """Print the shares, and draw them."""
    table = datasets.adult()
    rows = []
    for name, made in (("other column orders", by_order), ("four people in five", by_people)):
        found = test_releases(table, made(table))
        for number, one in enumerate(found.growth, 1):
            share = one["determined"] / len(table)
            left = one["candidates_left"]["median"]
            sys.stdout.write(
                f"{name:20} {number}  {share:8.2%}  one row {one['one_candidate']:6,}  "
                f"rows left {left:g}  misled {one['misled']:,}\n"
            )
            rows.append({"releases": number, "share": share, "of": name})
        sys.stdout.write(f"{name}: {found.pairs[:2]}\n")
    x = alt.X("releases:O", title="releases, each 5-anonymous", axis=alt.Axis(labelAngle=0))
    y = alt.Y("share:Q", title="records whose value is determined", axis=alt.Axis(format=".0%"))
    color = alt.Color("of:N", title=None, legend=alt.Legend(orient="top", columnPadding=30))
    chart = alt.Chart(alt.Data(values=rows)).mark_line(point=True).encode(x, y, color)
    chart.properties(width=420, height=240).save(place)


if __name__ == "__main__":
    main(sys.argv[1])

"""What all charts share: colours that tell apart in print too, short labels, few points."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, cast

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.errors import UserError
from indiff.text import shortened

# At least 3:1 on white, and apart in luminance for those who see no hue.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#1d5fa6", "#b4530a", "#1c7c54", "#7d4aa8", "#5f6b7a"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, GREY)
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [3, 1])
LIMIT = "#b3261e"
PAPER = "#ffffff"  # what a chart is drawn on, and the rim of words that stand on a curve
LONGEST_LABEL = 60


def data(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put rows into the chart itself, so that it needs nothing else to be shown."""
    return {"values": list(rows)}


def layered(*layers: alt.Chart | alt.LayerChart, height: int) -> alt.LayerChart:
    """Put charts on top of each other, in the size that all charts have outside of a page."""
    return cast("alt.LayerChart", alt.layer(*layers, height=height, width=560))


def number(value: Any) -> float:
    """Read a number of a document, where infinity, NaN and nothing are text or null.

    >>> number("Infinity"), number(None), number(0.5)
    (inf, nan, 0.5)
    """
    return math.nan if value is None else float(value)


def drawn(value: Any) -> float | None:
    """Return what a chart can draw; infinite and undefined numbers are left to its text."""
    size = number(value)
    return size if math.isfinite(size) else None


def label(text: object) -> str:
    """Return a text on one line, of bounded length, without characters that steer its display.

    >>> label("age\\u202e\\n")
    'age��'
    >>> len(label("x" * 10_000))
    60
    """
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in str(text)
    )
    if clean == "__proto__":  # Vega looks labels up in objects, where this name is taken
        return "__proto__\N{WORD JOINER}"
    return shortened(clean, LONGEST_LABEL)


def labels(texts: Iterable[object]) -> list[str]:
    """Return a label for each text; equal ones are numbered, so that no two rows fall together.

    >>> labels(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    taken: dict[str, None] = {}
    for short in map(label, texts):
        unique = short
        while unique in taken:
            seen[short] += 1
            unique = f"{short} ({seen[short] + 1})"
        taken[unique] = None
    return list(taken)


def log_axis(low: float, high: float) -> alt.Axis:
    """Return an axis with a tick at each power of ten, or a few where there are none to show."""
    first = math.ceil(math.log10(low) - 1e-9)
    ticks = [10.0**power for power in range(first, 1 + math.floor(math.log10(high) + 1e-9))]
    few = {"values": ticks} if len(ticks) > 1 else {"tickCount": 4}
    return alt.Axis(format="~g", labelOverlap=True, labelSeparation=8, **few)


def legend(*, lines: bool = False) -> alt.Legend:
    """Return a legend above the chart, one line per entry, which fits on a phone."""
    return alt.Legend(
        title=None,
        orient="top",
        direction="vertical",
        columns=1,
        labelLimit=alt.ExprRef("max(90, width - 12)"),
        symbolSize=120,
        symbolType="stroke" if lines else alt.Undefined,
    )


def coded(
    channel: Any, field: str, names: Sequence[str], looks: Iterable[Any], *, lines: bool = False
) -> Any:
    """Return a channel of a chart (colour, shape, dashes) that tells names apart by their looks."""
    turns = [look for _, look in zip(names, cycle(looks), strict=False)]
    scale = alt.Scale(domain=list(names), range=turns)
    return channel(field, scale=scale, legend=legend(lines=lines))


def tips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return what is shown of a point below the pointer: each field with its title."""
    return [
        alt.Tooltip(field, title=title, format=".4~g" if field.endswith(":Q") else alt.Undefined)
        for field, title in titles.items()
    ]


MOST_POINTS = 500
_FEWEST = 8
_ENDS = 4  # first, last, first above zero, last finite


def thinned(
    x: ArrayLike, y: ArrayLike, *, most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most ``most`` points of a cumulative curve, none of them moved.

    Both coordinates must not fall from one point to the next. Kept are the first and the last
    point, the first above zero and the last finite one, and two families of points: one evenly
    spread over the height of the curve, one over its width on a logarithmic axis, where the few
    large distances are. Drawn as steps, the thin curve is never above the full one, and below it
    by less than ``2 / (most - 6)`` of the curve's height.

    >>> x, y = thinned([0, 0.1, 0.2, 0.4], [0.25, 0.5, 0.75, 1.0])
    >>> x.tolist()
    [0.0, 0.1, 0.2, 0.4]
    >>> x, y = thinned(range(100_000), [place / 99_999 for place in range(100_000)])
    >>> len(x) <= 500, x[0].item(), x[-1].item()
    (True, 0.0, 99999.0)
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if most < _FEWEST:
        raise UserError(f"a thinned curve keeps at least {_FEWEST} points", most)
    if across.shape != up.shape or across.ndim != 1:
        raise UserError("a curve has one y for each x", f"{across.size} of x and {up.size} of y")
    if np.any(across[1:] < across[:-1]) or np.any(up[1:] < up[:-1]):
        raise UserError("a cumulative curve must not fall: sort its points by x, then by y.")
    if len(across) <= most:
        return across, up
    levels = (most - _ENDS) // 2
    keep = np.concatenate([_ends(across), _spread(up, levels), _spread_log(across, levels)])
    places = np.unique(keep)
    return across[places], up[places]


def _ends(x: NDArray[np.float64]) -> NDArray[np.int64]:
    finite = np.flatnonzero(np.isfinite(x))
    positive = np.flatnonzero(x > 0)
    ends = [0, len(x) - 1, *positive[:1], *finite[-1:]]
    return np.array(ends, dtype=np.int64)


def _spread(values: NDArray[np.float64], levels: int) -> NDArray[np.int64]:
    """The first place at or above each of so many evenly spaced levels."""
    asked = np.linspace(values[0], values[-1], levels)
    asked[-1] = values[-1]  # rounding must not ask for more than there is
    return np.minimum(np.searchsorted(values, asked), len(values) - 1)


def _spread_log(x: NDArray[np.float64], levels: int) -> NDArray[np.int64]:
    drawn = np.flatnonzero((x > 0) & np.isfinite(x))
    if not len(drawn):
        return drawn
    return drawn[0] + _spread(np.log10(x[drawn]), levels)

"""Curves with few points: what a chart of a cumulative share needs, and no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from indiff.errors import UserError

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

"""Limits on the mean of a distance over runs, at any number of runs and for any law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.differential.noise.bracket import _mean_margin, _mean_upper


def mean_limits(each: NDArray[np.float64], *, largest: float, error: float) -> tuple[float, float]:
    """Return limits on the mean of a distance that is at most ``largest``; each side may err.

    Without a largest value no upper limit follows from samples, whatever they are: it is infinite.
    The mean of min(distance, 1) is then a lower limit.

    >>> low, high = mean_limits(np.full(1000, 0.25), largest=1.0, error=0.025)
    >>> 0.2 < low < 0.25 < high < 0.3
    True
    >>> mean_limits(np.full(1000, 0.25), largest=np.inf, error=0.025)[1]
    inf
    """
    if largest == 0:  # a ground distance that tells no two values apart
        return 0.0, 0.0
    bound = largest if np.isfinite(largest) else 1.0
    share = np.minimum(each, bound) / bound
    margin = float(_mean_margin(share[:, None], width=1.0, error=error)[0])
    lower = bound * max(float(share.mean()) - margin, 0.0)
    upper = bound * _mean_upper(share, error=error) if np.isfinite(largest) else np.inf
    return lower, upper

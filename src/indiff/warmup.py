"""One tiny run of every compiled kernel."""

from __future__ import annotations


def run() -> None:
    """Call each kernel once with the argument types that real runs use."""
    _warm_counting()


def _warm_counting() -> None:
    import numpy as np

    from indiff.engines.tally import add_codes, count_keys

    keys = np.zeros(1, np.int32)
    for kind in (np.int32, np.int64):
        add_codes(np.zeros(1, kind), 0, np.zeros(1, np.int32), True, keys)
    count_keys(keys, np.zeros(1, np.int64))

"""One tiny run of every compiled kernel, in two processes where there are two cores."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indiff.table import Table


def run() -> None:
    """Call each kernel once with the argument types that real runs use.

    The two largest parts of the walk do not need each other: another process compiles one of
    them and leaves it in the cache on disk, where the walk finds it. Without a second core, or
    where that process fails, everything is compiled here.
    """
    other = None
    if (os.cpu_count() or 1) > 1:
        other = subprocess.Popen(
            [sys.executable, "-m", "indiff.warmup"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        _warm_counting()
        _warm_partition()
    finally:
        if other is not None:
            other.wait()
    _warm_walk()


def _warm_counting() -> None:
    import numpy as np

    from indiff.engines.tally import add_codes, count_keys

    keys = np.zeros(1, np.int32)
    for kind in (np.int32, np.int64):
        add_codes(np.zeros(1, kind), 0, np.zeros(1, np.int32), True, keys)
    count_keys(keys, np.zeros(1, np.int64))


def _tiny_table() -> Table:
    import pyarrow as pa

    from indiff.hierarchy import Hierarchy
    from indiff.table import read_table

    return read_table(
        pa.table(
            {
                "number": [1, 2, 3, 4, 5, 6],
                "text": list("abcabc"),
                "place": list("uvwuvw"),
                "ill": list("xyxyxx"),
            }
        ),
        quasi=["number", "text", "place"],
        sensitive="ill",
        hierarchies={"place": Hierarchy.from_lines(["u;north;*", "v;north;*", "w;*"])},
    )


def _warm_partition() -> None:
    """Everything but the keys and the walk: no target is walked."""
    import numpy as np

    from indiff.differential.leave_one_out import leave_one_out
    from indiff.inference import NaiveBayes
    from indiff.sanitizers.mondrian import Mondrian

    table = _tiny_table()
    leave_one_out(table, Mondrian(k=6), NaiveBayes(), np.arange(len(table)))
    leave_one_out(table, Mondrian(k=2), NaiveBayes(), np.array([0]))  # alone holds an extreme


def _warm_keys() -> None:
    """What a group decides without one record: the part that another process compiles."""
    import numpy as np

    from indiff.differential.fork import fork
    from indiff.sanitizers.layout import LEAF, Tree
    from indiff.sanitizers.mondrian import Mondrian, total_extremes

    table = _tiny_table()
    node = np.array([[0, len(table), LEAF, 0, 0, 0]], np.int32)
    codes = np.zeros((1, len(table.attributes)), np.int32)
    leaf = Tree(
        np.arange(len(table), dtype=np.int32),
        node,
        codes,
        codes,
        codes,
        codes,
        np.zeros(1, np.int32),
    )
    fork(Mondrian(k=2).problem(table), leaf, 1, 0, *total_extremes(table))


def _warm_walk() -> None:
    import numpy as np

    from indiff.differential.handout import Handout
    from indiff.differential.leave_one_out import leave_one_out
    from indiff.inference import NaiveBayes
    from indiff.sanitizers.mondrian import Mondrian

    table = _tiny_table()
    leave_one_out(table, Mondrian(k=2), NaiveBayes(), np.arange(len(table)))
    Handout(table, Mondrian(k=2)).without(2)


if __name__ == "__main__":
    _warm_keys()

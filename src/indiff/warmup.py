"""One tiny run of every compiled kernel."""

from __future__ import annotations


def run() -> None:
    """Call each kernel once with the argument types that real runs use."""
    _warm_counting()
    _warm_partition()


def _warm_counting() -> None:
    import numpy as np

    from indiff.engines.tally import add_codes, count_keys

    keys = np.zeros(1, np.int32)
    for kind in (np.int32, np.int64):
        add_codes(np.zeros(1, kind), 0, np.zeros(1, np.int32), True, keys)
    count_keys(keys, np.zeros(1, np.int64))


def _warm_partition() -> None:
    import numpy as np
    import pyarrow as pa

    from indiff.differential.handout import Handout
    from indiff.differential.leave_one_out import leave_one_out
    from indiff.hierarchy import Hierarchy
    from indiff.inference import NaiveBayes
    from indiff.sanitizers.mondrian import Mondrian
    from indiff.table import read_table

    table = read_table(
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
    for sanitizer in (Mondrian(k=2), Mondrian(l=9, unmet="generalize")):
        leave_one_out(table, sanitizer, NaiveBayes(), np.arange(len(table)))
    Handout(table, Mondrian(k=2)).without(2)

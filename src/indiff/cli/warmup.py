"""Compiles kernels by one tiny run of each, in two processes where there are two cores.

``python -m indiff.cli.warmup`` compiles everything now; ``make`` does so as part of set-up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from indiff.data.table import Table


def compile_all() -> None:
    """Call each kernel of most runs once, with the argument types that real runs use.

    The walk takes about as long as all others together: another process compiles it and leaves it
    in the cache on disk. Both begin with what they alone need, and find what they share there.
    Without a second core, or where that process fails, everything is compiled here.
    """
    other = None
    if (os.cpu_count() or 1) > 1:
        other = subprocess.Popen(
            [sys.executable, "-m", "indiff.cli.warmup", "walk"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        _warm_rebuild()
        _warm_partition()
        _warm_counting()
        _warm_tree()
        _warm_index()
        _warm_membership()
    finally:
        if other is not None:
            other.wait()
    _leave_out(2, range(6))


def compile_rest() -> None:
    """Do so for what few runs need: otherwise each is compiled when it is needed, in 2 or 3 s."""
    _warm_keys()
    _warm_pages()
    _warm_sets()
    _warm_noise()
    _warm_recoding()
    _warm_several()


def _tiny_table() -> Table:
    import pyarrow as pa

    from indiff.data.hierarchy import Hierarchy
    from indiff.data.table import read_table

    columns = {"number": [1, 2, 3, 4, 5, 6], "text": list("abcabc"), "place": list("uvwuvw")}
    return read_table(
        pa.table({**columns, "ill": list("xyxyxx")}),
        quasi=list(columns),
        sensitive="ill",
        hierarchies={"place": Hierarchy.from_lines(["u;north;*", "v;north;*", "w;*"])},
    )


def _warm_counting() -> None:
    import numpy as np

    from indiff.engines.tally import add_codes, add_weights, count_keys

    keys = np.zeros(1, np.int32)
    for kind in (np.int32, np.int64):
        add_codes(np.zeros(1, kind), 0, np.zeros(1, np.int32), True, keys)
    count_keys(keys, np.zeros(1, np.int64))
    add_weights(keys, np.ones(1), 2.0, np.zeros(1), np.zeros(1, np.int64))


def _warm_pages() -> None:
    import numpy as np

    from indiff.engines.packed import FIELDS, STATE, add_indices, find_pages, unsnap_pages

    data, none, keys = np.zeros(1, np.uint8), np.zeros((0, FIELDS), np.int64), np.zeros(1, np.int32)
    find_pages(data, 1, none)
    unsnap_pages(data, none, data)
    add_indices(data, none, np.zeros(STATE, np.int64), 1, 0, keys, keys)


def _warm_sets() -> None:
    import pyarrow as pa

    from indiff.risk.identifying.columns import identifying_columns
    from indiff.risk.identifying.special_uniques import special_uniques

    tiny = pa.table({"a": [1, 1, 2], "b": [1, 2, 2]})
    identifying_columns(tiny)
    special_uniques(tiny)


def _warm_noise() -> None:
    import numpy as np

    from indiff.differential.noise.predictions import change_probabilities
    from indiff.sanitizers.noise.mechanisms import Gaussian, Geometric, Laplace

    for mechanism in (Laplace(1.0), Geometric(1.0), Gaussian(1.0)):
        change_probabilities(mechanism, np.ones((1, 2), np.int64), np.zeros(1, np.int64))


def _warm_partition() -> None:
    """Everything but the keys and the walk: no target is walked."""
    _leave_out(6, range(6))
    _leave_out(2, [0])  # the first record alone holds an extreme


def _warm_keys() -> None:
    """What a group decides without one record."""
    from indiff.differential.mondrian.leave_one_out import MondrianReleases
    from indiff.sanitizers.mondrian.mondrian import Mondrian

    MondrianReleases(_tiny_table(), Mondrian(k=2)).tally(2)


def _warm_tree() -> None:
    """What a tree believes."""
    from indiff.inference.classifier import Classifier
    from indiff.sanitizers.mondrian.mondrian import Mondrian

    table = _tiny_table()
    Classifier("tree").beliefs(Mondrian(k=2).sanitize(table), table)


def _warm_index() -> None:
    """Where a tree finds the groups that cover a record."""
    import numpy as np

    from indiff.differential.mondrian.cover_index import index_groups

    none, held = np.zeros(0, np.int64), np.zeros((0, 1), np.int32)
    index_groups(none, none, none, np.zeros((0, 0), np.int64), held, 0)


class _Nobody(NamedTuple):
    """What a walk is given, of a tiny table in which nobody is counted."""

    problem: Any
    adversary: Any
    tree: Any
    counted: Any
    shown: Any
    outcome: Any


def _nobody() -> _Nobody:
    import numpy as np

    from indiff.differential.mondrian.counts import Counted, as_adversary, empty_outcome
    from indiff.differential.mondrian.leave_one_out import in_order
    from indiff.differential.mondrian.shown import empty_shown
    from indiff.inference import Frequency
    from indiff.sanitizers.mondrian.layout import ATTRIBUTE, END, LEAF, SURE, Tree
    from indiff.sanitizers.mondrian.mondrian import Mondrian

    table = _tiny_table()
    order = np.arange(len(table), dtype=np.int32)
    problem = in_order(Mondrian(k=2).problem(table), order)
    node = np.zeros((1, SURE + 1), np.int32)
    node[0, END], node[0, ATTRIBUTE] = len(table), LEAF
    box, none = np.zeros((1, len(table.attributes)), np.int32), np.zeros(0, np.int32)
    leaf = Tree(order, node, box, box, box, box, np.zeros(1, np.int32))
    starts, counts = np.zeros(len(table.attributes) + 1, np.int64), np.zeros((0, 2), np.int32)
    adversary = as_adversary([Frequency()], table)
    return _Nobody(
        problem, adversary, leaf, Counted(none, starts, counts), empty_shown(problem, none, 0),
        empty_outcome(adversary, len(table)),
    )  # fmt: skip


def _warm_rebuild() -> None:
    """A partition without one record: what the walk needs first of what another one compiles."""
    import numpy as np

    from indiff.differential.mondrian.walk import rebuild_alone
    from indiff.sanitizers.mondrian.cuts import empty_room

    who = _nobody()
    room = empty_room(who.problem, len(who.tree.order))
    rebuild_alone(
        who.problem, who.adversary, who.tree, 0, 1, np.int64(0), 0, who.counted, np.empty(0), room,
        who.shown, who.outcome,
    )  # fmt: skip


def _warm_walk() -> None:
    """The walk alone, of nobody: the part that another process compiles."""
    from indiff.differential.mondrian.context import empty_desk
    from indiff.differential.mondrian.walk import walk

    who = _nobody()
    none = who.counted.codes
    desk = empty_desk(who.problem, who.counted, who.shown)
    walk(who.problem, who.adversary, who.tree, 1, none, none.copy(), who.counted, desk, who.outcome)


def _warm_recoding() -> None:
    from indiff.sanitizers.recoding.limits import meet_all, meet_without
    from indiff.sanitizers.recoding.recoding import Recoding

    table = _tiny_table()
    for meet in (meet_all, meet_without):
        meet(table.sensitive.counts[None, :], Recoding(k=2).limits(table))
    Recoding(k=2).sanitize(table)


def _warm_membership() -> None:
    import numpy as np

    from indiff.differential.explain.membership import resampled

    resampled([np.array([0, 1, 1, 2])], 1, 0)


def _warm_several() -> None:
    from indiff.differential.beside.several import test_releases
    from indiff.sanitizers.mondrian.mondrian import Mondrian

    table = _tiny_table()
    test_releases(table, [Mondrian(k=k).sanitize(table) for k in (2, 3)])


def _leave_out(k: int, rows: Iterable[int]) -> None:
    import numpy as np

    from indiff.differential.mondrian.leave_one_out import leave_one_out
    from indiff.inference import NaiveBayes
    from indiff.sanitizers.mondrian.mondrian import Mondrian

    leave_one_out(_tiny_table(), Mondrian(k=k), NaiveBayes(), np.array(list(rows)))


if __name__ == "__main__":
    if sys.argv[1:] == ["walk"]:
        _warm_walk()
    else:
        from indiff.kernels import mark_warm

        start = time.perf_counter()
        compile_all()
        compile_rest()
        mark_warm()
        sys.stderr.write(f"kernels compiled in {time.perf_counter() - start:.1f} s\n")

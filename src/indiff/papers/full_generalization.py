"""From which ℓ on a table can only be published as one group, and why (DIT v1, 3.4.1)."""

from __future__ import annotations

from indiff.data.table import Table
from indiff.papers.measure import LS, NAMES, measure, seeds_of, table_of
from indiff.papers.run import Run


def largest_possible(table: Table) -> int:
    """Return the largest ℓ that the table meets as one group: no value above 1/ℓ of it.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [1, 2, 3, 4, 5], "ill": list("aabbc")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> largest_possible(table)
    2
    """
    return len(table) // int(table.sensitive.counts.max())


def one_group_from(run: Run, name: str, seed: int = 0) -> int:
    """Return the smallest ℓ of the axis from which on ours is one group, on a draw."""
    cut = [value for value in LS[1:] if not measure(run, name, "l", value, seed).whole]
    return LS[LS.index(cut[-1]) + 1] if cut else LS[1]


def one_group_note(run: Run, name: str) -> str:
    """Say from which ℓ on ours is one group, beside the paper's ℓ > 7 (Adult) and ℓ > 5."""
    seeds = seeds_of(run, name)
    possible = sorted({largest_possible(table_of(run, name, seed)) for seed in seeds})
    found = sorted({one_group_from(run, name, seed) for seed in seeds})
    table = table_of(run, name)
    top = int(table.sensitive.counts.max())
    printed = 7 if name == "adult" else 5
    where = "" if len(seeds) == 1 else ", draw 0"
    return (
        f"Full generalization: version 1 (Section 3.4.1) says ℓ > {printed} for {NAMES[name]}. Of "
        f"{len(table.sensitive.values)} sensitive values the most frequent is held by {top:,} of "
        f"{len(table):,} records{where}, so the table as a whole is ℓ-diverse up to ℓ = "
        f"{_either(possible)}, and beyond that no release can be anything but one group. Ours is "
        f"one group from ℓ = {_either(found)} on: at the last possible values the whole table "
        "still qualifies, but no cut leaves every part ℓ-diverse. Version 1's own tables say the "
        "same: d_pp is down to the class shares at ℓ = 7 (Adult) and ℓ = 5 (Internet Usage), and "
        "there the authors' program makes one group too."
    )


def _either(values: list[int]) -> str:
    return " or ".join(map(str, values))

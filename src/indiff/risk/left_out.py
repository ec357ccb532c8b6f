"""Groups the records by all quasi-identifiers but one, for each of them, in near-linear time.

Grouping by all other columns again for every column would cost columns² × records. Instead the
columns are halved: whoever leaves out a column of the left half groups by all of the right half, so
the right half is ranked once and its rank stands for it from then on. Ranks are of the values
themselves, so no two different groups can share one. A column is passed once for each halving:
columns × log₂ columns × records.

Half of the columns often tells as many groups apart as all do; then so do all columns but one of
the other half, and that half is not looked into (a partition that is between two equal ones is
the same).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indiff.engines.protocol import Engine
from indiff.risk.counts import Partition, keys

FEW_COLUMNS = 8
"""Up to so many columns are grouped directly, which costs less than ranking them."""


def without_each(
    engine: Engine, table: str, positions: Sequence[int], others: str, groups: int
) -> Iterator[tuple[int, Partition | None]]:
    """Yield every column's position with the table's groups without it, or ``None``.

    ``None`` says that the groups are the same with and without it. ``others`` are the columns
    that are no quasi-identifiers, and ``groups`` is the number of groups of all columns. A table
    that was yielded is gone when the next is asked for.
    """
    # On a cluster one worker would have to rank all rows.
    if len(positions) <= FEW_COLUMNS or engine.dialect == "spark":
        for position in positions:
            rest = [other for other in positions if other != position]
            yield position, Partition(table, keys(rest))
    else:
        yield from _halved(engine, table, positions, others, groups, outside="")


def _halved(
    engine: Engine, table: str, inside: Sequence[int], others: str, groups: int, outside: str
) -> Iterator[tuple[int, Partition | None]]:
    """Yield the groups without each column ``inside``; ``outside`` names the rank of the rest."""
    if len(inside) == 1:
        yield inside[0], Partition(table, outside)
        return
    middle = len(inside) // 2
    halves = inside[:middle], inside[middle:]
    for half, ranked in (halves, halves[::-1]):
        order = ", ".join([*([outside] if outside else []), keys(ranked)])
        made = engine.keep(
            f"SELECT {keys(half)}, {others}, DENSE_RANK() OVER (ORDER BY {order}) AS outside "
            f"FROM {table}"
        )
        ((told_apart,),) = engine.query(f"SELECT MAX(outside) FROM {made}")
        if told_apart == groups:
            yield from ((position, None) for position in half)
        else:
            yield from _halved(engine, made, half, others, groups, "outside")
        engine.forget(made)

"""Which records were measured, as one short text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from indiff.engines import Engine


def fingerprint(
    engine: Engine, quasi: Sequence[str], sensitive: Sequence[str], individual: str | None
) -> str:
    """Return SHA-256 of the columns' names and roles and of the records' values in them.

    The records enter as a sum of hashes, computed by the engine: their order does not matter,
    every value does, and all engines agree. Floats are told apart down to about 10⁻⁶.
    """
    width = len(quasi) + len(sensitive)
    sums = [_sums(engine, engine.counts["cells"], range(width))]
    if individual is not None:
        sums.append(_sums(engine, engine.counts["people"], [*range(len(quasi)), width]))
    whole = json.dumps([list(quasi), list(sensitive), individual, sums])
    return hashlib.sha256(whole.encode()).hexdigest()


def _sums(engine: Engine, table: str, positions: Sequence[int]) -> list[str]:
    texts = ", ';', ".join(f"COALESCE({engine.canonical(position)}, '')" for position in positions)
    parts = ", ".join(
        f"SUM(CAST(n AS DECIMAL(19, 0)) * CAST({engine.hash_part('record', i)} AS DECIMAL(15, 0)))"
        for i in (0, 1)
    )
    rows = f"(SELECT n, CONCAT({texts}) AS record FROM {table}) r"
    (found,) = engine.query(f"SELECT SUM(n), {parts} FROM {rows}")
    return [str(int(number)) for number in found]

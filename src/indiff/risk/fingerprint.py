"""Lets an engine compute the fingerprint of the records that it counted."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.data.fingerprint import digest, sums
from indiff.engines.protocol import Engine


def fingerprint(
    engine: Engine, quasi: Sequence[str], sensitive: Sequence[str], individual: str | None
) -> str:
    """Return the fingerprint of the records, that of the table itself where each row is one."""
    names = [*quasi, *sensitive]
    known = sorted(range(len(quasi)), key=quasi.__getitem__)
    others = sorted(range(len(quasi), len(names)), key=names.__getitem__)
    wanted = {"cells": [*known, *others]}
    if individual is not None:
        wanted["people"] = [*known, len(names)]
    found = []
    for table, positions in wanted.items():
        texts = [engine.spelled(position) for position in positions]
        found += engine.query(sums(texts, engine.counts[table], engine.dialect))
    return digest(quasi, sensitive, individual, found)

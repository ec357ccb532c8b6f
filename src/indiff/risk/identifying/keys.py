"""Reads which combinations of columns an attacker may have, and finds special uniques by counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from indiff.errors import UserError, option, unknown
from indiff.risk.columns import Combination
from indiff.risk.counts import Counted, keys
from indiff.risk.identifying.special_uniques import SpecialRisk, find_uniques

Key = str | Sequence[str]


def read_keys(asked: Sequence[Key] | str, quasi: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Return the places of the columns of each combination.

    >>> read_keys(["age+zip", ["sex"]], ["age", "sex", "zip"])
    ((0, 2), (1,))
    """
    found = []
    for key in [asked] if isinstance(asked, str) else asked:
        whole = isinstance(key, str) and (key in quasi or "+" not in key)
        names = [key] if whole else key.split("+") if isinstance(key, str) else list(key)
        names = [str(name).strip() for name in names]
        for name in names:
            if name not in quasi:
                raise unknown("quasi-identifier", name, quasi, field="keys")
        places = tuple(sorted(quasi.index(name) for name in names))
        if not places or any(one == other for one, other in pairwise(places)):
            raise UserError(
                "a key names each of its columns once, as in age+sex+zip", f"{key!r}", field="keys"
            )
        if places in found:
            raise UserError("a key may be given once", f"{key!r} twice", field="keys")
        found.append(places)
    return tuple(found)


def special_of(
    counted: Counted, size: int, sampling: float, *, each: bool
) -> tuple[SpecialRisk, str | None]:
    """Find the special uniques among the groups that an engine has counted.

    The groups come to this process: equal records are one row, however many they are. With
    ``each``, also return the name of a table of the groups with their ``score`` and ``dis``.
    """
    from indiff.risk.identifying.subsets import coded, require_few  # numba loads slowly

    if counted.people is not None:
        raise UserError(
            "special uniques are records, of which each is one person; leave individual out.",
            field="individual",
        )
    engine = counted.engine
    ((groups,),) = engine.query(f"SELECT COUNT(*) FROM {counted.groups} t")
    require_few(int(groups), len(counted.quasi), min(size, len(counted.quasi)), bits=True)
    by = keys(counted.positions)
    # Only numbers go back to the engine: a value may change its type on the way here and back.
    number = f"ROW_NUMBER() OVER (ORDER BY {by}) AS g" if each else "0 AS g"
    kept = engine.keep(f"SELECT {by}, n, {number} FROM {counted.groups} t")
    rows = engine.fetch(kept)
    weights = rows["n"].to_numpy().astype(np.int64)
    columns = [rows.column_names.index(f"c{place}") for place in counted.positions]
    table = rows.select(columns).rename_columns(list(counted.quasi))
    found = find_uniques(coded(table, weights), size, sampling)
    scored = None
    if each:
        numbers = {"g": rows["g"], "score": found.scores, "dis": found.dis}
        loaded = engine.load(pa.table(numbers))
        scored = engine.keep(f"SELECT {by}, score, dis FROM {kept} t JOIN {loaded} s USING (g)")
        engine.forget(loaded)
    engine.forget(kept)
    return found.summary, scored


def few_columns(keys: Sequence[Combination], special: SpecialRisk | None, name: str) -> float:
    """Return the worst of the keys, or a number of special uniques, by the name of its limit."""
    plane, _, what = name.partition(".")
    if not (keys if plane == "keys" else special):
        raise UserError(
            f"the limit {name} needs to be told what to look at; add {option(plane)}.", field=plane
        )
    if plane == "keys":
        found = [one.k if what == "k" else one.singled_out for one in keys]
        return float(min(found) if what == "k" else max(found))
    assert special is not None
    return float(special.special if what == "records" else special.largest_dis)

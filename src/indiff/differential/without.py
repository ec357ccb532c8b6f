"""Leaves people out of a table: D⁻ⁱ, the sanitizer for it, and which targets share one D⁻ⁱ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.people import People
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.protocol import Sanitizer


def without_rows(table: Table, rows: NDArray[np.intp]) -> Table:
    """Return the table without these rows."""
    return table.take(np.delete(np.arange(len(table), dtype=np.intp), rows))


def fallback(sanitizer: Sanitizer) -> Sanitizer:
    """Return the sanitizer for D⁻ⁱ, which may not meet a constraint that D meets."""
    return replace(sanitizer, unmet="generalize") if isinstance(sanitizer, Mondrian) else sanitizer


def distinct_people(
    table: Table, people: People, sanitizer: object, model: object
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return one person for each distinct target, and for each person which of them it equals.

    A sanitizer or model that is ``per_record`` knows more of a target than its values: none equals
    another. Someone with several records is like nobody else.
    """
    everyone = np.arange(len(people), dtype=np.intp)
    if is_per_record(sanitizer) or is_per_record(model):
        return everyone, everyone
    rows = people.firsts
    alone = np.where(people.sizes > 1, everyone + 1, 0)
    keys = [*(a.codes[rows] for a in table.attributes), table.sensitive.codes[rows], alone]
    _, first, back = np.unique(np.stack(keys), axis=1, return_index=True, return_inverse=True)
    return first.astype(np.intp), back.ravel().astype(np.intp)


def is_per_record(part: object) -> bool:
    """Tell whether targets that look alike may differ to a sanitizer or model, which may say so.

    Of a stranger's it is assumed: it may look at the order of rows or at other columns. Ours do
    not, unless they carry a stranger's.

    >>> is_per_record(Mondrian(k=2)), is_per_record(object())
    (False, True)
    """
    ours = type(part).__module__.partition(".")[0] == "indiff"
    inner = getattr(part, "model", None)  # what an adversary with background knowledge learns by
    return bool(getattr(part, "per_record", not ours)) or (
        ours and inner is not None and is_per_record(inner)
    )

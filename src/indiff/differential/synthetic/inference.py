"""Infers sensitive values from a synthetic file: claims, their precision and their recall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.differential.synthetic.nearest import Nearest
from indiff.differential.synthetic.pool import Part

Bools = NDArray[np.bool_]

# What each adversary goes by.
ADVERSARIES = {
    "matching-rows": "all rows with the person's quasi-identifiers, where they agree",
    "nearest-row": "the nearest row, of everybody",
    "five-nearest-rows": "the five nearest rows, where they agree",
}


@dataclass(frozen=True, eq=False)
class Claims:
    """What an adversary claims of some people: of whom, and of whom rightly."""

    made: Bools = field(repr=False)
    right: Bools = field(repr=False)

    @property
    def precision(self) -> float | None:
        """The share of right claims among those made; None where none was made."""
        made = int(self.made.sum())
        return int(self.right.sum()) / made if made else None

    @property
    def recall(self) -> float:
        """The share of people of whom a right claim was made."""
        return float(self.right.mean())

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and shares as plain data."""
        return {
            "people": len(self.made),
            "claims": int(self.made.sum()),
            "right": int(self.right.sum()),
            "precision": self.precision,
            "recall": self.recall,
        }


def claims_of(people: Part, rows: Part, near: Nearest, *, own: bool = False) -> dict[str, Claims]:
    """Return the claims of each adversary about people, from rows that have ``near`` to them.

    Where ``own``, everybody's own row is among the rows and not looked at: who never saw a person.
    """
    truth = people.classes
    found = {
        "matching-rows": _matching(people, rows, own=own),
        "nearest-row": near.value,
        "five-nearest-rows": near.agreed,
    }
    return {
        name: Claims(value >= 0, (value >= 0) & (value == truth)) for name, value in found.items()
    }


def _matching(people: Part, rows: Part, *, own: bool) -> NDArray[np.intp]:
    """Return the value on which all rows with a person's quasi-identifiers agree, or −1."""
    size = int(max(people.quasi.max(), rows.quasi.max())) + 1
    values = int(max(people.classes.max(), rows.classes.max())) + 1
    pair, count = np.unique(rows.quasi * values + rows.classes, return_counts=True)
    kinds = np.bincount(pair // values, minlength=size)[people.quasi]
    total = np.bincount(pair // values, weights=pair % values, minlength=size)[people.quasi]
    if own:  # whose value nobody else in the group has takes it along
        alone = count[np.searchsorted(pair, people.quasi * values + people.classes)] == 1
        kinds, total = kinds - alone, total - alone * people.classes
    return np.where(kinds == 1, total, -1).astype(np.intp)

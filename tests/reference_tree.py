"""A decision tree in exact arithmetic, written anew from CART's definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Row = tuple[tuple[int, ...], int, int]  # features, class, weight


def impurity(rows: list[Row]) -> Fraction:
    """Gini's impurity times the weight of the rows: n (1 − Σ (n_c / n)²)."""
    weights: dict[int, int] = {}
    for _, of_class, weight in rows:
        weights[of_class] = weights.get(of_class, 0) + weight
    size = sum(weights.values())
    return size - Fraction(sum(held * held for held in weights.values()), size or 1)


def grown(rows: list[Row]) -> tuple[list[Row], list[int], bool]:
    """Grow CART's tree in exact arithmetic along the way of a target whose features are all 1.

    Returns the rows of its leaf, the columns asked, and whether every choice was clear: one column
    better than all others, and better than nothing.
    """
    way, clear = list[int](), True
    while impurity(rows) > 0:
        found = []
        for column in range(len(rows[0][0])):
            sides = [[row for row in rows if row[0][column] == bit] for bit in (0, 1)]
            if all(sides):
                found.append((sum(map(impurity, sides)), column))
        if not found:
            break
        least, column = min(found)
        clear &= sum(one == least for one, _ in found) == 1 and least < impurity(rows)
        way.append(column)
        rows = [row for row in rows if row[0][column]]
    return rows, way, clear


def shares(rows: list[Row], values: int) -> NDArray[np.float64]:
    """Return the share of each class among some rows."""
    weights = np.zeros(values)
    for _, of_class, weight in rows:
        weights[of_class] += weight
    return np.asarray(weights / weights.sum())

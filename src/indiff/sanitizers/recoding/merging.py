"""Merges groups that get the same labels: the roll-up from one node to a coarser one."""

from __future__ import annotations

from typing import Any

import numpy as np

from indiff.kernels import inner, kernel

SPREAD = np.int64(-7046029254386353131)  # 2⁶⁴ over the golden ratio: neighbours land far apart


@kernel
def merge(
    codes: Any, cells: Any, sizes: Any, labels: Any, starts: Any, counts: Any, columns: Any
) -> Any:
    """Return a cell and the size of each group, and for each finer group in which one it lies.

    A finer group is one of ``cells``; a cell's label on a column is found in ``labels`` at the
    column's start and the cell's code. Only ``columns`` tell groups apart, and ``counts`` has how
    many labels each has. Groups are in the order of their first cells.
    """
    room, slots = 1.0, 2
    for a in columns:
        room *= counts[a]
    while slots < 2 * cells.shape[0]:
        slots *= 2
    whole = room < 2.0**62  # the key of labels tells them apart by itself
    place = np.full(slots, -1, np.int32)
    keys = np.empty(cells.shape[0], np.int64)
    first = np.empty_like(cells)
    held = np.zeros_like(sizes)
    merged = np.empty(cells.shape[0], np.int32)
    groups = 0
    for one in range(cells.shape[0]):
        cell, key = cells[one], np.int64(0)
        for a in columns:
            key = key * counts[a] + labels[starts[a] + codes[cell, a]]
        slot = ((key * SPREAD) >> 32) & (slots - 1)
        while place[slot] >= 0:
            found = place[slot]
            if keys[found] == key and (
                whole or same_labels(codes, cell, first[found], labels, starts, columns)
            ):
                break
            slot = (slot + 1) & (slots - 1)
        if place[slot] < 0:
            place[slot] = groups
            keys[groups] = key
            first[groups] = cell
            groups += 1
        merged[one] = place[slot]
        held[place[slot]] += sizes[one]
    return first[:groups].copy(), held[:groups].copy(), merged


@inner
def same_labels(codes: Any, one: Any, other: Any, labels: Any, starts: Any, columns: Any) -> Any:
    """Tell whether two cells get the same label on every column."""
    for a in columns:
        if labels[starts[a] + codes[one, a]] != labels[starts[a] + codes[other, a]]:
            return False
    return True

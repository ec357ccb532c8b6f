"""Chooses which targets are tested, in which order, and until when."""

from __future__ import annotations

import math
import re
import time as clock
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.people import Chosen, People
from indiff.errors import UserError, unknown
from indiff.inference import Model
from indiff.release.release import Release

Order = Literal["worst-first", "random", "given"]
ORDERS = ("worst-first", "random", "given")

# Of the random numbers that choose targets; runs have keys of two numbers.
_CHOOSING = 2

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class Deadline:
    """A moment on :func:`time.monotonic`'s clock, after which nothing new is begun."""

    moment: float


def as_deadline(time: float | str | Deadline | None) -> Deadline | None:
    """Return when a budget that begins now is used up; None where there is none."""
    if time is None or isinstance(time, Deadline):
        return time
    return Deadline(clock.monotonic() + seconds_of(time))


def seconds_of(time: float | str) -> float:
    """Read a span of time: seconds, or a text such as 90s, 10m, 2h, 1d or 1h30m.

    >>> seconds_of("90s"), seconds_of("10m"), seconds_of("2h"), seconds_of("1h30m"), seconds_of(5)
    (90.0, 600.0, 7200.0, 5400.0, 5.0)
    """
    if isinstance(time, str):
        text = time.strip().lower()
        parts = re.findall(r"([0-9]*\.?[0-9]+)\s*(min|[smhd]|$)\s*", text)
        whole = re.fullmatch(r"(?:[0-9]*\.?[0-9]+\s*(?:min|[smhd]|$)\s*)+", text)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts) if whole else 0.0
    else:
        seconds = math.nan if isinstance(time, bool) else float(time)
    if not 0 < seconds < math.inf:
        raise UserError("time is a span above 0, such as 90s, 10m or 2h", repr(time), field="time")
    return seconds


def choose_targets(
    table: Table,
    everyone: People,
    targets: Iterable[int] | int | None,
    *,
    order: str | None = None,
    timed: bool = False,
    seed: int = 0,
    release: Callable[[], Release] | None = None,
    model: Model | None = None,
) -> Chosen:
    """Choose people by number or by their records, and the order in which to ask.

    A number N takes the first N people in the order, which is random unless another one is
    asked for. Where time may run out, it is random, too; otherwise as given. ``release`` makes
    that of the whole table, which with the ``model`` tells more about who is exposed.
    """
    if order is not None and order not in ORDERS:
        raise unknown("order", order, ORDERS, field="order")
    count = targets if isinstance(targets, int) else None
    if isinstance(targets, bool) or (count is not None and count < 1):
        raise UserError(
            "targets is a number of at least 1, or record numbers", repr(targets), field="targets"
        )
    how = order or ("random" if count is not None or timed else "given")
    persons = np.arange(len(everyone), dtype=np.intp)
    if targets is not None and not isinstance(targets, int):
        persons = _persons(everyone, as_rows(table, targets))
    if how == "random":
        rng = np.random.default_rng(SeedSequence(seed, spawn_key=(_CHOOSING,)))
        ranked = rng.permutation(np.sort(persons))
    elif how == "worst-first":
        from indiff.differential.targets.worst_first import rank

        made = None if release is None else release()
        exposed = _persons(everyone, rank(table, seed=seed, release=made, model=model))
        ranked = exposed[np.isin(exposed, persons)]
    else:
        ranked = persons
    drawn = count is not None and count < len(ranked)
    ranked = ranked if count is None else ranked[:count]
    kept = np.sort(ranked)
    return Chosen(
        everyone.choose(kept),
        None if how == "given" and count is None and (np.diff(ranked) > 0).all()
        else np.searchsorted(kept, ranked),
        random_draw=drawn and how == "random",
        listed=None if targets is None or count is not None else np.searchsorted(kept, persons),
    )  # fmt: skip


def _persons(everyone: People, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the people whom these rows belong to, each once, in the order of the rows."""
    owner = np.empty(len(everyone.rows), np.intp)
    owner[everyone.rows] = everyone.owners
    return np.array(list(dict.fromkeys(owner[rows].tolist())), np.intp)


def as_rows(table: Table, targets: Iterable[Any] | None) -> NDArray[np.intp]:
    """Translate record numbers (positions in the input) to rows of the table, in their order."""
    if targets is None:
        return np.arange(len(table), dtype=np.intp)
    numbers = list(targets)
    if not numbers:
        raise UserError(
            "targets names no record; leave it out to test all of them.", field="targets"
        )
    for number in numbers:
        if isinstance(number, bool | np.bool_) or not isinstance(number, Integral):
            raise UserError(
                "targets are record numbers, whole ones from 0",
                f"{number!r}",
                "Write a mask as numpy.flatnonzero(mask)",
                field="targets",
            )
    wanted = np.array(list(dict.fromkeys(map(int, numbers))), np.int64)
    place = np.searchsorted(table.records, wanted)
    found = (place < len(table)) & (table.records[np.minimum(place, len(table) - 1)] == wanted)
    if not found.all():
        stray = int(wanted[~found][0])
        raise UserError(
            f"targets are record numbers from 0 to {int(table.records[-1]):,} that "
            "were not dropped",
            f"{stray:,}",
            field="targets",
        )
    return place.astype(np.intp)

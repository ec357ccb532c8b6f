"""Tests one synthetic file beside its original: copies, links and claims against chance."""
# ruff: noqa: PT028 - test_synthetic is no test of this project

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.noise.bracket import check_confidence
from indiff.differential.synthetic.copies import find_copies
from indiff.differential.synthetic.inference import claims_of
from indiff.differential.synthetic.nearest import most_rows, nearest, pointed_at
from indiff.differential.synthetic.pool import Part, Pool, make_pool
from indiff.differential.synthetic.result import NOT_COMPARED, Excess, SyntheticResult
from indiff.differential.test import check_testable

Places = NDArray[np.intp]

CLOSEST = (0.001, 0.01)  # shares of all people who are closest to the file


def test_synthetic(
    table: Table,
    synthetic: Any,
    *,
    held_out: Any = None,
    confidence: float = 0.95,
    seed: int = 0,
    encoding: str | None = None,
) -> Any:
    """Test one synthetic file beside the records that its generator learned from.

    ``synthetic`` and ``held_out`` are paths or frames with the original's columns and with values,
    not regions. ``held_out`` are records of the same population that the generator never saw: what
    the file tells about them it has from the crowd, so they say what chance gives. Each attack is
    counted on both: exact copies of people whom no other equals; who is among the closest to the
    file; whom a row points to as its one nearest person, with the own sensitive value; and
    right claims of the sensitive value by three adversaries. Where one succeeds on more of the
    original's people than chance gives (:class:`~indiff.differential.synthetic.result.Excess`),
    something of theirs is in the file. Without ``held_out`` the counts stand beside what the other
    records would give (leave-one-out), which is an expectation and no test.

    By distance at most 4·10⁸ pairs of rows are compared in each search; of larger tables people and
    rows are drawn with ``seed``. Several sensitive attributes give a mapping from their names.

    >>> import indiff
    >>> table = indiff.datasets.demo_table()
    >>> seen, unseen = table.frame().slice(0, 2500), table.frame().slice(2500)
    >>> original = indiff.read_table(seen, quasi=["age", "sex", "zip"], sensitive="diagnosis")
    >>> found = test_synthetic(original, seen.slice(0, 300), held_out=unseen)
    >>> found.copies.count >= 300, "copies" in [one.name for one in found.proved]
    (True, True)
    """
    if len(table.sensitives) > 1:
        options: dict[str, Any] = {"confidence": confidence, "seed": seed, "encoding": encoding}
        return {
            one.name: test_synthetic(table.focus(one.name), synthetic, held_out=held_out, **options)
            for one in table.sensitives
        }
    start = time.perf_counter()
    check_testable(table)
    check_confidence(confidence)
    pool = make_pool(table, synthetic, held_out, encoding)
    shuffles, people, others, rows = (
        np.random.default_rng(one) for one in SeedSequence(seed).spawn(4)
    )
    copies = find_copies(pool.original, pool.synthetic, shuffles)
    compared = _draw(len(table), len(pool.synthetic), people)
    mine = pool.original.take(compared)
    near = nearest(mine, pool.synthetic)
    among = nearest(mine, pool.original, own=compared)
    claims = claims_of(mine, pool.synthetic, near)
    without = claims_of(mine, pool.original, among, own=True)
    theirs = near_theirs = claims_theirs = None
    if pool.held_out is not None:
        theirs = pool.held_out.take(_draw(len(pool.held_out), len(pool.synthetic), others))
        near_theirs = nearest(theirs, pool.synthetic)
        claims_theirs = claims_of(theirs, pool.synthetic, near_theirs)
    everybody = mine if theirs is None else joined(mine, theirs)
    pointing = pool.synthetic.take(_draw(len(pool.synthetic), len(everybody), rows))
    linked, right = pointed_at(pointing, everybody)
    excesses: list[Excess] = []
    if pool.held_out is not None and near_theirs is not None and claims_theirs is not None:
        by_distance = [
            *_closest(near.distance, near_theirs.distance),
            Excess.of("linked by distance", right[: len(mine)], right[len(mine) :]),
            *(
                Excess.of(f"right claims, {name}", one.right, claims_theirs[name].right)
                for name, one in claims.items()
            ),
        ]
        copied = _copied(pool.original, pool.held_out, pool.synthetic)
        share = 0.5 / len(by_distance)
        excesses = [replace(copied, share=0.5), *(replace(x, share=share) for x in by_distance)]
    fits = np.bincount(pool.synthetic.quasi, minlength=int(mine.quasi.max()) + 1)[mine.quasi]
    return SyntheticResult(
        name=pool.name,
        sensitive_name=table.sensitive.name,
        rows=len(pool.synthetic),
        held_out=None if pool.held_out is None else len(pool.held_out),
        copies=copies,
        distances=near.distance,
        distances_held_out=None if near_theirs is None else near_theirs.distance,
        distances_among=among.distance,
        covered=fits > 0,
        one_candidate=fits == 1,
        linked=linked[: len(mine)],
        linked_right=right[: len(mine)],
        claims=claims,
        claims_without=without,
        claims_held_out=claims_theirs,
        excesses=tuple(excesses),
        confidence=confidence,
        records=table.records,
        compared=compared,
        notes=(*table.notes, *_notes(pool, len(mine), len(pointing))),
        unmeasured=pool.unmeasured,
        repeated=pool.repeated,
        fingerprint=table.fingerprint,
        backend=table.backend,
        seconds=time.perf_counter() - start,
    )


test_synthetic.__test__ = False  # type: ignore[attr-defined]  # nor may pytest collect it


def _draw(size: int, others: int, rng: Generator) -> Places:
    """Return which rows are compared with so many others: all, or as many as there is time for."""
    most = most_rows(others)
    if size <= most:
        return np.arange(size, dtype=np.intp)
    return np.sort(rng.choice(size, most, replace=False)).astype(np.intp)


def joined(one: Part, two: Part) -> Part:
    """Return the rows of both."""
    pairs = zip(vars(one).values(), vars(two).values(), strict=True)
    return Part(*(np.concatenate(pair) for pair in pairs))


def _copied(original: Part, held_out: Part, synthetic: Part) -> Excess:
    """Compare copies of people whom no other of all people equals: chance gives few of these."""
    size = int(max(part.whole.max() for part in (original, held_out, synthetic))) + 1
    everybody = np.bincount(np.concatenate([original.whole, held_out.whole]), minlength=size)
    found = (np.bincount(synthetic.whole, minlength=size) > 0) & (everybody == 1)
    return Excess.of("copies", found[original.whole], found[held_out.whole])


def _closest(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> list[Excess]:
    """Compare who is among those of all people who are closest to the file."""
    both = np.concatenate([mine, theirs])
    limits = [np.quantile(both, share, method="higher") for share in CLOSEST]
    return [
        Excess.of(f"closest {100 * share:g} %", mine <= limit, theirs <= limit)
        for share, limit in zip(CLOSEST, limits, strict=True)
    ]


def _notes(pool: Pool, people: int, rows: int) -> list[str]:
    notes = []
    if people < len(pool.original) or rows < len(pool.synthetic):
        notes.append(
            f"{people:,} of {len(pool.original):,} records and {rows:,} of "
            f"{len(pool.synthetic):,} rows, drawn at random, were compared by distance; copies "
            "were searched in all"
        )
    if pool.held_out is None:
        notes.append(NOT_COMPARED)
    elif len(pool.held_out) < len(pool.original) / 2:
        notes.append(
            f"there are {len(pool.held_out):,} held-out records for {len(pool.original):,} of the "
            "original: with as many, less would be needed to prove something"
        )
    return notes

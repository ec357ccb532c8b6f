"""The index of groups against counting every record of a made release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from indiff import Classifier, Hierarchy, Mondrian, NaiveBayes, Table, read_table
from indiff.differential.mondrian.counts import as_adversary
from indiff.differential.mondrian.cover_index import SHELVES, add_groups, count_shown
from indiff.differential.mondrian.leave_one_out import _Base
from indiff.differential.mondrian.shown import (
    BLOCK,
    FEW,
    FIRST,
    LAST,
    OF_TABLE,
    RANGE,
    SET,
    SHIFT,
    STRIDE,
    Shown,
)
from indiff.inference.encodings import Encoding
from indiff.kernels import kernel
from indiff.sanitizers.mondrian.mondrian import missing_parts

RECORDS = 400
PLACES = ["a;north;*", "b;north;*", "c;south;*", "d;south;*", "e;*"]


@kernel
def counted(row: Any, column: Any, shown: Any) -> Any:
    count_shown(row, column, shown)
    return shown.counts.copy()


@kernel
def added(row: Any, lists: Any, begin: Any, end: Any, asked: Any, wanted: Any, shown: Any) -> Any:
    shown.counts[:] = 0.0
    for a in range(shown.kinds.shape[0]):
        shown.codes_of[a] = shown.codes[a, shown.place_of[row]]
    add_groups(lists, begin, end, asked, wanted, shown)
    return shown.counts.copy()


def columns(dice: np.random.Generator, *, kinds: str) -> dict[str, NDArray[Any]]:
    """Draw columns: d(ifferent numbers), r(epeated ones), f(ew texts), m(any), p(laces)."""
    drawn: dict[str, Callable[[], NDArray[Any]]] = {
        "d": lambda: dice.random(RECORDS),
        "r": lambda: dice.integers(0, 12, RECORDS),
        "f": lambda: np.array(list("uvwxyz"))[dice.integers(0, 6, RECORDS)],
        "m": lambda: np.array([f"t{one:03}" for one in dice.integers(0, 90, RECORDS)]),
        "p": lambda: np.array(list("abcde"))[dice.integers(0, 5, RECORDS)],
    }
    return {f"{kind}{place}": drawn[kind]() for place, kind in enumerate(kinds)}


def shown_of(table: Table, sanitizer: Mondrian) -> Shown:
    adversary = as_adversary([NaiveBayes(), Classifier("tree")], table)
    base = _Base.of(table, sanitizer.problem(table), missing_parts(table), adversary)
    return base.shown(adversary)


def require_same(table: Table, sanitizer: Mondrian, shown: Shown, rows: range) -> None:
    """Count for some rows and every column, and compare with the records of a made release."""
    release, d = Encoding.named("TF-TF").of(sanitizer.sanitize(table)), len(table.attributes)
    for row in rows:
        codes = np.array([attribute.codes[row] for attribute in table.attributes], np.int32)
        tally = release.tally(codes)
        assert tally is not None
        for column in range(d):
            asked = np.arange(2**d) >> (d - 1 - column) & 1 == 1
            found = counted(row, column, shown)[asked]
            np.testing.assert_array_equal(found, tally.counts[asked])


@pytest.mark.parametrize(
    ("kinds", "in_cube"),
    [("d", 1), ("ddd", 1), ("r", 1), ("rrf", 3), ("fp", 2), ("m", 0), ("dm", 1), ("dmrfp", 3)],
)
@pytest.mark.parametrize("k", [2, 9])
def test_every_pattern_is_counted_as_in_the_release(kinds: str, in_cube: int, k: int) -> None:
    dice, sanitizer = np.random.default_rng(k), Mondrian(k=k)
    made = columns(dice, kinds=kinds)
    trees = {name: Hierarchy.from_lines(PLACES) for name in made if name.startswith("p")}
    ill = np.array(list("xyz"))[dice.integers(0, 3, RECORDS)]
    table = read_table(
        pa.table({**made, "ill": ill}), quasi=list(made), sensitive="ill", hierarchies=trees
    )
    shown = shown_of(table, sanitizer)
    assert np.count_nonzero(shown.lookup.about[STRIDE]) == in_cube
    require_same(table, sanitizer, shown, range(0, RECORDS, 3))


def test_a_column_with_many_values_has_shelves_for_stretches_of_codes() -> None:
    dice, sanitizer, records = np.random.default_rng(5), Mondrian(k=3), 3 * SHELVES
    made = {name: dice.permutation(records).astype(float) for name in "xyz"}
    ill = np.array(list("pq"))[dice.integers(0, 2, records)]
    table = read_table(pa.table({**made, "ill": ill}), quasi=list(made), sensitive="ill")
    shown = shown_of(table, sanitizer)
    shelved = shown.lookup.about[STRIDE, :3] == 0
    assert shelved.all()
    assert (shown.lookup.about[SHIFT, :3] >= 2).all()
    require_same(table, sanitizer, shown, range(0, records, 500))


def covers(kind: int, code: np.int32, held: NDArray[np.int32]) -> bool:
    """Whether a region made of these codes covers a code."""
    return bool(held.min() <= code <= held.max() if kind == RANGE else code in held)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_so_many_groups_are_counted_by_what_their_records_hold(size: int) -> None:
    dice = np.random.default_rng(size)
    made = columns(dice, kinds="dfm")
    ill = np.array(list("xyz"))[dice.integers(0, 3, RECORDS)]
    table = read_table(pa.table({**made, "ill": ill}), quasi=list(made), sensitive="ill")
    shown = shown_of(table, Mondrian(k=2))
    assert shown.kinds.tolist() == [RANGE, FEW, SET]
    groups = int(shown.used[OF_TABLE])
    lists = dice.integers(0, groups, size + 5).astype(np.int32)
    for row in range(0, RECORDS, 40):
        place, begin = shown.place_of[row], int(dice.integers(0, 5))
        for chosen in (lists, lists[:0]):
            end = min(begin + size, len(chosen) or groups)
            asked = int(dice.integers(0, 8))
            wanted = asked & int(dice.integers(0, 8))
            found = added(row, chosen, begin, end, asked, wanted, shown)
            expected = np.zeros_like(found)
            for group in chosen[begin:end] if len(chosen) else range(begin, end):
                places = shown.places[slice(*shown.spans[group, [FIRST, LAST]])]
                bits = [
                    covers(kind, codes[place], codes[places])
                    for kind, codes in zip(shown.kinds, shown.codes, strict=True)
                ]
                pattern = int("".join(str(int(bit)) for bit in bits), 2)
                if pattern & asked == wanted:
                    expected[pattern] += shown.held[group]
            np.testing.assert_array_equal(found, expected)

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from indiff.errors import UserError
from indiff.risk.identifying.subsets import coded, lattice, measure_sets, require_few, sets_up_to


def test_every_subset_of_a_set_comes_before_it_and_the_places_are_right() -> None:
    found = lattice(6, 4)
    place = {int(mask): number for number, mask in enumerate(found.masks)}
    assert len(place) == sets_up_to(6, 4) == 6 + 15 + 20 + 15
    for number, mask in enumerate(found.masks):
        members = [one for one in range(6) if int(mask) >> one & 1]
        assert found.depth[number] == len(members)
        assert found.column[number] == members[0]
        without = {place[int(mask) & ~(1 << one)] for one in members[1:] if len(members) > 1}
        assert {one for one in found.subsets[number].tolist() if one >= 0} == without
        assert all(one < number for one in without)


def by_hand(codes: NDArray[Any], weights: NDArray[Any], columns: tuple[int, ...]) -> list[int]:
    sizes: Counter[tuple[int, ...]] = Counter()
    for row, weight in enumerate(weights):
        sizes[tuple(codes[list(columns), row])] += int(weight)
    pairs = sum(size * (size - 1) // 2 for size in sizes.values())
    return [len(sizes), sum(size == 1 for size in sizes.values()), pairs]


@pytest.mark.parametrize("rows", [1, 40, 3000])
def test_counts_of_every_set_are_those_of_a_plain_count(rows: int) -> None:
    rng = np.random.default_rng(rows)
    frame = pa.table(
        {f"c{place}": rng.integers(0, high, rows) for place, high in enumerate((2, 9, 60, 2000))}
    )
    weights = rng.integers(1, 3, rows)
    table, order = coded(frame, weights), lattice(4, 4)
    found = measure_sets(
        table.codes, table.distinct, table.weights,
        (order.masks, order.column, order.depth), rows + 1,
    )  # fmt: skip
    for mask, counted in zip(order.masks, found, strict=True):
        columns = tuple(one for one in range(4) if mask >> one & 1)
        assert counted.tolist() == by_hand(table.codes, weights, columns)


def test_sets_around_a_telling_one_are_not_looked_at() -> None:
    frame = pa.table({"a": [1, 1, 2, 2, 3, 3], "b": [1, 2, 1, 2, 1, 2], "c": [0] * 6})
    table, order = coded(frame), lattice(3, 3)
    found = measure_sets(
        table.codes, table.distinct, table.weights, (order.masks, order.column, order.depth), 6
    )
    telling = {int(mask) for mask, one in zip(order.masks, found, strict=True) if one[1] >= 6}
    unseen = {int(mask) for mask, one in zip(order.masks, found, strict=True) if one[0] < 0}
    assert telling == {0b011}
    assert unseen == {0b111}
    pairs = list(combinations(range(3), 2))
    assert len(order.masks) - len(unseen) == 3 + len(pairs)


def test_missing_values_are_one_value_whatever_the_column_is() -> None:
    table = coded(pa.table({"n": [1.5, None, None], "s": ["", None, "x"]}))
    assert table.codes[0].tolist() == [0, 1, 1]
    assert len(set(table.codes[1].tolist())) == 3
    dictionary = pa.array(["x", None, "x"]).dictionary_encode()
    assert coded(pa.table({"d": dictionary})).codes.tolist() == [[0, 1, 0]]
    chunks = pa.chunked_array([["x", "y"], ["y", "z"]])
    assert coded(pa.table({"c": chunks})).codes.tolist() == [[0, 1, 1, 2]]
    gaps = pa.chunked_array([["x", None], [None, "x"], ["y"]])
    assert coded(pa.table({"c": gaps})).codes.tolist() == [[0, 2, 2, 0, 1]]
    assert coded(pa.table({"c": gaps})).distinct.tolist() == [3]


def test_too_many_sets_are_refused_with_the_size_that_is_possible() -> None:
    with pytest.raises(UserError, match=r"take .* or longer.*sets of up to 3 columns"):
        require_few(1_000_000, 40, 6, bits=True)
    with pytest.raises(UserError, match=r"55 sets .* would take 1 h 31 min or longer"):
        require_few(10**10, 10, 2, bits=False)  # 5.5·10¹¹ steps of 10 ns each
    with pytest.raises(UserError, match="at most 62 columns"):
        require_few(10, 63, 2, bits=False)
    with pytest.raises(UserError, match="at least 1 column"):
        require_few(10, 3, 0, bits=False)
    require_few(100_000, 10, 10, bits=True)
    require_few(10, 62, 1, bits=False)


def test_how_many_are_too_many() -> None:
    """Ten minutes at 10 ns a step, or two gigabytes of a bit for each; all that fits is taken."""
    two_gigabytes = 2 * 2**30 * 8
    require_few(two_gigabytes, 1, 1, bits=True)
    require_few(two_gigabytes + 1, 1, 1, bits=False)
    require_few(5 * 10**10, 1, 1, bits=False)
    for records, bits in ((two_gigabytes + 1, True), (5 * 10**10 + 1, False)):
        with pytest.raises(UserError, match=r"or longer. Name fewer columns\.$"):
            require_few(records, 1, 1, bits=bits)
    with pytest.raises(UserError, match=r"Look for sets of up to 1 columns, or name fewer"):
        require_few(two_gigabytes // 4, 4, 2, bits=True)
    with pytest.raises(UserError, match=r"or longer. Name fewer columns\.$"):
        require_few(two_gigabytes // 4 + 1, 4, 2, bits=True)


def test_the_sets_of_three_columns() -> None:
    """In the order of their numbers; the sets without one of their further columns."""
    found = lattice(3, 3)
    assert found.masks.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert found.column.tolist() == [0, 1, 0, 2, 0, 1, 0]
    assert found.depth.tolist() == [1, 1, 2, 1, 2, 2, 3]
    none = [-1, -1, -1]
    assert found.subsets.tolist() == [
        none, none, [0, -1, -1], none, [0, -1, -1], [1, -1, -1], [4, 2, -1],
    ]  # fmt: skip

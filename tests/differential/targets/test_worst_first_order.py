"""Worst-first, by the definition of the order: whose turn it is, and who comes first in a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from indiff import Mondrian, differential_test, read_table
from indiff.data.table import Table
from indiff.differential.targets import worst_first as exposure
from indiff.inference import Frequency, NaiveBayes
from indiff.release.reading import read_release
from indiff.release.release import Release
from indiff.sanitizers.oracles.function import Oracle

SIZE = 31


def people(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": (20 + rng.gamma(2.0, 12.0, SIZE)).astype(int),
            "city": rng.choice(list("ABC"), SIZE, p=[0.6, 0.3, 0.1]),
            "ill": rng.choice(list("xyz"), SIZE, p=[0.5, 0.3, 0.2]),
        }
    )
    return read_table(frame, quasi=["age", "city"], sensitive="ill")


def in_turns(orders: Sequence[list[int]]) -> list[int]:
    """Each order in turn names the first of its records whom none has named."""
    named: list[int] = []
    while len(named) < len(orders[0]):
        for order in orders:
            named += [row for row in order if row not in named][:1]
    return named


def order_by(scores: Any, equals: list[int]) -> list[int]:
    """The largest score first; those that look the same in the order of ``equals``."""
    return sorted(equals, key=lambda row: -round(float(scores[row]), 9))


def order_of_equals(seed: int) -> list[int]:
    """The seed's order of records that look the same: here all of them do."""
    alike = pa.table({"age": [1] * SIZE, "ill": ["x"] * SIZE})
    return exposure.rank(read_table(alike, quasi=["age"], sensitive="ill"), seed=seed).tolist()


def expected_blind(table: Table, equals: list[int]) -> list[list[int]]:
    """Lost with the record if the raw data were published; rare; lost under Mondrian with k = 5."""
    raw = exposure.Exposed(table, Oracle(lambda frame: frame).sanitize(table), NaiveBayes())
    rarity = np.zeros(SIZE)
    for attribute in table.attributes:
        codes = attribute.codes.tolist()
        rarity -= [np.log(codes.count(code) / SIZE) for code in codes]
    walked = differential_test(
        table, Mondrian(k=5, unmet="generalize"), model="naive-bayes", method="refit", jobs=1
    )
    return [order_by(scores, equals) for scores in (raw.dropped(), rarity, walked.distances)]


@pytest.mark.parametrize("seed", [0, 3])
def test_without_a_release_three_orders_take_turns(seed: int) -> None:
    table = people(seed)
    expected = in_turns(expected_blind(table, order_of_equals(seed)))
    assert exposure.rank(table, seed=seed).tolist() == expected


@pytest.mark.parametrize(
    ("model", "adversaries"),
    [
        (NaiveBayes(alpha=0.5), [NaiveBayes(alpha=0.5)]),
        (Frequency(), [Frequency()]),
        (None, [NaiveBayes(), Frequency()]),
    ],
)
def test_with_a_release_each_adversary_has_four_orders_and_the_blind_one_a_turn(
    model: Any, adversaries: list[Any]
) -> None:
    table, equals = people(7), order_of_equals(7)
    release = Mondrian(k=3).sanitize(table)
    blind = in_turns(expected_blind(table, equals))
    orders = []
    for adversary in adversaries:
        exposed = exposure.Exposed(table, release, adversary)
        sizes = group_sizes(release)
        grouped = exposed.dropped(groups=True)
        orders += [order_by(exposed.dropped(), equals), order_by(grouped, equals)]
        by_distance = order_by(grouped, equals)
        orders += [sorted(by_distance, key=lambda row: sizes[row])]
        orders += [order_by(exposed.leaned(), equals)]
    expected = in_turns([*orders, *[blind] * len(adversaries)])
    assert exposure.rank(table, seed=7, release=release, model=model).tolist() == expected


def group_sizes(release: Release) -> list[int]:
    """How many rows show the same regions as each row, in the order of the table."""
    shown = [
        tuple(column.texts[column.index[row]] for column in release.columns)
        for row in range(len(release))
    ]
    return [shown.count(one) for one in shown]


@pytest.mark.parametrize("at_once", [1, 2, 500])
def test_a_records_row_is_the_first_that_covers_most_of_its_values(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Of each sensitive value the rows are searched alone; who finds none has none."""
    monkeypatch.setattr(exposure, "AT_ONCE", at_once)
    frame = {"age": [20, 30, 40, 50, 60], "sex": list("fmfmf"), "ill": list("aaabc")}
    table = read_table(pa.table(frame), quasi=["age", "sex"], sensitive="ill")
    shown = {
        "age": ["[35, 65]", "*", "[15, 35]", "[15, 35]", "*"],
        "sex": ["f", "f", "f", "f", "m"],
        "ill": ["a", "a", "a", "a", "b"],
    }
    release = read_release(pa.table(shown), table)
    own = exposure.Exposed(table, release, NaiveBayes()).own_rows
    # 20 f: rows 1, 2 and 3 cover both. 30 m: the same rows cover its age, none its sex. 40 f: rows
    # 0 and 1 cover both. 50 m has the only row with b, and nobody released c.
    assert own.tolist() == [1, 1, 0, 4, -1]


def test_where_everybody_holds_one_value_the_rarest_come_first() -> None:
    """Nobody is left of the other value: there is nothing to learn, and ages alone decide."""
    frame = pa.table({"age": [1, 1, 1, 2, 2, 3, 9], "ill": list("xxxxxxy")})
    table = read_table(frame, quasi=["age"], sensitive="ill").take(range(6))
    for seed in range(5):
        first, *others = exposure.rank(table, seed=seed).tolist()
        assert (first, {*others[:2]}, {*others[2:]}) == (5, {3, 4}, {0, 1, 2})


def test_the_first_record_has_its_row_wherever_that_is() -> None:
    """It alone holds x, and its row comes last."""
    table = read_table(
        pa.table({"age": [1, 2, 3], "ill": list("xyy")}), quasi=["age"], sensitive="ill"
    )
    made = read_release(pa.table({"age": [3, 2, 1], "ill": list("yyx")}), table)
    assert exposure.Exposed(table, made, Frequency()).own_rows.tolist() == [2, 1, 0]

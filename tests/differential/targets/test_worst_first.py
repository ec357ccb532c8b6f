"""Worst-first: dropped rows against a release made without the row, and orders against random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indiff import Mondrian, UserError, differential_test, read_table
from indiff.differential.targets import worst_first as exposure
from indiff.distances.functions import wasserstein
from indiff.inference import Frequency, NaiveBayes
from indiff.release.reading import read_release
from indiff.release.release import Release
from indiff.sanitizers.oracles.function import Oracle
from tests.properties.random_tables import Sample, samples


def without_rows(release: Release, rows: list[int]) -> Release:
    kept = np.delete(np.arange(len(release)), rows)
    return replace(
        release,
        columns=tuple(replace(c, index=c.index[kept]) for c in release.columns),
        classes=release.classes[kept],
        groups=None,
    )


@given(
    samples(most=25),
    st.integers(1, 4),
    st.sampled_from([NaiveBayes(alpha=0.5), NaiveBayes(prior="uniform"), Frequency()]),
    st.booleans(),
)
def test_dropped_rows_by_definition(
    sample: Sample, k: int, model: NaiveBayes | Frequency, groups: bool
) -> None:
    """Make the release without the row, or its group, ask the model again, and measure."""
    table = sample.table
    release = Mondrian(k=k, unmet="generalize").sanitize(table)
    found = exposure.Exposed(table, release, model).dropped(groups=groups)
    shown = [
        tuple(column.texts[column.index[row]] for column in release.columns)
        for row in range(len(release))
    ]
    for row in range(len(table)):
        gone = [i for i in range(len(table)) if shown[i] == shown[row]] if groups else [row]
        if len(gone) == len(table):
            assert found[row] == 0  # nothing is left to learn from
            continue
        target = table.take([row])
        moved = wasserstein(
            model.beliefs(release, target), model.beliefs(without_rows(release, gone), target)
        )
        assert found[row] == pytest.approx(float(moved[0]), abs=1e-9)


def test_a_row_that_covers_its_record_in_one_column_alone_is_no_candidate() -> None:
    """Only the second row has age 1 and any sex: the belief about the first record leans on it."""
    frame = pa.table({"age": [1, 2, 3, 4], "sex": list("fmfm"), "ill": list("abab")})
    table = read_table(frame, quasi=["age", "sex"], sensitive="ill")
    shown = {"age": ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"], "sex": list("m***")}
    release = read_release(pa.table({**shown, "ill": list("abab")}), table)
    distances = exposure.Exposed(table, release, Frequency()).dropped()
    assert distances[0] == 0
    assert distances[1] > 0


def leaned_groups(
    table: Any, release: Release, row: int, columns: list[int]
) -> list[tuple[list[int], float]]:
    """The released groups that cover the record in these columns, with their largest share."""
    shown = [
        tuple(column.texts[column.index[i]] for column in release.columns)
        for i in range(len(release))
    ]
    covering = [
        i
        for i in range(len(release))
        if all(
            release.columns[c].covering(
                int(table.attribute(release.columns[c].attribute.name).codes[row])
            )[i]
            for c in columns
        )
    ]
    groups = []
    for text in sorted({shown[i] for i in covering}):
        members = [i for i in range(len(release)) if shown[i] == text]
        everybody = [release.classes[i] for i in covering]
        own = [release.classes[i] for i in members]
        groups.append((members, max(own.count(c) / everybody.count(c) for c in set(own))))
    return groups


@settings(max_examples=40)
@given(samples(most=20), st.integers(1, 4), st.sampled_from([NaiveBayes(), Frequency()]))
def test_the_group_that_a_belief_leans_on_by_definition(
    sample: Sample, k: int, model: NaiveBayes | Frequency
) -> None:
    """Drop each group with the largest share; equals may be chosen either way."""
    table = sample.table
    release = Mondrian(k=k, unmet="generalize").sanitize(table)
    found = exposure.Exposed(table, release, model).leaned()
    everything = list(range(len(release.columns)))
    looked_at = [everything] if isinstance(model, Frequency) else [[c] for c in everything]
    for row in range(len(table)):
        target = table.take([row])
        least, most = 0.0, 0.0
        for columns in looked_at:
            groups = leaned_groups(table, release, row, columns)
            top = max(share for _, share in groups)
            moved = [
                float(
                    wasserstein(
                        model.beliefs(release, target),
                        model.beliefs(without_rows(release, members), target),
                    )[0]
                )
                if len(members) < len(release)
                else 0.0
                for members, share in groups
                if share >= top - 1e-12
            ]
            least, most = max(least, min(moved)), max(most, max(moved))
        assert least - 1e-9 <= found[row] <= most + 1e-9


def test_records_of_the_smallest_groups_are_among_the_first() -> None:
    """Of 60 records 3 are in a group of 3, which a sanitizer with k = 3 cannot make without one."""
    ages, ill = [30] * 57 + [70] * 3, ["flu", "cold"] * 30
    table = read_table(pa.table({"age": ages, "ill": ill}), quasi=["age"], sensitive="ill")
    release = Oracle(lambda frame: frame).sanitize(table)
    for model in (NaiveBayes(), Frequency()):
        smallest = exposure.Exposed(table, release, model).scores()[2]
        assert set(np.argsort(-smallest)[:3].tolist()) == {57, 58, 59}
        assert {57, 58, 59} <= set(exposure.rank(table, release=release, model=model)[:15].tolist())


@settings(max_examples=30)
@given(samples(most=25), st.integers(0, 3))
def test_an_order_is_a_permutation_and_repeats(sample: Sample, seed: int) -> None:
    table = sample.table
    release = Mondrian(k=2, unmet="generalize").sanitize(table)
    for given_release in (None, release):
        order = exposure.rank(table, seed=seed, release=given_release)
        assert sorted(order.tolist()) == list(range(len(table)))
        assert np.array_equal(order, exposure.rank(table, seed=seed, release=given_release))


def test_rows_are_found_in_a_shuffled_release_with_fewer_rows() -> None:
    table = read_table(
        pa.table({"age": [20, 30, 40, 50], "ill": ["a", "b", "a", "c"]}),
        quasi=["age"],
        sensitive="ill",
    )
    shuffled = pd.DataFrame({"age": ["[35, 45]", "30", "[15, 25]"], "ill": ["a", "b", "a"]})
    release = Oracle(lambda frame: shuffled).sanitize(table)
    exposed = exposure.Exposed(table, release, NaiveBayes())
    assert exposed.own_rows.tolist() == [2, 1, 0, -1]
    distances = exposed.dropped()
    assert distances[3] == 0  # nobody in the release is like the record: nothing to drop
    assert (distances[:3] > 0).all()


def test_the_odd_one_comes_first() -> None:
    """One old record with a rare illness among 40 equals and 20 pairs."""
    ages = [30] * 40 + [50, 51] * 10 + [90]
    table = read_table(
        pa.table({"age": ages, "ill": ["flu", "cold"] * 30 + ["plague"]}),
        quasi=["age"],
        sensitive="ill",
    )
    assert exposure.rank(table)[0] == 60
    release = Mondrian(k=3).sanitize(table)
    assert 60 in exposure.rank(table, release=release, model=NaiveBayes())[:2]


def recoded(frame: Any) -> Any:
    """Publish ages in bands of 20, cities as they are if 3 records share both, else nothing."""
    bands = frame["age"] // 20 * 20
    shown = pd.DataFrame(
        {
            "age": [f"[{low}, {low + 19}]" for low in bands],
            "city": frame["city"],
            "ill": frame["ill"],
        }
    )
    small = shown.groupby(["age", "city"])["ill"].transform("size") < 3
    return shown.assign(city=shown["city"].mask(small, "*"), age=shown["age"].mask(small, "*"))


def table_of_people(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": (20 + rng.gamma(2.0, 12.0, 160)).astype(int),
            "city": rng.choice(
                list("ABCDEFGH"), 160, p=np.array([40, 25, 15, 8, 5, 4, 2, 1]) / 100
            ),
            "ill": rng.choice(list("uvwxyz"), 160, p=np.array([50, 25, 14, 7, 3, 1]) / 100),
        }
    )
    return read_table(frame, quasi=["age", "city"], sensitive="ill")


def test_finds_the_exposed_records_of_an_unknown_recoding_sooner_than_chance() -> None:
    """Among the first 15 % chance finds 1.5 of 10, and 5 or more once in 100 times."""
    table = table_of_people(5)
    result = differential_test(table, recoded, model="naive-bayes", method="refit", jobs=1)
    worst = np.argsort(-result.distances, kind="stable")[:10]
    first = int(0.15 * len(table))
    blind = exposure.rank(table)[:first]
    assert np.isin(worst, blind).sum() >= 5
    release = Oracle(recoded).sanitize(table)
    informed = exposure.rank(table, release=release, model=NaiveBayes())[:first]
    assert np.isin(worst, informed).sum() >= 9


def test_nothing_to_learn_is_still_an_order() -> None:
    table = read_table(
        pa.table({"age": [1, 1, 2], "ill": ["x", "x", "x"]}), quasi=["age"], sensitive="ill"
    )
    assert exposure.rank(table)[0] == 2


def test_equals_are_ordered_by_the_seed() -> None:
    table = read_table(
        pa.table({"age": [1] * 50, "ill": ["x", "y"] * 25}), quasi=["age"], sensitive="ill"
    )
    assert not np.array_equal(exposure.rank(table, seed=0), exposure.rank(table, seed=1))
    assert np.array_equal(exposure.rank(table), exposure.rank(table, seed=0))
    with pytest.raises(UserError, match="seed must be a whole number of at least 0; got -1"):
        exposure.rank(table, seed=-1)


def test_where_nobody_can_learn_anything_the_rarest_come_first() -> None:
    ages = [1] * 6 + [2] * 4 + [3] * 2 + [4]
    frame = pa.table({"age": ages, "ill": ["x"] * len(ages)})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    for seed in range(3):
        order = exposure.rank(table, seed=seed)
        assert [ages[row] for row in order] == sorted(ages, key=lambda age: -age)


def test_a_value_that_one_record_holds_can_be_learned() -> None:
    """All look alike, so that nobody is rare: the only one with another value comes first."""
    frame = pa.table({"age": [1] * 20, "ill": ["x"] * 19 + ["y"]})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    assert {int(exposure.rank(table, seed=seed)[0]) for seed in range(5)} == {19}


def test_neighbouring_values_lean_on_the_group_that_covers_them() -> None:
    """1 is covered by one group, 2 and 3 by another: without it nothing tells 2 from 3."""
    frame = pa.table({"age": [1, 1, 2, 3], "ill": ["x", "y", "y", "y"]})
    table = read_table(frame, quasi=["age"], sensitive="ill")
    shown = pa.table({"age": ["1", "1", "[2, 3]", "[2, 3]"], "ill": ["x", "y", "y", "y"]})
    release = read_release(shown, table)
    moved = exposure.Exposed(table, release, Frequency()).leaned()
    # Without their group: from certainty to the shares of the other two rows, ½ and ½.
    assert moved[2:].tolist() == pytest.approx([1.0, 1.0])

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff.errors import UserError
from indiff.risk.identifying import subsets
from indiff.risk.identifying.special_uniques import dis_scores, score_weights, special_uniques

FOUR = pa.table({
    "age": ["20", "20", "30", "30", "40", "20"],
    "sex": ["m", "f", "m", "f", "m", "m"],
    "job": ["a", "a", "a", "b", "a", "b"],
})  # fmt: skip


def brute_force(columns: list[list[int]], size: int) -> list[list[frozenset[int]]]:
    """Apply the definition: unique on the set, and on no proper subset of it."""
    records = len(columns[0])

    def is_unique(record: int, members: tuple[int, ...]) -> bool:
        own = [columns[one][record] for one in members]
        return all(
            other == record or [columns[one][other] for one in members] != own
            for other in range(records)
        )

    found: list[list[frozenset[int]]] = [[] for _ in range(records)]
    for record in range(records):
        for width in range(1, size + 1):
            for members in combinations(range(len(columns)), width):
                parts = (p for w in range(1, width) for p in combinations(members, w))
                if is_unique(record, members) and not any(is_unique(record, p) for p in parts):
                    found[record].append(frozenset(members))
    return found


def test_a_table_worked_out_by_hand() -> None:
    """Record 4 alone is 40. Pairs: 1 (20, f), 2 (30, m), 3 (30, b; 30, f; f, b), 5 (20, b; m, b).

    Record 0 (20, m, a) shares every pair with somebody, and is alone by all three. Record 1 also
    is the only (f, a), and 2 the only (30, a).
    """
    found = special_uniques(FOUR)
    assert found.msus.tolist() == [
        [0, 0, 1], [0, 2, 0], [0, 2, 0], [0, 3, 0], [1, 0, 0], [0, 2, 0],
    ]  # fmt: skip
    # ATT = M = 3: one column adds 2·1, two add 1, three add 1.
    assert found.scores.tolist() == [1, 2, 2, 3, 2, 2]
    summary = found.summary
    assert (summary.uniques, summary.special, summary.dis) == (6, 6, 1.0)
    assert summary.msus == {1: 1, 2: 9, 3: 1}
    assert summary.smallest == {1: 1, 2: 4, 3: 1}
    # age: 1 of record 0, pairs (20,f) (30,m) (30,a) (30,b) (30,f) (20,b), and 2 of record 4.
    assert summary.contributions == {"age": 9 / 12, "sex": 7 / 12, "job": 7 / 12}


def test_scores_by_the_definition() -> None:
    assert score_weights(3, 3).tolist() == [2, 1, 1]
    assert score_weights(5, 3).tolist() == [4 * 3, 3, 1]  # Π (5 − j), j from the size to 2
    assert score_weights(10, 3).tolist() == [72, 8, 1]
    assert score_weights(1, 1).tolist() == [1]


def test_dis_worked_out_by_hand() -> None:
    """Two alone by age and a pair: U = 2, P = 2, π = 0.1, so that DIS = 0.2 / (0.2 + 1.8)."""
    found = special_uniques(pa.table({"age": [1, 2, 3, 3], "sex": ["f", "f", "f", "f"]}))
    assert found.summary.dis == pytest.approx(0.1)
    assert found.scores.tolist() == [1, 1, 0, 0]
    assert found.dis == pytest.approx([0.1, 0.1, 0, 0])
    found = special_uniques(
        pa.table({"age": [1, 2, 3, 3], "sex": ["f", "f", "f", "f"]}), sampling=0.5
    )
    assert found.summary.dis == pytest.approx(0.5)
    # Scores 1 and 4 of two columns: q = 1.3, s^q = 1 and 6.063, Σ 1/s^q = 1.1649.
    dis = dis_scores(np.array([1.0, 4.0]), 2, 2, 0.2)
    power = 4**1.3
    assert dis == pytest.approx(
        [1 / (1 + 8 / (1 + 1 / power)), 1 / (1 + 8 / (power * (1 + 1 / power)))]
    )


def test_a_thousand_random_tables_against_the_definition() -> None:
    rng = np.random.default_rng(20)
    for _ in range(1000):
        records, width = int(rng.integers(1, 16)), int(rng.integers(1, 6))
        columns = [rng.integers(0, rng.integers(1, 6), records).tolist() for _ in range(width)]
        size = int(rng.integers(1, width + 1))
        found = special_uniques(
            pa.table({f"c{i}": one for i, one in enumerate(columns)}), size=size
        )
        expected = brute_force(columns, size)
        sizes = [Counter(map(len, one)) for one in expected]
        assert found.msus.tolist() == [[one[w] for w in range(1, size + 1)] for one in sizes]
        weights = score_weights(width, size)
        scores = [sum(weights[len(msu) - 1] for msu in one) for one in expected]
        assert found.scores == pytest.approx(scores)
        assert found.summary.largest_score == max(scores)
        assert found.summary.largest_dis == max(found.dis)
        for place in range(width):
            own = sum(weights[len(msu) - 1] for one in expected for msu in one if place in msu)
            share = own / sum(scores) if sum(scores) else 0
            assert found.summary.contributions[f"c{place}"] == pytest.approx(share)


def test_which_sets_single_out_whom_has_to_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subsets, "MOST_BITS", 7 * 6)  # sets of three columns × records
    assert special_uniques(FOUR).summary.special == 6
    monkeypatch.setattr(subsets, "MOST_BITS", 7 * 6 - 1)
    with pytest.raises(UserError, match="Look for sets of up to 2 columns, or name fewer columns"):
        special_uniques(FOUR)


def test_missing_is_a_value_of_its_own() -> None:
    found = special_uniques(pa.table({"age": [30, 30, None], "sex": ["f", "f", "f"]}))
    assert found.msus.tolist() == [[0, 0], [0, 0], [1, 0]]


def test_larger_sets_than_asked_for_score_nothing_and_the_result_says_so() -> None:
    found = special_uniques(FOUR, size=1)
    assert found.scores.tolist() == [0, 0, 0, 0, 1, 0]
    assert (found.summary.size, found.summary.uniques, found.summary.special) == (1, 6, 1)
    assert found.dis[0] == 0


def test_records_that_repeat_are_never_unique() -> None:
    found = special_uniques(pa.table({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]}))
    assert not found.msus.any()
    assert found.summary.largest_dis == 0
    assert found.summary.dis == 0
    assert found.to_frame().num_rows == 0


def test_a_frame_of_those_that_have_one() -> None:
    frame = special_uniques(FOUR, quasi=["age", "sex"]).to_frame()
    assert frame.column_names == ["record", "msus", "smallest_msu", "suda", "dis"]
    assert frame["record"].to_pylist() == [1, 2, 3, 4]
    assert frame["smallest_msu"].to_pylist() == [2, 2, 2, 1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"quasi": "agee"}, "did you mean 'age'"),
        ({"sampling": 0.0}, "above 0 and at most 1; got 0"),
        ({"sampling": 1.01}, "above 0 and at most 1; got 1.01"),
        ({"size": 0}, "at least 1 column; got 0"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        special_uniques(FOUR, **asked)

"""The checker itself, against numbers worked out by hand and the original papers' examples."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.checker import (
    Equal,
    Ordered,
    Tree,
    earth_movers_distance,
    lost_or_invented,
    uncovered,
    violations,
)

# Li, Li, Venkatasubramanian 2007: the nine records of Table 3 with the groups of Tables 4 and 5,
# and the disease hierarchy of Figure 1.
SALARY = [3, 4, 5, 6, 11, 8, 7, 9, 10]
DISEASE = [
    "gastric ulcer",
    "gastritis",
    "stomach cancer",
    "gastritis",
    "flu",
    "bronchitis",
    "bronchitis",
    "pneumonia",
    "stomach cancer",
]
TABLE_4 = list("AAABBBCCC")
TABLE_5 = list("ACABBBCAC")
ROOT = "respiratory and digestive"
DISEASES = Tree(
    {
        **dict.fromkeys(
            ["flu", "pneumonia", "bronchitis"], ("respiratory infection", "respiratory", ROOT)
        ),
        **dict.fromkeys(
            ["pulmonary edema", "pulmonary embolism"], ("vascular lung", "respiratory", ROOT)
        ),
        **dict.fromkeys(
            ["gastric ulcer", "stomach cancer", "gastritis"], ("stomach", "digestive", ROOT)
        ),
        **dict.fromkeys(["colitis", "colon cancer"], ("colon", "digestive", ROOT)),
    }
)


def one_group(counts: dict[str, int], **asked: Any) -> list[str]:
    """The constraints broken by a single group with these counts."""
    values = [value for value, count in counts.items() for _ in range(count)]
    return [violation.constraint for violation in violations(["g"] * len(values), values, **asked)]


def test_k_counts_the_records_of_each_group() -> None:
    groups = [("20-30", "*"), ("20-30", "*"), ("20-30", "*"), ("30-40", "*"), ("30-40", "*")]
    values = ["a", "b", "a", "a", "a"]
    assert violations(groups, values, k=2) == []
    [found] = violations(groups, values, k=3)
    assert found.group == ("30-40", "*")
    assert found.constraint == "k"
    assert found.reason == "2 records, fewer than 3"


def test_l_is_about_the_most_frequent_value() -> None:
    assert one_group({"a": 2, "b": 1, "c": 1}, l=2) == []
    assert one_group({"a": 3, "b": 1, "c": 1}, l=2) == ["l"]
    assert one_group({"a": 2, "b": 2, "c": 2}, l=3) == []
    assert one_group({"a": 3, "b": 2, "c": 2, "d": 1}, l=3) == ["l"]
    # 7 of 10 is exactly 1/ℓ for ℓ = 10/7: rounding must not decide it.
    assert one_group({"a": 7, "b": 3}, l=Fraction(10, 7)) == []
    assert one_group({"a": 7, "b": 3}, l=1.43) == ["l"]


def test_distinct_l_ignores_frequencies() -> None:
    assert one_group({"a": 98, "b": 1, "c": 1}, distinct_l=3) == []
    assert one_group({"a": 98, "b": 1, "c": 1}, distinct_l=4) == ["distinct_l"]


def test_entropy_l_of_equally_likely_values_is_their_number() -> None:
    for number in (1, 2, 3, 5, 6, 7, 10, 11):
        for each in (1, 4, 9):
            counts = {f"v{i}": each for i in range(number)}
            assert one_group(counts, entropy_l=number) == []
            assert one_group(counts, entropy_l=number + 0.001) == ["entropy_l"]


def test_entropy_l_of_the_papers_three_diverse_inpatients() -> None:
    # Each group of Machanavajjhala et al.'s 3-diverse inpatient table has counts 2, 1, 1:
    # 1.5 bits, so entropy ℓ is 2^1.5 = 2.828…, printed there as 2.8.
    counts = {"cancer": 2, "heart disease": 1, "viral infection": 1}
    assert one_group(counts, entropy_l=2.8) == []
    assert one_group(counts, entropy_l=2.828) == []
    assert one_group(counts, entropy_l=2.829) == ["entropy_l"]
    assert one_group(counts, entropy_l=3) == ["entropy_l"]


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(100, 700).map(lambda hundredths: hundredths / 100),
)
def test_entropy_l_equals_shannons_formula_away_from_the_limit(
    counts: list[int], limit: float
) -> None:
    size = sum(counts)
    bits = -sum(count / size * math.log2(count / size) for count in counts)
    if abs(bits - math.log2(limit)) > 1e-9:
        broken = one_group({f"v{i}": c for i, c in enumerate(counts)}, entropy_l=limit)
        assert broken == (["entropy_l"] if bits < math.log2(limit) else [])


def test_recursive_is_strict() -> None:
    # r = 10, 1: 10 < c · 1 needs c > 10.
    assert one_group({"a": 10, "b": 1}, recursive=(10, 2)) == ["recursive"]
    assert one_group({"a": 10, "b": 1}, recursive=(10.01, 2)) == []
    # r = 4, 3, 2, 1 and ℓ = 3: 4 < c · (2 + 1) needs c > 4/3.
    counts = {"a": 1, "b": 4, "c": 2, "d": 3}
    assert one_group(counts, recursive=(Fraction(4, 3), 3)) == ["recursive"]
    assert one_group(counts, recursive=(Fraction(401, 300), 3)) == []
    # ℓ = 2: 4 < c · 6.
    assert one_group(counts, recursive=(0.66, 2)) == ["recursive"]
    assert one_group(counts, recursive=(0.67, 2)) == []


def test_recursive_fails_when_there_are_fewer_than_l_values() -> None:
    assert one_group({"a": 1, "b": 1}, recursive=(1000, 3)) == ["recursive"]
    assert one_group({"a": 5}, recursive=(1000, 2)) == ["recursive"]


def test_t_by_equal_distance_is_total_variation() -> None:
    # Table: a 1/2, b 1/2. Group 1: a 3/4, so 1/4 of the mass moves by 1.
    groups = [1, 1, 1, 1, 2, 2, 2, 2]
    values = ["a", "a", "a", "b", "b", "b", "b", "a"]
    assert violations(groups, values, t=0.25, ground=Equal()) == []
    broken = violations(groups, values, t=0.249, ground=Equal())
    assert [violation.group for violation in broken] == [1, 2]
    assert "0.25" in broken[0].reason


def test_t_limits_are_the_decimals_that_were_written() -> None:
    # 1 − 3/10 is exactly 7/10, while the float 0.7 is a little less than that.
    groups = [1, 1, 1] + [2] * 7
    values = ["a"] * 3 + ["b"] * 7
    assert earth_movers_distance({"a": 3}, Counter(values), Equal()) == Fraction(7, 10)
    assert violations(groups, values, t=0.7, ground=Equal()) == []
    assert len(violations(groups, values, t=0.699, ground=Equal())) == 1


def test_t_by_rank_gives_the_papers_salary_distances() -> None:
    # Li et al., below the formula: {3k, 4k, 5k} is 0.375 and {6k, 8k, 11k} 0.167 from {3k … 11k}.
    whole = Counter(SALARY)
    assert earth_movers_distance(Counter([3, 4, 5]), whole, Ordered()) == Fraction(3, 8)
    assert earth_movers_distance(Counter([6, 8, 11]), whole, Ordered()) == Fraction(1, 6)


def test_the_papers_table_5_is_0_167_close_in_salary() -> None:
    assert violations(TABLE_5, SALARY, t=Fraction(1, 6), ground=Ordered()) == []
    assert violations(TABLE_5, SALARY, t=0.166, ground=Ordered()) != []
    broken = violations(TABLE_4, SALARY, t=0.374, ground=Ordered())
    assert [violation.group for violation in broken] == ["A"]


def test_the_papers_table_5_in_disease_by_hand() -> None:
    # In ninths of the mass, and thirds of the height. Stomach diseases are gastric ulcer,
    # stomach cancer and gastritis; the infections are flu, bronchitis and pneumonia.
    # A: +2 +1 −2 | −1 −2 +2: 2 move within each branch at 1/3, 1 across at 1: (2 + 2 + 3) / 27.
    # B: −1 −2 +1 | +2 +1 −1: 1 and 1 within, 2 across: (1 + 1 + 6) / 27.
    # C: −1 +1 +1 | −1 +1 −1: 1 and 1 within, 1 across: (1 + 1 + 3) / 27.
    whole = Counter(DISEASE)
    for group, by_hand in (("A", 7), ("B", 8), ("C", 5)):
        counts = Counter(d for d, g in zip(DISEASE, TABLE_5, strict=True) if g == group)
        assert earth_movers_distance(counts, whole, DISEASES) == Fraction(by_hand, 27)
    assert violations(TABLE_5, DISEASE, t=Fraction(8, 27), ground=DISEASES) == []
    [broken] = violations(TABLE_5, DISEASE, t=0.29, ground=DISEASES)
    assert broken.group == "B"


def test_rank_distance_ignores_the_size_of_the_gaps() -> None:
    # Ranks 0, 1, 2: half of the mass at each end against 1/3 each. Carried: 1/6, then −1/6.
    near, far = Counter([1, 2, 3]), Counter([1, 2, 3000])
    assert earth_movers_distance({1: 1, 3: 1}, near, Ordered()) == Fraction(1, 6)
    assert earth_movers_distance({1: 1, 3000: 1}, far, Ordered()) == Fraction(1, 6)


def test_a_given_order_ranks_only_the_values_that_occur() -> None:
    order = Ordered(("none", "low", "middle", "high"))
    whole = {"low": 1, "middle": 1, "high": 1}
    assert earth_movers_distance({"low": 1}, whole, order) == Fraction(1, 2)
    assert earth_movers_distance({"middle": 1}, whole, order) == Fraction(1, 3)
    with pytest.raises(ValueError, match="the order lacks"):
        earth_movers_distance({"low": 1}, {"low": 1, "odd": 1}, order)


def test_a_constant_sensitive_value_is_0_close() -> None:
    tree = Tree({5: ("*",)})
    for ground in (Equal(), Ordered(), tree):
        assert violations([1, 1, 2], [5, 5, 5], t=0, ground=ground) == []


def test_the_papers_ground_distances_in_the_disease_hierarchy() -> None:
    # Two values, all the mass on one of them in the group: half of it moves their distance.
    for other, distance in (
        ("bronchitis", Fraction(1, 3)),
        ("pulmonary embolism", Fraction(2, 3)),
        ("stomach cancer", Fraction(1)),
    ):
        assert earth_movers_distance({"flu": 1}, {"flu": 1, other: 1}, DISEASES) == distance / 2


def test_tree_distance_moves_within_branches_first() -> None:
    # a, b under X; c, d under Y. Group: a and d. Table: all four. Surplus a +1/4, b −1/4,
    # c −1/4, d +1/4: each branch settles its own quarter at height 1 of 2.
    tree = Tree({"a": ("X", "*"), "b": ("X", "*"), "c": ("Y", "*"), "d": ("Y", "*")})
    whole = dict.fromkeys("abcd", 1)
    assert earth_movers_distance({"a": 1, "d": 1}, whole, tree) == Fraction(1, 4)
    # Group: a and b. A quarter from each crosses the root.
    assert earth_movers_distance({"a": 1, "b": 1}, whole, tree) == Fraction(1, 2)
    # Group: a. Three quarters leave: one to b at 1/2, two to Y at 1.
    assert earth_movers_distance({"a": 1}, whole, tree) == Fraction(5, 8)


def test_a_value_may_be_a_node_above_others() -> None:
    tree = Tree({"artist": ("*",), "dancer": ("artist", "*"), "lawyer": ("*",)})
    pair = {"artist": 1, "dancer": 1}
    assert earth_movers_distance({"dancer": 1}, pair, tree) == Fraction(1, 4)
    assert earth_movers_distance({"dancer": 1}, {"dancer": 1, "lawyer": 1}, tree) == Fraction(1, 2)


RAGGED = {
    "a": ("X", "*"),
    "b": ("X", "*"),
    "c": ("Y", "Z", "*"),
    "d": ("Z", "*"),
    "e": ("*",),
    "Y": ("Z", "*"),
}
# Heights, by hand: X 1, Y 1, Z 2 (c and Y below Y), root 3.
RAGGED_DISTANCE = {
    frozenset("ab"): Fraction(1, 3),
    frozenset("cY"): Fraction(1, 3),
    frozenset("cd"): Fraction(2, 3),
    frozenset("dY"): Fraction(2, 3),
}

distributions = st.dictionaries(
    st.sampled_from(sorted(RAGGED)), st.integers(1, 5), min_size=1, max_size=6
)


@given(distributions, distributions, st.sampled_from(["equal", "ordered", "tree"]))
def test_distances_equal_the_transport_problem_solved_as_one(
    group: dict[str, int], rest: dict[str, int], kind: str
) -> None:
    whole = Counter(group) + Counter(rest)
    values = sorted(whole)
    if kind == "equal":
        ground: Any = Equal()
        cost = [[float(v != w) for w in values] for v in values]
    elif kind == "ordered":
        ground = Ordered()
        last = max(len(values) - 1, 1)
        cost = [[abs(i - j) / last for j in range(len(values))] for i in range(len(values))]
    else:
        ground = Tree(RAGGED)
        cost = [
            [0.0 if v == w else float(RAGGED_DISTANCE.get(frozenset((v, w)), 1)) for w in values]
            for v in values
        ]
    p = np.array([group.get(value, 0) for value in values]) / sum(group.values())
    q = np.array([whole[value] for value in values]) / whole.total()
    rows = [np.repeat(np.eye(len(values))[i], len(values)) for i in range(len(values))]
    columns = [np.tile(np.eye(len(values))[j], len(values)) for j in range(len(values))]
    solved = linprog(np.ravel(cost), A_eq=np.array(rows + columns), b_eq=np.concatenate([p, q]))
    assert solved.success
    assert float(earth_movers_distance(group, whole, ground)) == pytest.approx(solved.fun, abs=1e-9)


def test_all_constraints_are_checked_together() -> None:
    groups = ["x"] * 3 + ["y"] * 1
    values = ["a", "b", "c", "a"]
    broken = violations(
        groups,
        values,
        k=2,
        l=2,
        distinct_l=2,
        entropy_l=2,
        recursive=(2, 2),
        t=0.4,
        ground=Equal(),
    )
    assert {violation.group for violation in broken} == {"y"}
    assert [violation.constraint for violation in broken] == [
        "k",
        "l",
        "distinct_l",
        "entropy_l",
        "recursive",
        "t",
    ]


def test_the_distribution_of_another_table_can_be_the_reference() -> None:
    values = ["a", "b"]
    assert violations([1, 1], values, t=0, ground=Equal(), table=["a", "b"] * 3) == []
    assert violations([1, 1], values, t=0, ground=Equal(), table=["a", "a", "b"]) != []
    with pytest.raises(ValueError, match="not in the table"):
        violations([1, 1], values, t=0, ground=Equal(), table=["a"])


def test_a_missing_value_is_a_value() -> None:
    assert one_group({"a": 1}, distinct_l=2) == ["distinct_l"]
    assert violations([1, 1], ["a", None], distinct_l=2) == []
    with pytest.raises(ValueError, match="NaN differs from itself"):
        violations([1, 1], ["a", float("nan")], distinct_l=2)


def test_checking_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no constraint"):
        violations([1], ["a"])
    with pytest.raises(ValueError, match="0 groups"):
        violations([], [], k=1)
    with pytest.raises(ValueError, match="2 groups for 1"):
        violations([1, 2], ["a"], k=1)
    with pytest.raises(ValueError, match="t and ground"):
        violations([1], ["a"], t=0.1)


def test_a_broken_hierarchy_is_an_error() -> None:
    whole = {"a": 1, "b": 1}
    with pytest.raises(ValueError, match="the hierarchy lacks"):
        earth_movers_distance(whole, whole, Tree({"a": ("*",)}))
    with pytest.raises(ValueError, match="two parents"):
        earth_movers_distance(whole, whole, Tree({"a": ("X", "Y", "*"), "b": ("X", "Z", "*")}))
    with pytest.raises(ValueError, match="2 roots"):
        earth_movers_distance(whole, whole, Tree({"a": ("X",), "b": ("Y",)}))


def test_cells_that_do_not_contain_their_value_are_listed() -> None:
    half_open = lambda value: 10 <= value < 20  # noqa: E731
    assert uncovered([(10, half_open), (19, half_open)]) == []
    assert uncovered([(10, half_open), (20, half_open)]) == [
        "cell 1: the region does not contain 20"
    ]


def test_the_multiset_of_records_is_kept_in_any_order() -> None:
    original = [("flu", 1), ("flu", 2), ("cold", 1)]
    for shuffled in itertools.permutations(original):
        assert lost_or_invented(original, shuffled) == []
    assert lost_or_invented(original, original[:2]) == ["('cold', 1): 1 before, 0 after"]
    assert lost_or_invented(["a"], ["a", "a"]) == ["'a': 1 before, 2 after"]

"""Answers that tools people use get wrong, mostly towards "safe"; each on every engine."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from indiff.risk import Risk, measure_risk
from tests.checker import Equal, Ordered
from tests.risk import oracle


def table(**groups: dict[Any, int]) -> dict[str, list[Any]]:
    """``table(x={"a": 2})`` is a group x with the value a twice."""
    rows = [
        (group, value)
        for group, counts in groups.items()
        for value, count in counts.items()
        for _ in range(count)
    ]
    return {"q": [group for group, _ in rows], "s": [value for _, value in rows]}


def measure(data: Any, engine: Any) -> Risk:
    frame = pa.table(data) if isinstance(data, dict) else data
    return measure_risk(frame, quasi="q", sensitive="s", engine=engine, details=False)


def test_l_does_not_depend_on_the_index(engine: str) -> None:
    frame = pd.DataFrame(table(x={"a": 2}, y={"b": 2}), index=[0, 2, 1, 3])
    risk = measure(frame, engine)
    assert (risk.groups.l, risk.groups.distinct_l, risk.groups.t) == (1, 1, 0.5)


def test_a_unique_record_with_its_only_quasi_identifier_missing_is_unique(engine: str) -> None:
    risk = measure({"q": ["x", "x", None], "s": ["a", "b", "c"]}, engine)
    assert (risk.groups.k, risk.groups.singled_out, risk.reidentification.itpr) == (1, 1, 1.0)


def test_recursive_diversity_takes_the_most_frequent_value_first(engine: str) -> None:
    assert measure(table(x={"a": 10, "b": 1}), engine).groups.recursive == (10, 2)
    assert measure(table(x={"a": 4, "b": 3, "c": 2, "d": 1}), engine).groups.recursive == (4, 4)
    worse_second = table(x={"a": 2, "b": 2}, y={"a": 10, "b": 1}, z={"a": 3, "b": 1})
    assert measure(worse_second, engine).groups.recursive == (10, 2)


def test_delta_disclosure_is_infinite_where_a_group_lacks_a_value(engine: str) -> None:
    assert measure(table(x={"a": 2}, y={"b": 2}), engine).groups.delta_disclosure == math.inf
    risk = measure(table(x={"a": 3, "b": 1}, y={"a": 1, "b": 3}), engine)
    assert risk.groups.delta_disclosure == pytest.approx(math.log(2))


def test_entropy_l_of_three_equally_likely_values_is_three(engine: str) -> None:
    risk = measure(table(x={"a": 1, "b": 1, "c": 1}), engine)
    assert risk.groups.entropy_l == pytest.approx(3, abs=1e-12)


def test_average_risk_is_per_record(engine: str) -> None:
    risk = measure(table(x={"a": 99}, y={"a": 1}), engine)
    assert risk.groups.marketer == pytest.approx(0.02, abs=1e-15)
    assert risk.groups.prosecutor == 1
    assert risk.groups.journalist == 1


def test_a_constant_number_is_as_close_as_can_be(engine: str) -> None:
    risk = measure(table(x={7: 2}, y={7: 1}), engine)
    assert risk.groups.t == 0
    found = risk.inference["s"]
    assert (found.dr, found.mi, found.cp, found.itpr, found.mil) == (0, 0, 0, 0, 0)
    assert found.eld == 1
    assert "constant" in found.notes[0]


def test_enhanced_beta_is_infinite_where_no_beta_will_do(engine: str) -> None:
    risk = measure(table(x={"a": 2}, y={"b": 2}), engine)
    assert (risk.groups.beta, risk.groups.beta_enhanced) == (1, math.inf)


def test_odd_names_and_values_are_ordinary(engine: str) -> None:
    data = pa.table(
        {
            "petal length (cm)": ["O'Brien", "O'Brien", "", None, 'say "hi"', "back\\slash"],
            "it's; DROP TABLE`x`": ["é", "é", "", "", "–", "x"],
        }
    )
    risk = measure_risk(
        data,
        quasi=["petal length (cm)"],
        sensitive="it's; DROP TABLE`x`",
        engine=engine,  # type: ignore[arg-type]
    )
    assert risk.groups.k == 1
    assert [s.groups for s in risk.groups.sizes] == [2, 2]  # two values once, two twice
    values = {level.value for level in risk.levels}
    assert values == {"O'Brien", None, 'say "hi"', "back\\slash"}
    assert risk.inference["it's; DROP TABLE`x`"].itpr == 1


@pytest.mark.parametrize("hole", [None, math.nan])
def test_null_and_nan_are_one_value(hole: float | None, engine: str) -> None:
    risk = measure({"q": [1.0, 1.0, hole, math.nan, None, -0.0, 0.0], "s": list("aabbbcc")}, engine)
    assert risk.groups.k == 2
    assert risk.groups.groups == 3


def test_a_metric_at_its_maximum_says_what_causes_it(engine: str) -> None:
    risk = measure(table(x={"a": 1}, y={"b": 3}, z={"a": 2, "b": 2}), engine)
    cause = risk.inference["s"].at_maximum
    assert risk.inference["s"].itpr == 1
    assert (cause.groups, cause.records, cause.sizes) == (2, 4, ((1, 1), (3, 3)))
    assert risk.reidentification.at_maximum.records == 1
    assert str(cause) == "4 records in 2 groups (1 in groups of 1, 3 in groups of 3)"


# Several sensitive attributes, and numbers of which some are missing


def test_the_worst_sensitive_attribute_counts(engine: str) -> None:
    """Whichever attribute is worse, and whichever comes first: each model by its definition."""
    keys = ["x"] * 6 + ["y"] * 4
    one = list("aabbccabca")
    other = list("aaaaabbbba")
    for columns in ((one, other), (other, one)):
        data = pa.table({"q": keys, "s": columns[0], "u": columns[1]})
        asked: Any = {"quasi": "q", "sensitive": ["s", "u"], "engine": engine}
        found = measure_risk(data, **asked).groups
        first, second = (oracle.models(keys, each, Equal()) for each in columns)
        for name in ("l", "distinct_l", "entropy_l"):
            assert first[name] != second[name]
            assert getattr(found, name) == pytest.approx(min(first[name], second[name])), name
        for name in ("alpha", "t", "beta", "delta_disclosure"):
            assert first[name] != second[name]
            assert getattr(found, name) == pytest.approx(max(first[name], second[name])), name


def test_missing_numbers_rank_last(engine: str) -> None:
    """Group y lacks every number: ranked last it is far from 1, ranked first it would be near."""
    keys = ["x"] * 4 + ["y"] * 3
    wages = [1, 1, 2, 9, None, None, 1]
    found = measure({"q": keys, "s": wages}, engine)
    order = (1, 2, 9, "last")
    xs = ["last" if wage is None else wage for wage in wages]
    expected = oracle.models(keys, xs, Ordered(order))["t"]
    turned = oracle.models(keys, xs, Ordered(("last", 1, 2, 9)))["t"]
    assert abs(expected - turned) > 0.01
    assert found.groups.t == pytest.approx(float(expected))


def test_t_where_every_group_is_mixed(engine: str) -> None:
    """Ranks 0 to 3, two in each group: masses ¼, ½ and ¼ go one of three ranks further."""
    risk = measure(table(x={1: 1, 2: 1}, y={3: 1, 4: 1}), engine)
    assert risk.groups.t == pytest.approx(1 / 3)
    # A group of one value in the middle is nearer than those, and decides nothing: the masses
    # 11/42, 22/42, 20/42 and 10/42 go one of four ranks further.
    risk = measure(table(x={1: 10, 2: 10}, y={9: 10, 10: 10}, z={5: 2}), engine)
    assert risk.groups.t == pytest.approx((11 + 22 + 20 + 10) / 42 / 4)


SMALLER_IS_WORSE = ("l", "distinct_l", "entropy_l")
LARGER_IS_WORSE = ("alpha", "t", "beta", "beta_enhanced", "delta_disclosure")


@pytest.mark.parametrize("names", [["bad", "good"], ["good", "bad"]])
def test_the_worst_of_several_sensitive_attributes_counts(names: list[str], engine: str) -> None:
    """One attribute has one value in a group, the other has both in both, in any order."""
    data = {"q": [*"xxxxyyyy"], "bad": [*"aaaaabbb"], "good": [*"aabbaabb"]}
    risk = measure_risk(pa.table(data), quasi="q", sensitive=names, engine=engine)  # type: ignore[arg-type]
    bad, good = risk.groups.sensitive["bad"], risk.groups.sensitive["good"]
    for name in (*SMALLER_IS_WORSE, *LARGER_IS_WORSE):
        worse, better = getattr(bad, name), getattr(good, name)
        assert (worse < better) == (name in SMALLER_IS_WORSE), name
        assert worse != better
        assert getattr(risk.groups, name) == worse, name


def test_of_two_recursive_diversities_the_smaller_l_and_then_the_larger_c_counts(
    engine: str,
) -> None:
    """(c, ℓ) of s is (3, 2), of u (1, 2): r₁ < c·r₂ needs the larger c to hold for both."""
    data = {"q": [*"xxxx"], "s": [*"aaab"], "u": [*"aabb"]}
    for names in (["s", "u"], ["u", "s"]):
        risk = measure_risk(pa.table(data), quasi="q", sensitive=names, engine=engine)  # type: ignore[arg-type]
        assert [part.recursive for part in risk.groups.sensitive.values()].count((3, 2)) == 1
        assert risk.groups.recursive == (3, 2)


def test_two_numbers_are_as_far_apart_as_two_words(engine: str) -> None:
    risk = measure(table(x={1: 2}, y={2: 2}), engine)
    assert risk.groups.t == measure(table(x={"a": 2}, y={"b": 2}), engine).groups.t == 0.5
    assert measure(table(x={1: 2}, y={1: 2}), engine).groups.t == 0


@pytest.mark.parametrize("more", [{}, {"u": [*"aabb"]}])
def test_numbers_as_texts_are_one_number_however_they_are_written(more: dict[str, Any]) -> None:
    """1 and 1.0 in one group are one value, which the other group does not have."""
    texts = pa.table({"q": [*"xxyy"], "s": ["1", "1.0", "2", "2.00"], **more})
    numbers = pa.table({"q": [*"xxyy"], "s": [1, 1, 2, 2], **more})
    for engine in ("duckdb", "auto"):
        found, expected = (
            measure_risk(
                one, quasi="q", sensitive=["s", *more], kinds={"s": "numeric"}, engine=engine,
            ).groups.sensitive["s"]
            for one in (texts, numbers)
        )  # fmt: skip
        assert (found.distinct_l, found.l, found.t) == (1, 1.0, 0.5)
        assert found == expected


def test_every_missing_token_is_missing(engine: str) -> None:
    """Not the first one alone; blanks around it do not count."""
    cells = ["?", "NA", " NA ", "", None, "x", "x"]
    data = pa.table({"q": cells, "s": list("aabbbcc")})
    risk = measure_risk(
        data, quasi="q", sensitive="s", missing_tokens=["?", "", "NA"], engine=engine,  # type: ignore[arg-type]
        details=False,
    )  # fmt: skip
    assert (risk.groups.groups, risk.groups.k) == (2, 2)

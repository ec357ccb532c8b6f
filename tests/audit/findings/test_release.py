"""What an audit finds in a table and its release, on tables small enough to be counted by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.audit.findings.release import (
    RiskPart,
    Side,
    Subject,
    _alone,
    measure_both,
    measured,
    merged,
    no_utility,
    profile_findings,
    risk_part,
    unmade,
    utility_findings,
)
from indiff.errors import UserError

# Two groups of two by age, one of four by sex.
PEOPLE = pa.table(
    {
        "who": ["a", "a", "b", "c"],
        "age": [30, 30, 40, 40],
        "sex": ["f", "f", "f", "f"],
        "ill": ["flu", "cold", "flu", "flu"],
    }
)


def read(frame: Any = PEOPLE, **more: Any) -> Any:
    given = {"identifier": ["who"], "quasi": ["age", "sex"], "sensitive": "ill"} | more
    return indiff.read_table(frame, **given)


def planned(**sections: Any) -> Any:
    data = {"quasi": ["age", "sex"], "sensitive": ["ill"]}
    return indiff.Plan(data=data, **sections)


def test_what_was_made_of_several_attributes_is_said() -> None:
    made, broken = Subject(read(), apart=True), Subject(read(), apart=True, reason="it broke")
    each = "each sensitive attribute has a release of its own, measured on its own"
    assert unmade([made]) == []
    assert unmade([made, made]) == [each]
    assert unmade([made, broken]) == ["no release of ill could be made: it broke", each]


def test_several_releases_are_told_apart_by_their_attribute() -> None:
    table = read()
    one, of_two = Subject(table, apart=False), Subject(table, apart=True)
    assert (one.suffix, of_two.suffix) == ("", ":ill")
    assert one.why_not is None
    broken = Subject(table, apart=False, reason="it broke")
    assert broken.why_not == "there is no release: it broke"
    findings = no_utility(table, planned(), "skipped", "no", "")
    assert one.titled(findings) == findings
    titles = {found.id: found.title for found in of_two.titled(findings)}
    assert titles["ncp"].endswith(", release for ill")
    assert ", release for" not in titles["accuracy"]  # which names it already


@pytest.mark.parametrize(
    ("ages", "dropped", "said"),
    [
        ([30, 30, 40, 40], 0, "The audit is about 4 records. None was left out"),
        ([30, 30, 40, None], 1, "The audit is about 3 records. 1 more was left out"),
        ([30, 30, None, None], 2, "The audit is about 2 records. 2 more were left out"),
    ],
)
def test_records_and_missing_values_are_counted(ages: Any, dropped: int, said: str) -> None:
    """Missing cells of quasi-identifiers and sensitive columns count, those of others do not."""
    frame = pa.table(
        {"note": [None, None, None, "x"], "age": ages, "sex": ["f", None, "f", "f"],
         "ill": ["flu", None, "flu", "flu"]}
    )  # fmt: skip
    table = indiff.read_table(
        frame, quasi=["age", "sex"], sensitive="ill", other="note", missing="drop"
    )
    records, missing = profile_findings(table)
    left = 4 - dropped
    assert (records.id, records.value, records.exactness) == ("records", left, "exact")
    assert records.means.startswith(said)
    assert records.parameters == {"dropped": dropped}
    assert missing.value == pytest.approx(2 / (3 * left))
    assert missing.parameters == {"cells": 3 * left, "missing": 2}
    assert missing.exactness == "exact"


def test_the_share_of_doubt_that_each_column_takes_alone() -> None:
    """DR = 1 − Σ n log n / (N log N): two groups of two of four leave half of the doubt."""
    table = read()
    before, after = measure_both(
        table, indiff.Suppress().sanitize(table), individual=None, why_not=None
    )
    assert before.columns == {"age": 0.5, "sex": 0.0}
    assert after.columns == {"age": 0.0, "sex": 0.0}
    assert before.risk is not None
    assert (before.risk.groups.k, before.reason) == (2, None)
    frame = pa.table({"age": [1, 2, 3], "sex": ["f", "f", "m"], "ill": ["x", "y", "x"]})
    table = read(frame, identifier=())
    before, _ = measure_both(table, None, individual=None, why_not="no")
    pair = read(pa.table({"age": [1, 2], "sex": ["f", "f"], "ill": ["x", "y"]}), identifier=())
    assert measure_both(pair, None, individual=None, why_not="no")[0].columns == {
        "age": 1.0, "sex": 0.0,
    }  # fmt: skip
    left = 2 / (3 * np.log2(3))
    assert before.columns == pytest.approx({"age": 1.0, "sex": 1 - left})


def test_numbers_that_no_row_has_take_no_part() -> None:
    """Equal regions share a number, and others are left without a row: two groups of two."""
    counted: Any = SimpleNamespace(individual=None, quasi=["x"])
    release: Any = SimpleNamespace(told_apart=lambda: {"x": np.array([0, 0, 2, 2])})
    assert _alone(counted, release) == {"x": 0.5}
    one: Any = SimpleNamespace(told_apart=lambda: {"x": np.array([0])})
    assert _alone(counted, one) == {"x": 0.0}  # who is alone from the start


def test_what_cannot_be_measured_has_its_reason() -> None:
    table = read()
    before, after = measure_both(table, None, individual=None, why_not="there is none")
    assert before.risk is not None
    assert (after.risk, after.reason, after.columns) == (None, "there is none", {})
    release = indiff.Suppress().sanitize(table)
    _, after = measure_both(table, release, individual="who", why_not=None, in_order=False)
    assert after.risk is None
    assert "people are told by 'who'" in str(after.reason)
    _, after = measure_both(table, release, individual=None, why_not=None, in_order=False)
    assert after.risk is not None
    noisy = indiff.Laplace(epsilon=1).sanitize(table, np.random.default_rng(0))
    side = measured(table, noisy)
    risk, reason = side.risk, side.reason
    assert risk is None
    assert "weighted rows" in str(reason)


def test_people_are_counted_where_a_column_names_them() -> None:
    """Person a has two of the four records: three people, alone or with one other."""
    table = read()
    before, after = measure_both(
        table, indiff.Identity().sanitize(table), individual="who", why_not=None
    )
    for side in (before, after):
        assert side.risk is not None
        assert side.risk.groups.k == 1  # both records at 30 are a's
        assert side.columns["sex"] == 0.0
        assert side.columns["age"] > 0
    fewer = indiff.read_release(
        pa.table({"age": [30, 40], "sex": ["f", "f"], "ill": ["flu", "flu"]}), table
    )
    side = measured(table, fewer, "who")
    risk, reason = side.risk, side.reason
    assert risk is None
    assert "which this release does not carry" in str(reason)
    side = measured(table, fewer)
    risk, reason = side.risk, side.reason
    assert risk is not None


def test_memory_that_is_used_up_is_a_reason_and_a_bug_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from indiff.audit.findings import release as room

    table = read()
    made = indiff.Identity().sanitize(table)

    def fail(error: Exception) -> Any:
        def raised(*_: Any, **__: Any) -> Any:
            raise error

        return raised

    monkeypatch.setattr(room, "count", fail(MemoryError()))
    assert "memory" in str(measured(table, made).reason)
    monkeypatch.setattr(room, "count", fail(UserError("it is too wide.")))
    assert measured(table, made) == Side(reason="it is too wide.")
    monkeypatch.setattr(room, "count", fail(OSError("strange")))
    with pytest.raises(OSError, match="strange"):
        measured(table, made)


def test_t_knows_the_order_and_the_hierarchy_of_the_sensitive_attribute(tmp_path: Path) -> None:
    """Group 30 has low and mid, group 40 mid and high, of the shares ¼, ½, ¼ in the table.

    By ranks, low to high is 1 and a step ½: moving ¼ from low to mid and ¼ from mid to high is
    ¼. With all equally far apart it is ¼, too; with low and mid below one node of a tree of
    height 2, moving ¼ from high to low is ¼ · 1.
    """
    frame = pa.table({"age": [30, 30, 40, 40], "ill": ["low", "mid", "mid", "high"]})
    several: list[tuple[Any, str]] = [
        ({"orders": {"ill": ["low", "mid", "high"]}}, "ordinal"),
        ({}, "equal"),
    ]
    grounds = {}
    for more, name in several:
        table = indiff.read_table(frame, quasi=["age"], sensitive="ill", **more)
        side = measured(table, indiff.Identity().sanitize(table))
        assert side.risk is not None
        assert side.risk.groups.t == pytest.approx(0.25)
        grounds[name] = side.ground
    assert grounds["ordinal"] != grounds["equal"]
    # Three values in one group: 1 − ½ by ranks, but 2/3 with all equally far.
    frame = pa.table({"age": [30, 40, 40], "ill": ["mid", "low", "high"]})
    ordered = indiff.read_table(
        frame, quasi=["age"], sensitive="ill", orders={"ill": ["low", "mid", "high"]}
    )
    risk = measured(ordered, indiff.Identity().sanitize(ordered)).risk
    assert risk is not None
    assert risk.groups.t == pytest.approx(1 / 3)
    plain = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    risk = measured(plain, indiff.Identity().sanitize(plain)).risk
    assert risk is not None
    assert risk.groups.t == pytest.approx(2 / 3)
    (tmp_path / "ill.csv").write_text("low,few\nmid,few\nhigh,many\n")
    tree = indiff.read_table(
        frame, quasi=["age"], sensitive="ill", hierarchies={"ill": tmp_path / "ill.csv"}
    )
    risk = measured(tree, indiff.Identity().sanitize(tree)).risk
    assert risk is not None
    # Alone at 30 stands mid; a third comes from low, below the same node, a third from high.
    assert risk.groups.t == pytest.approx(1 / 3 * 0.5 + 1 / 3)


def test_a_missing_value_has_no_place_in_an_order() -> None:
    """It comes last: ¼, ½ and ¼ are to be moved by a step each, of the three from low to it."""
    frame = pa.table({"age": [30, 30, 40, 40], "ill": ["low", "mid", "high", None]})
    orders = {"ill": ["low", "mid", "high"]}
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", orders=orders)
    risk = measured(table, indiff.Identity().sanitize(table)).risk
    expected = indiff.measure_risk(frame, quasi="age", sensitive="ill", orders=orders)
    assert risk is not None
    assert risk.groups.t == expected.groups.t == pytest.approx(1 / 3)


def test_two_attributes_together_are_one() -> None:
    frame = PEOPLE.append_column("poor", pa.array(["y", "y", "n", "n"]))
    table = indiff.read_table(
        frame, quasi=["age"], sensitive=["ill", "poor"], joint=True, other=["sex", "who"]
    )
    side = measured(table, indiff.Identity().sanitize(table))
    risk, reason = side.risk, side.reason
    assert reason is None
    assert risk is not None
    # At 30 flu and cold, both poor; at 40 twice the same.
    assert (risk.groups.distinct_l, risk.groups.k) == (1, 2)


def both(table: Any) -> tuple[Side, Side]:
    made = indiff.Suppress().sanitize(table)
    return measure_both(table, made, individual=None, why_not=None)


def test_every_number_stands_before_and_after() -> None:
    """All alike, k is 4 and flu is ¾; at 30 alone, k is 2 and each is ½, at 40 all have flu."""
    table = read()
    before, after = both(table)
    part = risk_part(table, before, after)
    found = {one.id: one for one in part.findings}
    expected = {
        "k": (2, 4),
        "singled_out": (0, 0),
        "prosecutor": (1 / 2, 1 / 4),
        "marketer": (1 / 2, 1 / 4),
        "reidentification.dr": (1 / 2, 0),
        "distinct_l:ill": (1, 2),
        "l:ill": (1, 4 / 3),
        "alpha:ill": (1, 3 / 4),
        "t:ill": (1 / 4, 0),
        "beta:ill": (1, 0),
    }
    for id, (was, now) in expected.items():
        assert found[id].before == pytest.approx(was), id
        assert found[id].value == pytest.approx(now), id
        assert (found[id].status, found[id].exactness) == ("measured", "exact")
        assert found[id].about == ("ill" if ":" in id else None)
    assert found["t:ill"].parameters == {"ground_distance": "equal"}
    assert found["k"].parameters == {}
    bars = {(one["metric"], one["about"]): one for one in part.bars}
    assert list(bars) == [
        ("ITPR", "re-identification"), ("DR", "re-identification"), ("ITPR", "ill"), ("DR", "ill"),
    ]  # fmt: skip
    assert (bars["DR", "re-identification"]["before"], bars["DR", "ill"]["after"]) == (0.5, 0)
    assert bars["DR", "ill"]["range"] == [0, 1]
    assert part.columns == [
        {"column": "age", "metric": "DR", "before": 0.5, "after": 0.0},
        {"column": "sex", "metric": "DR", "before": 0.0, "after": 0.0},
    ]


def test_without_a_release_every_number_says_why() -> None:
    table = read()
    before, _ = both(table)
    part = risk_part(table, before, Side(reason="too slow"), status="skipped", suffix=":ill")
    assert {one.status for one in part.findings} == {"skipped"}
    assert {one.reason for one in part.findings} == {"too slow"}
    found = {one.id: one for one in part.findings}
    assert (found["k:ill"].before, found["k:ill"].value) == (2, None)
    assert [one["after"] for one in part.columns] == [None, None]
    assert {one["after"] for one in part.bars} == {None}
    nothing = risk_part(table, Side(reason="no table"), Side())
    assert {(one.status, one.reason) for one in nothing.findings} == {("failed", "no table")}
    assert {one.before for one in nothing.findings} == {None}
    assert nothing.columns == []
    unknown = risk_part(table, Side(), Side())
    assert {one.reason for one in unknown.findings} == {"there is no release"}


def test_people_in_a_group_are_named_as_such() -> None:
    table = read()
    before, after = measure_both(
        table, indiff.Suppress().sanitize(table), individual="who", why_not=None
    )
    found = {one.id: one for one in risk_part(table, before, after).findings}
    assert found["k"].parameters == found["singled_out"].parameters == {"individual": "who"}
    assert found["marketer"].parameters == {}
    assert found["k"].value == 3


def test_equal_rows_of_charts_stay_once() -> None:
    table = read()
    part = risk_part(table, *both(table))
    other = RiskPart(part.findings[:1], [part.bars[0], {"metric": "DR", "about": "x"}], [])
    together = merged([part, other])
    assert together.bars == [*part.bars, {"metric": "DR", "about": "x"}]
    assert together.findings == (*part.findings, part.findings[0])
    assert together.columns == part.columns


def many() -> Any:
    rng = np.random.default_rng(3)
    return read(
        pa.table(
            {
                "who": [str(one) for one in range(60)],
                "age": rng.integers(20, 80, 60),
                "sex": rng.choice(["f", "m"], 60),
                "ill": rng.choice(["flu", "cold"], 60),
            }
        )
    )


def utility(table: Any, plan: Any, suffix: str = "") -> Any:
    made = indiff.Mondrian(k=3).sanitize(table)
    return {one.id: one for one in utility_findings(table, made, plan, suffix=suffix)}


def test_utility_is_what_the_analyst_measures() -> None:
    table = many()
    plan = planned(release={"sanitizer": "mondrian:k=3"}, run={"seed": 4})
    found = utility(table, plan, ":ill")
    analyst = indiff.utility.Analyst(table, seed=4)
    accuracy = found["accuracy:ill"]
    assert accuracy.value == analyst.accuracy("mondrian:k=3")
    assert (accuracy.before, accuracy.seed) == (analyst.original, 4)
    assert accuracy.exactness == "estimate"
    assert accuracy.parameters["majority"] == analyst.majority
    assert accuracy.parameters["task"] == "ill"
    assert accuracy.interval == analyst.interval(accuracy.value, 0.95)
    assert accuracy.parameters["confidence"] == 0.95
    kept = {name: found[f"{name}:ill"] for name in ("ncp", "discernibility", "average_group")}
    assert {one.exactness for one in kept.values()} == {"exact"}
    assert 0 < kept["ncp"].value < 1
    assert 3 <= kept["average_group"].value < 6


def test_an_analyst_who_was_asked_for_and_cannot_be_has_failed() -> None:
    """By default there may be none: then nothing was asked for, and nothing fails."""
    table = read()  # fewer than ten records
    usual = utility(table, planned(release={"sanitizer": "mondrian:k=3"}))
    assert usual["accuracy"].status == "skipped"
    assert "at least 10 records" in usual["accuracy"].reason
    assert usual["ncp"].status == "measured"
    asked = planned(release={"sanitizer": "mondrian:k=3"}, report={"task": "sex"})
    assert utility(table, asked)["accuracy"].status == "failed"
    assert "sex" in utility(table, asked)["accuracy"].title
    made = planned(release={"file": "elsewhere.csv"}, report={"task": "sex"})
    found = utility(many(), made)["accuracy"]
    assert found.status == "failed"
    assert "only whatever made this one could make" in found.reason
    assert utility(many(), planned(release={"file": "elsewhere.csv"}))["accuracy"].status == (
        "skipped"
    )


def test_utility_without_a_release_says_why() -> None:
    found = no_utility(read(), planned(), "failed", "it broke", ":ill")
    assert {one.id for one in found} == {
        "ncp:ill", "discernibility:ill", "average_group:ill", "accuracy:ill",
    }  # fmt: skip
    assert {(one.status, one.reason, one.value) for one in found} == {("failed", "it broke", None)}


def test_what_was_opened_is_closed(left_open: list[object]) -> None:
    both(read())
    assert left_open == []

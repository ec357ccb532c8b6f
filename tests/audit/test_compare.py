"""Comparisons: every setting a row, the front and the recommendation by their definitions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import indiff
from indiff import Table, UserError, compare, read_table
from indiff.audit.compare import Comparison, Row
from indiff.audit.plan.values.settings import sweep


def ward(records: int = 120) -> Table:
    rng = np.random.default_rng(1)
    return read_table(
        pa.table(
            {
                "age": rng.integers(20, 90, records),
                "sex": rng.choice(["F", "M"], records),
                "ill": rng.choice(["flu", "cold", "HIV"], records, p=[0.5, 0.4, 0.1]),
            }
        ),
        quasi=["age", "sex"],
        sensitive="ill",
    )


@cache
def compared() -> Comparison:
    return compare(ward(), ["mondrian:k=2,10,40", "mondrian:l=9"])


def test_each_number_is_that_of_the_instrument_itself() -> None:
    table, row = ward(), compared().rows[1]
    release = indiff.Mondrian(k=10).sanitize(table)
    assert row.models == ("naive-bayes", "frequency", "tree")
    tested = indiff.differential_test(
        table, "mondrian:k=10", model=list(row.models), method="refit"
    )
    risk = indiff.measure_risk(release, quasi=["age", "sex"], sensitive="ill")
    assert row.setting == "mondrian:k=10"
    assert (row.parameter, row.value, row.exactness) == ("k", 10, "exact")
    assert row.delta == pytest.approx(tested.delta)
    assert row.mean == pytest.approx(tested.mean)
    assert row.itpr == pytest.approx(risk.reidentification.itpr)
    assert row.itpr_inference == pytest.approx(risk.inference["ill"].itpr)
    assert (row.k, row.l, row.t) == (risk.groups.k, risk.groups.l, risk.groups.t)
    sizes = np.bincount(np.asarray(release.groups))
    assert row.discernibility == int((sizes**2).sum())
    assert row.average_group == pytest.approx(120 / len(sizes))


def test_the_original_is_measured_once_for_all() -> None:
    found = compared()
    risk = indiff.measure_risk(ward().frame(), quasi=["age", "sex"], sensitive="ill")
    assert found.before["itpr"] == pytest.approx(risk.reidentification.itpr)
    assert found.before["k"] == risk.groups.k
    assert {row.accuracy_original for row in found.rows} == {found.before["accuracy"]}


def test_a_setting_that_fails_stays_with_its_reason() -> None:
    failed = compared().rows[3]
    assert failed.setting == "mondrian:l=9"
    assert failed.status == "failed"
    assert "l=9 cannot be met" in str(failed.reason)
    assert failed.delta is None
    assert not failed.on_front
    assert compared().failed == (failed,)


def test_a_reason_names_no_rare_value() -> None:
    table = read_table(
        pa.table({"age": list(range(12)), "ill": ["HIV"] * 7 + ["flu"] * 5}),
        quasi=["age"],
        sensitive="ill",
    )
    (row,) = compare(table, "mondrian:l=2").rows
    assert row.status == "failed"
    assert "HIV" not in str(row.reason)
    assert "a rare value" in str(row.reason)


def test_what_an_analyst_cannot_train_on_fails() -> None:
    """All 120 records allow k = 100, the 84 that he trains on do not."""
    (row,) = compare(ward(), "mondrian:k=100").rows
    assert row.status == "failed"
    assert row.delta is not None
    assert "the analyst's accuracy: k must be at least 1" in str(row.reason)
    assert compare(ward(), "mondrian:k=100").recommend(delta=2) is None


def test_a_noisy_table_has_no_groups_and_is_judged_by_accuracy() -> None:
    found = compare(ward(), ["laplace:epsilon=1", "mondrian:k=10"])
    noisy = found.rows[0]
    assert found.utility == "accuracy"
    assert noisy.status == "measured"
    assert (noisy.k, noisy.itpr, noisy.discernibility) == (None, None, None)
    assert any("stand for no record" in note for note in noisy.notes)
    assert compare(ward(), "laplace:epsilon=1", utility="ncp").utility == "ncp"


def row(setting: str, delta: float, ncp: float, **more: Any) -> Row:
    given = {"delta": delta, "delta_upper": delta, "mean": delta / 10, "mean_upper": delta / 10,
             "exactness": "exact", "constraint_met": True, "ncp": ncp, "accuracy": 1 - ncp,
             "k": 5, "l": 2.0, "t": 0.3, "itpr": 0.8}  # fmt: skip
    return Row(setting, **{**given, **more})


def of(*rows: Row, utility: Any = "ncp") -> Comparison:
    from indiff.audit.compare import _with_front

    return replace(compared(), rows=_with_front(rows, utility), utility=utility)


def test_mondrian_and_recoding_stand_on_one_chart() -> None:
    table = ward()
    found = compare(table, ["mondrian:k=5", "recoding:k=5,suppression=0.1"])
    state = indiff.Recoding(k=5, suppression=0.1).best(table).state
    assert state is not None
    assert state.suppressed == 4  # who are themselves a group of fewer than 5
    recoded = found.rows[1]
    assert any("4 of the 120 records are suppressed" in note for note in recoded.notes)
    assert recoded.constraint_met is False
    best = found.recommend(delta=2)
    assert best is not None
    assert best.setting == "mondrian:k=5"
    assert not any("suppressed" in note for note in found.rows[0].notes)
    tested = indiff.differential_test(
        table, "recoding:k=5,suppression=0.1", model=list(recoded.models), method="refit"
    )
    assert recoded.delta == pytest.approx(tested.delta)
    assert recoded.exactness == "exact"
    drawn = json.dumps(indiff.plot.tradeoff(found.to_dict()).to_dict())
    assert "mondrian:k=5" in drawn
    assert "recoding:k=5,suppression=0.1" in drawn


def test_the_front_by_hand() -> None:
    found = of(row("a", 0.9, 0.1), row("b", 0.5, 0.3), row("c", 0.6, 0.4), row("d", 0.5, 0.5),
               row("e", 0.5, 0.3), row("f", 0.1, 0.9, status="failed"))  # fmt: skip
    assert [one.setting for one in found.rows if one.on_front] == ["a", "b", "e"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    found = of(*(row(str(i), d / 5, u / 5) for i, (d, u) in enumerate(points)))
    for one, (delta, ncp) in zip(found.rows, points, strict=True):
        beaten = any(d <= delta and u <= ncp and (d < delta or u < ncp) for d, u in points)
        assert one.on_front == (not beaten)


def test_recommend_keeps_most_utility_under_the_limits() -> None:
    found = of(row("a", 0.9, 0.1), row("b", 0.3, 0.3), row("c", 0.2, 0.5, k=9))
    assert found.recommend(delta=0.4).setting == "b"  # type: ignore[union-attr]
    assert found.recommend(delta=0.4, k=6).setting == "c"  # type: ignore[union-attr]
    assert found.recommend(delta=0.1) is None
    by_accuracy = of(row("a", 0.1, 0.4), row("b", 0.1, 0.2), utility="accuracy")
    assert by_accuracy.recommend(delta=0.1).setting == "b"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "unfit",
    [
        {"status": "failed"},
        {"constraint_met": False},
        {"exactness": "lower-bound"},
        {"delta_upper": 0.2, "exactness": "estimate"},
        {"delta_upper": math.nan},
        {"delta_upper": None},
        {"ncp": None},
    ],
)
def test_what_is_not_known_to_keep_the_limit_is_never_recommended(unfit: dict[str, Any]) -> None:
    assert of(row("a", 0.1, 0.3)).recommend(delta=0.1) is not None
    assert of(replace(row("a", 0.1, 0.3), **unfit)).recommend(delta=0.1) is None


def test_limits_are_checked() -> None:
    with pytest.raises(UserError, match="no limit 'detla': did you mean 'delta'"):
        compared().recommend(detla=1)
    with pytest.raises(UserError, match="a limit on delta is a number of at least 0; got -1"):
        compared().recommend(delta=-1)
    with pytest.raises(UserError, match="needs a limit, such as delta"):
        compared().recommend()


def test_json_and_frame() -> None:
    document = json.loads(compared().to_json(limits={"delta": 2}))
    assert document["kind"] == "comparison"
    assert document["recommended"] == "mondrian:k=2"
    promised = ("setting", "parameter", "value", "delta", "mean", "exactness", "itpr", "k", "l",
                "t", "ncp", "discernibility", "average_group", "accuracy", "accuracy_original",
                "on_front", "status", "reason")  # fmt: skip
    assert all(tuple(one)[: len(promised)] == promised for one in document["rows"])
    again = json.loads(
        compare(ward(), ["mondrian:k=2,10,40", "mondrian:l=9"]).to_json(limits={"delta": 2})
    )
    del document["timing"], again["timing"]
    assert document == again
    assert compared().to_frame()["setting"].to_pylist() == [r.setting for r in compared().rows]


class Impatient:
    """A sanitizer during which the user gives up."""

    randomized = False

    def __str__(self) -> str:
        return "impatient"

    def sanitize(self, table: Table, rng: Any = None) -> Any:
        raise KeyboardInterrupt


def test_an_interruption_keeps_what_was_measured() -> None:
    found = compare(ward(), ["mondrian:k=10", Impatient(), "mondrian:k=20"])
    assert found.interrupted
    assert [one.status for one in found.rows] == ["measured", "failed", "failed"]
    assert [one.reason for one in found.rows[1:]] == [
        "interrupted",
        "interrupted before this setting",
    ]


def test_sweeps() -> None:
    assert [s.text for s in sweep("mondrian:k=2,5,l=3")] == ["mondrian:k=2,l=3", "mondrian:k=5,l=3"]
    assert sweep("mondrian:k=2,5,l=3")[1].value == 5
    assert [s.parameter for s in sweep("mondrian:k=2,5,l=2,3")] == [None] * 4
    with pytest.raises(UserError, match="'k' twice in 'mondrian:k=2,k=3'"):
        sweep("mondrian:k=2,k=3")
    with pytest.raises(UserError, match="got '5' in 'mondrian:5'"):
        sweep("mondrian:5")


def test_bad_questions() -> None:
    with pytest.raises(UserError, match="no sanitizer 'mondrain': did you mean 'mondrian'"):
        compare(ward(), "mondrain:k=2")
    with pytest.raises(UserError, match="may be compared once; got 'mondrian:k=2' twice"):
        compare(ward(), ["mondrian:k=2", "mondrian:k=2,3"])
    with pytest.raises(UserError, match="no measure of utility 'ncpp'"):
        compare(ward(), "mondrian:k=2", utility="ncpp")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="needs a sanitizer"):
        compare(ward(), [])

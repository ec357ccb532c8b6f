"""What an audit makes of tests that skip, fail, stop or run out of time: nothing is ever a pass."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

import indiff
from indiff.audit.findings import exposure as room
from indiff.audit.findings.exposure import (
    INTERRUPTED,
    TIME_IS_UP,
    Exposure,
    measure_beside,
    measure_exposure,
    measure_point,
    missed,
    parameter_curve,
    settings,
    unmeasured,
)
from indiff.audit.plan.values.settings import Setting
from indiff.audit.redaction import Redaction
from indiff.differential.strongest import choose_models
from indiff.sanitizers.sanitizer import as_sanitizer

NAMES = ["delta", "mean", "quantile", "changed_predictions", "told_by_the_crowd"]


@pytest.fixture(scope="module")
def tested(table: Any) -> Any:
    return indiff.differential_test(table, "mondrian:k=4", model="frequency")


def planned(models: Any = ("frequency",), **sections: Any) -> Any:
    sections["adversary"] = {"membership": False} | sections.get("adversary", {})
    sections["adversary"]["models"] = list(models)
    data = {"quasi": ["age", "sex"], "sensitive": ["ill"]}
    sections.setdefault("release", {"sanitizer": "mondrian:k=4"})
    return indiff.Plan(data=data, **sections)


def quiet(*_: Any) -> None:
    """Say nothing."""


def exposed(table: Any, plan: Any) -> Exposure:
    return measure_exposure(table, as_sanitizer("mondrian:k=4"), plan, quiet, None, str)


def test_what_was_not_finished_is_counted(tested: Any) -> None:
    short = dataclasses.replace(tested, requested=50)
    found = Exposure((), {"frequency": tested, "tree": short})
    assert found.unfinished == ["tree was asked about 50 and measured 40"]


def test_a_curve_for_each_adversary_that_measured_something(tested: Any) -> None:
    none = dataclasses.replace(
        tested, distances=np.zeros(0), beliefs=tested.beliefs[:0], records=tested.records[:0]
    )
    (curve,) = Exposure((), {"frequency": tested, "tree": none}).curves
    assert curve["name"] == "ill: frequency"
    assert (max(curve["x"]), curve["y"][-1]) == (tested.delta, 1.0)
    still = dataclasses.replace(tested, distances=np.zeros(len(tested.distances)))
    (curve,) = Exposure((), {"frequency": still}).curves  # to learn nothing was measured, too
    assert (max(curve["x"]), curve["y"][-1]) == (0.0, 1.0)


def test_one_adversary_is_measured_with_what_the_plan_sets(table: Any, tested: Any) -> None:
    found = exposed(table, planned())
    assert [one.id for one in found.findings] == [f"{name}:ill:frequency" for name in NAMES]
    assert found.findings[0].value == tested.delta
    assert found.combined is found.results["frequency"]
    assert not found.interrupted
    plan = planned(
        adversary={"distance": "tv", "runs": 7, "method": "sampled", "confidence": 0.9},
        run={"seed": 5, "jobs": 1, "time": 60},
    )
    given = settings(plan, 4)
    assert given["confidence"] == pytest.approx(1 - 0.1 / 4)  # all four hold together
    expected = {"distance": "tv", "runs": 7, "method": "sampled", "seed": 5, "jobs": 1, "time": 60}
    assert {name: given[name] for name in expected} == expected


def test_the_strongest_of_several_is_added(table: Any) -> None:
    found = exposed(table, planned(["naive-bayes", "frequency"]))
    ids = [one.id for one in found.findings]
    assert ids[-3:] == [
        "delta:ill:strongest", "mean:ill:strongest", "changed_predictions:ill:strongest",
    ]  # fmt: skip
    deltas: list[Any] = [one.value for one in found.findings if one.metric == "delta"]
    assert deltas[2] == max(deltas[:2])
    assert isinstance(found.combined, indiff.StrongestResult)


def test_membership_is_asked_of_each_adversary_where_it_is_wanted(table: Any) -> None:
    found = exposed(table, planned(["naive-bayes", "frequency"], adversary={"membership": True}))
    ids = [one.id for one in found.findings if one.metric == "advantage"]
    assert ids == ["advantage:ill:naive-bayes", "advantage:ill:frequency"]


def broken(monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Any]) -> None:
    """Let a model raise, or return something else, where it would be asked."""
    really = indiff.differential_test

    def asked(*given: Any, model: Any, **more: Any) -> Any:
        outcome = outcomes.get(str(model))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome or really(*given, model=model, **more)

    monkeypatch.setattr(room, "differential_test", asked)


def test_an_adversary_that_fails_leaves_the_others(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {"naive-bayes": ValueError("it broke")})
    found = exposed(table, planned(["naive-bayes", "frequency"]))
    by = {(one.metric, one.id.split(":")[-1]): one for one in found.findings}
    for name in NAMES:
        assert (by[name, "naive-bayes"].status, by[name, "naive-bayes"].reason) == (
            "failed", "it broke",
        )  # fmt: skip
        assert by[name, "frequency"].status == "measured"
    assert list(found.results) == ["frequency"]
    assert "strongest" not in {who for _, who in by}


def test_an_interruption_skips_the_rest_and_is_told(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {"naive-bayes": KeyboardInterrupt()})
    found = exposed(table, planned(["frequency", "naive-bayes", "tree"]))
    status = {one.id: one.status for one in found.findings}
    assert status["delta:ill:frequency"] == "measured"
    assert status["delta:ill:naive-bayes"] == status["delta:ill:tree"] == "skipped"
    assert {one.reason for one in found.findings if one.status == "skipped"} == {INTERRUPTED}
    assert found.interrupted


def test_a_test_that_was_cut_short_skips_the_rest(
    table: Any, tested: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch, {"frequency": dataclasses.replace(tested, requested=99)})
    found = exposed(table, planned(["frequency", "naive-bayes"]))
    assert found.interrupted
    assert {one.id for one in found.findings if one.status == "measured"} == {
        f"{name}:ill:frequency" for name in NAMES
    }


@pytest.mark.parametrize(
    ("failures", "reason"), [(("record 3: no",), "record 3: no"), ((), "no record was measured")]
)
def test_where_no_record_was_measured_the_first_failure_says_why(
    table: Any, tested: Any, monkeypatch: pytest.MonkeyPatch, failures: Any, reason: str
) -> None:
    none = dataclasses.replace(
        tested, distances=np.zeros(0), failures=failures, requested=len(failures)
    )
    broken(monkeypatch, {"frequency": none})
    found = exposed(table, planned())
    assert {(one.status, one.reason) for one in found.findings} == {("failed", reason)}
    assert found.results == {}
    assert found.combined is None


def test_the_strongest_that_cannot_be_told_has_failed(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ValueError("apart")

    monkeypatch.setattr(room, "strongest", fail)
    found = exposed(table, planned(["naive-bayes", "frequency"]))
    last = found.findings[-len(NAMES) :]
    assert {(one.status, one.reason) for one in last} == {("failed", "apart")}
    assert found.combined is None
    assert set(found.results) == {"naive-bayes", "frequency"}


def test_progress_is_told_by_stage_and_share(table: Any) -> None:
    told: list[tuple[str, int, int]] = []
    plan = planned(["naive-bayes", "frequency"])
    measure_exposure(
        table, as_sanitizer("mondrian:k=4"), plan, lambda *one: told.append(one), None, str
    )
    assert {stage for stage, _, _ in told} == {"testing 40 records"}
    shares = [done / total for _, done, total in told]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.5 in shares


def test_distances_are_told_to_whoever_listens() -> None:
    class Listener:
        def __init__(self) -> None:
            self.heard: list[Any] = []

        def __call__(self, *one: Any) -> None:
            self.heard.append(one)

        def measured(self, distance: float) -> None:
            self.heard.append(distance)

    listener = Listener()
    staged = room._Staged(listener, "testing")
    staged(3, 9)
    staged.measured(0.5)
    assert listener.heard == [("testing", 3, 9), 0.5]
    room._Staged(quiet, "testing").measured(0.5)  # nobody listens


def test_findings_that_were_not_made(table: Any) -> None:
    found = missed(table, "skipped", "no time", "tree")
    assert [one.id for one in found] == [f"{name}:ill:tree" for name in NAMES]
    assert {(one.status, one.reason, one.about) for one in found} == {("skipped", "no time", "ill")}
    both = planned(["naive-bayes", "frequency"])
    for sanitizer in (None, as_sanitizer("mondrian:k=4")):
        whole = unmeasured(table, sanitizer, both, "failed", "no release")
        assert len(whole.findings) == 2 * len(NAMES)
        assert whole.results == {}
    noisy = unmeasured(table, as_sanitizer("laplace:epsilon=1"), planned(["auto"]), "failed", "no")
    assert {one.id.split(":")[-1] for one in noisy.findings} == {"frequency"}


def test_beside_its_original_a_release_links_and_drops(table: Any, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(table.source, tmp_path / "copy.csv")

    def found(models: Any = ("frequency",), **release: Any) -> Exposure:
        made = {"file": str(tmp_path / "copy.csv"), **release}
        return measure_beside(table, planned(models, release=made), str)

    both = found(("naive-bayes", "frequency"))  # who is alone does not depend on who looks
    assert sum(one.metric == "one_candidate" for one in both.findings) == 1

    known, unknown = found(rows_in_order=True), found()
    by = {one.id: one for one in known.findings}
    assert by["delta:ill:frequency"].status == "measured"
    assert by["delta:ill:frequency"].exactness == "approximation"
    assert {one.status for one in unknown.findings if one.metric == "delta"} == {"skipped"}
    alone = [one for one in known.findings if one.metric == "one_candidate"]
    assert len(alone) == 1
    cells = list(zip(*(table.source[name].to_pylist() for name in ("age", "sex")), strict=True))
    assert alone[0].value == sum(cells.count(one) == 1 for one in cells)
    assert alone[0].exactness == "exact"
    assert alone[0].parameters["released_rows"] == 40
    assert not known.interrupted
    # All records where only a number is asked for, those that are listed where they are.
    for targets, count in ((3, 40), ([1, 2], 2)):
        plan = planned(
            adversary={"targets": targets},
            release={"file": str(tmp_path / "copy.csv"), "rows_in_order": True},
        )
        assert len(measure_beside(table, plan, str).results["frequency"].distances) == count


def curve(table: Any, plan: Any, say: Any = quiet) -> Any:
    return parameter_curve(table, plan, Redaction(table), say)


def test_other_settings_of_a_parameter(table: Any, tested: Any) -> None:
    assert curve(table, planned()) is None
    told: list[Any] = []
    plan = planned(report={"parameter": "mondrian:k=2,4,500"})
    found = curve(table, plan, lambda *one: told.append(one))
    assert found["parameter"] == "k"
    two, four, many = found["points"]
    assert [one["setting"] for one in (two, four, many)] == [
        "mondrian:k=2", "mondrian:k=4", "mondrian:k=500",
    ]  # fmt: skip
    assert (four["delta"], four["mean"], four["reason"]) == (tested.delta, tested.mean, None)
    assert (four["delta_upper"], four["exactness"]) == (tested.delta_upper, "exact")
    assert {one["above"] for one in found["points"]} == {None}  # no limit, nobody above it
    assert two["models"] == ["frequency"]
    assert (many["delta"], many["mean"], many["models"]) == (None, None, [])
    assert "got 500" in many["reason"]
    begun = [one[0] for one in told if one[1:] == (0, 0)]
    assert begun[0] == "testing other parameters: mondrian:k=2, 1 of 3"
    assert begun[-1] == "testing other parameters: mondrian:k=500, 3 of 3"


def test_whoever_is_above_the_limit_is_counted_at_every_setting(table: Any, tested: Any) -> None:
    limit = float(np.median(np.unique(tested.distances)))
    above = sum(1 for distance in tested.distances if distance > limit)
    assert 0 < above < 20 < sum(1 for distance in tested.distances if distance <= limit)
    plan = planned(report={"parameter": "mondrian:k=4,500"}, limits={"delta": limit})
    four, many = curve(table, plan)["points"]
    assert (four["above"], many["above"]) == (above, None)


def test_the_time_of_the_curve_is_one_for_all_settings(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(report={"parameter": "mondrian:k=2,4"}, run={"time": 60})
    now = iter([1_000.0, 1_059.9, 1_060.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now, 2_000.0))
    done = dataclasses.replace(
        indiff.differential_test(table, "mondrian:k=2", model="frequency"), requested=40
    )
    broken(monkeypatch, {"frequency": done})
    monkeypatch.setattr(
        room, "differential_test", lambda *_, **more: dataclasses.replace(done, seed=more["seed"])
    )
    first, second = curve(table, plan)["points"]
    assert (first["delta"], first["reason"]) == (done.delta, None)
    assert (second["delta"], second["reason"]) == (None, TIME_IS_UP)


def test_an_interruption_ends_the_curve(
    table: Any, tested: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = dataclasses.replace(tested, requested=99)
    monkeypatch.setattr(room, "differential_test", lambda *_, **__: short)
    found = curve(table, planned(report={"parameter": "mondrian:k=2,4"}))
    (point,) = found["points"]
    assert point["reason"] == "not every record was measured"
    assert point["delta"] == tested.delta


def test_one_other_setting_is_tested_like_the_plans_own(
    table: Any, tested: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its confidence, and by adversaries for whom all the work is there."""
    given: dict[str, Any] = {}
    choose = choose_models

    def chosen(*args: Any, **more: Any) -> Any:
        given.update(more)
        return choose(*args, **more)

    def test(*_: Any, **more: Any) -> Any:
        given.update(more)
        return tested

    monkeypatch.setattr(room, "choose_models", chosen)
    monkeypatch.setattr(room, "differential_test", test)
    plan = planned(["auto"], adversary={"confidence": 0.9})
    measure_point(table, plan, Setting("mondrian:k=2", None, None))
    assert (given["share"], given["confidence"]) == (1, 0.9)
    measure_point(table, plan, Setting("mondrian:k=2", None, None), share=3)
    assert (given["share"], given["confidence"]) == (3, 0.9)


def test_a_tree_is_asked_where_one_test_is_little_work(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 records × (40 + 2² patterns × 2 values) for one test, twice as much for two."""
    monkeypatch.setattr("indiff.differential.strongest.MOST_WORK", 40 * 48)
    plan, mondrian = planned(["auto"]), as_sanitizer("mondrian:k=4")
    assert "tree" in room.adversaries_of(plan, mondrian, table).named
    assert "tree" not in room.adversaries_of(plan, mondrian, table, 2).named


def test_a_distance_at_the_limit_is_not_above_it(table: Any, tested: Any) -> None:
    """Nor is a count of those above a matter of the largest alone."""
    for limit in np.unique(tested.distances)[[0, -2, -1]]:
        plan = planned(["frequency"], limits={"delta": float(limit)})
        point, _ = measure_point(table, plan, Setting("mondrian:k=4", None, None))
        assert point["above"] == int((tested.distances > limit).sum())

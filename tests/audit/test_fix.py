"""Removing outliers from the original (DIT v2, Section 4.5.1)."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff import Mondrian, Table, UserError, fix, read_table
from indiff.audit.fix import DOES_NOT_PROVE


def crowd(records: int = 60) -> Table:
    """A crowd with a few lonely old people of a rare illness."""
    rng = np.random.default_rng(4)
    ages = np.concatenate([rng.integers(20, 50, records), [80, 84, 88, 92, 96]])
    ills = np.concatenate(
        [rng.choice(["flu", "cold"], records), ["HIV", "flu", "HIV", "flu", "HIV"]]
    )
    return read_table(pa.table({"age": ages, "ill": ills}), quasi=["age"], sensitive="ill")


def test_every_round_is_a_test_of_what_was_left() -> None:
    """The rule again, step by step, on tables that are read anew without the removed records."""
    table, limit = crowd(), 0.4
    fixed = fix(table, Mondrian(k=4), model="naive-bayes", delta=limit, budget=30)
    gone: list[int] = []
    for one in fixed.rounds:
        left = table.take([r for r in range(len(table)) if r not in gone])
        tested = indiff.differential_test(left, Mondrian(k=4), model="naive-bayes", method="refit")
        assert one.removed == len(gone)
        assert one.delta == pytest.approx(tested.delta, abs=1e-9)
        assert one.above == int((tested.distances > limit).sum())
        worst = [row["record"] for row in tested.worst(-(-one.above // 4))] if one.above else []
        gone += worst
    assert fixed.holds
    assert sorted(gone) == fixed.removed.tolist()
    assert fixed.rounds[-1].delta <= limit < fixed.rounds[0].delta


def test_the_release_is_that_of_the_records_left_and_is_verified() -> None:
    table = crowd()
    fixed = fix(table, Mondrian(k=4), model="naive-bayes", delta=0.4, budget=30)
    left = table.take(np.flatnonzero(~np.isin(table.records, fixed.removed)))
    assert fixed.release is not None
    assert fixed.release.to_frame().equals(Mondrian(k=4).sanitize(left).to_frame())
    assert fixed.verified_by == f"refit of all {len(left)} records"
    assert fixed.verified_delta == pytest.approx(fixed.delta, abs=1e-9)
    assert fixed.utility_before is not None
    assert fixed.utility_after is not None
    assert fixed.utility_after.discernibility is not None
    suppressed = len(fixed.removed) * len(table)
    assert fixed.utility_after.discernibility >= suppressed


def test_a_recoding_is_fixed_by_the_same_rule() -> None:
    table, sanitizer = crowd(), indiff.Recoding(k=4, suppression=0.1, suppressed="drop")
    fixed = fix(table, sanitizer, model="frequency", delta=0.2, budget=30)
    left = table.take(np.flatnonzero(~np.isin(table.records, fixed.removed)))
    tested = indiff.differential_test(left, sanitizer, model="frequency", method="refit")
    assert fixed.rounds[0].delta > 0.2
    assert fixed.rounds[-1].delta == pytest.approx(tested.delta, abs=1e-9)
    assert fixed.holds == (tested.delta <= 0.2)
    assert fixed.release is not None
    assert fixed.release.to_arrow().equals(sanitizer.sanitize(left).to_arrow())


def test_nothing_is_removed_where_nothing_stands_out() -> None:
    fixed = fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=2.0)
    assert fixed.holds
    assert len(fixed.rounds) == 1
    assert not len(fixed.removed)
    assert fixed.utility_before is not None
    assert fixed.utility_after is not None
    assert fixed.utility_before.to_dict() == fixed.utility_after.to_dict()


def test_a_used_budget_is_no_success(tmp_path: Path) -> None:
    fixed = fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=0.01, budget=3)
    assert (fixed.status, len(fixed.removed)) == ("budget", 3)
    assert "budget of 3 removals is used" in fixed.reason
    assert fixed.release is None
    assert fixed.verified_delta is None
    paths = fixed.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fix.json", "fixed-removed.csv"]
    assert "fixed-release.csv" not in paths


def test_the_budget_is_a_number_or_a_share() -> None:
    assert fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=2.0).budget == 3  # 5 % of 65
    assert fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=2.0, budget=0.5).budget == 32
    assert fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=2.0, budget=0).budget == 0
    for stray in (-1, 64, 2.5, True):
        with pytest.raises(UserError, match="from 0 to 63, or a share of them below 1"):
            fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=2.0, budget=stray)


def test_removing_may_end_where_the_constraint_cannot_be_met() -> None:
    table = read_table(
        pa.table({"age": list(range(12)), "ill": ["flu"] * 6 + ["HIV"] * 6}),
        quasi=["age"],
        sensitive="ill",
    )
    fixed = fix(table, Mondrian(l=2), model="naive-bayes", delta=0.0, budget=10, share=0.05)
    assert fixed.status == "stopped"
    assert "cannot be met" in fixed.reason
    assert "HIV" not in fixed.reason
    assert fixed.release is None


def test_what_cannot_be_fixed_is_refused() -> None:
    with pytest.raises(UserError, match="void differential privacy; got laplace:epsilon=1"):
        fix(crowd(), "laplace:epsilon=1", delta=0.1)
    with pytest.raises(
        UserError, match="a limit on delta \\(wasserstein\\) is a number from 0 to 2; got -1"
    ):
        fix(crowd(), "mondrian:k=4", delta=-1)
    two = read_table(
        pa.table({"age": [1, 2, 3], "ill": list("aba"), "poor": list("yny")}),
        quasi=["age"],
        sensitive=["ill", "poor"],
    )
    with pytest.raises(UserError, match="exactly one sensitive attribute is needed"):
        fix(two, "mondrian:k=1", model="naive-bayes", delta=1)
    with pytest.raises(UserError, match="l=9 cannot be met"):
        fix(crowd(), "mondrian:l=9", model="naive-bayes", delta=1)


def test_several_models_are_all_kept_below() -> None:
    fixed = fix(crowd(), Mondrian(k=4), delta=0.6, budget=40, model=["naive-bayes", "frequency"])
    assert fixed.model == "naive-bayes, frequency"
    assert fixed.holds
    left = crowd().take(np.flatnonzero(~np.isin(crowd().records, fixed.removed)))
    for model in ("naive-bayes", "frequency"):
        assert indiff.differential_test(left, Mondrian(k=4), model=model).delta <= 0.6


def test_files_are_private_and_hold_record_numbers_alone(tmp_path: Path) -> None:
    fixed = fix(crowd(), Mondrian(k=4), model="naive-bayes", delta=0.4, budget=30)
    paths = fixed.write(tmp_path)
    assert list(paths) == ["fixed-release.csv", "fixed-removed.csv", "fix.json"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths.values()} == {0o600}
    numbers = paths["fixed-removed.csv"].read_text().split()[1:]
    assert [int(number) for number in numbers] == fixed.removed.tolist()
    document = json.loads(paths["fix.json"].read_text())
    assert document["removed_records"] == fixed.removed.tolist()
    assert [one["delta"] for one in document["rounds"]] == [one.delta for one in fixed.rounds]
    assert document["does_not_prove"] == DOES_NOT_PROVE
    assert "HIV" not in paths["fix.json"].read_text()

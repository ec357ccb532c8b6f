"""What an audit shares: one walk for all adversaries, one test of the plan's own setting."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import indiff
from indiff.audit.findings import exposure as room
from indiff.audit.findings.exposure import measure_exposure, parameter_curve
from indiff.audit.redaction import Redaction
from indiff.differential.mondrian import leave_one_out as mondrian
from indiff.sanitizers.sanitizer import as_sanitizer


def planned(**sections: Any) -> Any:
    data = {"quasi": ["age", "sex"], "sensitive": ["ill"]}
    return indiff.Plan(data=data, release={"sanitizer": "mondrian:k=4"}, **sections)


def quiet(*_: Any) -> None:
    """Say nothing."""


def test_the_curve_has_the_test_of_the_plans_own_setting(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same numbers as those of a test anew, which is made of the other settings alone."""
    plan = planned(limits={"delta": 0.4}, report={"parameter": "mondrian:k=3,4"})
    own = measure_exposure(table, as_sanitizer("mondrian:k=4"), plan, quiet, None, str)
    anew, asked = parameter_curve(table, plan, Redaction(table), quiet), []

    def test(table: Any, sanitizer: Any, **more: Any) -> Any:
        asked.append(sanitizer.k)
        return indiff.differential_test(table, sanitizer, **more)

    monkeypatch.setattr(room, "differential_test", test)
    assert parameter_curve(table, plan, Redaction(table), quiet, own) == anew
    assert asked == [3]
    stopped = dataclasses.replace(own, interrupted=True)  # which has not the whole answer
    assert parameter_curve(table, plan, Redaction(table), quiet, stopped) == anew
    assert asked == [3, 3, 4]


def test_all_adversaries_of_an_audit_share_one_walk(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, walks = planned(), []
    walk = mondrian.leave_one_out_for

    def watched(table: Any, sanitizer: Any, models: Any, *more: Any, **how: Any) -> Any:
        walks.append(len(models))
        return walk(table, sanitizer, models, *more, **how)

    monkeypatch.setattr(mondrian, "leave_one_out_for", watched)
    found = measure_exposure(table, as_sanitizer("mondrian:k=4"), plan, quiet, None, str)
    assert list(found.results) == ["naive-bayes", "frequency", "tree"]
    assert walks == [3]

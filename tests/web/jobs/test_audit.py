"""What a run tells while it is under way."""

from __future__ import annotations

from typing import Any

import pytest

import indiff
from indiff.web.jobs.audit import Follower


def test_distances_are_told_while_records_are_tested() -> None:
    told: list[dict[str, Any]] = []
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        adversary={"models": "frequency", "method": "refit", "targets": 40, "membership": False},
        report={"worst": 1},
        run={"jobs": 1},
    )
    follower = Follower(lambda **said: told.append(said))
    result = indiff.run_audit(plan, indiff.datasets.demo(records=200), progress=follower)
    testing = [said for said in told if said["step"].startswith("testing 200 records")]
    assert (testing[0]["done"], testing[0]["total"]) == (None, 200)
    assert testing[-1]["done"] == testing[-1]["total"] == 40
    curves = [said["running_cdf"] for said in told if "running_cdf" in said]
    assert curves[0]["measured"] < 40
    assert all(0 < curve["y"][-1] <= 1 for curve in curves)
    assert max(follower._distances) == pytest.approx(max(one.delta for one in result.results))

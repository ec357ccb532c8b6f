"""The estimate of the time: trials on a few records, scaled up by their own clock."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import indiff
from indiff.audit.plan.plan import Plan
from indiff.web.jobs import estimating
from indiff.web.jobs.estimating import FIRST_RECORDS, PROCESS, Trials
from indiff.web.jobs.guessing import guess
from tests.web.site import V1, Site, people


class Machine:
    """A machine whose every run takes the time that the test says, and none in truth."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, table: indiff.Table) -> None:
        self.now, self.tried = 0.0, []  # type: float, list[tuple[int, int]]
        self.cold = 3.0
        monkeypatch.setattr(estimating, "clock", lambda: self.now)
        monkeypatch.setattr("indiff.audit.run.run_audit", self.run)
        monkeypatch.setattr("indiff.audit.run.read_data", lambda plan: table)
        monkeypatch.setattr("indiff.web.jobs.audit.write_results", lambda result, folder: None)
        monkeypatch.setattr("indiff.differential.differential_test", self.test)

    def run(self, plan: Plan, few: indiff.Table) -> None:
        targets = plan.adversary.targets
        assert isinstance(targets, int)
        self.tried.append((len(few), targets))
        self.now += self.cold + 0.5 + 1e-4 * len(few)
        self.cold = 0.0

    def test(self, table: indiff.Table, sanitizer: Any, *, targets: int, **options: Any) -> None:
        self.now += 0.2 + targets * (0.01 + 1e-5 * len(table))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch, table_of(20_000))


@cache
def table_of(records: int) -> indiff.Table:
    frame = indiff.datasets.demo(records=records)
    return indiff.read_table(frame, quasi=["age", "sex"], sensitive="diagnosis")


def plan_of(sanitizer: str = "mondrian:k=5", worst: int = 0, **adversary: Any) -> Plan:
    return Plan(
        data={"quasi": ["age", "sex"], "sensitive": "diagnosis"},
        release={"sanitizer": sanitizer},
        adversary=adversary,
        report={"worst": worst},
    )


def test_a_walk_through_the_table_is_tried_at_two_sizes(machine: Machine, tmp_path: Path) -> None:
    found = Trials(tmp_path / "trial", 0.0).seconds(plan_of())
    assert machine.tried == [(FIRST_RECORDS, 1)] * 2 + [(1000, 1000), (10_000, 10_000)]
    # The start of a worker, then 0.5 s and a ten-thousandth of a second for each record.
    assert found == pytest.approx(PROCESS + 3.0 + 0.5 + 1e-4 * 20_000)


def test_it_grows_with_the_records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = []
    for records in (1_000, 5_000, 20_000, 40_000):
        Machine(monkeypatch, table_of(records))
        found.append(Trials(tmp_path / "trial", 0.0).seconds(plan_of(models=["naive-bayes"])))
    assert found == pytest.approx([PROCESS + 3.5 + 1e-4 * n for n in (1e3, 5e3, 2e4, 4e4)])


def test_it_grows_with_the_targets_and_the_runs(machine: Machine, tmp_path: Path) -> None:
    trials = Trials(tmp_path / "trial", 0.0)

    def seconds(sanitizer: str, **adversary: Any) -> float:
        return trials.seconds(plan_of(sanitizer, worst=0, **adversary))

    # Regression learns again for each record: 0.01 s and, with 20,000 records, 0.2 s.
    few, more = (seconds("mondrian:k=5", models=["logistic"], targets=n) for n in (11, 111))
    assert more - few == pytest.approx(100 * 0.21)
    assert seconds("mondrian:k=5", models=["logistic"]) - few == pytest.approx((20_000 - 11) * 0.21)
    # Two adversaries take as long as both.
    both = seconds("mondrian:k=5", models=["logistic", "knn"], targets=111)
    assert both - more == pytest.approx(110 * 0.21)
    # Of a randomized sanitizer five runs are tried, and each of them is asked for more.
    noisy = {"distance": "tv", "targets": 11}
    once, often = (seconds("laplace:epsilon=1", runs=runs, **noisy) for runs in (5, 50))
    assert often - once == pytest.approx(9 * 10 * 0.21)


def test_the_most_exposed_records_are_asked_once_more(machine: Machine, tmp_path: Path) -> None:
    trials = Trials(tmp_path / "trial", 0.0)
    plans = [plan_of("identity", worst=worst, targets=50, models=["tree"]) for worst in (0, 10)]
    none, ten = (trials.seconds(plan) for plan in plans)
    assert ten - none == pytest.approx(10 * 0.21)


def test_what_is_compiled_in_a_trial_is_not_waited_for_again(
    machine: Machine, tmp_path: Path
) -> None:
    machine.cold = 60.0
    trials = Trials(tmp_path / "trial", 0.0)
    assert trials.seconds(plan_of()) == pytest.approx(PROCESS + estimating.MOST_START + 0.5 + 2.0)


def test_it_is_made_before_anything_starts(site: Site) -> None:
    dataset = site.upload(people())["id"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}, {"command": "ours"}]}
    answer = site.client.post(f"{V1}/datasets/{dataset}/estimates", json=request)
    site.work()
    found = site.client.get(f"{V1}/estimates/{answer.json()['id']}").json()
    assert (found["state"], found["problem"]) == ("done", None)
    assert found["seconds"] >= 1
    assert "for 2 runs on 120 records" in found["sentence"]
    assert site.client.get(f"{V1}/runs").json() == []
    assert not site.server.settings.run_folder(answer.json()["id"]).exists()


def test_a_trial_ends_with_a_tenth_of_the_run(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is under way then is left, and what was guessed stands."""
    dataset = site.upload(people())["id"]
    began: list[float] = []

    def endless(self: Trials, plan: Plan) -> float:
        began.append(time.monotonic())
        time.sleep(60)
        return 1.0

    monkeypatch.setattr(Trials, "seconds", endless)
    monkeypatch.setattr(estimating, "budget_of", lambda *given: 2.0)
    plans = [plan_of().model_dump(exclude_none=True)]
    (job,) = site.server.store.add_jobs("estimate", dataset, [("estimate", {"plans": plans})])
    site.work()
    assert time.monotonic() - began[0] < 5
    folder = site.server.settings.run_folder(job)
    assert [path.name for path in folder.iterdir()] == []  # nothing of the table is left there
    found = site.client.get(f"{V1}/estimates/{job}").json()
    assert (found["state"], found["problem"]) == ("done", None)
    assert found["sentence"].startswith("between ")


def test_its_budget_is_a_tenth_of_a_fast_run() -> None:
    plans = [plan_of(models=["tree"]).model_dump()] * 3
    alone = estimating.budget_of(plans, 50_000, 1)
    assert alone == pytest.approx(3 * guess(plans[0], 50_000).low / 10)
    assert estimating.budget_of(plans, 50_000, 3) == pytest.approx(alone / 3)

"""The guess of the time: a range that grows with the work and narrows with earlier runs."""

from __future__ import annotations

from typing import Any

import pytest

from indiff.web.jobs.guessing import START, Guess, guess
from indiff.web.jobs.queue import Queue
from tests.web.site import V1, Site, people


def plan_of(sanitizer: str = "mondrian:k=5", **adversary: Any) -> dict[str, Any]:
    known = {"models": ["naive-bayes"], **adversary}
    return {
        "data": {"sensitive": ["ill"]},
        "release": {"sanitizer": sanitizer},
        "adversary": known,
    }


def test_more_work_takes_longer() -> None:
    small = guess(plan_of(), 1000)
    assert small.low < (small.high or 0)
    for more in (
        guess(plan_of(), 100_000),
        guess(plan_of(models=["tree"]), 1000),
        guess(plan_of(models=["auto"]), 1000),
    ):
        assert more.low > small.low
        assert (more.high or 0) > (small.high or 0)
    few = guess(plan_of(models=["tree"], targets=10), 50_000)
    assert few.low < guess(plan_of(models=["tree"]), 50_000).low
    slow = guess(plan_of(models=["forest"]), 1000)
    assert (slow.high or 0) > (guess(plan_of(models=["tree"]), 1000).high or 0)


def test_nobody_knows_how_long_a_program_takes() -> None:
    found = guess(plan_of("command:./theirs.sh {input} {output}"), 1000)
    assert found.high is None
    assert found.words() == "at least 10 s"  # 2 s and a hundredth of a second for each call
    assert found.low == pytest.approx(START[0] + 1000 * (0.01 + 3e-5))


def test_it_is_told_as_a_range_and_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a tenth of the run is too short for a trial, no worker is needed at all."""
    dataset = site.upload(people())["id"]
    monkeypatch.setattr(Queue, "wake", lambda self: None)
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"models": ["frequency"]}}
    found = site.client.post(f"{V1}/datasets/{dataset}/estimates", json=request).json()
    assert found["state"] == "done"
    assert 0 < found["low"] < found["seconds"] < found["high"]
    assert found["sentence"].startswith("between 2 s and 10 s for 1 run on 120 records")


def test_earlier_runs_narrow_it(site: Site) -> None:
    dataset = site.upload(people())["id"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"models": ["frequency"]}}
    place = f"{V1}/datasets/{dataset}/estimates"
    before = site.client.post(place, json=request).json()
    run = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request).json()[0]["id"]
    store = site.server.store
    attempt = store.begin(run)
    assert attempt is not None
    store.finish(run, attempt, document="{}")
    with store.database.writing() as connection:  # it took 9 seconds
        times = ("2026-01-01T10:00:00.000+00:00", "2026-01-01T10:00:09.000+00:00", run)
        connection.execute("UPDATE jobs SET started = ?, ended = ? WHERE id = ?", times)
    after = site.client.post(place, json=request).json()
    assert before["low"] < after["low"] <= 9 <= after["high"] <= before["high"] + 0.1
    assert after["high"] / after["low"] < before["high"] / before["low"]


def test_it_is_given_up_when_nobody_waits(site: Site) -> None:
    dataset = site.upload(people())["id"]
    made = {"plans": [], "of": "a long run"}
    first, second = (
        site.server.store.add_jobs("estimate", dataset, [("estimate", made)])[0] for _ in range(2)
    )
    answer = site.client.post(f"/data/{dataset}/estimates/{first}/cancel")
    assert answer.status_code == 204
    states = {
        one: site.client.get(f"{V1}/estimates/{one}").json()["state"] for one in (first, second)
    }
    assert states == {first: "cancelled", second: "queued"}
    shown = site.client.get(f"/data/{dataset}/adversary?estimate={first}").text
    assert "The estimate was given up." in shown
    assert f'data-estimate="/data/{dataset}/estimates/{second}/cancel"' in (
        site.client.get(f"/data/{dataset}/adversary?estimate={second}").text
    )
    request = {"releases": [{"sanitizer": "mondrian:k=5"}]}
    assert site.client.post(f"{V1}/datasets/{dataset}/runs", json=request).status_code == 202
    assert site.client.get(f"{V1}/estimates/{second}").json()["state"] == "cancelled"


def test_words() -> None:
    assert Guess(1, 2).words() == "between 1 s and 2 s"
    assert Guess(300, 1200).words() == "between 5 min and 20 min"

"""Claims of differential privacy: broken ones are refuted, correct ones are not, runs go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.data.table import Table
from indiff.differential.claim.bound import epsilon_lower
from indiff.differential.claim.claim import Rounds, as_models, observe
from indiff.differential.people import each_record
from indiff.errors import UserError
from tests.differential.claim import gallery

QUICK = ("exact total", "empty cells clamped to 0", "only values that occur", "uniform noise")


@pytest.fixture(scope="module")
def people() -> Table:
    return gallery.people(200)


@pytest.mark.parametrize("name", QUICK)
def test_broken_mechanisms_are_refuted(people: Table, name: str) -> None:
    (mechanism,) = (one for one in gallery.BROKEN if one.name == name)
    found = indiff.test_claim(
        people, mechanism.function, epsilon=mechanism.epsilon, calls=400, jobs=1
    )
    assert found.refuted, found.sentence
    assert found.sentence.startswith(f"the claim {found.claim} is refuted with 95 % confidence")
    assert not found.notes


def test_a_correct_mechanism_is_not_refuted_and_never_proven(people: Table) -> None:
    function = gallery.named(gallery.geometric, epsilon=1.0)
    found = indiff.test_claim(people, function, epsilon=1, calls=400, jobs=1)
    assert not found.refuted
    assert found.sentence == (
        "the claim ε ≤ 1 is not refuted with 95 % confidence by 400 runs: no proof that it holds"
    )
    assert found.calls == found.requested == 400
    assert "180 of 200 records, as targets" in found.untried
    assert found.most > 1


def test_too_few_runs_say_so(people: Table) -> None:
    found = indiff.test_claim(people, gallery.uniform, epsilon=9, calls=60, jobs=1)
    assert not found.refuted
    assert any("show at most ε" in one for one in found.untried)


def test_one_run_refutes_what_copies_everybody(people: Table) -> None:
    found = indiff.test_claim(
        people, lambda frame, rng: frame, epsilon=1, canaries=120, jobs=1, seed=3
    )
    assert found.method == "one-run"
    assert found.calls == 1
    assert found.refuted
    kept = indiff.test_claim(
        people, gallery.named(gallery.geometric, epsilon=0.5), epsilon=0.5, canaries=120, jobs=1
    )
    assert not kept.refuted
    assert "by 1 run:" in kept.sentence


def told(found: indiff.ClaimResult) -> dict[str, Any]:
    return {key: value for key, value in found.to_dict().items() if key != "timing"}


def test_a_killed_run_goes_on_with_the_same_answer(people: Table, tmp_path: Path) -> None:
    log = str(tmp_path / "calls")

    def count(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        with open(log, "a") as file:
            file.write(".")
            if file.tell() == 150:
                raise KeyboardInterrupt
        noise = gallery.laplace(rng, 0.5, gallery.SHAPE)
        return gallery.published(gallery.counts_of(frame) + noise)

    settings: dict[str, Any] = {"epsilon": 1, "calls": 200, "jobs": 1, "retries": 0}
    stopped = indiff.test_claim(people, count, run=tmp_path / "night", **settings)
    assert stopped.interrupted
    assert not stopped.complete
    assert stopped.calls == 149
    found = indiff.test_claim(people, count, run=tmp_path / "night", **settings)
    assert Path(log).stat().st_size == 150 + 200 - 149
    assert found.complete
    assert told(found) == told(indiff.test_claim(people, count, **settings))
    with pytest.raises(UserError, match="the number of calls is another one"):
        indiff.test_claim(people, count, run=tmp_path / "night", **{**settings, "calls": 300})


def test_several_processes_say_what_one_does(people: Table) -> None:
    function = gallery.named(gallery.noisy, scale=0.5)
    settings: dict[str, Any] = {"epsilon": 1, "calls": 240}
    one = indiff.test_claim(people, function, jobs=1, **settings)
    assert told(one) == told(indiff.test_claim(people, function, jobs=2, **settings))


def test_progress_counts_every_call(people: Table) -> None:
    seen: list[tuple[int, int]] = []
    indiff.test_claim(
        people, gallery.uniform, epsilon=1, calls=80, jobs=1,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    assert [total for _, total in seen] == [80] * len(seen)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] == 80


def test_calls_that_fail_are_told_and_refute_nothing(people: Table) -> None:
    def moody(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        if frame.num_rows < 200:
            raise ValueError("not like this")
        return gallery.exact_total(frame, rng)

    found = indiff.test_claim(people, moody, epsilon=0.1, calls=80, jobs=1, retries=0)
    assert not found.refuted
    assert "not like this" in found.failures[0]


@pytest.mark.parametrize("canaries", [None, 20])
def test_what_fails_on_the_whole_table_is_said_at_once(people: Table, canaries: int | None) -> None:
    asked = []

    def never(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        asked.append(frame.num_rows)
        raise ValueError("no service here")

    with pytest.raises(UserError, match="no service here"):
        indiff.test_claim(people, never, epsilon=1, calls=80, canaries=canaries, jobs=1, retries=1)
    assert len(asked) == 2  # the call, and once more


def test_time_that_is_up_leaves_it_incomplete(people: Table) -> None:
    found = indiff.test_claim(people, gallery.uniform, epsilon=1, calls=2000, jobs=1, time=0.2)
    assert found.out_of_time
    assert not found.complete
    assert found.calls < 2000


def test_all_records_of_a_person_are_left_out() -> None:
    rows = pa.table({"who": [i // 2 for i in range(80)], "age": [i // 2 % 9 for i in range(80)],
                     "ill": ["n", "y"] * 40})  # fmt: skip
    visits = indiff.read_table(rows, quasi=["age"], sensitive="ill", identifier="who")

    def total(frame: pa.Table, rng: np.random.Generator) -> pa.Table:
        count = max(frame.num_rows + rng.laplace(0, 0.3), 0)
        return pa.table({"age": ["*"], "ill": ["n"], "weight": [count]})

    found = indiff.test_claim(
        visits, total, epsilon=1, calls=400, jobs=1, individual="who", targets=3
    )
    assert found.refuted
    assert found.neighbours == "adding or removing all records of one person"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": -1}, "a claimed epsilon is a number of at least 0"),
        ({"delta": 1}, "a claimed delta is at least 0 and below 1"),
        ({"calls": 10}, "calls must be a whole number of at least 40"),
        ({"canaries": 5}, "canaries must be a whole number of at least 10"),
        ({"confidence": 1}, "confidence must lie between 0 and 1"),
        ({"order": "best"}, "no order 'best'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    people: Table, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        indiff.test_claim(people, gallery.uniform, **{"epsilon": 1, "calls": 40} | settings)


def test_several_that_are_counted_share_the_error() -> None:
    class Told:
        names = ("count",)

        def look(
            self, people: Any, stage: str, present: range, absent: Any
        ) -> tuple[np.ndarray, dict[int, np.ndarray]]:
            whole = np.ones((len(people), len(present), 1))
            return whole, {one: np.zeros((len(runs), 1)) for one, runs in absent.items()}

    everybody = each_record(np.arange(4))
    found, done = observe(Told(), everybody, Rounds.of(400, 4, False, 3), counted=3)
    assert done
    assert len(found) == 3
    for one in found:
        alone = epsilon_lower(one.counted, error=0.05 / 3, split=one.event.split)
        assert one.epsilon == pytest.approx(alone)


def test_rounds_never_ask_for_more_than_was_allowed() -> None:
    for calls in (40, 41, 99, 500, 2000):
        for people in (1, 2, max(calls // 20, 1)):
            for scout in (False, True):
                rounds = Rounds.of(calls, people, scout, 1)
                few = min(3, people)
                total = rounds.scout + rounds.first[0] + rounds.first[1] * people
                total += rounds.second[0] + rounds.second[1] * few + sum(rounds.count)
                assert total <= calls


def test_models_are_the_usual_ones_or_those_named() -> None:
    assert len(as_models(None)) == len(as_models(["auto"])) == 2
    assert [type(one).__name__ for one in as_models(["frequency"])] == ["Frequency"]

"""Membership inference by runs: exact where nothing is random, and intervals that hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import indiff
from indiff.differential.claim.membership import membership_rates
from indiff.errors import UserError
from tests.differential.claim import gallery

Draw = Callable[[np.random.Generator, int, bool], np.ndarray]


@pytest.mark.parametrize("model", ["naive-bayes", "frequency"])
def test_it_equals_the_exact_engine_where_nothing_is_random(model: str) -> None:
    table, sanitizer = gallery.people(60), indiff.Mondrian(k=3)
    exact = indiff.membership_inference(indiff.differential_test(table, sanitizer, model=model))
    found = indiff.infer_membership(
        table, sanitizer, targets=range(60), runs=2, model=model, jobs=1
    )
    overall = found.overall[f"belief of {model}"]
    assert overall.advantage.value == pytest.approx(exact.advantage.value)
    for rate, expected in exact.true_positives_at.items():
        assert overall.true_positives_at[rate].value == pytest.approx(expected.value)
    assert "differential_test is exact here" in found.notes[0]


def test_a_generator_that_publishes_half_of_the_records() -> None:
    def half(frame, rng):  # type: ignore[no-untyped-def]
        return frame.filter(rng.random(frame.num_rows) < 0.5)

    table = gallery.people(150)
    found = indiff.infer_membership(
        table, half, targets=4, order="outlying", runs=120, jobs=1, seed=1
    )
    copies = found.overall["exact copies"]
    assert copies.advantage.lower <= 0.5 <= copies.advantage.upper
    assert copies.advantage.lower > 0.1
    worst = found.worst(1)[0]
    assert worst["record"] in found.records
    assert found.to_dict()["kind"] == "membership-runs"


def test_runs_that_fail_without_a_record_are_refused() -> None:
    def never(frame, rng):  # type: ignore[no-untyped-def]
        if frame.num_rows < 50:
            raise ValueError
        return frame

    with pytest.raises(UserError, match="at least 2 finished runs"):
        indiff.infer_membership(gallery.people(50), never, targets=2, runs=4, jobs=1, retries=0)


def test_what_was_learned_on_some_runs_is_counted_on_others() -> None:
    # Told apart in the even runs alone: what is standardised or learned there has to forget them.
    present, absent = np.zeros((1, 40, 1)), np.zeros((1, 40, 1))
    present[:, ::2] = 1
    for name, value in (("count of its cell", 0.0), ("belief of frequency", 0.5)):
        rates = membership_rates((name,), present, absent, error=0.05)[0][name]
        assert rates.advantage.value == pytest.approx(value)
        assert rates.advantage.lower == 0
    learned = membership_rates(("count of its cell",), present, absent, error=0.05)[0]
    assert learned["likelihood ratio"].advantage.value == 0


# Three generators of which the truth is known. Each draws the scores of 6 records: runs that share
# a release (with everybody) and runs of their own.
def copied(rng: np.random.Generator, runs: int, present: bool) -> np.ndarray:
    """A record is copied with probability 0.3, and its look-alike with 0.02."""
    return (rng.random((6, runs)) < (0.3 if present else 0.02)).astype(float)


def counted(rng: np.random.Generator, runs: int, present: bool) -> np.ndarray:
    """A noisy count, with noise that all records of a release share in part."""
    shared = rng.normal(0, 0.5, (1 if present else 6, runs))
    return shared + rng.normal(0, 1, (6, runs)) + present


def silent(rng: np.random.Generator, runs: int, present: bool) -> np.ndarray:
    """Nothing depends on the record."""
    return rng.normal(0, 1, (6, runs))


def truth(draw: Draw) -> tuple[float, dict[float, float]]:
    rng = np.random.default_rng(0)
    one, two = (np.sort(draw(rng, 200_000, side).ravel()) for side in (True, False))
    values = np.unique(np.concatenate([one[::50], two[::50]]))
    true, false = (1 - np.searchsorted(x, values) / len(x) for x in (one, two))
    at = {rate: float(true[false <= rate].max(initial=0.0)) for rate in (0.001, 0.01)}
    return float((true - false).max()), at


@pytest.mark.parametrize("draw", [copied, counted, silent])
def test_intervals_hold(draw: Draw) -> None:
    advantage, at = truth(draw)
    rng, missed, wrong = np.random.default_rng(9), 0, 0
    for _ in range(60):
        present, absent = draw(rng, 80, True)[:, :, None], draw(rng, 80, False)[:, :, None]
        overall, each, _ = membership_rates(("belief",), present, absent, error=0.05)
        for rates in (overall["belief"], each[0]["belief"]):
            found = rates.advantage
            missed += not found.lower - 1e-3 <= advantage <= found.upper + 1e-3
            for rate, expected in at.items():
                found = rates.true_positives_at[rate]
                wrong += not found.lower - 1e-2 <= expected <= found.upper + 1e-2
    assert missed <= 120 * 0.05 + 3 * np.sqrt(120 * 0.05)
    assert wrong <= 240 * 0.05 + 3 * np.sqrt(240 * 0.05)

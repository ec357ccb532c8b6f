"""Runs of a randomized sanitizer: whose random numbers they have, and what any of them shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from indiff import Laplace, Mondrian, RandomizedResponse, Table, read_table
from indiff.differential.noise import runs as runs_module
from indiff.differential.noise.runs import (
    ANSWERED,
    PAIRED,
    REPEATED,
    CellRuns,
    TableRuns,
    find_cases,
)
from indiff.differential.people import People
from indiff.errors import InternalError
from indiff.inference import Frequency
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.oracles.function import BlackBox, Oracle, SeededOracle
from indiff.sanitizers.sanitizer import Identity

TABLE = read_table(
    pa.table({"age": [30, 30, 40, 50], "ill": ["a", "b", "a", "b"]}), quasi=["age"], sensitive="ill"
)
ONE_EACH = People(np.arange(4), np.arange(5))


@dataclass
class Spy(BlackBox):
    """Publishes the raw table, and notes which random numbers it was given for which table."""

    randomized: bool = True
    drawn: list[tuple[int, float | None]] = field(default_factory=list)
    hides: tuple[int, ...] = ()
    breaks: tuple[int, ...] = ()

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        run = sum(size == len(table) for size, _ in self.drawn)
        self.drawn.append((len(table), None if rng is None else float(rng.random())))
        shown = table.take(np.arange(1, len(table))) if run in self.hides else table
        return replace(Identity().sanitize(shown), constraint_met=run not in self.breaks)


class Random(Frequency):
    """A model that says that it is random."""

    randomized = True

    def __init__(self, seeds: list[int] | None = None) -> None:
        self.seeds = seeds

    def beliefs(self, release: Release, targets: Table) -> NDArray[np.float64]:
        return Frequency().beliefs(release, targets)


class Seeded(Random):
    """One that takes a seed."""

    def seeded(self, seed: int) -> Seeded:
        assert self.seeds is not None
        self.seeds.append(seed)
        return self


def runs_of(
    sanitizer: Any, model: Any = None, people: People = ONE_EACH, seed: int = 3
) -> TableRuns:
    return TableRuns(TABLE, sanitizer, model or Frequency(), people, 5, seed)


def numbers(seed: int, purpose: int) -> list[float]:
    """The first random number of each of five runs."""
    keys = [SeedSequence(seed, spawn_key=(purpose, run)) for run in range(5)]
    return [float(np.random.default_rng(key).random()) for key in keys]


def test_every_purpose_has_random_numbers_of_its_own() -> None:
    assert len({PAIRED, REPEATED, ANSWERED}) == 3


@pytest.mark.parametrize(
    ("sanitizer", "model", "expected"),
    [
        (Mondrian(k=2), Frequency(), True),
        (Laplace(1.0), Frequency(), True),
        (SeededOracle(lambda frame, rng: frame), Frequency(), True),
        (Spy(), Frequency(), True),
        (Oracle(lambda frame: frame), Frequency(), False),
        (Oracle(lambda frame: frame, randomized=True), Frequency(), False),
        (Spy(randomized=False), Frequency(), False),
        (Mondrian(k=2), Seeded(), True),
        (Mondrian(k=2), Random(), False),
        (Spy(), Random(), False),
    ],
)
def test_runs_are_paired_where_sanitizer_and_model_take_our_numbers(
    sanitizer: Any, model: Any, expected: bool
) -> None:
    assert runs_of(sanitizer, model).paired is expected


def test_run_r_has_the_same_numbers_with_and_without_the_record_and_others_when_repeated() -> None:
    spy = Spy()
    source = runs_of(spy)
    assert len(source) == 4
    (pair,) = source.pairs(2)
    source.repeated(2, 0)
    assert {size for size, _ in spy.drawn} == {3, 4}
    by_size = {n: [drawn for size, drawn in spy.drawn if size == n] for n in (3, 4)}
    assert by_size[3] == numbers(3, PAIRED)
    assert by_size[4] == numbers(3, PAIRED) + numbers(3, REPEATED)
    assert pair.present.tolist() == [[1, 0]] * 5, "nobody else is 40"
    assert pair.absent.shape == (5, 2)


def test_what_says_that_it_is_not_random_is_believed_of_what_we_can_look_into() -> None:
    """A black box may be random without saying so, and is called for every run."""
    shut = Spy(randomized=False)
    assert runs_of(shut).whole.beliefs.shape == (5, 4, 2)
    assert [size for size, _ in shut.drawn] == [4] * 5
    calls = []

    class Open:
        randomized = False

        def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
            calls.append(rng)
            return Identity().sanitize(table)

    whole = runs_of(Open()).whole
    assert calls == [None]
    assert whole.beliefs.tolist() == [runs_of(Identity()).whole.beliefs[0].tolist()] * 5


def test_a_seeded_model_has_a_seed_for_each_run() -> None:
    seeds: list[int] = []
    source = runs_of(Mondrian(k=2), Seeded(seeds))
    source.pairs(0)
    whole, without = seeds[:5], seeds[5:]
    assert len({*whole}) == 5
    assert sorted(whole) == sorted(without), "the same with and without the record"
    source.repeated(0, 0)
    assert not {*seeds[10:]} & {*whole}
    others: list[int] = []
    runs_of(Mondrian(k=2), Seeded(others), seed=4).pairs(0)
    assert not {*others} & {*seeds}


@pytest.mark.parametrize("hidden", [(), (0,), (3,), (4,)])
def test_a_record_that_no_release_covers_in_some_run_is_lost(hidden: tuple[int, ...]) -> None:
    """Of 30, 40 and 50 the first is hidden in these runs: who is 30 is covered by nobody."""
    people = People(np.array([0, 1, 2, 3]), np.array([0, 2, 3, 4]))
    spy = Spy(hides=hidden)
    pairs = runs_of(spy, people=people).pairs(1)  # who is 40 leaves: 30, 30, 50 stay
    assert [pair.lost for pair in pairs] == [True], "nobody else is 40"
    kept = runs_of(Spy(hides=hidden)).pairs(1)  # one of two who are 30 leaves: 30, 40, 50 stay
    assert [pair.lost for pair in kept] == [bool(hidden)]


@pytest.mark.parametrize("broken", [(), (0,), (2,), (4,)])
def test_a_constraint_that_is_not_met_in_some_run_is_said(broken: tuple[int, ...]) -> None:
    (pair,) = runs_of(Spy(breaks=broken)).pairs(0)
    assert pair.generalized is bool(broken)


def test_all_records_of_a_person_leave_together_and_each_is_believed_in() -> None:
    people = People(np.array([3, 0, 2, 1]), np.array([0, 1, 3, 4]))  # the second has 30 and 40
    source = runs_of(Identity(), people=people)
    pairs = source.pairs(1)
    assert [pair.present[0].tolist() for pair in pairs] == [[0.5, 0.5], [1, 0]]
    assert pairs[0].absent[0].tolist() == [0, 1], "the other one who is 30"
    assert [pair.lost for pair in pairs] == [False, True], "nobody else is 40"
    assert source.repeated(1, 0).tolist() == [[0.5, 0.5]] * 5
    assert source.repeated(1, 1).tolist() == [[1, 0]] * 5


def cell_runs(sanitizer: NoisySanitizer, runs: int = 4000, seed: int = 7) -> CellRuns:
    rows = np.arange(4)
    return CellRuns(sanitizer, find_cases(TABLE, sanitizer.grid(TABLE), rows), runs, seed)


def test_cases_are_cells_with_a_value() -> None:
    cases = cell_runs(Laplace(1.0)).cases
    assert len(cases.values) == 4
    counts = cases.counts[cases.back]
    assert counts.tolist() == [[1, 1], [1, 1], [1, 0], [0, 1]]
    assert cases.values[cases.back].tolist() == [0, 1, 0, 1]
    assert cases.first[cases.back].tolist() == [0, 1, 2, 3]
    assert cases.counts_without[cases.back].tolist() == [[0, 1], [1, 0], [0, 0], [0, 0]]


def test_a_cell_s_runs_have_the_same_noise_with_and_without_the_record() -> None:
    """1 + max(0, count + noise), over their sum: the own value's part only falls."""
    found = cell_runs(Laplace(1.0))
    assert (len(found), found.paired) == (4, True)
    place = int(found.cases.back[0])
    assert found.size(place) == 1
    (pair,) = found.pairs(place)
    assert (pair.lost, pair.generalized) == (False, False)
    own = int(found.cases.values[place])
    assert (pair.present[:, own] >= pair.absent[:, own]).all()
    assert pair.present.sum(axis=1) == pytest.approx(np.ones(4000))
    # Where both counts without the record are above 0, a record more adds 1 to its own.
    odds = pair.present[:, own] / pair.present[:, 1 - own]
    before = pair.absent[:, own] / pair.absent[:, 1 - own]
    assert (odds > before).mean() > 0.5
    again = found.repeated(place, 0)
    assert again.shape == (4000, 2)
    assert np.isin(again[:, 0], pair.present[:, 0]).mean() < 0.2, "equal where both are cut off"
    assert again.mean(axis=0) == pytest.approx(pair.present.mean(axis=0), abs=0.02)
    (other,) = cell_runs(Laplace(1.0), seed=8).pairs(place)
    assert np.isin(other.present[:, 0], pair.present[:, 0]).mean() < 0.2


def test_answers_of_randomized_response_are_kept_or_moved_to_the_others() -> None:
    """One record alone: its own value with probability keep, (1 + 1)/(1 + 2 values)."""
    response = RandomizedResponse(1.0)
    found = cell_runs(response)
    place = int(found.cases.back[2])
    (pair,) = found.pairs(place)
    assert pair.absent.tolist() == [[0.5, 0.5]] * 4000
    own = int(found.cases.values[place])
    kept = (pair.present[:, own] == 2 / 3).mean()
    assert kept == pytest.approx(response.keep(2), abs=0.04)
    assert (found.repeated(place, 0)[:, own] == 2 / 3).mean() == pytest.approx(kept, abs=0.04)


def test_noise_that_nobody_draws_is_an_error_of_ours() -> None:
    found = replace(cell_runs(Laplace(1.0), 2), sanitizer=Mondrian(k=2))  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="no runs for Mondrian"):
        found.pairs(0)


class Settled(Seeded):
    """One that takes a seed, and is not random."""

    randomized = False


def test_a_model_that_is_not_random_is_given_no_seed() -> None:
    seeds: list[int] = []
    runs_of(Spy(), Settled(seeds)).pairs(0)
    assert seeds == []
    runs_of(Spy(), Seeded(seeds)).pairs(0)
    assert len(set(seeds)) == 5  # the whole table's and those without the target share theirs


def test_a_noisy_table_has_a_cell_for_everybody() -> None:
    """Nobody else is 40 or 50: noise alone fills their cells, or leaves them empty."""
    for seed in range(6):
        source = runs_of(Laplace(0.1), seed=seed)
        assert not any(pair.lost for place in (2, 3) for pair in source.pairs(place))


def test_purposes_have_random_numbers_of_their_own() -> None:
    found = cell_runs(Laplace(1.0), runs=3)
    keys = (runs_module.PAIRED, runs_module.REPEATED, runs_module.ANSWERED)
    drawn = {float(found._rng(purpose, 0).random()) for purpose in keys}
    assert len(drawn) == 3

"""What is answered together, what alone, and when neither is asked any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from indiff import Mondrian
from indiff.differential.calls import calls
from indiff.differential.calls.calls import AskMany, Calls, answers
from indiff.differential.mondrian.leave_one_out import MondrianReleases
from indiff.differential.people import each_record
from indiff.differential.refit.refit import Releases, Without
from indiff.inference import as_model
from indiff.inference.background import with_background
from tests.properties.random_tables import make_sample


@dataclass
class Squares:
    """Knows the squares of even numbers together, and every one alone."""

    at_once: int = 4
    together: list[list[int]] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)

    def __call__(self, place: int) -> int:
        self.alone.append(place)
        return place**2

    def many(self, places: Sequence[int]) -> Mapping[int, int]:
        self.together.append(list(places))
        return {place: place**2 for place in places if place % 2 == 0}


def test_who_is_not_answered_together_is_asked_alone() -> None:
    ask = Squares()
    assert isinstance(ask, AskMany)
    found = [one for group in answers(ask, range(10), Calls()) for one in group]
    assert sorted((one.place, one.value) for one in found) == [(n, n**2) for n in range(10)]
    assert all(one.failure is None and one.tries == 1 for one in found)
    assert ask.together == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert ask.alone == [1, 3, 5, 7, 9]


def test_whoever_answers_one_at_once_is_not_asked_for_many() -> None:
    ask = Squares(at_once=1)
    assert len([one for group in answers(ask, range(6), Calls()) for one in group]) == 6
    assert ask.together == []


def test_nobody_is_asked_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(calls, "monotonic", lambda: float(next(clock)))
    ask = Squares()
    found = [one.place for group in answers(ask, range(40), Calls(deadline=8.0)) for one in group]
    assert 0 < len(found) < 40
    assert len(ask.together) < 10
    assert [
        one for group in answers(Squares(), range(40), Calls(deadline=0.0)) for one in group
    ] == []


def test_a_tree_is_asked_for_many_and_says_what_it_says_of_each() -> None:
    table = make_sample(3, 80, ["ties", "set", "jobs"], 4).table
    people = each_record(np.arange(len(table)))
    ask = Without(table, Mondrian(k=3), as_model("tree"), people, MondrianReleases)
    assert ask.at_once > 1
    found = ask.many(range(len(table)))
    assert 40 < len(found) < len(table)  # of some a tree must be grown, or a release be made
    for place, outcome in found.items():
        alone = ask(place)
        np.testing.assert_array_equal(outcome.beliefs, alone.beliefs)
        np.testing.assert_array_equal(outcome.lost, alone.lost)
        assert outcome.met == alone.met


def test_many_tallies_take_no_more_room_than_was_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_sample(3, 80, ["ties", "set", "jobs"], 4).table
    cells = 2**3 * len(table.sensitive.values)
    people = each_record(np.arange(len(table)))
    for planned, most in ((5 * cells, 5), (cells - 1, 1), (10**9, 256)):
        monkeypatch.setattr("indiff.differential.refit.refit.CELLS_AT_ONCE", planned)
        ask = Without(table, Mondrian(k=3), as_model("tree"), people, MondrianReleases)
        assert ask.at_once == most


def test_what_needs_more_than_a_tally_is_asked_alone() -> None:
    table = make_sample(3, 80, ["ties", "set", "jobs"], 4).table
    people = each_record(np.arange(len(table)))
    tree = as_model("tree")
    known, _ = with_background(tree, table, None, ["q0"])
    for model, source in (
        (tree, Releases), (as_model("knn"), MondrianReleases), (known, MondrianReleases),
    ):  # fmt: skip
        ask = Without(table, Mondrian(k=3), model, people, source)
        assert ask.at_once == 1

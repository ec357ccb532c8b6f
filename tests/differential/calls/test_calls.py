"""Who is asked, one after the other, and when nobody is asked any more."""

from __future__ import annotations

import pytest

from indiff.differential.calls import calls
from indiff.differential.calls.calls import Calls, answers


def squares(place: int) -> int:
    return place**2


def test_everybody_is_asked_once_and_in_turn() -> None:
    found = [one for group in answers(squares, range(10), Calls(jobs=1)) for one in group]
    assert [(one.place, one.value) for one in found] == [(n, n**2) for n in range(10)]
    assert all(one.failure is None and one.tries == 1 for one in found)


def test_nobody_is_asked_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(calls, "monotonic", lambda: float(next(clock)))
    some = Calls(jobs=1, deadline=8.0)
    found = [one.place for group in answers(squares, range(40), some) for one in group]
    assert found == list(range(len(found)))
    assert 0 < len(found) < 40
    assert [*answers(squares, range(40), Calls(jobs=1, deadline=0.0))] == []

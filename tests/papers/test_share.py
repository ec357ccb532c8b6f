"""Settings shared among processes give what one process gives, in the order they were asked."""

from __future__ import annotations

import os

import pytest

from indiff import UserError
from indiff.papers import share
from indiff.papers.run import Run, once
from indiff.papers.share import shared


@once
def doubled(run: Run, value: int) -> int:
    return run.seeds * value


def work(run: Run, value: int) -> tuple[int, int]:
    return doubled(run, value), os.getpid()


def test_processes_answer_in_the_order_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[int, int]] = []
    run = Run(seeds=2, report=lambda done, total: heard.append((done, total)))
    here = shared(run, work, [7])
    monkeypatch.setattr(share, "processes", lambda jobs: 2)
    elsewhere = shared(run, work, [7, 1, 5, 3])
    assert here == [(14, os.getpid())]
    assert [value for value, _ in elsewhere] == [14, 2, 10, 6]
    assert os.getpid() not in {process for _, process in elsewhere}
    assert heard == [(1, 1), (1, 4), (2, 4), (3, 4), (4, 4)]


def test_what_a_dead_process_leaves_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share, "processes", lambda jobs: 2)
    parent = os.getpid()

    def fatal(run: Run, value: int) -> int:
        if os.getpid() != parent:
            os._exit(1)
        return value

    assert shared(Run(), fatal, [4, 2]) == [4, 2]


def test_an_error_in_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(share, "processes", lambda jobs: 2)

    def refuse(run: Run, value: int) -> int:
        raise UserError("no file there.")

    with pytest.raises(UserError, match="no file there"):
        shared(Run(), refuse, [4, 2])

"""Where calls are made: what a pool or a cluster needs, said before anything is lost."""

from __future__ import annotations

import sys
import threading

import pytest

from indiff import UserError
from indiff.differential.calls import calls
from tests.differential.calls.test_calls_long_runs import Decades, run


def test_a_cluster_needs_an_address_and_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="needs the address of a scheduler; give scheduler='tcp"):
        run(Decades(), backend="dask")
    with pytest.raises(UserError, match=r"no backend 'ray'\. Known: loky, dask"):
        run(Decades(), backend="ray")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"install it with: pip install 'indiff\[dask\]'"):
        run(Decades(), backend="dask", scheduler="tcp://127.0.0.1:1")


def test_what_cannot_be_pickled_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "WORTH_SHARING", 0.0)
    lock = threading.Lock()
    with pytest.raises(UserError, match=r"must be picklable; .* Use jobs=1"):
        run(lambda frame: frame if lock else None, jobs=2)


def test_one_core_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    monkeypatch.setattr(calls, "WORTH_SHARING", 0.0)
    lock = threading.Lock()  # cannot be pickled
    assert run(lambda frame: frame if lock else None, jobs=-1).complete

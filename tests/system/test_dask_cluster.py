"""A real Dask cluster of a scheduler and two workers, one of which is killed in mid-run."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from indiff import Command, UserError, differential_test
from indiff.differential.calls import pools
from tests.system.dask_cluster import dask_cluster
from tests.system.slow_oracle import Noting, people

TARGETS = range(120)


def calls(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().split() if file.exists() else []


def at_call(folder: Path, number: int, act: Any) -> threading.Thread:
    """Do something once the oracle has been called so often."""

    def watch() -> None:
        while len(calls(folder)) < number:
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    table = people()
    alone = differential_test(
        table,
        Noting(tmp_path / "alone", 0),
        model="naive-bayes",
        targets=TARGETS,
        method="refit",
        jobs=1,
    )
    oracle = Noting(tmp_path / "calls", 0.05)
    with dask_cluster(tmp_path, workers=2) as cluster:
        killer = at_call(tmp_path, 40, cluster.workers[0].kill)
        result = differential_test(
            table, oracle, model="naive-bayes", targets=TARGETS, method="refit", backend="dask",
            scheduler=cluster.address, run=tmp_path / "run",
        )  # fmt: skip
        killer.join(timeout=10)
        assert cluster.workers[0].wait(timeout=10) != 0
        assert cluster.workers[1].poll() is None
        copied = differential_test(
            table, Command("cp {input} {output}"), model="naive-bayes", targets=range(5),
            method="refit",
            backend="dask", scheduler=cluster.address,
        )  # fmt: skip
    assert copied.distances.tolist() == (
        differential_test(
            table, "identity", model="naive-bayes", targets=range(5), method="refit"
        ).distances.tolist()
    )
    assert result.complete
    assert result.records.tolist() == list(TARGETS)
    assert result.distances.tobytes() == alone.distances.tobytes()
    assert result.beliefs_without.tobytes() == alone.beliefs_without.tobytes()
    # What the dead worker was at, and what waited behind it, may have been asked for twice.
    assert 121 <= len(calls(tmp_path)) <= 121 + 8


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_lost_scheduler_is_one_sentence_and_what_is_finished_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "PATIENCE", 5.0)
    table, oracle = people(), Noting(tmp_path / "calls", 0.02)
    with dask_cluster(tmp_path, workers=2) as cluster:
        at_call(tmp_path, 30, cluster.scheduler.kill)
        with pytest.raises(UserError, match=r"the Dask cluster at 'tcp://.*' is gone; what is fin"):
            differential_test(
                table, oracle, model="naive-bayes", targets=TARGETS, method="refit", backend="dask",
                scheduler=cluster.address, run=tmp_path / "run",
            )  # fmt: skip
    kept = len((tmp_path / "run" / "journal").read_bytes().splitlines()) - 1
    assert kept >= 20
    (tmp_path / "calls").unlink()
    result = differential_test(
        table,
        oracle,
        model="naive-bayes",
        targets=TARGETS,
        method="refit",
        jobs=1,
        run=tmp_path / "run",
    )
    assert result.complete
    assert len(calls(tmp_path)) == 1 + len(TARGETS) - kept


@pytest.mark.system
def test_nobody_at_the_address() -> None:
    with pytest.raises(UserError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        differential_test(
            people(), Noting(Path("/dev/null"), 0), model="naive-bayes", targets=[1],
            method="refit", backend="dask",
            scheduler="tcp://127.0.0.1:9",
        )  # fmt: skip

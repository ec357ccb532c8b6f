"""Every fault at every write of a run on the server: done with the same files, or said to fail."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indiff.audit import run as audits
from indiff.audit.document import AuditResult
from indiff.report.page import figures, html
from indiff.web.jobs.worker import do_job
from tests.faults import Killed, each, sweep
from tests.web.site import V1, Site, open_site, people


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure and draw once: what fails here is the writing."""
    made: list[Any] = []

    def run_audit(*words: Any, **named: Any) -> Any:
        if not made:
            made.append(measured(*words, **named))
        return made[0]

    measured, draw = audits.run_audit, figures.figures
    monkeypatch.setattr(audits, "run_audit", run_audit)
    monkeypatch.setattr(AuditResult, "to_html", cache(lambda _: html.render(made[0].document)))
    drawn = cache(lambda: draw(made[0].document))
    monkeypatch.setattr(figures, "figures", lambda document: drawn())


def kept(site: Site, run: str) -> tuple[Any, dict[str, bytes]]:
    """What a finished run shows and offers."""
    folder = site.server.settings.run_folder(run)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
    return site.server.store.document(run), files


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize(
    "faults",
    [("failing",), pytest.param(("full", "memory", "killed"), marks=pytest.mark.system)],
    ids=["failing", "others"],
)
def test_a_run_is_done_or_said_to_have_failed(tmp_path: Path, faults: tuple[str, ...]) -> None:
    site = open_site(tmp_path)
    dataset = site.upload(people(30))["id"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"membership": False},
               "worst": 0}  # fmt: skip
    answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
    run: str = answer.json()[0]["id"]
    store, folder = site.server.store, site.server.settings.run_folder(run)

    def queue() -> None:
        """Put the job back where it was before anything was done for it."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with store.database.writing() as connection:
            connection.execute("UPDATE jobs SET state = 'queued', problem = NULL")
            connection.execute("DELETE FROM documents")

    def work() -> None:
        attempt = store.begin(run)
        assert attempt is not None
        do_job(store, run, attempt)

    queue()
    work()
    whole = kept(site, run)
    assert json.loads(whole[1]["report.json"]) == whole[0]
    ended = Counter[str]()
    queue()
    for disk in each(work, faults=faults):
        queue()
        with disk(), suppress(sqlite3.OperationalError, OSError, MemoryError, Killed):
            work()  # or the process ends: the server sees that, or the next one
        sweep(tmp_path)
        job = store.job(run)
        ended[job["state"]] += 1
        if job["state"] == "done":
            assert kept(site, run) == whole
        elif job["state"] == "failed":
            assert job["problem"] is not None
            assert "internal error" not in str(job["problem"])
        else:
            assert not store._all("SELECT * FROM documents WHERE run = ?", run)
    assert ended["failed"] > 15
    queue()
    work()
    assert kept(site, run) == whole

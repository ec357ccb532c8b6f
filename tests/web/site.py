"""A server in this process: requests by a test client, jobs done here instead of by workers."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
from fastapi import FastAPI

from indiff.web.api.common import Server
from indiff.web.jobs.worker import do_job
from indiff.web.server.app import make_app
from indiff.web.store.settings import Settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another version of its client
    from fastapi.testclient import TestClient

ADDRESS = "http://127.0.0.1:8765"
V1 = "/api/v1"


@dataclass
class Site:
    """One application, and a browser that was let in."""

    app: FastAPI
    client: TestClient
    token: str = ""

    @property
    def server(self) -> Server:
        server: Server = self.app.state.server
        return server

    @property
    def csrf(self) -> str:
        token: str = self.client.get(f"{V1}/session").json()["csrf"]
        return token

    def work(self) -> None:
        """Do every waiting job, here and now."""
        for job in self.server.store.unfinished():
            attempt = self.server.store.begin(job["id"])
            if attempt is not None:
                self.server.settings.run_folder(job["id"]).mkdir(exist_ok=True)
                do_job(self.server.store, job["id"], attempt)

    def upload(self, body: bytes, name: str = "people.csv") -> dict[str, Any]:
        """Upload a table and profile it."""
        answer = self.client.post(f"{V1}/datasets", params={"name": name}, content=body)
        assert answer.status_code == 201, answer.text
        self.work()
        found: dict[str, Any] = self.client.get(f"{V1}/datasets/{answer.json()['id']}").json()
        return found


def stranger(app: FastAPI, **more: Any) -> TestClient:
    """A browser that was not let in."""
    return TestClient(app, base_url=ADDRESS, follow_redirects=False, **more)


def enter(app: FastAPI) -> TestClient:
    """Let a browser in, as the one-time link does; its requests carry the CSRF token."""
    client, sessions = stranger(app), app.state.server.sessions
    name = sessions.open_with_link(sessions.new_link())
    client.cookies.set("indiff_8765", name)
    client.headers["x-csrf-token"] = sessions.find(name).csrf
    return client


def open_site(place: Path, /, **settings: Any) -> Site:
    app = make_app(Settings(data_dir=place / "data", **settings))
    return Site(app, enter(app))


def people(records: int = 120, seed: int = 3) -> bytes:
    """A made-up table as CSV: an identifier, three quasi-identifiers, a sensitive column."""
    rng = np.random.default_rng(seed)
    frame = pa.table(
        {
            "person_id": [f"P{number:05d}" for number in range(records)],
            "age": rng.integers(18, 80, records),
            "sex": rng.choice(["F", "M"], records),
            "zip": [f"{code:05d}" for code in rng.integers(10_000, 10_040, records)],
            "diagnosis": rng.choice(["flu", "cancer", "asthma"], records, p=[0.4, 0.25, 0.35]),
        }
    )
    out = io.BytesIO()
    pv.write_csv(frame, out)
    return out.getvalue()

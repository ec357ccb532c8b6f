"""The way in and out, and the made-up patients."""

from __future__ import annotations

from pathlib import Path

import indiff
from indiff.web.server.app import make_app
from indiff.web.store.settings import Settings
from tests.web.site import V1, Site, stranger


def test_each_page_keeps_the_cookie_as_long_as_the_session(site: Site) -> None:
    kept = site.client.get("/data").headers["set-cookie"].split("; ")
    assert "Max-Age=43200" in kept
    assert "HttpOnly" in kept
    assert "set-cookie" not in stranger(site.app).get("/ended").headers
    assert "12 hours" in site.client.get("/data").text


def test_with_a_password_every_refusal_leads_to_the_sign_in(tmp_path: Path) -> None:
    app = make_app(Settings(data_dir=tmp_path / "data", password="correct horse battery"))
    assert 'href="/login"' in stranger(app).get("/data").text
    assert 'href="/login"' in stranger(app).get("/ended").text


def test_the_made_up_patients_are_ready_to_be_audited(site: Site) -> None:
    assert 'action="/demo"' in site.client.get("/data").text
    answer = site.client.post("/demo")
    assert answer.status_code == 303
    site.work()
    shown = site.client.get(f"{V1}/datasets/{answer.headers['location'].removeprefix('/data/')}")
    dataset = shown.json()
    assert (dataset["state"], dataset["profile"]["records"]) == ("done", 5000)
    known = indiff.datasets.demo_table(records=200).schema
    assert {one["name"]: one["role"] for one in dataset["columns"]} == {
        one.name: str(one.role) for one in known
    }
    with_hierarchy = [one["name"] for one in dataset["columns"] if one["hierarchy"]]
    assert with_hierarchy == list(indiff.datasets.demo_hierarchies())
    for one in dataset["columns"]:  # each level of a hierarchy is counted, and all at its top
        if one["hierarchy"]:
            groups = [level["groups"] for level in one["levels"]]
            assert groups == sorted(groups, reverse=True)
            assert (groups[-1], one["levels"][-1]["most"]) == (1, 5000)
    adversary = site.client.get(f"/data/{dataset['id']}/adversary").text
    assert 'name="limit-delta" inputmode="decimal" autocomplete="off" value="0.4"' in adversary
    files = [one for one in site.server.settings.data_dir.rglob("*.csv") if one.is_file()]
    assert len(files) == 3
    assert all(one.stat().st_mode & 0o077 == 0 for one in files)

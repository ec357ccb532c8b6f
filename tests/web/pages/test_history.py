"""The history: runs named, found, repeated, changed, deleted and had back; one zip of each."""

from __future__ import annotations

import io
import re
import stat
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from indiff.web.store.deleted import remove_old
from tests.command_line import call
from tests.web.pages.test_release_two_tabs import hidden
from tests.web.site import V1, Site, people

QUICK: dict[str, Any] = {"adversary": {"models": ["naive-bayes"]}, "limits": {"k": 2}}


def start(site: Site, dataset: str, sanitizer: str = "mondrian:k=5", **more: Any) -> str:
    request = {"releases": [{"sanitizer": sanitizer}], **QUICK, **more}
    answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
    assert answer.status_code == 202, answer.text
    return str(answer.json()[0]["id"])


@pytest.fixture
def dataset(site: Site) -> str:
    return str(site.upload(people())["id"])


def shown(site: Site, path: str = "/history") -> str:
    answer = site.client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_run_has_its_reports_title_a_name_and_a_note(site: Site, dataset: str) -> None:
    run = start(site, dataset, title="Release to the registry")
    assert "Release to the registry: groups of similar people (mondrian:k=5)" in shown(site)
    given = {"name": "Third <draft>", "note": "asked for by\nthe board & co"}
    assert site.client.post(f"/runs/{run}/label", data=given).status_code == 303
    text = shown(site)
    assert "<strong>Third &lt;draft&gt;</strong>" in text
    assert "the board &amp; co" in text
    found = site.client.get(f"{V1}/runs/{run}").json()
    assert (found["name"], found["note"]) == (given["name"], given["note"])
    titled = "Release to the registry: groups of similar people (mondrian:k=5)"
    assert found["report_title"] == titled
    site.client.post(f"/runs/{run}/label", data={"name": "", "note": ""})
    assert site.client.get(f"{V1}/runs/{run}").json()["name"] is None
    refused = site.client.post(f"/runs/{run}/label", data={"name": "x" * 201})
    assert refused.status_code == 422
    assert "must have at most 200 characters" in refused.text


def test_runs_are_found_by_words_table_and_outcome(site: Site, dataset: str) -> None:
    other = site.upload(people(60), "others.csv")["id"]
    first, second = start(site, dataset, "mondrian:k=5"), start(site, other, "mondrian:k=9")
    site.client.post(f"/runs/{first}/label", data={"note": "For the Board"})
    for asked, wanted in (
        ("find=board", {first}),
        ("find=K%3D9", {second}),
        (f"table={dataset}", {first}),
        ("outcome=unfinished", {first, second}),
        ("outcome=pass", set()),
        ("find=nothing+like+it", set()),
    ):
        text = shown(site, f"/history?{asked}")
        assert {run for run in (first, second) if f'id="run-{run}"' in text} == wanted, asked
        assert 'href="/history">Show all' in text or len(wanted) == 2


def test_times_are_local_and_say_their_zone(
    site: Site, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    run = start(site, dataset)
    created = site.client.get(f"{V1}/runs/{run}").json()["created"]
    hour = int(created[11:13])
    monkeypatch.setenv("TZ", "XXX-05:00")
    time.tzset()
    try:
        found = re.search(f'<time datetime="{re.escape(created)}">(.+?)</time>', shown(site))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found is not None
    assert f" {(hour + 5) % 24:02d}:{created[14:16]} XXX" in found[1]


def test_a_deletion_can_be_undone_for_a_while(site: Site, dataset: str) -> None:
    run = start(site, dataset)
    site.work()
    folder = site.server.settings.run_folder(run)
    before = {path.name for path in folder.iterdir()}
    assert site.client.post(f"/runs/{run}/delete").headers["location"] == "/history"
    text = shown(site)
    assert f'id="run-{run}"' not in text
    assert f'action="/runs/{run}/undo"' in text
    below = ("", "/document", "/files/report.html", "/archive")
    for path in (
        f"/runs/{run}",
        f"/compare?run={run}",
        *(f"{V1}/runs/{run}{one}" for one in below),
    ):
        assert site.client.get(path).status_code == 404, path
    assert site.client.get(f"{V1}/runs").json() == []
    assert site.client.post(f"/runs/{run}/undo").status_code == 303
    assert {path.name for path in folder.iterdir()} == before
    assert "report.html" in shown(site, f"/runs/{run}")

    site.client.post(f"/runs/{run}/delete")
    remove_old(site.server.store, lambda jobs: None)  # not yet
    assert folder.exists()
    remove_old(site.server.store, lambda jobs: None, minutes=0)
    assert not folder.exists()
    assert site.client.post(f"/runs/{run}/undo").status_code == 404
    assert "is deleted" not in shown(site)


def test_a_deleted_run_can_be_removed_at_once(site: Site, dataset: str) -> None:
    run = start(site, dataset)
    assert site.client.post(f"/runs/{run}/remove").status_code == 404  # delete it first
    site.client.post(f"/runs/{run}/delete")
    assert site.client.post(f"/runs/{run}/remove").status_code == 303
    assert site.server.store.deleted() == []
    row = site.server.store._all("SELECT count(*) AS runs FROM jobs WHERE kind = 'run'")
    assert row[0]["runs"] == 0


def test_a_run_is_repeated_as_it_was(site: Site, dataset: str) -> None:
    run = start(site, dataset, seed=7)
    site.work()
    place = site.client.post(f"/runs/{run}/again").headers["location"]
    site.work()
    (repeated,) = site.client.get(f"{V1}{place}").json()
    assert repeated["id"] != run
    documents = [
        site.client.get(f"{V1}/runs/{one}/document").json() for one in (run, repeated["id"])
    ]
    for document in documents:
        del document["timing"]
    assert documents[0] == documents[1]


def test_settings_of_a_run_fill_the_forms(site: Site, dataset: str) -> None:
    adversary = {"models": ["tree", "knn"], "distance": "tv", "known": ["age"]}
    more = {"limits": {"delta": 0.37, "k": 4}, "seed": 99, "title": "Ours", "worst": 3}
    run = start(site, dataset, "mondrian:k=7", adversary=adversary, **more)
    site.client.post(f"/data/{dataset}/release", data={"preset": "identity"})
    place = site.client.post(f"/runs/{run}/change").headers["location"]
    text = shown(site, place)
    assert "(mondrian:k=7)</strong>" in text
    for said in ('value="0.37"', 'value="99"', 'value="Ours"', 'value="tree" checked',
                 'value="knn" checked', 'value="tv" checked'):  # fmt: skip
        assert said in text, said
    known = re.findall(r'name="known" value="(\d+)"( checked)?', text)
    assert [place for place, ticked in known if ticked] == ["0"]
    form = {"version": hidden(text, "version"), "asks_known": "1", "known": "0", "seed": "99",
            "models": ["tree", "knn"], "distance": "tv", "limit-delta": "0.37", "limit-k": "4",
            "title": "Ours", "worst": "3", "membership": "1", "action": "start"}  # fmt: skip
    started = site.client.post(place, data=form)
    assert started.status_code == 303, started.text
    store = site.server.store
    (again,) = site.client.get(f"{V1}{started.headers['location']}").json()
    assert store.job(again["id"])["task"] == store.job(run)["task"]


def test_what_the_forms_do_not_ask_is_kept_when_a_run_is_changed(site: Site, dataset: str) -> None:
    """A key, an encoding and bins: without them the changed run would measure something else."""
    upload = {"params": {"name": "theirs.csv"}, "content": people()}
    answer = site.client.post(f"{V1}/datasets/{dataset}/releases", **upload)
    assert answer.status_code == 201, answer.text
    release = {"file": answer.json()["id"], "key": "person_id", "encoding": "cp1252"}
    asked = {"releases": [release], **QUICK, "bins": {"age": 7}}
    (run,) = site.client.post(f"{V1}/datasets/{dataset}/runs", json=asked).json()
    place = site.client.post(f"/runs/{run['id']}/change").headers["location"]
    form = {"version": hidden(shown(site, place), "version"), "models": "naive-bayes",
            "distance": "wasserstein", "limit-k": "2", "action": "start"}  # fmt: skip
    started = site.client.post(place, data=form)
    assert started.status_code == 303, started.text
    (again,) = site.client.get(f"{V1}{started.headers['location']}").json()
    before, after = (site.server.store.job(one["id"])["task"]["plan"] for one in (run, again))
    assert before["release"] == after["release"]
    assert (before["data"]["bins"], after["data"]["bins"]) == ({"age": 7}, {"age": 7})


def test_one_zip_gives_the_same_result_elsewhere(
    site: Site, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = {"build": "bands", "column": "age", "widths": [10, 20]}
    site.client.post(f"{V1}/datasets/{dataset}/hierarchies", json=built)
    site.work()
    run = start(site, dataset)
    assert site.client.get(f"{V1}/runs/{run}/archive").status_code == 422  # not done yet
    site.work()
    answer = site.client.get(f"{V1}/runs/{run}/archive")
    assert answer.headers["content-disposition"] == f'attachment; filename="audit-{run}.zip"'
    place = tmp_path / "elsewhere"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        archive.extractall(place)
    assert {"plan.toml", "report.html", "report.json", "report.md", "release.csv"} < set(names)
    assert not {"records.csv", "people.csv"} & set(names)
    plan = tomllib.loads((place / "plan.toml").read_text(encoding="utf-8"))
    assert plan["data"]["path"] == "people.csv"
    assert str(site.server.settings.data_dir) not in (place / "plan.toml").read_text()
    (place / "people.csv").write_bytes(people())
    monkeypatch.chdir(place)
    ended = call("audit", "plan.toml")
    assert ended.code in (0, 1), ended.err
    import json

    theirs = json.loads((place / "indiff-audit" / "report.json").read_text(encoding="utf-8"))
    ours = json.loads((place / "report.json").read_text(encoding="utf-8"))
    assert ours.pop("timing").keys() == theirs.pop("timing").keys()
    assert theirs["files"]["input"].pop()["part"] == "plan"  # which the page keeps itself
    assert ours == theirs
    kept = site.server.settings.run_folder(run)
    files = list(kept.glob("*.*"))
    assert files
    assert all(stat.S_IMODE(one.stat().st_mode) & 0o077 == 0 for one in files)

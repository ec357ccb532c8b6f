"""The HTTP interface: the whole way from a file to its results, without a browser."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indiff.audit.plan.plan import read_plan
from indiff.audit.run import run_audit
from indiff.web.jobs.portable import portable
from tests.command_line import call
from tests.web.site import V1, Site, open_site, people

REQUEST: dict[str, Any] = {
    "releases": [{"sanitizer": "mondrian:k=5"}, {"sanitizer": "mondrian:l=2"}],
    "limits": {"delta": 0.1},
    "adversary": {"membership": False},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, str, list[str]]:
    """A server with two finished runs on one dataset."""
    site = open_site(tmp_path_factory.mktemp("site"))
    dataset = site.upload(people())["id"]
    answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=REQUEST)
    assert answer.status_code == 202, answer.text
    assert [run["state"] for run in answer.json()] == ["queued", "queued"]
    site.work()
    return site, dataset, [run["id"] for run in answer.json()]


def get(site: Site, path: str, **params: Any) -> Any:
    answer = site.client.get(f"{V1}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(site: Site, method: str, path: str, **more: Any) -> str:
    answer = site.client.request(method, f"{V1}{path}", **more)
    assert answer.status_code == 422, (answer.status_code, answer.text)
    sentence: str = answer.json()["error"]
    return sentence


def test_a_profile_guesses_roles_and_counts(site: Site) -> None:
    body = people().replace(b"P00003,", b",", 1)
    found = site.upload(body)
    profile = found["profile"]
    assert profile["records"] == 120
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert roles["person_id"] == "identifier"
    assert roles["diagnosis"] == "sensitive"
    assert roles["age"] == roles["sex"] == "quasi"
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    for column in profile["columns"]:
        values = [row[column["name"]] for row in rows]
        assert column["missing"] == values.count("")
        assert column["distinct"] == len(set(values) - {""})
        assert column["reason"]
    assert profile["preview"][0] == [rows[0][name] for name in roles]


def test_a_file_that_cannot_be_read_says_why(site: Site) -> None:
    found = site.upload(b'a,b\n"1,2\n')
    assert found["state"] == "failed"
    assert found["problem"]
    assert found["profile"] is None
    answer = site.client.post(f"{V1}/datasets/{found['id']}/runs", json=REQUEST)
    assert answer.status_code == 422
    assert "profiled before it is audited" in answer.json()["error"]


def test_a_file_can_be_read_in_another_way(site: Site) -> None:
    dataset = site.upload("alter;ort\n30;Köln\n40;?\n".encode("latin-1"))
    assert dataset["state"] == "failed"
    reading = {"encoding": "latin-1", "missing_tokens": ["", "?"]}
    answer = site.client.put(f"{V1}/datasets/{dataset['id']}/reading", json=reading)
    assert answer.status_code == 200
    site.work()
    found = get(site, f"/datasets/{dataset['id']}")
    assert found["state"] == "done"
    assert found["profile"]["preview"] == [["30", "Köln"], ["40", None]]


def test_roles_are_kept_and_checked(site: Site) -> None:
    dataset = site.upload(people())["id"]
    address = f"/datasets/{dataset}/roles"
    answer = site.client.put(
        V1 + address,
        json={"columns": [
            {"name": "zip", "role": "other"},
            {"name": "sex", "role": "quasi", "kind": "ordinal", "order": ["F", "M"]},
        ]},
    )  # fmt: skip
    roles = {one["name"]: one for one in answer.json()["columns"]}
    assert roles["zip"]["role"] == "other"
    assert roles["sex"]["order"] == ["F", "M"]
    assert roles["age"]["role"] == "quasi"
    wrong = {"columns": [{"name": "agee", "role": "quasi"}]}
    assert "did you mean 'age'" in refused(site, "PUT", address, json=wrong)
    twice = {"columns": [{"name": "age", "role": "quasi"}, {"name": "age", "role": "other"}]}
    assert "listed twice" in refused(site, "PUT", address, json=twice)
    order = {"columns": [{"name": "zip", "role": "quasi", "order": ["1", "2"]}]}
    assert "an order is for an ordinal column" in refused(site, "PUT", address, json=order)
    bad = {"columns": [{"name": "age", "role": "secret"}]}
    assert "role" in refused(site, "PUT", address, json=bad)


def test_hierarchies_are_built_attached_and_used(site: Site) -> None:
    dataset = site.upload(people())["id"]
    address = f"/datasets/{dataset}/hierarchies"
    for built in ({"build": "bands", "column": "age"}, {"build": "masks", "column": "zip"}):
        assert site.client.post(V1 + address, json=built).status_code == 202
    site.work()
    lines = b"F;*\nM;*\n"
    assert site.client.put(f"{V1}{address}/sex", content=lines).status_code == 200
    found = get(site, f"/datasets/{dataset}")
    with_tree = [column["name"] for column in found["columns"] if column["hierarchy"]]
    assert with_tree == ["age", "sex", "zip"]
    (run,) = site.client.post(
        f"{V1}/datasets/{dataset}/runs", json={**REQUEST, "releases": [REQUEST["releases"][0]]}
    ).json()
    site.work()
    assert get(site, f"/runs/{run['id']}")["problem"] is None
    release = site.client.get(f"{V1}/runs/{run['id']}/files/release.csv").text
    assert {row["zip"][-1] for row in csv.DictReader(io.StringIO(release))} & {"*"}
    assert "two parents" in refused(site, "PUT", f"{address}/sex", content=b"F;a;*\nF;b;*\n")
    assert "no column" in refused(site, "PUT", f"{address}/sexx", content=lines)
    assert site.client.delete(f"{V1}{address}/sex").status_code == 200
    assert not get(site, f"/datasets/{dataset}")["columns"][2]["hierarchy"]


def test_bands_of_text_fail_with_a_sentence(site: Site) -> None:
    dataset = site.upload(people())["id"]
    built = {"build": "bands", "column": "sex"}
    site.client.post(f"{V1}/datasets/{dataset}/hierarchies", json=built)
    site.work()
    assert "intervals are made of numbers" in get(site, f"/datasets/{dataset}")["problem"]


def test_a_request_cannot_name_a_command_or_a_file_of_its_own(site: Site) -> None:
    """Only the names that the server was started with lead to a command."""
    dataset = site.upload(people())["id"]
    address = f"/datasets/{dataset}/runs"
    for release in (
        {"sanitizer": "command:touch /tmp/owned"},
        {"sanitizer": " command:touch /tmp/owned"},
        {"sanitizer": "releases:/etc"},
    ):
        sentence = refused(site, "POST", address, json={"releases": [release]})
        assert "no sanitizer" in sentence
    unknown = {"releases": [{"command": "theirs"}]}
    assert "no command 'theirs'" in refused(site, "POST", address, json=unknown)
    both = {"releases": [{"command": "ours", "sanitizer": "identity"}]}
    assert "exactly one of" in refused(site, "POST", address, json=both)
    ground = {"releases": REQUEST["releases"], "adversary": {"distance": "emd:/etc/secret.csv"}}
    assert "no ground distance" in refused(site, "POST", address, json=ground)
    prior = {"releases": REQUEST["releases"], "adversary": {"prior": "/etc/passwd"}}
    assert "prior" in refused(site, "POST", address, json=prior)
    answer = site.client.post(V1 + address, json={"releases": [{"command": "ours"}]})
    assert answer.status_code == 202
    task = site.server.store.job(answer.json()[0]["id"])["task"]
    assert task["plan"]["release"]["sanitizer"] == "command:cp {input} {output}"


def test_bad_plans_are_refused_before_they_start(site: Site) -> None:
    dataset = site.upload(people())["id"]
    address = f"/datasets/{dataset}/runs"
    for change, sentence in (
        ({"releases": [{"sanitizer": "mondrian:k=x"}]}, "k cannot be 'x'"),
        ({"releases": []}, "releases"),
        ({"releases": [{"sanitizer": "identity", "rows_in_order": True}]}, "got it for 'identity'"),
        ({"limits": {"delte": 0.1}}, "did you mean 'delta'"),
        ({"adversary": {"models": ["oracle"]}}, "no model 'oracle'"),
        ({"context": {"policy": "cell-12"}}, "no policy 'cell-12': did you mean 'cell-"),
        ({"context": {"policy": "/etc/ours.toml"}}, "no policy '/etc/ours.toml'"),
        ({"context": {"release_model": "open"}}, "release_model"),
        ({"context": {"review_by": "soon"}}, "a day is written 2027-12-31"),
        ({"context": {"policy": "cell-3", "confirmed": ["x"]}}, "no point to confirm 'x'"),
        ({"adversary": {"known": ["zap"]}}, "did you mean 'zip'"),
        ({"releases": [{"file": "0" * 16}]}, None),
    ):
        answer = site.client.post(V1 + address, json={**REQUEST, **change})
        assert answer.status_code == (404 if sentence is None else 422)
        assert sentence is None or sentence in answer.json()["error"]
    site.client.put(
        f"{V1}/datasets/{dataset}/roles",
        json={"columns": [{"name": "diagnosis", "role": "other"}]},
    )
    sentence = refused(site, "POST", address, json=REQUEST)
    assert "at least one sensitive column is needed" in sentence


def test_a_run_is_judged_by_a_policy_and_keeps_it_when_it_is_made_again(site: Site) -> None:
    dataset = site.upload(people())["id"]
    context = {"policy": "cell-20", "purpose": "research"}
    asked = {**REQUEST, "releases": REQUEST["releases"][:1], "context": context}
    answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=asked)
    assert answer.status_code == 202, answer.text
    run = answer.json()[0]["id"]
    plan = site.server.store.job(run)["task"]["plan"]
    assert {name: plan["context"][name] for name in context} == context
    again = site.client.post(f"{V1}/runs/{run}/again")
    assert again.status_code == 202, again.text
    repeated = again.json()
    once_more = repeated[0]["id"] if isinstance(repeated, list) else repeated["id"]
    assert site.server.store.job(once_more)["task"]["plan"]["context"] == plan["context"]
    named = [one["name"] for one in get(site, "/choices")["policies"]]
    assert "cell-20" in named


def test_a_run_has_the_audits_document(finished: tuple[Site, str, list[str]]) -> None:
    site, _, runs = finished
    for run in runs:
        found = get(site, f"/runs/{run}")
        assert (found["state"], found["problem"]) == ("done", None)
        document = get(site, f"/runs/{run}/document")
        assert found["verdict"]["status"] == document["verdict"]["status"]
        files = {one["name"]: one for one in get(site, f"/runs/{run}/files")}
        assert set(files) == {
            "report.html", "report.json", "report.md", "release.csv", "records.csv", "plan.toml",
        }  # fmt: skip
        saved = site.client.get(files["report.json"]["address"])
        assert json.loads(saved.text) == document
        assert saved.headers["content-disposition"].startswith("attachment")
        assert saved.headers["content-security-policy"].startswith("sandbox")


def put_beside(site: Site, run: str, place: Path) -> None:
    """Put the files of a plan where it looks for them."""
    for name, path in portable(site.server.store.job(run)["task"]["plan"])[1].items():
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copy(path, place / name)


def test_the_downloaded_plan_gives_the_same_result(
    finished: tuple[Site, str, list[str]], tmp_path: Path
) -> None:
    site, _, runs = finished
    plan = tmp_path / "plan.toml"
    plan.write_bytes(site.client.get(f"{V1}/runs/{runs[1]}/files/plan.toml").content)
    assert tomllib.loads(plan.read_text())["release"]["sanitizer"] == "mondrian:l=2"
    put_beside(site, runs[1], tmp_path)
    mine = get(site, f"/runs/{runs[1]}/document")
    again = run_audit(read_plan(plan), command=mine["command"]).document
    assert {**mine, "timing": None} == {**json.loads(json.dumps(again)), "timing": None}


def test_the_command_on_the_plan_gives_the_same_json(
    finished: tuple[Site, str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a person does it: save plan.toml, and type the command that stands in it."""
    site, _, runs = finished
    text = site.client.get(f"{V1}/runs/{runs[0]}/files/plan.toml").text
    assert "#   indiff audit plan.toml\n" in text
    (tmp_path / "plan.toml").write_text(text)
    put_beside(site, runs[0], tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = call("audit", "plan.toml")
    assert ended.code in (0, 1), ended.err
    saved = json.loads((tmp_path / "indiff-audit" / "report.json").read_text())
    mine = site.client.get(f"{V1}/runs/{runs[0]}/files/report.json").json()
    for part in ("timing", "command"):
        saved.pop(part), mine.pop(part)
    assert saved["files"]["input"].pop()["part"] == "plan"  # which the page keeps itself
    assert saved == mine


def test_records_above_a_threshold_are_counted(finished: tuple[Site, str, list[str]]) -> None:
    site, _, runs = finished
    table = site.client.get(f"{V1}/runs/{runs[0]}/files/records.csv").text
    rows = list(csv.DictReader(io.StringIO(table)))
    models = list(dict.fromkeys(row["model"] for row in rows))
    assert models == ["naive-bayes", "frequency", "tree"]
    seen = {
        model: np.array([float(row["distance"]) for row in rows if row["model"] == model])
        for model in models
    }
    default = get(site, f"/runs/{runs[0]}/above", threshold=0)["finding"]
    about = default.rpartition(": ")[0]
    for model, distances in seen.items():
        assert len(distances) == 120
        for threshold in (0.0, 0.05, float(distances[7]), float(distances.max()), 3.0, -1.0):
            curve = f"{about}: {model}"
            counted = get(site, f"/runs/{runs[0]}/above", threshold=threshold, curve=curve)
            assert counted["above"] == int((distances > threshold).sum())
            assert counted["records"] == 120
    strongest = max(seen, key=lambda model: float(seen[model].max()))  # unless one is named
    assert default == f"{about}: {strongest}"
    wrong = {"threshold": 0.1, "curve": "nobody"}
    assert "no curve 'nobody'" in refused(site, "GET", f"/runs/{runs[0]}/above", params=wrong)
    assert refused(site, "GET", f"/runs/{runs[0]}/above", params={"threshold": "nan"})


def test_worst_records_say_why(finished: tuple[Site, str, list[str]]) -> None:
    site, _, runs = finished
    worst = get(site, f"/runs/{runs[0]}/worst")["records"]
    assert worst
    distances = [one["distance"] for one in worst]
    assert distances == sorted(distances, reverse=True)
    assert all(one["why"] for one in worst)


def test_runs_stand_side_by_side(finished: tuple[Site, str, list[str]]) -> None:
    site, _, runs = finished
    rows = get(site, "/comparison", run=runs)
    delta = next(row for row in rows if row["id"] == "delta:diagnosis:naive-bayes")
    values = [
        next(
            f["value"]
            for f in get(site, f"/runs/{run}/document")["findings"]
            if f["id"] == delta["id"]
        )
        for run in runs
    ]
    assert delta["values"] == values


def test_progress_streams_until_the_end(finished: tuple[Site, str, list[str]]) -> None:
    site, _, runs = finished
    text = site.client.get(f"{V1}/runs/{runs[0]}/stream").text
    (event,) = [line for line in text.splitlines() if line.startswith("data: ")]
    assert json.loads(event.removeprefix("data: "))["state"] == "done"


def test_lists_know_datasets_and_batches(finished: tuple[Site, str, list[str]]) -> None:
    site, dataset, runs = finished
    batch = get(site, f"/runs/{runs[0]}")["batch"]
    assert [run["id"] for run in get(site, f"/batches/{batch}")] == runs
    assert {run["id"] for run in get(site, "/runs", dataset=dataset)} == set(runs)
    assert get(site, "/runs", dataset="0" * 16) == []
    texts = [event["text"] for event in get(site, f"/runs/{runs[0]}/events")]
    assert texts == ["queued", "started", "done"]


def test_a_release_made_elsewhere_is_audited(
    finished: tuple[Site, str, list[str]],
) -> None:
    site, dataset, runs = finished
    made = site.client.get(f"{V1}/runs/{runs[0]}/files/release.csv").content
    answer = site.client.post(
        f"{V1}/datasets/{dataset}/releases", params={"name": "theirs.csv"}, content=made
    )
    assert answer.status_code == 201
    release = answer.json()["id"]
    (run,) = site.client.post(
        f"{V1}/datasets/{dataset}/runs", json={**REQUEST, "releases": [{"file": release}]}
    ).json()
    site.work()
    found = get(site, f"/runs/{run['id']}")
    assert (found["state"], found["problem"]) == ("done", None)
    k = [f["value"] for f in get(site, f"/runs/{run['id']}/document")["findings"] if f["id"] == "k"]
    own = [f["value"] for f in get(site, f"/runs/{runs[0]}/document")["findings"] if f["id"] == "k"]
    assert k == own
    for test in _delta(site, run["id"]):
        assert (test["status"], test["value"]) == ("skipped", None)
    in_order = {"file": release, "rows_in_order": True}
    (run,) = site.client.post(
        f"{V1}/datasets/{dataset}/runs", json={**REQUEST, "releases": [in_order]}
    ).json()
    site.work()
    for test in _delta(site, run["id"]):
        assert (test["status"], test["exactness"]) == ("measured", "approximation")
    assert site.client.delete(f"{V1}/datasets/{dataset}/releases/{release}").status_code == 204
    assert get(site, f"/datasets/{dataset}/releases") == []


def _delta(site: Site, run: str) -> list[dict[str, Any]]:
    findings = get(site, f"/runs/{run}/document")["findings"]
    return [finding for finding in findings if finding["metric"] == "delta"]


def test_a_deleted_run_is_gone(site: Site) -> None:
    dataset = site.upload(people())["id"]
    (run, other) = [
        one["id"] for one in site.client.post(f"{V1}/datasets/{dataset}/runs", json=REQUEST).json()
    ]
    assert site.client.post(f"{V1}/runs/{other}/cancel").json()["state"] == "cancelled"
    site.work()
    assert site.server.settings.run_folder(run).exists()
    assert site.client.delete(f"{V1}/runs/{run}").status_code == 204
    assert not site.server.settings.run_folder(run).exists()
    for path in ("", "/document", "/files", "/events", "/worst", "/files/report.html"):
        assert site.client.get(f"{V1}/runs/{run}{path}").status_code == 404
    assert site.client.delete(f"{V1}/datasets/{dataset}").status_code == 204
    assert list((site.server.settings.data_dir / "runs").iterdir()) == []
    assert list((site.server.settings.data_dir / "datasets").iterdir()) == []

"""What to do next: buttons that fill settings in, outliers removed, and what was left out said."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.web.pages.test_history import shown, start
from tests.web.site import V1, Site, people


@pytest.fixture
def dataset(site: Site) -> str:
    return str(site.upload(people(200))["id"])


def with_steps(site: Site, run: str, *steps: dict[str, Any]) -> None:
    """Put next steps into the document of a run."""
    document = site.server.store.document(run)
    text = json.dumps({**document, "next_steps": list(steps)})
    with site.server.store.database.writing() as connection:
        connection.execute("UPDATE documents SET document = ? WHERE run = ?", (text, run))


def step(kind: str, text: str, **options: Any) -> dict[str, Any]:
    return {"kind": kind, "text": text, "options": options, "command": None}


def test_a_step_fills_its_settings_in(site: Site, dataset: str) -> None:
    run = start(site, dataset, "mondrian:k=3", limits={"delta": 0.2}, seed=4)
    site.work()
    with_steps(
        site, run,
        step("parameter", "k = 20 keeps it.", sanitizer="mondrian:k=20"),
        step("parameter", "Test 10, 50, too.", parameter="mondrian:k=10,50"),
        step("none", "A larger k does not help."),
        step("fix", "Remove 2 records: --fix delta=0.2 finds them; --budget allows more."),
    )  # fmt: skip
    text = shown(site, f"/runs/{run}")
    told = "Remove 2 records: “Remove outliers” finds them; “At most so many records”"
    for said in ("k = 20 keeps it.", "A larger k does not help.", told):
        assert said in text
    assert "--fix" not in text.partition("<main")[2].partition('id="files"')[0]
    assert re.findall(r'name="step" value="(\d)"', text) == ["0", "1"]
    place = site.client.post(f"/runs/{run}/next", data={"step": "0"}).headers["location"]
    assert place == f"/data/{dataset}/adversary#h-start"
    filled = shown(site, place)
    assert "(mondrian:k=20)</strong> of" in filled
    assert 'name="limit-delta" inputmode="decimal" autocomplete="off" value="0.2"' in filled
    assert 'value="naive-bayes" checked' in filled
    site.client.post(f"/runs/{run}/next", data={"step": "1"})
    filled = shown(site, place)
    assert (
        "(mondrian:k=10)</strong>, <strong>groups of similar people (mondrian:k=50)</strong> of"
        in filled
    )
    for wrong in ("9", "-1", "x", ""):
        assert site.client.post(f"/runs/{run}/next", data={"step": wrong}).status_code == 422


def test_a_step_that_removes_outliers_starts_with_what_it_says(site: Site, dataset: str) -> None:
    """A stronger setting and a removal together are one button, which needs nothing typed."""
    run = start(site, dataset, "mondrian:k=3", limits={"delta": 0.5})
    site.work()
    both = {"sanitizer": "mondrian:k=20", "fix": "delta=0.25", "budget": 120}
    foreign = {"sanitizer": "command:rm {input} {output}", "fix": "delta=0.25"}
    with_steps(
        site, run,
        step("fix", "k = 20 and 4 records less: --fix delta=0.25 finds them.", **both),
        step("fix", "Run a program.", **foreign),
    )  # fmt: skip
    text = shown(site, f"/runs/{run}")
    assert "Remove and audit again<span" in text
    place = site.client.post(f"/runs/{run}/next", data={"step": "0"}).headers["location"]
    (begun,) = site.client.get(f"{V1}{place}").json()
    assert begun["title"] == "mondrian:k=20, fix for δ ≤ 0.25"
    assert begun["report_title"].endswith(
        ": groups of similar people (mondrian:k=20), fix for δ ≤ 0.25"
    )
    assert "k=3" not in begun["report_title"]
    task = site.server.store.job(begun["id"], "run")["task"]
    assert task["fix"] == {"delta": 0.25, "budget": 120}
    assert task["plan"]["release"]["sanitizer"] == "mondrian:k=20"
    assert task["plan"]["limits"]["delta"] == 0.25
    refused = site.client.post(f"/runs/{run}/next", data={"step": "1"})
    assert refused.status_code == 422  # no request runs a program


def test_a_failed_audit_is_fixed_to_a_pass(site: Site, dataset: str) -> None:
    run = start(site, dataset, limits={"delta": 0.25, "k": 5})
    site.work()
    before = site.client.get(f"{V1}/runs/{run}").json()["verdict"]
    assert before["status"] == "fail"
    assert f'action="/runs/{run}/fix"' in shown(site, f"/runs/{run}")
    wanted = {"delta": "0,25", "budget": "120"}
    place = site.client.post(f"/runs/{run}/fix", data=wanted).headers["location"]
    site.work()
    (fixed,) = site.client.get(f"{V1}{place}").json()
    assert fixed["problem"] is None
    assert fixed["verdict"]["status"] == "pass"
    assert fixed["verdict"]["delta"] <= 0.25 < before["delta"]
    assert fixed["title"] == "mondrian:k=5, fix for δ ≤ 0.25"
    gone = fixed["fix"]["removed"]
    assert 0 < gone <= 120
    text = shown(site, f"/runs/{fixed['id']}")
    assert f"{gone} of 200 records" in text
    assert "whoever knows the rule and misses somebody" in text
    document = site.client.get(f"{V1}/runs/{fixed['id']}/document").json()
    assert document["table"]["records"] == 200 - gone
    assert document["command"] == "indiff audit plan.toml --fix delta=0.25 --budget 120"
    files = {one["name"] for one in site.client.get(f"{V1}/runs/{fixed['id']}/files").json()}
    assert {"fix.json", "fixed-removed.csv", "release.csv"} <= files
    for wrong in ({"delta": "much"}, {"delta": "-1"}, {"delta": "0.5", "budget": "1.5"}, {}):
        refused = site.client.post(f"/runs/{run}/fix", data=wrong)
        assert refused.status_code == 422, wrong


def test_whole_columns_are_recoded_from_the_page(site: Site, dataset: str) -> None:
    sent = {"preset": ["recoding"], "value-recoding": "4"}
    answer = site.client.post(f"/data/{dataset}/release", data=sent)
    assert answer.status_code == 303, answer.text
    filled = shown(site, answer.headers["location"])
    assert "whole columns made coarser (recoding:suppression=0.02,k=4)</strong> of" in filled
    run = start(site, dataset, "recoding:suppression=0.02,k=4", limits={"k": 4})
    site.work()
    done = site.client.get(f"{V1}/runs/{run}").json()
    assert (done["problem"], done["verdict"]["status"]) == (None, "pass")
    alone = "<dt>Suppressed</dt><dd>4 of the 200 records are suppressed"
    assert alone in shown(site, f"/runs/{run}")


def test_what_cannot_be_fixed_says_so(site: Site, dataset: str) -> None:
    run = start(site, dataset, limits={"delta": 0.01})
    site.work()
    place = site.client.post(f"/runs/{run}/fix", data={"delta": "0.01", "budget": "1"})
    site.work()
    (fixed,) = site.client.get(f"{V1}{place.headers['location']}").json()
    assert fixed["verdict"]["status"] == "fail"
    assert fixed["fix"]["holds"] is False
    assert "Not fixed" in shown(site, f"/runs/{fixed['id']}")
    request = {"releases": [{"sanitizer": "laplace:epsilon=1"}], "adversary": {"runs": 5}}
    noisy = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request).json()[0]["id"]
    site.work()
    assert f'action="/runs/{noisy}/fix"' not in shown(site, f"/runs/{noisy}")


def test_the_verdict_names_what_was_not_measured_and_who_was_left_out(site: Site) -> None:
    lines = people(100).decode().splitlines()
    gaps = [
        re.sub(r",\d+,", ",,", line, count=1) if place in (3, 7, 9) else line
        for place, line in enumerate(lines)
    ]
    dataset = site.upload("\n".join(gaps).encode())["id"]
    roles = {"columns": [{"name": "zip", "role": "other"}]}
    assert site.client.put(f"{V1}/datasets/{dataset}/roles", json=roles).status_code == 200
    run = start(site, dataset, missing="drop")
    site.work()
    text = shown(site, f"/runs/{run}")
    verdict = re.sub(
        r"<[^>]+>|\s+", " ", text.partition('class="verdict')[2].partition("</section>")[0]
    )
    verdict = re.sub(r" +", " ", verdict)
    assert "Not measured zip : what this column tells about a person, nobody knows." in verdict
    assert "Left out 3 of 100 records (3 %) lack a value" in verdict or "(3%)" in verdict


def test_two_runs_side_by_side_say_what_differs(site: Site, dataset: str) -> None:
    runs = [
        start(site, dataset, "mondrian:k=5", limits={"delta": 0.5}, seed=1),
        start(site, dataset, "mondrian:k=20", limits={"delta": 0.4, "k": 5}, seed=1),
    ]
    site.work()
    site.client.post(f"/runs/{runs[1]}/label", data={"name": "The coarse one"})
    text = shown(site, f"/compare?run={runs[0]}&run={runs[1]}")
    table = text.partition('id="h-apart"')[2].partition("</section>")[0]
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>.*?</tr>", table)]
    said = ["".join(f"{cell};" for cell in row.split("|") if cell) for row in rows]
    assert said == [
        "Setting;groups of similar people (mondrian:k=5);The coarse one;",
        "the sanitizer&#39;s text;mondrian:k=5;mondrian:k=20;",
        "Limit on δ;0.5;0.4;",
        "Limit on k;none;5;",
    ]
    documents = [site.client.get(f"{V1}/runs/{run}/document").json() for run in runs]
    k = [one["value"] for doc in documents for one in doc["findings"] if one["metric"] == "k"]
    assert f"+{k[1] - k[0]:.0f}" in text.partition('id="h-findings"')[2]
    assert '<th scope="col">Change</th>' in text

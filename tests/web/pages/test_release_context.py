"""What a report says of its context is asked on the page, reaches the plan, and is never lost."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from indiff.audit.plan import options
from indiff.audit.plan.policies import preset_names, read_policy
from tests.web.pages.test_history import start
from tests.web.pages.test_release_two_tabs import form_of, runs
from tests.web.site import V1, Site, people

TOLD = {
    "purpose": 'research on <asthma> & "flu"',
    "recipients": "two universities",
    "release_model": "controlled",
    "controller": "The registry, Ltd.",
    "author": "A. Müller",
    "data_period": "2019 to 2024",
    "attackers": "a neighbour, 5%Yearly at most",
    "knowledge": "age and sex",
    "limits_by": "the board, after two cases elsewhere",
    "review_by": "2027-12-31",
    "confidentiality": "confidential",
}
POLICY = {"policy": "cell-5"}


@pytest.fixture
def dataset(site: Site) -> str:
    return str(site.upload(people())["id"])


def values(text: str) -> dict[str, Any]:
    """What the section's fields hold, as a browser would send it; what is empty is left out."""
    part = text.partition("<summary>For the report")[2].partition("</section>")[0]
    found = re.findall(r'<input id="(\w+)" name="\1"[^>]* value="([^"]*)"', part)
    ticked = re.findall(r'<input type="checkbox" name="confirmed" value="([^"]*)" checked>', part)
    for name, inner in re.findall(r'<select id="(\w+)" name="\1"[^>]*>(.*?)</select>', part, re.S):
        chosen = re.search(r'<option value="([^"]*)" selected>|<option selected>([^<]*)<', inner)
        assert chosen, name
        found.append((name, chosen[1] or chosen[2] or ""))
    assert {name for name, _ in found} | {"confirmed"} == set(options.Context.__annotations__)
    for name, _ in found:
        assert f'<label for="{name}">' in part
    filled = {name: unescape(value) for name, value in found if value}
    return {**filled, "confirmed": ticked} if ticked else filled


def is_open(text: str) -> bool:
    return bool(re.search(r'<details class="more" open>\s*<summary>For the report', text))


def document(site: Site, run: str) -> dict[str, Any]:
    found: dict[str, Any] = site.client.get(f"{V1}/runs/{run}/document").json()
    return found


def test_every_key_of_the_context_has_a_field_and_every_policy_its_title(
    site: Site, dataset: str
) -> None:
    text = site.client.get(f"/data/{dataset}/adversary").text
    assert values(text) == {}
    assert not is_open(text)
    for name in preset_names():
        title = read_policy(name).title
        assert f'<option value="{name}">{name}: {title}</option>' in unescape(text)
    places = [text.index(f'value="cell-{size}"') for size in (3, 5, 10, 11, 20)]
    assert places == sorted(places)


def test_what_is_typed_reaches_the_plan_and_the_report(site: Site, dataset: str) -> None:
    form = form_of(site, dataset, models="naive-bayes", **TOLD, **POLICY)
    assert site.client.post(f"/data/{dataset}/adversary", data=form).status_code == 303
    site.work()
    (run,) = runs(site)
    found = document(site, run["id"])
    assert found["context"] == TOLD
    assert found["policy"]["name"] == "cell-5"
    nobody: dict[str, Any] = {"confirmed": [], "confirmed_by": None}
    assert found["plan"]["context"] == {**TOLD, **POLICY, **nobody}
    report = site.client.get(f"{V1}/runs/{run['id']}/files/report.html").text
    assert "two universities" in report
    text = site.client.get(f"/data/{dataset}/adversary").text
    assert values(text) == {**TOLD, **POLICY}
    assert is_open(text)


def test_an_emptied_form_says_nothing(site: Site, dataset: str) -> None:
    run = start(site, dataset, context={**TOLD, **POLICY})
    site.client.post(f"/runs/{run}/change")
    assert values(site.client.get(f"/data/{dataset}/adversary").text) == {**TOLD, **POLICY}
    form = form_of(site, dataset, **dict.fromkeys([*TOLD, *POLICY, "confirmed"], ""))
    assert site.client.post(f"/data/{dataset}/adversary", data=form).status_code == 303
    assert values(site.client.get(f"/data/{dataset}/adversary").text) == {}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"review_by": "31.12.2027"}, "A day is written 2027-12-31"),
        ({"purpose": "x" * 501}, "must have at most 500 characters"),
        ({"policy": "../secret.toml"}, "No policy"),
        ({"release_model": "secret"}, "must be"),
    ],
)
def test_what_was_typed_survives_an_error_that_links_to_its_field(
    site: Site, dataset: str, wrong: dict[str, str], said: str
) -> None:
    sent = {**TOLD, **POLICY, **wrong}
    answer = site.client.post(f"/data/{dataset}/adversary", data=form_of(site, dataset, **sent))
    assert answer.status_code == 422
    assert said in answer.text
    assert f'href="/data/{dataset}/adversary#{list(wrong)[-1]}"' in answer.text
    assert is_open(answer.text)
    assert values(answer.text) == sent
    assert runs(site) == []


def test_a_run_of_the_interface_keeps_its_context_when_changed_on_the_page(
    site: Site, dataset: str
) -> None:
    """The form sends all it shows: what it did not show was lost, with its limits."""
    told = {**TOLD, "policy": "iso-27559", "confirmed": [read_policy("iso-27559").confirmable[0]]}
    told["confirmed_by"] = "the board"
    run = start(site, dataset, context=told)
    assert site.client.post(f"/runs/{run}/change").status_code == 303
    shown = values(site.client.get(f"/data/{dataset}/adversary").text)
    assert shown == {**told, "confirmed": [f"iso-27559:{told['confirmed'][0]}"]}
    form = form_of(site, dataset, models="naive-bayes", **shown)
    assert site.client.post(f"/data/{dataset}/adversary", data=form).status_code == 303
    newer = next(one["id"] for one in runs(site) if one["id"] != run)
    kept = [site.server.store.job(one, "run")["task"]["plan"]["context"] for one in (run, newer)]
    assert kept == [told, told]


def test_a_policy_with_open_points_is_answered_to_a_pass(site: Site, dataset: str) -> None:
    """Each point that no program can check is ticked on the page, and the report says by whom."""
    told = {"purpose": "x", "recipients": "y", "release_model": "public", "attackers": "z",
            "knowledge": "w", "data_period": "v", "controller": "u", "review_by": "2027-12-31",
            "author": "A. Müller", "policy": "iso-27559"}  # fmt: skip
    limits = {"limit-delta": "2", "limit-k": "2"}
    form = form_of(site, dataset, models="naive-bayes", **told, **limits)
    site.client.post(f"/data/{dataset}/adversary", data=form)
    site.work()
    (run,) = runs(site)
    assert document(site, run["id"])["policy"]["status"] == "incomplete"
    text = site.client.get(f"/runs/{run['id']}").text
    assert "Answer the open points" in text
    assert "in the plan" not in text  # there is none on a page
    answer = site.client.post(f"/runs/{run['id']}/change?to=policy")
    assert answer.headers["location"].endswith("/adversary#policy")
    page = site.client.get(f"/data/{dataset}/adversary").text
    points = re.findall(r'name="confirmed" value="(iso-27559:[^"]*)"', page)
    assert [one.partition(":")[2] for one in points] == list(read_policy("iso-27559").confirmable)
    foreign = ["hipaa-safe-harbor:names"]  # ticked before another policy was chosen
    form = form_of(site, dataset, models="naive-bayes", **told, **limits, confirmed_by="the board")
    form["confirmed"] = [*foreign, *points]
    site.client.post(f"/data/{dataset}/adversary", data=form)
    site.work()
    newer = next(one["id"] for one in runs(site) if one["id"] != run["id"])
    policy = document(site, newer)["policy"]
    assert policy["status"] == "passed"
    harms = next(one for one in policy["checklist"] if "Harm" in one["item"])
    assert "the board has vouched for it" in harms["evidence"]
    assert "Answer the open points" not in site.client.get(f"/runs/{newer}").text


def test_nobody_vouches_for_nothing(site: Site, dataset: str) -> None:
    sent = {"policy": "nist-800-188", "confirmed": "nist-800-188:disclosure-review"}
    answer = site.client.post(f"/data/{dataset}/adversary", data=form_of(site, dataset, **sent))
    assert answer.status_code == 422
    assert f'href="/data/{dataset}/adversary#confirmed_by"' in answer.text
    assert values(answer.text) == {**sent, "confirmed": [sent["confirmed"]]}

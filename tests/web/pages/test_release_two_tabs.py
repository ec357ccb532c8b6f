"""What a page shows is what runs: two tabs, errors that keep what was typed, ticks that matter."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.web.site import V1, Site, people


@pytest.fixture
def dataset(site: Site) -> str:
    return str(site.upload(people())["id"])


def hidden(text: str, name: str) -> str:
    found = re.search(f'name="{name}" value="([^"]*)"', text)
    assert found, name
    return found[1]


def form_of(site: Site, dataset: str, **more: Any) -> dict[str, Any]:
    """What the adversary's page sends from a tab that was opened now."""
    shown = site.client.get(f"/data/{dataset}/adversary").text
    known = {"version": hidden(shown, "version"), "asks_known": "1", "known": ["0", "1", "2"]}
    return {**known, "models": "auto", "limit-delta": "0.2", "action": "start", **more}


def runs(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.client.get(f"{V1}/runs").json()
    return found


@pytest.mark.parametrize(
    "change",
    [
        ("release", {"sanitizer": "mondrian:k=20"}),
        ("roles", {"role-3": "other"}),
        ("roles", {"kind-3": "categorical", "role-3": "quasi"}),
    ],
)
def test_a_stale_tab_is_told_and_shown_the_newer_plan(
    site: Site, dataset: str, change: tuple[str, dict[str, str]]
) -> None:
    old = form_of(site, dataset, **{"limit-delta": "0.31"})
    assert site.client.post(f"/data/{dataset}/{change[0]}", data=change[1]).status_code in (
        303,
        204,
    )
    answer = site.client.post(f"/data/{dataset}/adversary", data=old)
    assert answer.status_code == 409
    assert "changed in another tab" in answer.text
    assert 'value="0.31"' in answer.text  # what was typed is still there
    assert runs(site) == []
    newer = {**old, "version": hidden(answer.text, "version")}
    if change[0] == "release":
        assert "(mondrian:k=20)</strong>" in answer.text
    else:
        newer["known"] = ["0", "1"] if "role-3" in change[1] else newer["known"]
    assert site.client.post(f"/data/{dataset}/adversary", data=newer).status_code == 303
    assert len(runs(site)) == 1


def test_an_estimate_does_not_make_its_own_page_stale(site: Site, dataset: str) -> None:
    form = form_of(site, dataset)
    asked = site.client.post(f"/data/{dataset}/adversary", data={**form, "action": "estimate"})
    assert "estimate=" in asked.headers["location"]
    assert site.client.post(f"/data/{dataset}/adversary", data=form).status_code == 303


def test_the_interface_refuses_a_version_that_is_no_more(site: Site, dataset: str) -> None:
    version = site.client.get(f"{V1}/datasets/{dataset}").json()["version"]
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "version": version}
    roles = {"columns": [{"name": "zip", "role": "other"}]}
    assert site.client.put(f"{V1}/datasets/{dataset}/roles", json=roles).status_code == 200
    answer = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
    assert answer.status_code == 409
    assert "changed in another tab" in answer.json()["error"]
    del request["version"]  # whoever names none takes it as it is
    assert site.client.post(f"{V1}/datasets/{dataset}/runs", json=request).status_code == 202


def test_roles_of_a_stale_tab_do_not_undo_those_of_another(site: Site, dataset: str) -> None:
    tabs = [site.client.get(f"/data/{dataset}").text for _ in range(2)]
    forms = [
        {name: hidden(tab, name) for name in ("form_id", "version")} | {"role-1": "quasi"}
        for tab in tabs
    ]
    place, quiet = f"/data/{dataset}/roles", {"hx-request": "true"}
    for edit, role in (("1", "other"), ("2", "quasi"), ("3", "other")):  # its own changes
        sent = {**forms[0], "edit": edit, "role-3": role}
        assert site.client.post(place, data=sent, headers=quiet).status_code == 204
    late = {**forms[1], "edit": "1", "role-3": "quasi", "role-2": "other"}
    assert site.client.post(place, data=late, headers=quiet).status_code == 409
    without_scripts = site.client.post(place, data=late)
    assert f'href="/data/{dataset}"' in without_scripts.text
    columns = site.client.get(f"{V1}/datasets/{dataset}").json()["columns"]
    assert [one["role"] for one in columns][1:4] == ["quasi", "quasi", "other"]


@pytest.mark.parametrize(
    ("typed", "sentence", "anchor"),
    [
        ({"models": []}, "At least one model must be ticked", "h-models"),
        ({"known": []}, "At least one column that the adversary knows", "h-models"),
        ({"limit-delta": "a tenth"}, "must be a number", "limit-delta"),
        ({"limit-delta": "5"}, "is a number from 0 to 2; got 5", "limit-delta"),
        ({"limit-k": "0"}, "is a number of at least 1; got 0", "limit-k"),
        ({"targets": "many"}, "must be a whole number", "targets"),
        ({"confidence": "2"}, "must be below 1", "confidence"),
        ({"limit-dr": "7"}, "is a number from 0 to 1; got 7", "limit-dr"),
        ({"review_by": "soon"}, "date", "review_by"),
    ],
)
def test_an_error_links_to_its_field_and_keeps_what_was_typed(
    site: Site, dataset: str, typed: dict[str, Any], sentence: str, anchor: str
) -> None:
    form = form_of(site, dataset, **{"title": "Ours & theirs", "seed": "12", "limit-t": "0.25"})
    answer = site.client.post(f"/data/{dataset}/adversary", data={**form, **typed})
    assert answer.status_code == 422
    assert sentence in answer.text
    assert f'href="/data/{dataset}/adversary#{anchor}"' in answer.text
    before = answer.text.partition(f'id="{anchor}"')[0]
    assert before != answer.text
    folds = re.findall("<details[^>]*>|</details>", before)
    while "</details>" in folds:  # those that are over
        del folds[folds.index("</details>") - 1 : folds.index("</details>") + 1]
    assert all(" open" in fold for fold in folds), "the field is folded away"
    for kept in ("Ours &amp; theirs", 'value="12"', 'value="0.25"'):
        assert kept in answer.text
    for name, value in typed.items():
        if value:
            assert re.search(f'name="{name}"[^>]* value="{value}"', answer.text)
        else:
            assert not re.search(f'name="{name}"[^>]* checked', answer.text)
    assert runs(site) == []


def test_no_refusal_is_a_dead_end(site: Site, dataset: str) -> None:
    back = site.client.post(f"/data/{dataset}/hierarchy/build", data={"column": "99"})
    assert f'href="/data/{dataset}">Back to the table' in back.text
    gone = site.client.get(f"/data/{'0' * 16}")
    assert (gone.status_code, 'href="/">Back to the start' in gone.text) == (404, True)


def test_a_value_that_no_sanitizer_takes_stays_in_its_field(site: Site, dataset: str) -> None:
    sent = {"preset": ["k", "l"], "value-k": "five", "value-l": "3"}
    answer = site.client.post(f"/data/{dataset}/release", data=sent)
    assert answer.status_code == 422
    assert "give a whole number" in answer.text
    assert f'href="/data/{dataset}/release#value-k"' in answer.text
    assert 'name="value-k" value="five"' in answer.text
    assert 'name="value-l" value="3"' in answer.text

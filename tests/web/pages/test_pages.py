"""The pages: the whole way by forms alone, and hostile names that stay text."""

from __future__ import annotations

import re
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.web.site import V1, Site, people


class Page(HTMLParser):
    """What a browser without scripts makes of a page: its forms, its tags, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[dict[str, Any]] = []
        self.tags: list[str] = []
        self.inline: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.inline += [name for name in given if name.startswith("on") or name == "style"]
        if tag == "form":
            self.forms.append({"action": given["action"], "fields": set(), **given})
        elif tag in ("input", "select", "textarea", "button") and self.forms and given.get("name"):
            self.forms[-1]["fields"].add(given["name"])

    def handle_data(self, data: str) -> None:
        self.text += data


def look(site: Site, path: str) -> Page:
    answer = site.client.get(path)
    assert answer.status_code == 200, answer.text
    shown = Page(answer.text)
    assert not shown.inline, "the policy forbids inline styles and handlers"
    for form in shown.forms:
        if form.get("method") == "post":
            assert "csrf" in form["fields"], form["action"]
    return shown


@pytest.fixture
def browser(site: Site) -> Site:
    """A browser that sends the token as a form's field only."""
    site.token = site.csrf
    del site.client.headers["x-csrf-token"]
    return site


def send(
    site: Site, path: str, fields: dict[str, Any], file: tuple[str, bytes] | None = None
) -> str:
    data = {"csrf": site.token, **fields}
    if file is None:
        answer = site.client.post(path, data=data)
    else:
        answer = site.client.post(path, data=data, files={"file": file})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_the_whole_way_by_forms_alone(browser: Site) -> None:
    site = browser
    assert "/data/upload" in [form["action"] for form in look(site, "/data").forms]
    place = send(site, "/data/upload", {}, ("people.csv", people()))
    assert "Reading" in look(site, place).text
    site.work()
    shown = look(site, place)
    assert "diagnosis" in shown.text
    send(site, f"{place}/hierarchy/build", {"column": "1", "build": "bands", "widths": "10, 20"})
    send(site, f"{place}/hierarchy", {"column": "2"}, ("sex.csv", b"F;*\nM;*\n"))
    site.work()
    columns = site.client.get(f"{V1}/datasets/{place.removeprefix('/data/')}").json()["columns"]
    assert [column["name"] for column in columns if column["hierarchy"]] == ["age", "sex"]
    send(site, f"{place}/hierarchy/remove", {"column": "2"})
    following = send(site, f"{place}/roles", {"role-3": "other", "next": "1"})
    assert following == f"{place}/release"
    look(site, following)
    following = send(site, following, {"sanitizer": "mondrian:k=5\nmondrian:k=20\n"})
    assert following == f"{place}/adversary"
    look(site, following)
    chosen = {"models": "auto", "distance": "tv", "limit-delta": "0.2", "limit-k": "5", "seed": "7"}
    estimate = send(site, following, {**chosen, "action": "estimate"})
    assert "for 2 runs on 120 records" in look(site, estimate).text
    batch = send(site, following, {**chosen, "action": "start"})
    assert "queued" in look(site, batch).text
    site.work()
    shown = look(site, batch)
    assert "Done. δ = " in shown.text
    assert "queued" not in shown.text
    runs = site.client.get(f"{V1}/runs").json()
    assert {run["title"] for run in runs} == {"mondrian:k=5", "mondrian:k=20"}
    plan = site.client.get(f"{V1}/runs/{runs[0]['id']}/document").json()["plan"]
    assert plan["adversary"]["distance"] == "tv"
    assert plan["limits"] == {"delta": 0.2, "k": 5.0}
    assert plan["run"]["seed"] == 7
    assert plan["data"]["other"] == ["zip"]
    result = look(site, f"/runs/{runs[0]['id']}?threshold=0.01")
    curves = site.client.get(f"{V1}/runs/{runs[0]['id']}/document").json()["charts"]["cdf"]
    assert len(curves) > 1
    above = [
        site.client.get(f"{V1}/runs/{runs[0]['id']}/above", params={"threshold": 0.01, **one})
        for one in ({"curve": curve["name"]} for curve in curves)
    ]
    most = max(one.json()["above"] for one in above)  # by the strongest, not by the first
    assert f"{most} of 120" in re.sub(r"\s+", " ", result.text)
    worst = site.client.get(f"{V1}/runs/{runs[0]['id']}/worst").json()["records"][0]
    explained = look(site, f"/runs/{runs[0]['id']}?record={worst['record']}")
    assert worst["why"] in explained.text
    compared = look(site, f"/compare?run={runs[0]['id']}&run={runs[1]['id']}")
    assert "mondrian:k=20" in compared.text
    assert "people.csv" in look(site, "/history").text
    assert send(site, f"/runs/{runs[0]['id']}/delete", {}) == "/history"
    assert send(site, f"{place}/delete", {}) == "/data"
    assert site.client.get(f"{V1}/runs").json() == []


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% include 'x' %}",
    "'; DROP TABLE datasets; --",
    "</td></table></body>",
    "\u202egnp.exe",
]


def test_hostile_names_and_values_stay_text(browser: Site) -> None:
    site = browser
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    rows = "\n".join(
        ",".join('"' + f"{name}{row % 3}".replace('"', '""') + '"' for name in HOSTILE)
        for row in range(60)
    )
    place = send(site, "/data/upload", {}, ("<b>.csv", f"{header}\n{rows}\n".encode()))
    site.work()
    following = send(site, f"{place}/roles", {"role-0": "sensitive", "next": "1"})
    following = send(site, following, {"sanitizer": "mondrian:k=5"})
    batch = send(site, following, {"models": "auto", "action": "start"})
    site.work()
    run = site.client.get(f"{V1}/runs").json()[0]
    assert run["problem"] is None
    pages = ("/data", place, f"{place}/release", f"{place}/adversary", batch, f"/runs/{run['id']}",
             f"/compare?run={run['id']}", "/history")  # fmt: skip
    for path in pages:
        text = site.client.get(path).text
        shown = look(site, path)
        assert HOSTILE[0] not in text, path
        assert "onerror=alert(1)>" not in text, path
        assert "img" not in shown.tags, path
    assert escape(HOSTILE[0]) in site.client.get(place).text
    assert HOSTILE[2] in look(site, place).text
    refused = site.client.post(
        f"{place}/release",
        data={"csrf": site.token, "sanitizer": HOSTILE[0]},
    )
    assert refused.status_code == 422
    assert HOSTILE[0] not in refused.text
    assert len(site.server.store.datasets()) == 1


def test_a_refusal_is_a_page_with_the_sentence(browser: Site) -> None:
    site = browser
    place = send(site, "/data/upload", {}, ("people.csv", people()))
    site.work()
    answer = site.client.post(
        f"{place}/release",
        data={"csrf": site.token, "sanitizer": "mondrain:k=5"},
    )
    assert answer.status_code == 422
    assert "did you mean 'mondrian'" in unescape(answer.text)
    assert site.client.get("/runs/0123456789abcdef").status_code == 404
    assert site.client.get("/data/not-an-id").status_code == 422
    assert site.client.get("/nothing").status_code == 404
    assert site.client.get("/static/../guard.py").status_code == 404
    assert site.client.get("/static/%2e%2e/guard.py").status_code == 404

"""A release made elsewhere is looked at when it comes: what it has, and what is wrong with it."""

from __future__ import annotations

import csv
import io
from html import unescape
from typing import Any

import pytest

from tests.web.pages.test_pages import look, send
from tests.web.site import V1, Site, people


@pytest.fixture
def browser(site: Site) -> Site:
    """A browser that sends the token as a form's field only."""
    site.token = site.csrf
    del site.client.headers["x-csrf-token"]
    return site


def released(*drop: str, **changed: Any) -> bytes:
    """The made-up table with ages in tens and masked postcodes; some columns left out."""
    rows = list(csv.DictReader(io.StringIO(people().decode())))
    for row in rows:
        low = int(row["age"]) // 10 * 10
        row |= {"age": f"{low}-{low + 9}", "zip": f"{row['zip'][:4]}*"}
        row |= {name: write(row) for name, write in changed.items()}
    names = [name for name in rows[0] if name not in drop]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def added(site: Site, content: bytes, name: str = "theirs.csv") -> tuple[str, dict[str, Any]]:
    """Upload a table and a release of it, and look at that."""
    place = send(site, "/data/upload", {}, ("people.csv", people()))
    site.work()
    send(site, f"{place}/roles", {"role-3": "quasi", "kind-3": "categorical"})
    send(site, f"{place}/release/upload", {}, (name, content))
    assert "Looking at the release" in look(site, f"{place}/release").text
    assert site.client.get(f"{place}/release/state").status_code == 204
    site.work()
    assert site.client.get(f"{place}/release/state").status_code == 200
    (release,) = site.client.get(f"{V1}/datasets/{place[6:]}/releases").json()
    return place, release


def test_what_was_recognised_is_shown_and_whose_row_is_whose_is_offered(browser: Site) -> None:
    place, release = added(browser, released(seen=lambda row: f"a{row['age']}"))
    assert release["state"] == "done"
    found = release["recognised"]
    assert (found["rows"], found["records"]) == (120, 120)
    shapes = {
        one["name"]: {s["name"]: s["cells"] for s in one["shapes"]} for one in found["columns"]
    }
    assert shapes == {
        "age": {"range": 120}, "sex": {"single value": 120}, "zip": {"masked code": 120},
    }  # fmt: skip
    judged = {one["name"]: one["names_people"] for one in found["unmeasured"]}
    assert judged == {"person_id": True, "seen": False}
    assert found["keys"] == ["person_id"]
    assert "120 of these rows cover their record" in found["in_order"]
    page = look(browser, f"{place}/release").text
    for words in ("120 × range", "120 × masked code", "such a release fails", "cannot pass"):
        assert words in " ".join(page.split()), words
    # What was looked at is not looked at again; what is said of it is.
    assert browser.server.store.unfinished() == []
    said = {"file": release["id"], f"key-{release['id']}": "person_id"}
    send(browser, f"{place}/release/file", said)
    look(browser, f"{place}/release")
    assert len(browser.server.store.unfinished()) == 1
    browser.work()
    (again,) = browser.client.get(f"{V1}/datasets/{place[6:]}/releases").json()
    assert [one["name"] for one in again["recognised"]["unmeasured"]] == ["seen"]
    assert send(browser, f"{place}/release", said) == f"{place}/adversary"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (released("zip"), "No column 'zip'"),
        (released(age=lambda row: "young"), "'aaaaa' is no number or interval"),
        (released(diagnosis=lambda row: "HIV"), "is not a sensitive value of the table"),
        (released(age=lambda row: "NA"), "Texts of it that mean “suppressed”: NA"),
        (b"age,sex,zip,diagnosis\n\0", "NUL bytes"),
    ],
)
def test_a_bad_release_is_refused_before_any_run(
    browser: Site, content: bytes, sentence: str
) -> None:
    place, release = added(browser, content)
    assert release["state"] == "failed"
    assert release["recognised"] is None
    shown = unescape(look(browser, f"{place}/release").text)
    assert sentence in " ".join(shown.split())
    fields = {"csrf": browser.token, "file": release["id"]}
    refused = browser.client.post(f"{place}/release", data=fields)
    assert refused.status_code == 422
    assert "cannot be read as it is" in refused.text
    assert f'href="{place}/release#h-made"' in refused.text


def test_said_to_be_suppressed_it_is_read(browser: Site) -> None:
    hidden = released(age=lambda row: "NA" if row["sex"] == "F" else row["age"])
    place, release = added(browser, hidden)
    assert (
        f'href="{place}/release#h-made">Texts of it' in browser.client.get(f"{place}/release").text
    )
    send(browser, f"{place}/release/file",
         {"file": release["id"], f"suppressed-{release['id']}": "NA"})  # fmt: skip
    look(browser, f"{place}/release")
    browser.work()
    (again,) = browser.client.get(f"{V1}/datasets/{place[6:]}/releases").json()
    shapes = {one["name"]: one["cells"] for one in again["recognised"]["columns"][0]["shapes"]}
    assert set(shapes) == {"range", "suppressed"}
    assert sum(shapes.values()) == 120


def test_a_change_of_the_columns_has_it_looked_at_again(browser: Site) -> None:
    place, _ = added(browser, released("zip"))
    send(browser, f"{place}/roles", {"role-3": "other", "kind-3": "categorical"})
    look(browser, f"{place}/release")
    browser.work()
    (again,) = browser.client.get(f"{V1}/datasets/{place[6:]}/releases").json()
    assert again["state"] == "done"
    # The table itself is as ready as before.
    assert browser.client.get(f"{V1}/datasets/{place[6:]}").json()["state"] == "done"


def test_a_release_in_the_encoding_of_its_table_is_read_so(browser: Site) -> None:
    table = "Größe;Ort;Diagnose\n" + "".join(
        f"{150 + n};{('Köln', 'Bonn')[n % 2]};{('Grippe', 'Krebs')[n % 3 % 2]}\n" for n in range(40)
    )
    place = send(browser, "/data/upload", {}, ("table.csv", table.encode("cp1252")))
    browser.work()
    send(browser, f"{place}/reading", {"encoding": "cp1252"})
    browser.work()
    send(browser, f"{place}/roles", {"role-2": "sensitive", "role-0": "quasi", "role-1": "quasi"})
    send(browser, f"{place}/release/upload", {}, ("theirs.csv", table.encode("cp1252")))
    look(browser, f"{place}/release")
    browser.work()
    (release,) = browser.client.get(f"{V1}/datasets/{place[6:]}/releases").json()
    assert release["problem"] is None
    assert release["recognised"]["rows"] == 40


def test_a_program_gets_the_same_answer(site: Site) -> None:
    dataset = site.upload(people())["id"]
    roles = {"columns": [{"name": "zip", "role": "quasi", "kind": "categorical"}]}
    assert site.client.put(f"{V1}/datasets/{dataset}/roles", json=roles).status_code == 200
    address, named = f"{V1}/datasets/{dataset}/releases", {"name": "theirs.csv"}
    for content in (released("person_id"), released("zip")):
        answer = site.client.post(address, params=named, content=content).json()
        assert answer["state"] == "queued"
    site.work()
    good, bad = site.client.get(address).json()
    assert good["recognised"]["unmeasured"] == []
    assert "no column 'zip'" in bad["problem"]

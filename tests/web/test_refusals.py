"""An error reaches a page and a program by its parts, and strangers see nothing of the data."""

from __future__ import annotations

import json
from typing import Any

from indiff.errors import UserError, from_data, option
from indiff.web.jobs.drawing import drawn_together
from indiff.web.refusals import FIELDS, NotFoundError, refusal
from tests.web.site import V1, Site, people

ERROR = UserError(
    "a number has a value",
    from_data("<4o>"),
    f"Set {option('missing', 'drop')} or {option('unmet', 'suppress', of='sanitizer')}",
    field="missing",
)
DATASET = "0123456789abcdef"


def scope(path: str, session: Any = "a session") -> dict[str, Any]:
    return {"path": path, "state": {"session": session}}


def test_a_page_links_to_the_field_by_its_label() -> None:
    answer = refusal(scope(f"/data/{DATASET}/adversary"), ERROR)
    text = bytes(answer.body).decode()
    assert answer.status_code == 422
    assert (
        f'<a href="/data/{DATASET}#h-blanks">{FIELDS["missing"].label}</a>: leave them out' in text
    )
    assert f'<a href="/data/{DATASET}/release#sanitizer">' in text
    assert "unmet=suppress" in text
    assert "missing=" not in text
    assert "&lt;4o&gt;" in text
    assert "<4o>" not in text


def test_a_program_reads_options_as_it_writes_them() -> None:
    found = json.loads(bytes(refusal(scope("/api/v1/runs"), ERROR).body))
    assert found["field"] == "missing"
    assert found["error"] == (
        "a number has a value; got '<4o>'. "
        'Set "missing": "drop" or unmet=suppress in "sanitizer".'
    )


def test_only_a_session_sees_what_comes_from_the_data() -> None:
    for path in ("/api/v1/runs", f"/data/{DATASET}"):
        answer = refusal(scope(path, session=None), ERROR)
        assert b"4o" not in bytes(answer.body)
        assert b"got a value" in bytes(answer.body)
    assert refusal({"path": "/x"}, NotFoundError("nothing")).status_code == 404


def test_a_blank_is_asked_about_on_the_first_step_and_never_ends_a_run(site: Site) -> None:
    table = people(40).decode().splitlines()
    first = table[1].split(",")
    table[1] = ",".join([first[0], "", *first[2:]])
    dataset = site.upload("\n".join(table).encode())["id"]
    place, token = f"/data/{dataset}", {"csrf": site.csrf}
    request = {"releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"membership": False}}
    refused = site.client.post(f"{V1}/datasets/{dataset}/runs", json=request)
    assert refused.status_code == 422
    assert '"missing": "drop"' in refused.json()["error"]
    assert "<strong>age</strong> (1)" in site.client.get(place).text
    for answer, status in ((None, 422), ("error", 422), ("split", 303), ("drop", 303)):
        if answer is not None:
            kept = site.client.post(f"{place}/missing", data={**token, "missing": answer})
            assert kept.status_code == 303
        gone = site.client.post(f"{place}/roles", data={**token, "role-1": "quasi", "next": "1"})
        assert gone.status_code == status
        if status == 422:
            link = f'href="{place}#h-blanks">{FIELDS["missing"].label}</a>: leave them out'
            assert link in gone.text
    site.client.post(f"{place}/adversary", data={**token, "models": "naive-bayes"})
    assert site.server.store.dataset(dataset)["draft"]["missing"] == "drop"
    # A column without an order has its blanks as a value: nothing is asked.
    site.client.post(f"{place}/roles", data={**token, "role-1": "quasi", "kind-1": "categorical"})
    assert "h-blanks" not in site.client.get(place).text
    assert site.client.post(f"{place}/missing", data={**token, "missing": "x"}).status_code == 422


def test_the_front_has_no_release_that_misses_its_own_constraint() -> None:
    rows = [
        {"setting": "a", "delta": 0.1, "ncp": 0.1, "accuracy": None, "constraint_met": False},
        {"setting": "b", "delta": 0.2, "ncp": 0.2, "accuracy": None, "constraint_met": True},
    ]
    (figure,) = drawn_together([], rows)
    assert figure["summary"].endswith("than b.")
    (figure,) = drawn_together([], [{**row, "setting": "mondrian:k=5, fix"} for row in rows])
    assert figure["summary"].endswith("than groups of similar people (mondrian:k=5), fix.")
    (figure,) = drawn_together([], [{**row, "constraint_met": False} for row in rows])
    assert "none is on the front" in figure["summary"]

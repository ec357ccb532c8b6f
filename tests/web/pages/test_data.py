"""Data by forms: how a file is read, wide tables, and states that come in the wrong order."""

from __future__ import annotations

import re
from html import unescape

import pytest

from indiff.web.pages.data import AT_ONCE
from tests.web.pages.test_pages import look, send
from tests.web.site import V1, Site, people

COLUMNS = 1_000
MOST_BYTES = 1_000_000


@pytest.fixture
def browser(site: Site) -> Site:
    """A browser that sends the token as a form's field only."""
    site.token = site.csrf
    del site.client.headers["x-csrf-token"]
    return site


def wide_table(columns: int, records: int = 12) -> bytes:
    names = [f"answer {number}" for number in range(columns - 1)]
    lines = [",".join([*names, "diagnosis"])]
    for record in range(records):
        cells = [str((7 * place + 3 * record) % 5) for place in range(columns - 1)]
        cells[record] = ""  # a value is missing in as many columns as there are records
        lines.append(",".join([*cells, "flu" if record % 3 else "asthma"]))
    return ("\n".join(lines) + "\n").encode()


def opened(site: Site, table: bytes) -> str:
    place = send(site, "/data/upload", {}, ("table.csv", table))
    site.work()
    return place


def states(site: Site, place: str) -> dict[str, dict[str, object]]:
    dataset = site.client.get(f"{V1}/datasets/{place.removeprefix('/data/')}").json()
    return {column["name"]: column for column in dataset["columns"]}


def shown_columns(site: Site, address: str) -> list[int]:
    fields = next(
        form["fields"] for form in look(site, address).forms if form["action"].endswith("/roles")
    )
    numbered = [name for name in fields if name.startswith("role-")]
    return sorted(int(name.removeprefix("role-")) for name in numbered)


def test_a_wide_table_is_shown_some_columns_at_a_time(browser: Site) -> None:
    place = opened(browser, wide_table(COLUMNS))
    assert shown_columns(browser, place) == list(range(AT_ONCE))
    following = browser.client.get(place).text
    assert f'href="{place}?part=2#h-columns"' in following
    assert shown_columns(browser, f"{place}?part=5") == list(range(800, 1000))
    assert shown_columns(browser, f"{place}?part=99") == list(range(800, 1000))
    assert shown_columns(browser, f"{place}?find=ANSWER%2099") == [99, *range(990, 999)]
    assert shown_columns(browser, f"{place}?role=sensitive") == [999]
    assert shown_columns(browser, f"{place}?find=nothing") == []
    assert "1,000 columns" in look(browser, place).text
    for text in ("<script>", "%3Cscript%3E"):
        assert "<script>" not in browser.client.get(f"{place}?find={text}").text.split("<main")[1]


def test_no_page_of_ten_thousand_columns_is_large(browser: Site) -> None:
    place = opened(browser, people(20))
    store, dataset = browser.server.store, place.removeprefix("/data/")
    profile = store.dataset(dataset)["profile"]
    columns = [
        {**profile["columns"][0], "name": f"a column with a long name {number}", "missing": 3}
        for number in range(10_000)
    ]
    profile |= {"columns": columns, "preview": [["a value"] * 10_000] * 20}
    roles = [{**column, "role": "quasi" if place else "sensitive"}
             for place, column in enumerate(columns)]  # fmt: skip
    store.set_profile(dataset, profile, roles)
    for path in ("", "?part=50", "?role=quasi&part=7", "/release", "/adversary"):
        answer = browser.client.get(f"{place}{path}")
        assert answer.status_code == 200
        assert len(answer.content) < MOST_BYTES, path


def test_columns_that_are_not_shown_stay_as_they_are(browser: Site) -> None:
    place = opened(browser, wide_table(COLUMNS))
    ordered = {"role-3": "quasi", "kind-3": "ordinal", "order-3": "4, 3, 2, 1, 0"}
    send(browser, f"{place}/roles", ordered)
    before = states(browser, place)
    assert before["answer 3"]["order"] == ["4", "3", "2", "1", "0"]
    part = {"find": "", "role": "", "part": "2"}
    back = send(browser, f"{place}/roles", {"role-205": "other", "kind-205": "numeric", **part})
    assert back == f"{place}?part=2"
    after = states(browser, place)
    assert after.pop("answer 205")["role"] == "other"
    del before["answer 205"]
    assert after == before
    view = {"find": "answer 7", "role": "quasi", "part": "1"}
    built = {"column": "7", "build": "bands", "widths": "2", **view}
    assert send(browser, f"{place}/hierarchy/build", built) == f"{place}?find=answer+7&role=quasi"
    attached = send(
        browser, f"{place}/hierarchy", {"column": "8", **part}, ("a.csv", b"0;*\n1;*\n")
    )
    assert attached == f"{place}?part=2"
    assert send(browser, f"{place}/hierarchy/remove", {"column": "8", **part}) == attached


def test_a_narrow_table_has_no_parts(browser: Site) -> None:
    place = opened(browser, people())
    text = browser.client.get(place).text
    assert 'name="find"' not in text
    assert 'rel="next"' not in text
    assert shown_columns(browser, place) == list(range(5))


def test_a_state_of_a_form_that_comes_late_is_not_kept(browser: Site) -> None:
    place = opened(browser, people())
    form = {"form_id": "0123456789abcdef", "kind-3": "numeric"}
    assert send(browser, f"{place}/roles", {**form, "edit": "1", "role-3": "quasi"}) == place
    forward = {**form, "edit": "3", "role-3": "other", "next": "1"}
    assert send(browser, f"{place}/roles", forward) == f"{place}/release"
    send(browser, f"{place}/roles", {**form, "edit": "2", "role-3": "sensitive"})
    assert states(browser, place)["zip"]["role"] == "other"
    # The same page loaded again is another form, and so is that of another table.
    again = {**form, "form_id": "fedcba9876543210", "edit": "0", "role-3": "quasi"}
    send(browser, f"{place}/roles", again)
    assert states(browser, place)["zip"]["role"] == "quasi"
    second = opened(browser, people())
    send(browser, f"{second}/roles", {**form, "edit": "1", "role-3": "sensitive"})
    assert states(browser, second)["zip"]["role"] == "sensitive"


def test_each_loading_of_the_page_is_a_form_of_its_own(browser: Site) -> None:
    place = opened(browser, people())
    names = {
        browser.client.get(place).text.split('name="form_id" value="')[1][:16] for _ in range(2)
    }
    assert len(names) == 2


def test_a_role_that_does_not_exist_is_refused(browser: Site) -> None:
    place = opened(browser, people())
    for field, sentence in (
        ("role-3", "Role must be 'identifier'"),
        ("kind-3", "must be 'numeric'"),
    ):
        sent = {"csrf": browser.token, "role-3": "quasi", field: "king"}
        answer = browser.client.post(f"{place}/roles", data=sent)
        assert answer.status_code == 422
        assert sentence in unescape(answer.text)


def test_a_script_gets_no_page_for_each_change(browser: Site) -> None:
    place = opened(browser, people())
    answer = browser.client.post(
        f"{place}/roles",
        data={"csrf": browser.token, "role-3": "other"},
        headers={"hx-request": "true"},
    )
    assert (answer.status_code, answer.content) == (204, b"")
    assert states(browser, place)["zip"]["role"] == "other"


DIRTY = "Survey of 2020;;\nborn;height;ill\n" + "".join(
    f"{1 + n % 12:02}/04/{1950 + n};1,{50 + n};{('no', 'yes', '?')[n % 3]}\n" for n in range(12)
)


def test_a_file_is_read_as_the_form_says(browser: Site) -> None:
    place = opened(browser, DIRTY.encode())
    assert "Row that names the columns" in look(browser, place).text
    said = {
        "header_row": "2", "decimal": ",", "date_format": "born=DD/MM/YYYY", "missing_tokens": "?",
    }  # fmt: skip
    send(browser, f"{place}/reading", said)
    browser.work()
    address = f"{V1}/datasets/{place.removeprefix('/data/')}"
    dataset = browser.client.get(address).json()
    assert dataset["reading"] == {
        "header_row": 2, "decimal": ",", "date_format": {"born": "%d/%m/%Y"},
        "missing_tokens": ["", "?"], "encoding": None, "sheet": None, "separator": None,
    }  # fmt: skip
    assert dataset["profile"]["preview"][2] == ["1952-04-03", "1.52", None]
    again = browser.client.get(place).text
    for shown in (
        'value="2"',
        'value="born=DD/MM/YYYY"',
        'value="?"',
        '<option value="," selected>',
    ):
        assert shown in again
    following = send(browser, f"{place}/roles", {"role-2": "sensitive", "next": "1"})
    following = send(browser, following, {"sanitizer": "suppress"})
    send(browser, following, {"models": "naive-bayes", "action": "start"})
    browser.work()
    (run,) = browser.client.get(f"{V1}/runs").json()
    assert run["problem"] is None
    data = browser.client.get(f"{V1}/runs/{run['id']}/document").json()["plan"]["data"]
    assert {name: data[name] for name in ("header_row", "decimal", "date_format")} == {
        "header_row": 2, "decimal": ",", "date_format": {"born": "%d/%m/%Y"},
    }  # fmt: skip


def test_what_a_column_may_mean_is_asked_on_the_page(browser: Site) -> None:
    place = opened(browser, DIRTY.partition("\n")[2].encode())
    notes = browser.client.get(f"{V1}/datasets/{place.removeprefix('/data/')}").json()["profile"]
    assert any('"date_format": {"born": "%d/%m/%Y"}' in note for note in notes["notes"])
    shown = browser.client.get(place).text
    assert f'<a href="{place}#date_format">How dates are written</a>: born=DD/MM/YYYY' in shown


def answers(site: Site, place: str) -> list[str]:
    """The ways to read a file that its page offers as buttons."""
    text = site.client.get(place).text
    return [unescape(one) for one in re.findall(r'name="answer" value="([^"]*)"', text)]


def reading(site: Site, place: str) -> dict[str, object]:
    dataset = site.client.get(f"{V1}/datasets/{place.removeprefix('/data/')}").json()
    found: dict[str, object] = dataset["reading"]
    return found


def answer(site: Site, place: str, one: str) -> None:
    assert send(site, f"{place}/answer", {"answer": one}) == place
    site.work()


def test_letters_of_windows_are_one_button_away(browser: Site) -> None:
    rows = "".join(f"{20 + n};Köln;{('ja', 'nein')[n % 2]}\n" for n in range(12))
    place = opened(browser, f"Alter;Ort;krank\n{rows}".encode("cp1252"))
    assert answers(browser, place)[0] == "encoding=cp1252"
    answer(browser, place, "encoding=cp1252")
    assert reading(browser, place)["encoding"] == "cp1252"
    assert answers(browser, place) == []
    assert "Köln" in browser.client.get(place).text


def test_dates_with_two_readings_are_one_button_away(browser: Site) -> None:
    lines = [f"{1 + n % 12:02}/04/1950,{1 + n % 12:02}/05/1960,{'xy'[n % 2]}" for n in range(12)]
    place = opened(browser, "\n".join(["born,seen,ill", *lines]).encode())
    assert "date_format=born=DD/MM/YYYY" in answers(browser, place)
    answer(browser, place, "date_format=born=DD/MM/YYYY")
    assert "date_format=seen=MM/DD/YYYY" in answers(browser, place)
    answer(browser, place, "date_format=seen=MM/DD/YYYY")
    # The answer about one column is not lost by that about the other.
    assert reading(browser, place)["date_format"] == {"born": "%d/%m/%Y", "seen": "%m/%d/%Y"}


def test_an_answer_that_nobody_offered_is_refused_or_changes_nothing(browser: Site) -> None:
    place = opened(browser, people())
    before = reading(browser, place)
    answer(browser, place, "path=/etc/passwd")
    assert reading(browser, place) == before
    data = {"csrf": browser.token, "answer": "header_row=first"}
    assert browser.client.post(f"{place}/answer", data=data).status_code == 422


def test_a_reading_that_makes_no_sense_is_refused_by_its_label(browser: Site) -> None:
    place = opened(browser, people())
    for given, sentence in (
        ({"header_row": "first"}, "Row that names the columns must be a whole number."),
        ({"header_row": "0"}, "Row that names the columns must be at least 1."),
        ({"decimal": ";"}, "Decimal sign must be '.' or ','."),
        ({"date_format": "a=; b=%d"}, "How dates are written is written COLUMN=FORMAT; got 'a='."),
    ):
        data = {"csrf": browser.token, **given}
        answer = browser.client.post(f"{place}/reading", data=data)
        assert answer.status_code == 422
        assert sentence in re.sub(r"<[^>]+>", "", unescape(answer.text)), answer.text


def test_what_stands_for_a_suppressed_cell_is_said_of_a_release(browser: Site) -> None:
    place = opened(browser, people())
    send(browser, f"{place}/release/upload", {}, ("theirs.csv", people()))
    address = f"{V1}/datasets/{place.removeprefix('/data/')}"
    (release,) = browser.client.get(f"{address}/releases").json()
    said = {f"suppressed-{release['id']}": 'NA, ""', f"rows_in_order-{release['id']}": "1"}
    send(browser, f"{place}/release", {"file": release["id"], **said})
    assert 'value="NA, &#34;&#34;"' in browser.client.get(f"{place}/release").text
    send(browser, f"{place}/adversary", {"models": "auto", "action": "start"})
    (run,) = browser.server.store.jobs(kind="run")
    assert run["task"]["plan"]["release"]["suppressed"] == ["NA", ""]
    assert run["task"]["plan"]["release"]["rows_in_order"] is True


def test_an_answer_about_blanks_does_not_make_its_own_page_stale(browser: Site) -> None:
    place = opened(browser, wide_table(20))
    shown = browser.client.get(place).text
    form = {name: shown.split(f'name="{name}" value="')[1][:16] for name in ("form_id", "version")}
    answer = {"csrf": browser.token, "form_id": form["form_id"], "missing": "split"}
    headers = {"hx-request": "true"}
    kept = browser.client.post(f"{place}/missing", data=answer, headers=headers)
    assert kept.status_code == 204
    send(browser, f"{place}/roles", {**form, "edit": "1", "role-0": "other"})
    stale = {"csrf": browser.token, **form, "form_id": "0" * 16, "role-0": "quasi"}
    assert browser.client.post(f"{place}/roles", data=stale).status_code == 409
    assert 'value="split" checked' in browser.client.get(place).text

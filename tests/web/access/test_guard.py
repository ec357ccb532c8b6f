"""The door: each thing that must be refused is refused by a test here."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.datastructures import Headers

from indiff.errors import UserError
from indiff.web.access.guard import HEADERS, _awaited
from indiff.web.access.sessions import IDLE_SECONDS
from indiff.web.pages import data, entry, history, next_steps, release, runs
from indiff.web.refusals import Refused
from indiff.web.server.app import make_app
from indiff.web.store.settings import Settings
from tests.web.site import ADDRESS, V1, Site, enter, stranger

PASSWORD = "correct horse battery"


def test_the_link_works_once(site: Site) -> None:
    link = site.server.sessions.new_link()
    assert stranger(site.app).get("/open", params={"token": link}).status_code == 303
    again = stranger(site.app).get("/open", params={"token": link})
    assert again.status_code == 403
    assert "each works once" in again.text
    assert "set-cookie" not in again.headers


def test_a_wrong_token_is_refused_and_does_not_use_the_link_up(site: Site) -> None:
    link = site.server.sessions.new_link()
    assert stranger(site.app).get("/open", params={"token": "guess"}).status_code == 403
    assert stranger(site.app).get("/open", params={"token": link}).status_code == 303


def test_the_cookie_is_hidden_from_scripts_and_from_other_sites(site: Site) -> None:
    link = site.server.sessions.new_link()
    cookie = stranger(site.app).get("/open", params={"token": link}).headers["set-cookie"]
    parts = [part.strip().lower() for part in cookie.split(";")]
    assert "httponly" in parts
    assert "samesite=strict" in parts
    assert "path=/" in parts
    assert parts[0].startswith("indiff_8765=")
    assert "max-age=43200" in parts  # twelve hours, as the server keeps it: no window ends it
    assert not any(part.startswith(("expires", "domain")) for part in parts)


def test_nothing_is_shown_without_a_session(site: Site) -> None:
    for path in ("/data", "/history", f"{V1}/datasets", f"{V1}/openapi.json"):
        answer = stranger(site.app).get(path)
        assert answer.status_code == 401
        assert "open the link" in answer.text
        assert "Press Enter in the terminal" in answer.text
        assert 'href="/' not in answer.text.partition("<body>")[2]  # nothing leads anywhere yet


def test_a_session_ends_when_it_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    assert site.client.get("/data").status_code == 200
    later = time.monotonic() + IDLE_SECONDS + 1
    monkeypatch.setattr("indiff.web.access.sessions.time.monotonic", lambda: later)
    assert site.client.get("/data").status_code == 401


def test_a_session_ends_on_request(site: Site) -> None:
    answer = site.client.post("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/ended")
    assert 'indiff_8765=""' in answer.headers["set-cookie"]
    assert "The session has ended" in stranger(site.app).get("/ended").text
    assert site.client.get("/data").status_code == 401


def test_a_forged_host_is_refused(site: Site) -> None:
    forged = ("evil.example:8765", "127.0.0.1:9999", "127.0.0.1", "", "127.0.0.1.evil.example:8765")
    for host in forged:
        answer = site.client.get("/data", headers={"host": host})
        assert answer.status_code == 400, host
        assert "Host" in answer.text


def test_the_names_of_this_machine_are_known(site: Site) -> None:
    for host in ("localhost:8765", "[::1]:8765", "LOCALHOST:8765"):
        assert site.client.get("/login", headers={"host": host}).status_code == 404, host


def test_a_post_from_another_origin_is_refused(site: Site) -> None:
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": f"{ADDRESS}.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        answer = site.client.post(
            f"{V1}/datasets", params={"name": "a.csv"}, content=b"a\n1\n", headers=headers
        )
        assert answer.status_code == 403, headers
        assert "this server's pages" in answer.json()["error"]
    assert site.server.store.datasets() == []


def test_a_post_from_the_own_origin_is_taken(site: Site) -> None:
    answer = site.client.post(
        f"{V1}/datasets", params={"name": "a.csv"}, content=b"a\n1\n", headers={"origin": ADDRESS}
    )
    assert answer.status_code == 201


def test_what_changes_something_needs_the_token(site: Site) -> None:
    del site.client.headers["x-csrf-token"]
    for token in (None, "", "wrong"):
        headers = {} if token is None else {"x-csrf-token": token}
        for method, path in (
            ("POST", f"{V1}/datasets?name=a.csv"),
            ("PUT", f"{V1}/datasets/{'0' * 16}/roles"),
            ("DELETE", f"{V1}/runs/{'0' * 16}"),
            ("POST", "/data/choose"),
        ):
            answer = site.client.request(method, path, headers=headers)
            assert answer.status_code == 403, (method, path, token)
            assert "CSRF" in answer.text


def test_every_route_that_changes_something_needs_the_token(site: Site) -> None:
    """No route can be forgotten: the guard stands before all of them."""
    del site.client.headers["x-csrf-token"]
    calls = [
        (method, path)
        for path, methods in site.app.openapi()["paths"].items()
        for method in methods
        if method in ("post", "put", "delete")
    ]
    for page in (entry, data, release, runs, history, next_steps):
        routes = [one for one in page.router.routes if isinstance(one, APIRoute)]
        calls += [("post", one.path) for one in routes if "POST" in (one.methods or ())]
    assert len(calls) > 25
    for method, path in calls:
        if path == "/login":
            continue
        filled = path.replace("{column}", "age").replace("{name}", "report.html")
        for name in ("dataset", "run", "release", "batch", "estimate"):
            filled = filled.replace(f"{{{name}}}", "0" * 16)
        assert site.client.request(method.upper(), filled).status_code == 403, path


def test_a_token_of_another_session_is_refused(site: Site) -> None:
    other = enter(site.app)
    answer = site.client.post(
        "/data/choose", headers={"x-csrf-token": str(other.headers["x-csrf-token"])}
    )
    assert answer.status_code == 403


def test_a_form_may_carry_the_token_as_a_field(site: Site) -> None:
    token = site.csrf
    del site.client.headers["x-csrf-token"]
    (site.server.settings.folder or Path()).joinpath("a.csv").write_text("a,b\n1,2\n")
    answer = site.client.post("/data/choose", data={"csrf": token, "path": "a.csv"})
    assert answer.status_code == 303
    assert len(site.server.store.datasets()) == 1


def test_every_answer_has_the_headers(site: Site) -> None:
    answers = [
        site.client.get("/data"),
        site.client.get(f"{V1}/datasets"),
        stranger(site.app).get("/data"),
        site.client.get("/nothing-here"),
        site.client.get("/static/indiff.css"),
    ]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (str(answer.url), name)
        assert "server" not in answer.headers
    policy = HEADERS["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert HEADERS["cache-control"] == "no-store"
    assert HEADERS["referrer-policy"] == "same-origin"  # other sites are told nothing


def test_a_bug_is_answered_and_logged_without_values(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("the diagnosis of Alice")

    site.app.add_api_route("/broken", broken)
    answer = site.client.get("/broken")
    shown = capsys.readouterr()
    assert answer.status_code == 500
    assert "Alice" not in answer.text + shown.err + shown.out
    assert "internal error (ZeroDivisionError) at test_guard.py:" in shown.err


def test_a_large_body_is_refused_where_none_is_needed(site: Site) -> None:
    answer = site.client.post(f"{V1}/datasets/from-folder", content=b" " * 1_000_001)
    assert answer.status_code == 413


def test_other_machines_need_a_password(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"needs a password; got --host 0\.0\.0\.0 without one"):
        Settings(data_dir=tmp_path, host="0.0.0.0")
    with pytest.raises(UserError, match="at least 12 characters; got 5"):
        Settings(data_dir=tmp_path, host="0.0.0.0", password="short")
    assert Settings(data_dir=tmp_path, host="0.0.0.0", password=PASSWORD).host == "0.0.0.0"


def test_with_a_password_there_is_no_link(tmp_path: Path) -> None:
    app = make_app(Settings(data_dir=tmp_path / "data", password=PASSWORD))
    link = app.state.server.sessions.new_link()
    client = stranger(app)
    assert client.get("/open", params={"token": link}).headers["location"] == "/login"
    assert client.get("/data").status_code == 401
    assert client.post("/login", data={"password": "wrong"}).status_code == 403
    assert client.post("/login", data={"password": PASSWORD}).status_code == 303
    assert client.get("/data").status_code == 200


def test_passwords_cannot_be_guessed_quickly(tmp_path: Path) -> None:
    app = make_app(Settings(data_dir=tmp_path / "data", password=PASSWORD))
    client = stranger(app)
    codes = [client.post("/login", data={"password": "no"}).status_code for _ in range(7)]
    assert codes == [403] * 5 + [429] * 2
    assert client.post("/login", data={"password": PASSWORD}).status_code == 429


def test_a_login_from_another_page_is_refused(tmp_path: Path) -> None:
    app = make_app(Settings(data_dir=tmp_path / "data", password=PASSWORD))
    answer = stranger(app).post(
        "/login", data={"password": PASSWORD}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403


def test_many_guesses_at_once_are_counted_too(tmp_path: Path) -> None:
    """Whoever passed the first check before the others failed is stopped by the second."""
    sessions = make_app(
        Settings(data_dir=tmp_path / "data", password=PASSWORD)
    ).state.server.sessions
    for _ in range(5):
        assert sessions.open_with_password("no") is None
    assert sessions.open_with_password(PASSWORD) is None


def test_no_content_type_goes_around_the_token(site: Site) -> None:
    """Only a page's form carries the token inside; the interface's uploads do not."""
    dataset = site.upload(b"a,b\n1,2\n")["id"]
    del site.client.headers["x-csrf-token"]
    for kind in (
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "text/csv",
    ):
        for method, path in (
            ("POST", f"{V1}/datasets?name=a.csv"),
            ("POST", f"{V1}/datasets/{dataset}/releases?name=a.csv"),
            ("PUT", f"{V1}/datasets/{dataset}/hierarchies/a"),
        ):
            answer = site.client.request(
                method, path, content=b"1;*\n", headers={"content-type": kind}
            )
            assert answer.status_code == 403, (kind, path)
    assert len(site.server.store.datasets()) == 1


def test_the_cookies_of_other_programs_do_not_end_a_session(site: Site) -> None:
    own = site.client.cookies["indiff_8765"]
    for others in ('a={"b": [1, 2]}; ', "a=b=c; =; ;; ", 'x="unclosed; '):
        answer = stranger(site.app).get("/data", headers={"cookie": f"{others}indiff_8765={own}"})
        assert answer.status_code == 200, others


def test_a_proxy_with_tls_is_told_by_its_address(tmp_path: Path) -> None:
    app = make_app(
        Settings(data_dir=tmp_path, password=PASSWORD, address="https://audit.example.org")
    )
    outside = {"host": "audit.example.org", "origin": "https://audit.example.org"}
    answer = stranger(app).post("/login", data={"password": PASSWORD}, headers=outside)
    assert answer.status_code == 303
    assert "secure" in answer.headers["set-cookie"].lower().split("; ")
    for headers in (
        {**outside, "host": "other.example.org"},
        {**outside, "origin": "https://other.example.org"},
    ):
        refused = stranger(app).post("/login", data={"password": PASSWORD}, headers=headers)
        assert refused.status_code in (400, 403)
    for address in ("http://audit.example.org", "audit.example.org", "https://a/b"):
        with pytest.raises(UserError, match="--address is where a proxy with TLS"):
            Settings(data_dir=tmp_path, password=PASSWORD, address=address)


def test_every_address_of_this_machine_can_be_served(tmp_path: Path) -> None:
    app = make_app(Settings(data_dir=tmp_path / "data", host="127.0.0.2"))
    assert stranger(app).get("/data", headers={"host": "127.0.0.2:8765"}).status_code == 401
    assert stranger(app).get("/data", headers={"host": "127.0.0.3:8765"}).status_code == 400


def test_a_body_that_stops_coming_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indiff.web.access.guard.STALLED_SECONDS", 0.01)

    async def silent() -> dict[str, object]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(Refused, match="sent nothing for"):
        asyncio.run(_awaited(silent, Headers(), 1, Refused(413, "no"))())  # type: ignore[arg-type]

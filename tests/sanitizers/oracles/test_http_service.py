"""Services as sanitizers: a loopback server that answers, fails, hangs, drips and redirects."""

from __future__ import annotations

import pickle
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff import Http, Table, UserError, compare, differential_test, read_table
from indiff.differential.calls.identity import identity
from indiff.sanitizers.oracles import connection, http_service
from indiff.sanitizers.oracles.function import OracleFailed
from indiff.sanitizers.sanitizer import as_sanitizer


def people() -> Table:
    frame = pa.table(
        {"zip": ["01234", "01235", "99999", "01236"], "age": [28, 36, 47, 53],
         "ill": ["flu", "flu", "cancer", 'a "b", c']}
    )  # fmt: skip
    return read_table(frame, quasi=["zip", "age"], sensitive="ill")


class Server(ThreadingHTTPServer):
    """A server of this machine that does what it is told, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.answer: Callable[[Handler, bytes], None] = echo
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/anonymize"


class Handler(BaseHTTPRequestHandler):
    """Hands every POST to what the test says."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), body))
        self.server.answer(self, body)

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def echo(handler: Handler, body: bytes) -> None:
    handler.say(200, body, Content_Type=handler.headers["Content-Type"])


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield made
        made.over.set()
        made.shutdown()
        thread.join()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_service, "_FIRST_WAIT", 0.001)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_table_is_sent_and_the_answer_is_the_release(
    server: Server, temporary: Path, format: str
) -> None:
    release = Http(server.url, format=format).sanitize(people())  # type: ignore[arg-type]
    assert release.to_frame()["zip"].to_pylist() == ["01234", "01235", "99999", "01236"]
    assert release.sensitive[3] == 'a "b", c'
    path, headers, body = server.asked[0]
    assert path == "/anonymize"
    assert format in headers["Content-Type"]
    if format == "csv":
        assert body.splitlines()[0] == b'"zip","age","ill"'
    assert not list(temporary.iterdir())


def test_an_answer_of_the_other_format_says_so(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"zip": ["*"], "age": ["*"], "ill": ["flu"]}), sink)
        handler.say(
            200, sink.getvalue().to_pybytes(), Content_Type="application/vnd.apache.parquet"
        )

    server.answer = answer
    assert len(Http(server.url).sanitize(people())) == 1


def test_chunks_are_an_answer(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))

    server.answer = answer
    assert len(Http(server.url).sanitize(people())) == 4


def test_a_failure_is_tried_again_and_then_told(server: Server) -> None:
    server.answer = lambda handler, _: handler.say(503, b"come later")
    with pytest.raises(OracleFailed, match=r"must answer 200; 'http://127.* answered 503 on 4 rec"):
        Http(server.url).sanitize(people())
    assert len(server.asked) == 3


def test_what_helps_the_second_time_is_a_release(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        if len(server.asked) < 3:
            handler.say(500)
        else:
            echo(handler, body)

    server.answer = answer
    assert len(Http(server.url).sanitize(people())) == 4


def test_a_refusal_is_not_tried_again(server: Server) -> None:
    server.answer = lambda handler, _: handler.say(422, b"no column 'sex'\nsecond line")
    with pytest.raises(OracleFailed, match=r"answered 422 .* It said: «no column 'sex' second"):
        Http(server.url).sanitize(people())
    assert len(server.asked) == 1


def test_a_service_that_hangs_is_left_in_time(server: Server, temporary: Path) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        server.over.wait(30)

    server.answer = answer
    start = time.monotonic()
    with pytest.raises(OracleFailed, match=r"must answer in time; .* had not after 0.3 seconds"):
        Http(server.url, timeout=0.3).sanitize(people())
    assert time.monotonic() - start < 10
    assert len(server.asked) == 1
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("part", ["head", "body"])
def test_a_service_that_drips_is_left_in_time(server: Server, part: str) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        start = b"HTTP/1.1 200 OK\r\n"
        handler.wfile.write(start if part == "head" else start + b"Content-Length: 9999\r\n\r\n")
        while not server.over.wait(0.05):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    server.answer = answer
    start = time.monotonic()
    with pytest.raises(OracleFailed, match="must answer in time"):
        Http(server.url, timeout=0.4).sanitize(people())
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirections_are_refused(server: Server, status: int) -> None:
    server.answer = lambda handler, _: handler.say(status, Location=server.url + "/2")
    with pytest.raises(OracleFailed, match="a table is sent nowhere else"):
        Http(server.url).sanitize(people())
    assert [path for path, _, _ in server.asked] == ["/anonymize"]


def test_an_answer_that_breaks_off_is_none(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2])
        handler.close_connection = True

    server.answer = answer
    with pytest.raises(OracleFailed, match=r"must answer; .* \(incomplete read\)"):
        Http(server.url, retries=0).sanitize(people())


def test_an_answer_without_a_length_is_refused(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + body)
        handler.close_connection = True

    server.answer = answer
    with pytest.raises(OracleFailed, match="must say how long its answer is"):
        Http(server.url).sanitize(people())


def test_an_answer_without_end_is_cut(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_service, "MOST_BYTES", 1000)
    server.answer = lambda handler, body: handler.say(200, body * 100)
    with pytest.raises(OracleFailed, match="at most 1,000 bytes"):
        Http(server.url).sanitize(people())


@pytest.mark.parametrize(
    ("body", "told"),
    [(b"", "sent nothing"), (b"<html>", "is none: "), (b"zip,age\n1,2\n", "is none: ")],
)
def test_what_is_no_release_is_told(server: Server, body: bytes, told: str) -> None:
    server.answer = lambda handler, _: handler.say(200, body)
    with pytest.raises(OracleFailed, match=told):
        Http(server.url).sanitize(people())


def test_a_compressed_answer_is_refused(server: Server) -> None:
    server.answer = lambda handler, body: handler.say(200, body, Content_Encoding="gzip")
    with pytest.raises(OracleFailed, match="is compressed"):
        Http(server.url).sanitize(people())


def test_nobody_there_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(OracleFailed, match=r"must answer; .*connection refused"):
            Http(url, retries=1).sanitize(people())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "169.254.169.254", "0.0.0.0", "::", "2001:db8::1", "::ffff:8.8.8.8",
                "224.0.0.1", "100.64.0.1"],
)  # fmt: skip
def test_other_addresses_than_private_ones_are_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr(socket, "create_connection", never)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(OracleFailed, match="on this machine or in a private network"):
        Http(f"http://{host}/x").sanitize(people())


def test_one_address_of_several_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 80)) for ip in ("10.0.0.1", "8.8.4.4")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(OracleFailed, match=r"mixed\.example \(8\.8\.4\.4\) is not"):
        connection.addresses_of("mixed.example", 80, remote=False)
    assert connection.addresses_of("mixed.example", 80, remote=True) == ["10.0.0.1", "8.8.4.4"]


def test_the_address_that_was_checked_is_the_one_that_is_called(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that stands for another address a moment later (DNS rebinding) gains nothing."""
    port, asked = server.server_address[1], []
    real = socket.getaddrinfo

    def rebinding(host: str, *rest: Any, **more: Any) -> Any:
        if host != "rebound.example":
            return real(host, *rest, **more)
        asked.append(host)
        ip = "127.0.0.1" if len(asked) == 1 else "8.8.8.8"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    assert len(Http(f"http://rebound.example:{port}/x").sanitize(people())) == 4
    assert asked == ["rebound.example"]
    assert server.asked[0][1]["Host"] == f"rebound.example:{port}"


def test_a_name_that_nobody_knows_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(OracleFailed, match=r"there is none for 'nowhere\.example'"):
        Http("http://nowhere.example/").sanitize(people())


def test_a_seed_makes_it_random_and_is_ours(server: Server) -> None:
    service = Http(server.url + "?seed={seed}")
    assert service.randomized
    for _ in range(2):
        service.sanitize(people(), np.random.default_rng(3))
    first, second = (path for path, _, _ in server.asked)
    assert first == second
    assert first.partition("=")[2].isdigit()


@pytest.mark.parametrize(
    "text",
    ["http://127.0.0.1:8000/anonymize", "https(timeout=60)://localhost/x?k=5,l=2",
     "http(format=parquet,retries=0,remote=yes)://[::1]:80/"],
)  # fmt: skip
def test_text_is_read_and_written_alike(text: str) -> None:
    service = as_sanitizer(text)
    assert isinstance(service, Http)
    assert str(service) == text
    assert pickle.loads(pickle.dumps(service)) == service
    assert identity(service) == identity(as_sanitizer(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [("http://", "is an address such as"), ("http:///x", "is an address such as"),
     ("http://u:p@127.0.0.1/", "must not have a user or a password"),
     ("http://127.0.0.1/a b", "of ASCII"), ("http://127.0.0.1/#x", "of ASCII"),
     ("http://127.0.0.1:99999/", "is an address such as"),
     ("http(time=3)://127.0.0.1/", "takes timeout=SECONDS"),
     ("http(timeout=x)://127.0.0.1/", "give a number"),
     ("http(timeout=0)://127.0.0.1/", "number of seconds above 0"),
     ("http(retries=-1)://127.0.0.1/", "whole number of at least 0")],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str, told: str) -> None:
    with pytest.raises(UserError, match=told) as found:
        as_sanitizer(text)
    assert ":p@" not in str(found.value)


def hide_zip(handler: Handler, body: bytes) -> None:
    lines = body.decode().splitlines()
    rows = [lines[0], *(f'"*",{line.partition(",")[2]}' for line in lines[1:])]
    handler.say(200, "\n".join(rows).encode())


def test_it_is_tested_record_by_record_and_goes_on(server: Server, tmp_path: Path) -> None:
    server.answer = hide_zip
    folder = tmp_path / "run"
    first = differential_test(people(), server.url, targets=[0, 1], jobs=1, run=folder,
                              model="frequency")  # fmt: skip
    calls = len(server.asked)
    again = differential_test(people(), server.url, jobs=1, run=folder, model="frequency")
    assert len(server.asked) - calls == 2 + 2  # the whole table twice, and two records more
    assert again.distances[:2].tolist() == first.distances.tolist()
    seen: list[Any] = []
    differential_test(people(), server.url, jobs=1, model="frequency",
                      progress=lambda *done: seen.append(done))  # fmt: skip
    assert seen


def test_one_record_that_fails_does_not_end_the_run(server: Server) -> None:
    def answer(handler: Handler, body: bytes) -> None:
        if b"99999" in body:
            hide_zip(handler, body)
        else:
            handler.say(400)

    server.answer = answer
    result = differential_test(people(), server.url, jobs=1, model="frequency", retries=0)
    assert len(result.failures) == 1
    assert not result.complete


def test_compare_takes_a_service(server: Server) -> None:
    server.answer = hide_zip
    frame = pa.table({"zip": ["a", "b"] * 6, "age": list(range(12)), "ill": list("xyzx" * 3)})
    table = read_table(frame, quasi=["zip", "age"], sensitive="ill")
    found = compare(table, ["identity", server.url + "?k=2,l=3"], model="frequency", jobs=1)
    assert [row.status for row in found.rows] == ["measured"] * 2
    assert [row.setting for row in found.rows] == ["identity", server.url + "?k=2,l=3"]

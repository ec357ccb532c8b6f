"""Adult and Internet Usage: the papers' records, and every way in which fetching can go."""

from __future__ import annotations

import hashlib
import re
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from indiff.datasets import adult, fetch, internet_usage
from indiff.datasets.fetch import (
    RemoteFile,
    adult_frame,
    cache_folder,
    internet_usage_frame,
    locate,
)
from indiff.errors import UserError

BODY = b"39, State-gov, 77516\n" * 9000  # several chunks


def remote(body: bytes = BODY, name: str = "file.data", url: str = "") -> RemoteFile:
    return RemoteFile(name, url, hashlib.sha256(body).hexdigest(), len(body))


class Server:
    """A loopback web server that answers every request in one chosen way."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.files: dict[str, bytes] = {"file.data": BODY}
        self.announced: int | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                body = outer.files.get(self.path.rpartition("/")[2])
                if body is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(outer.announced or len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    running = Server()
    thread = threading.Thread(target=running.http.serve_forever, args=(0.01,))
    thread.start()
    yield running
    running.http.shutdown()
    thread.join()
    running.http.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


@pytest.fixture
def no_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDIFF_DATA", raising=False)


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# -- the transfer --


@pytest.mark.usefixtures("no_local")
def test_a_download_is_cached_for_the_owner_alone(server: Server, cache: Path) -> None:
    path = locate(remote(), download=True, base_url=server.url + "/")
    assert path == cache / "file.data"
    assert path.read_bytes() == BODY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert server.requests == ["/file.data"]
    assert files_below(cache) == ["file.data"]


@pytest.mark.usefixtures("no_local")
def test_the_files_own_address_is_the_default(server: Server) -> None:
    locate(remote(url=f"{server.url}/its/own/file.data"), download=True)
    assert server.requests == ["/its/own/file.data"]


@pytest.mark.usefixtures("no_local")
def test_a_cached_file_needs_no_request(server: Server) -> None:
    first = locate(remote(), download=True, base_url=server.url)
    assert locate(remote(), download=True, base_url=server.url) == first
    assert locate(remote()) == first
    assert len(server.requests) == 1


@pytest.mark.usefixtures("no_local")
def test_a_damaged_cache_is_refused_and_fetched_again_when_asked(
    server: Server, cache: Path
) -> None:
    cache.mkdir(parents=True)
    (cache / "file.data").write_bytes(b"half")
    with pytest.raises(UserError, match=r"file\.data is damaged in the cache.*download=True"):
        locate(remote())
    assert server.requests == []
    assert locate(remote(), download=True, base_url=server.url).read_bytes() == BODY


@pytest.mark.usefixtures("no_local")
def test_nothing_is_downloaded_unless_asked(server: Server, cache: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"file\.data has no local copy; set INDIFF_DATA to the folder.*download=True",
    ):
        locate(remote(), base_url=server.url)
    assert server.requests == []
    assert not cache.exists()


@pytest.mark.parametrize("body", [BODY[:-1] + b"!", BODY + b"more", BODY * 20])
@pytest.mark.usefixtures("no_local")
def test_other_bytes_are_removed(server: Server, cache: Path, body: bytes) -> None:
    server.files["file.data"] = body
    expected = hashlib.sha256(BODY).hexdigest()[:16]
    with pytest.raises(UserError, match=rf"SHA-256.*expected {expected}; it was removed"):
        locate(remote(), download=True, base_url=server.url)
    assert files_below(cache) == []


@pytest.mark.parametrize("announced", [None, len(BODY)])
@pytest.mark.usefixtures("no_local")
def test_a_transfer_that_breaks_off(server: Server, cache: Path, announced: int | None) -> None:
    server.files["file.data"] = BODY[:100_000]
    server.announced = announced
    with pytest.raises(UserError, match=r"ended after 100,000 of 189,000 bytes; check the conn"):
        locate(remote(), download=True, base_url=server.url)
    assert files_below(cache) == []


@pytest.mark.usefixtures("no_local")
def test_a_file_that_is_not_there(server: Server, cache: Path) -> None:
    del server.files["file.data"]
    with pytest.raises(UserError, match=r"cannot be downloaded \(HTTP status 404\); .*INDIFF_DATA"):
        locate(remote(), download=True, base_url=server.url)
    assert files_below(cache) == []


@pytest.mark.usefixtures("no_local")
def test_nobody_listens(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as held:  # bound but not listening: nobody else gets the port
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(UserError, match=r"cannot be downloaded \(.*refused.*\); check the"):
            locate(remote(), download=True, base_url=url)
    assert files_below(cache) == []


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"])
@pytest.mark.usefixtures("no_local")
def test_a_server_that_falls_silent(
    cache: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetch, "_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        connections: list[socket.socket] = []

        def answer_once() -> None:
            connection, _ = listener.accept()
            connections.append(connection)
            connection.sendall(answer)

        thread = threading.Thread(target=answer_once)
        thread.start()
        with pytest.raises(UserError, match=r"cannot be downloaded .*timed out"):
            locate(remote(), download=True, base_url=url)
        thread.join()
        for connection in connections:
            connection.close()
    assert files_below(cache) == []


@pytest.mark.usefixtures("no_local")
def test_an_answer_that_is_not_http(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def answer_once() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"SSH-2.0\r\n")

        thread = threading.Thread(target=answer_once)
        thread.start()
        with pytest.raises(UserError, match=r"cannot be downloaded .*BadStatusLine"):
            locate(remote(), download=True, base_url=url)
        thread.join()
    assert files_below(cache) == []


@pytest.mark.usefixtures("no_local")
def test_only_web_addresses() -> None:
    with pytest.raises(UserError, match=r"must start with https://; got 'file:///etc/file.data'"):
        locate(remote(), download=True, base_url="file:///etc")


@pytest.mark.usefixtures("no_local")
def test_a_cache_that_cannot_be_made(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    with pytest.raises(UserError, match=r"cache folder .* cannot be written .*XDG_CACHE_HOME"):
        locate(remote(), download=True, base_url=server.url)
    assert server.requests == []


# -- local copies --


@pytest.mark.parametrize("by", ["folder", "INDIFF_DATA"])
def test_a_local_copy_comes_first(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    (tmp_path / "file.data").write_bytes(BODY)
    monkeypatch.setenv("INDIFF_DATA", str(tmp_path if by == "INDIFF_DATA" else tmp_path / "none"))
    folder = tmp_path if by == "folder" else None
    path = locate(remote(), folder=folder, download=True, base_url=server.url)
    assert path == tmp_path / "file.data"
    assert server.requests == []


def test_a_local_copy_with_other_bytes_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "file.data"
    path.write_bytes(b"mine")
    with pytest.raises(UserError, match=r"is not the published file\.data: .*replace the file"):
        locate(remote(), folder=tmp_path)
    assert path.read_bytes() == b"mine"


def test_a_folder_without_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=rf"file\.data is not in '{re.escape(str(tmp_path))}'; .*download=True"
    ):
        locate(remote(), folder=tmp_path)


# -- the data sets, on a few lines --


ADULT_LINE = (
    "39, State-gov, 77516, {education}, 13, Never-married, {job}, Not-in-family, White, Male, "
    "2174, 0, 40, {country}, {income}\n"
)


def small_adult(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def line(number: int, suffix: str) -> str:
        job = "?" if number % 5 == 4 else "Sales"
        income = ("<=50K", ">50K")[number % 2] + suffix
        return ADULT_LINE.format(education=f"e{number}", job=job, country="Peru", income=income)

    training = "".join(line(number, "") for number in range(20)) + "\n"
    test = "|1x3 Cross validator\n" + "".join(line(number, ".") for number in range(20, 30)) + "\n"
    for constant, name, text in (
        ("_ADULT_TRAINING", "adult.data", training),
        ("_ADULT_TEST", "adult.test", test),
    ):
        (folder / name).write_text(text)
        monkeypatch.setattr(fetch, constant, remote(text.encode(), name))


def test_adult_takes_complete_records_in_file_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_adult(monkeypatch, tmp_path)
    frame = adult_frame(None, folder=tmp_path)
    kept = [f"e{number}" for number in range(30) if number % 5 != 4]
    assert frame["education"].to_pylist() == kept
    assert set(frame["income"].to_pylist()) == {"<=50K", ">50K"}
    assert frame["age"].to_pylist() == [39] * 24
    assert frame.schema.metadata[b"notes"] == b"6 of 30 records with a missing value left out"
    drawn = adult_frame(10, seed=1, folder=tmp_path)["education"].to_pylist()
    assert len(drawn) == 10
    assert drawn == [name for name in kept if name in drawn]  # the files' order, none twice
    assert drawn != adult_frame(10, seed=2, folder=tmp_path)["education"].to_pylist()


def test_adult_downloads_both_parts(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_adult(monkeypatch, tmp_path)
    monkeypatch.delenv("INDIFF_DATA", raising=False)
    server.files = {name: (tmp_path / name).read_bytes() for name in ("adult.data", "adult.test")}
    for _ in range(2):
        assert adult_frame(None, download=True, base_url=server.url).num_rows == 24
    assert server.requests == ["/adult.data", "/adult.test"]


@pytest.mark.parametrize(
    ("records", "seed", "message"),
    [
        (0, 0, r"at least 1 and at most .*\(24\); got 0"),
        (25, 0, r"at least 1 and at most .*\(24\); got 25"),
        (10, -3, r"seed must be 0 or more; got -3"),
    ],
)
def test_adult_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int, seed: int, message: str
) -> None:
    small_adult(monkeypatch, tmp_path)
    with pytest.raises(UserError, match=message):
        adult_frame(records, seed, folder=tmp_path)


def test_a_line_with_too_few_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "internet.data").write_text("Consultant\t41\n")
    monkeypatch.setattr(fetch, "_INTERNET", remote(b"Consultant\t41\n", "internet.data"))
    with pytest.raises(UserError, match=r"internet\.data must have 72 fields .*one has 2"):
        internet_usage_frame(folder=tmp_path)


def test_unknown_version() -> None:
    with pytest.raises(UserError, match="no version of the papers 'v3'"):
        internet_usage("v3")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", [adult, internet_usage])
@pytest.mark.usefixtures("no_local")
def test_a_data_set_that_is_nowhere(call: Callable[[], object]) -> None:
    with pytest.raises(UserError, match=r"INDIFF_DATA .*download=True"):
        call()


# -- the real files --


def test_adult_counts(needs_data: Path) -> None:
    everything = adult_frame(None, folder=needs_data)
    assert everything.num_rows == 45_222
    assert everything.schema.metadata[b"notes"].startswith(b"3,620 of 48,842 records")
    assert set(everything["income"].to_pylist()) == {"<=50K", ">50K"}
    assert everything.slice(0, 1)["fnlwgt"].to_pylist() == [77516]  # the training part's first
    assert everything.slice(45_221)["fnlwgt"].to_pylist() == [182148]  # the test part's last


def test_adult_draw(needs_data: Path) -> None:
    """DIT v2, Table 3: 10,000 records, 7,960 of them distinct in the papers' draw, n = 14."""
    frame = adult_frame(folder=needs_data)
    used = frame.select([*fetch.ADULT_QUASI, fetch.ADULT_SENSITIVE]).to_pandas()
    assert len(used) == 10_000
    assert used["occupation"].nunique() == 14
    assert abs(len(used.drop_duplicates()) - 7_960) < 150
    assert adult_frame(folder=needs_data).equals(frame)
    assert not adult_frame(seed=1, folder=needs_data).equals(frame)


def test_internet_usage_counts(needs_data: Path) -> None:
    """DIT v2, Table 3: 9,799 records, 7,049 of them distinct, n = 9."""
    frame = internet_usage_frame(folder=needs_data)
    used = frame.select([*fetch.INTERNET_QUASI["v2"], fetch.INTERNET_SENSITIVE]).to_pandas()
    assert len(used) == 9_799
    assert used["household_income"].nunique() == 9
    assert len(used.drop_duplicates()) == 7_049
    assert frame.schema.metadata[b"notes"] == b"309 of 10,108 records with age Not-Say left out"


@pytest.mark.parametrize("file", [fetch._ADULT_TRAINING, fetch._ADULT_TEST, fetch._INTERNET])
def test_the_promised_size_and_checksum_belong_to_the_same_bytes(
    needs_data: Path, file: RemoteFile
) -> None:
    body = (needs_data / file.name).read_bytes()
    assert (len(body), hashlib.sha256(body).hexdigest()) == (file.size, file.sha256)
    assert file.url.startswith("https://")

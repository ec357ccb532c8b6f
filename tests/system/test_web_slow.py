"""Clients that send as slowly as they can: each loses its connection, the others notice nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from indiff.web.server import serving
from tests.system.web_server import Running

pytestmark = pytest.mark.system
PATIENCE = 1.0
HALF = b"GET /data HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


async def size(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def refuse(request: Request) -> Response:
    return PlainTextResponse("no", 401)


async def slow(request: Request) -> Response:
    import asyncio

    async def parts() -> object:
        for _ in range(6):
            await asyncio.sleep(PATIENCE / 2)
            yield b"x"

    return StreamingResponse(parts())  # type: ignore[arg-type]


@contextmanager
def listening() -> Iterator[tuple[str, int]]:
    """A small application behind the server's own kind of connection, in this process."""
    routes = [
        Route("/size", size, methods=["POST"]),
        Route("/refuse", refuse, methods=["POST"]),
        Route("/slow", slow),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes), http=serving.Impatient, ws="none", log_level="warning"
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(serving, "HEAD_SECONDS", PATIENCE)
    with listening() as found:
        yield found


def closed_after(connection: socket.socket, more: Callable[[], bytes], seconds: float) -> float:
    """Send a byte now and then; return when the server hung up."""
    begin = time.monotonic()
    connection.settimeout(0.1)
    while time.monotonic() - begin < seconds:
        try:
            connection.sendall(more())
            if connection.recv(65536) == b"":
                return time.monotonic() - begin
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return time.monotonic() - begin
    raise AssertionError(f"still open after {seconds} s")


def status(connection: socket.socket) -> bytes:
    connection.settimeout(30)
    return connection.recv(65536)[:12]


def test_a_head_that_dribbles_is_cut_off(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(HALF)
        assert closed_after(connection, lambda: b"x", 30) >= PATIENCE * 0.9


def test_a_connection_that_says_nothing_is_cut_off(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        assert closed_after(connection, lambda: b"", 30) >= PATIENCE * 0.9


def test_the_second_head_of_a_connection_must_come_too(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(
            b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
        )
        assert status(connection) == b"HTTP/1.1 200"
        connection.sendall(HALF)
        closed_after(connection, lambda: b"x", 30)


def test_a_body_after_its_answer_is_not_waited_for(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(
            b"POST /refuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
        )
        assert status(connection) == b"HTTP/1.1 401"
        closed_after(connection, lambda: b"x", 30)


def test_a_slow_body_and_a_slow_answer_are_not_cut_off(address: tuple[str, int]) -> None:
    """The guard has a rule of its own for bodies, and answers take as long as they do."""

    def dribble() -> Iterator[bytes]:
        for _ in range(6):
            time.sleep(PATIENCE / 2)
            yield b"x"

    with httpx.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=60) as client:
        assert client.post("/size", content=dribble()).text == "6"
        assert client.get("/slow").text == "x" * 6


def test_connections_have_a_bound(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 60.0)
    monkeypatch.setattr(serving, "MOST_SOCKETS", 5)
    with ExitStack() as opened:
        held = [opened.enter_context(socket.create_connection(address)) for _ in range(5)]
        one_more = opened.enter_context(socket.create_connection(address))
        closed_after(one_more, lambda: b"", 30)
        for connection in held:
            connection.sendall(b"POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            assert status(connection) == b"HTTP/1.1 200"


def test_pages_answer_while_a_hundred_clients_dribble(tmp_path: Path) -> None:
    """The real server with its real patience: each of them is gone soon, and nobody waits."""
    with Running(tmp_path / "data") as server, ExitStack() as opened:
        url = httpx.URL(server.address)
        place = (url.host, url.port or 80)
        slow_ones = [
            opened.enter_context(socket.create_connection(place, timeout=60)) for _ in range(100)
        ]
        for connection in slow_ones:
            connection.sendall(HALF)
        assert server.client.get("/data").status_code == 200
        for connection in slow_ones:
            closed_after(connection, lambda: b"x", 3 * serving.HEAD_SECONDS)
        assert server.client.get("/data").status_code == 200
        assert server.stop() == ""

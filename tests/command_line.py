"""Calls of the real command line for tests, and the file that they are made on."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from indiff.cli import main as cli
from indiff.cli.warmup import compile_all
from indiff.report.terminal.tables import compile_first

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def write_people(folder: Path, *, records_each: int = 1) -> Path:
    """Write 60 records whose sensitive values occur nowhere else in what a command prints."""
    lines = ["id,age,town,wage,ill,smokes"]
    for row in range(60):
        ill = ("secret-a", "secret-b", "secret-c")[row * row % 7 % 3]
        lines.append(
            f"person{row // records_each},{20 + row * 7 % 40},town{row % 5},{1000 + 17 * row},"
            f"{ill},{('puff', 'clean')[row % 2]}"
        )
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass(frozen=True)
class Ended:
    """How a call ended and what it printed."""

    code: int
    out: str
    err: str


def announce() -> None:
    """Compile the kernels before, so that nothing is said of it."""
    compile_first(compile_all)


def call(*words: str | Path) -> Ended:
    """Run ``indiff`` here: quick, for everything but start-up and signals."""
    announce()
    out, err = _stream(), _stream()
    code: object = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main([str(word) for word in words])
        except SystemExit as ending:
            code = ending.code
    assert isinstance(code, int)
    return Ended(code, _text(out), _text(err))


def call_alone(*words: str | Path, environment: Mapping[str, str] | None = None) -> Ended:
    """Run ``indiff`` in a process of its own, its output piped."""
    announce()
    done = subprocess.run(
        [sys.executable, "-m", "indiff.cli.main", *map(str, words)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **(environment or {})},
        timeout=300,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")

"""Feeds the command line and the HTTP interface what nobody expects, and names what breaks them.

``make fuzz`` runs for MINUTES (10) from a new SEED. A case is made of the seed and its number
alone: ``SEED=7 FIRST=120`` goes on with case 120, ``COUNT=1`` shows that one, ``ONLY=prior`` draws
from the kinds that have this word. Each begins with what is accepted and changes one or two things
of it, mostly a little and sometimes wildly. A case is broken that ends with another code than 0, 1,
2, 3 or 130, takes more than 30 s of processor time or 2 GB, lets a library or a warning speak on
standard error, or makes the server answer with 500. At the end every kind is shown with how many
were tried, accepted (0, 1), refused (2), incomplete (3) or ended otherwise, with the slowest and
the largest.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 30, 2e9  # of the processor; bytes at the peak
PATIENCE = 600  # seconds by the clock, where nothing is computed either
PER_WORKER = 200
HTTP = "HTTP"


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def forget_peak() -> None:
    """Let the peak of memory begin anew."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """Return the most bytes in memory since the peak was forgotten."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) * 1024
    return 0.0


def try_case(seed: str, number: int, only: str) -> dict[str, Any]:
    """Make one case, run it here, and tell what came of it."""
    from indiff.engines import in_process
    from indiff.engines.tally import BATCH
    from tests.command_line import call
    from tests.fuzz.cases import KINDS, make
    from tests.fuzz.web import ask

    dice = random.Random(f"{seed} {number}")
    # Every other case reads the pages of its small Parquet files as those of large ones are read.
    in_process.WORTH_INDICES = dice.choice((0, BATCH))
    kind = dice.choice([name for name in (*KINDS, HTTP) if only in name])
    told: dict[str, Any] = {"words": [kind], "broken": None, "ended": [(kind, 70)]}
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, contextlib.chdir(name):
        try:
            words = [kind] if kind == HTTP else make(kind, dice, Path(name))
            told["words"] = words
            forget_peak()
            start = processor_seconds()
            if kind == HTTP:
                answers, told["broken"] = ask(dice, Path(name))
                told["ended"] = [(asked, code_of(status)) for asked, status in answers]
            else:
                ended = call(*words)
                told["ended"] = [(kind, ended.code)]
                if ended.code not in (0, 1, 2, 3, 130):
                    told["broken"] = ended.err[-1500:]
                elif any(word in ended.err for word in ("Warning", "Traceback", "rror:")):
                    told["broken"] = f"a warning: {ended.err[-1500:]}"
                elif ended.code == 2 and len(sentences(ended.err)) != 1:
                    told["broken"] = f"more than a sentence: {ended.err[-1500:]}"
        except Exception:  # noqa: BLE001 - whatever it is, it is what we look for
            told["broken"] = traceback.format_exc()[-1500:]
            return told
    told["seconds"], told["bytes"] = processor_seconds() - start, peak()
    if told["seconds"] > SECONDS or told["bytes"] > MEMORY:
        told["broken"] = f"{told['seconds']:.0f} s, {told['bytes'] / 1e6:,.0f} MB"
    return told


def sentences(told: str) -> list[str]:
    """Return the lines of a refusal, without what was said of metadata before it."""
    return [line for line in told.splitlines() if not line.startswith("metadata: ")]


def code_of(status: int) -> int:
    """Return the exit code that means the same as an answer of the server."""
    return 0 if status < 400 else 2 if status < 500 else 70


def work(seed: str, first: int, count: int, only: str) -> None:
    """Try cases, one line of JSON before and one after each."""
    from tests.command_line import announce

    announce()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a command may write to it by its name
    with tempfile.TemporaryFile() as errors:
        os.dup2(errors.fileno(), 2)  # what a library writes without Python's leave
        for number in range(first, first + count):
            print(json.dumps({"begins": number}), file=out)
            told = try_case(seed, number, only)
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            errors.seek(0)
            errors.truncate()
            if said and not told["broken"]:
                told["broken"] = f"on standard error: {said[-1500:]}"
            print(json.dumps({"number": number, **told}), file=out)


@dataclass
class Kind:
    """What became of the cases of one kind."""

    codes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    seconds: float = 0.0
    bytes: float = 0.0


@dataclass
class Found:
    """What became of all cases."""

    kinds: dict[str, Kind] = field(default_factory=lambda: defaultdict(Kind))
    broken: int = 0

    def add(self, told: dict[str, Any]) -> None:
        """Count a case, and show it if it is broken."""
        for kind, code in told["ended"]:
            self.kinds[kind].codes[code] += 1
            self.kinds[kind].seconds = max(self.kinds[kind].seconds, told.get("seconds", 0.0))
            self.kinds[kind].bytes = max(self.kinds[kind].bytes, told.get("bytes", 0.0))
        if told["broken"]:
            self.show(told["number"], told["words"], told["broken"])

    def show(self, number: int, words: list[str], broken: str) -> None:
        """Print a broken case at once."""
        self.broken += 1
        short = [word if len(word) < 80 else f"{word[:40]}… ({len(word)})" for word in words]
        print(f"== case {number}: {short}\n{broken}", flush=True)

    def table(self) -> str:
        """Return the kinds as a table."""
        lines = [f"{'kind':24} {'tried':>7} {'accepted':>9} {'refused':>8} {'incomplete':>11} "
                 f"{'other':>6} {'slowest, s':>11} {'largest, MB':>12}"]  # fmt: skip
        for name in sorted(self.kinds):
            kind = self.kinds[name]
            tried = sum(kind.codes.values())
            accepted, refused, open_ = kind.codes[0] + kind.codes[1], kind.codes[2], kind.codes[3]
            lines.append(
                f"{name:24} {tried:7,} {accepted:9,} {refused:8,} {open_:11,} "
                f"{tried - accepted - refused - open_:6,} {kind.seconds:11.1f} "
                f"{kind.bytes / 1e6:12,.0f}"
            )
        return "\n".join(lines)


def used_by(process: int) -> tuple[float, float]:
    """Return the processor seconds and the bytes of a process and of those it started."""
    import psutil  # type: ignore[import-untyped]

    seconds = memory = 0.0
    with contextlib.suppress(psutil.Error):
        worker = psutil.Process(process)
        for one in (worker, *worker.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                seconds += times.user + times.system
                memory += one.memory_info().rss
    return seconds, memory


def watch(seed: str, first: int, count: int, minutes: float, only: str) -> int:
    """Let workers try cases; begin another one behind a case that never ends or takes it all."""
    import selectors

    end, number, found = time.monotonic() + 60 * minutes, first, Found()

    def stop(*_: object) -> None:
        nonlocal end
        end = 0.0  # what was tried so far is still shown

    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, stop)
    while number < first + count and time.monotonic() < end:
        some = min(PER_WORKER, first + count - number)
        words = [sys.executable, "-m", "tests.fuzz", "--worker", "--seed", seed, "--only", only,
                 "--first", str(number), "--count", str(some)]  # fmt: skip
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as worker:
            assert worker.stdout is not None
            ready = selectors.DefaultSelector()
            ready.register(worker.stdout, selectors.EVENT_READ)
            begun, before, broken = time.monotonic(), 0.0, ""
            while time.monotonic() < end:
                if ready.select(timeout=0.5):
                    line = worker.stdout.readline()
                    if not line:
                        broken = "" if worker.wait() == 0 else f"it died with {worker.returncode}"
                        break
                    told = json.loads(line)
                    begun, before = time.monotonic(), used_by(worker.pid)[0]
                    if "begins" not in told:
                        number = told["number"] + 1
                        found.add(told)
                    continue
                seconds, memory = used_by(worker.pid)
                if seconds - before > 4 * SECONDS:  # the first case also loads everything
                    broken = f"more than {seconds - before:.0f} s of processor time"
                elif time.monotonic() - begun > PATIENCE:
                    broken = f"more than {PATIENCE} s by the clock"
                elif memory > 1.5 * MEMORY:
                    broken = f"{memory / 1e6:,.0f} MB"
                if broken:
                    break
            worker.kill()
        if broken:
            found.show(number, [], broken)
            number += 1
    print(found.table())
    print(
        f"seed {seed}: cases {first} to {number - 1}, {found.broken} of them broken; "
        f"go on with FIRST={number}"
    )
    return min(found.broken, 1)


def main() -> None:
    """Read the words and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--worker", action="store_true")
    asked = parser.parse_args()
    if asked.worker:
        work(asked.seed, asked.first, asked.count, asked.only)
    else:
        sys.exit(watch(asked.seed, asked.first, asked.count, asked.minutes, asked.only))


if __name__ == "__main__":
    main()

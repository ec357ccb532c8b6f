"""Feeds the command line and the HTTP interface what nobody expects, and names what breaks them.

``make fuzz`` runs for MINUTES (10) from a new SEED. A case is made of the seed and its number
alone: ``SEED=7 FIRST=120`` goes on with case 120, ``COUNT=1`` shows that one. A case is broken that
ends with another code than 0, 1, 2, 3 or 130, takes more than 30 s or 2 GB, lets a library or a
warning speak on standard error, or makes the server answer with 500. At the end every kind of input
is shown with how often it was taken and refused.
"""

# ruff: noqa: E501 - tables of strange values

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 30, 2e9
PATIENCE = 120  # seconds until a worker has loaded everything
TEXTS = (
    "", " ", "0", "-1", "1", "7", "99999999999999999999", "9" * 5000, "1e308", "-1e308", "1e400", "nan",
    "inf", "-inf", "0x1f", "1,5", "1.234,5", "a", "b,c", "é", "\u202e", "\x1b[31m", "'", '"', '""',
    "=1+1", "a=b", "age", "town", "ill", "*", "[1, 2]", "[1-2]", "NA", "null", "None", "true", "x" * 3000,
    "2024-02-30", "31.12.2024", "🂡" * 30, "../../etc/passwd", "/dev/null", "people.csv", "side.csv", "-",
)  # fmt: skip
OPTIONS = (
    "--quasi", "--sensitive", "--identifier", "--other", "--hierarchy", "--kind", "--order", "--bins",
    "--missing", "--missing-token", "--decimal", "--date-format", "--header-row", "--encoding",
    "--separator", "--sheet", "--individual", "--sanitizer", "--model", "--prior", "--known",
    "--distance", "--targets", "--method", "--runs", "--confidence", "--jobs", "--limit", "--release",
    "--key", "--rows-in-order", "--suppressed", "--time", "--retries", "--seed", "--why",
    "--membership", "--joint", "--combinations", "--engine", "--threads", "--memory-limit", "--task",
    "--utility", "--recommend", "--worst", "--policy", "--edges", "--domain", "--keep",
)  # fmt: skip
LIKELY: dict[str, tuple[str, ...]] = {
    "--sanitizer": ("mondrian:k=2", "mondrian:l=2", "mondrian:k=2,t=0.5", "laplace:epsilon=1",
                    "gaussian:epsilon=1,delta=0.1", "randomized-response:epsilon=1", "identity", "suppress",
                    "geometric:epsilon=0.1", "mondrian:k=3,regions=cut", "command:cp {input} {output}"),
    "--model": ("naive-bayes", "frequency", "tree", "logistic"),
    "--distance": ("tv", "kl", "js", "hellinger", "max-divergence", "emd:numeric", "emd:side.csv",
                   "emd:0/1", "emd:ordinal"),
    "--method": ("refit", "sampled", "leave-one-out", "closed-form"),
    "--kind": ("age=numeric", "age=ordinal", "town=ordinal", "ill=numeric", "wage=categorical"),
    "--hierarchy": ("town=side.csv", "age=side.csv", "ill=side.csv"),
    "--prior": ("side.csv",), "--release": ("people.csv", "side.csv"), "--engine": ("duckdb", "in-process"),
    "--targets": ("3", "0-5", "1,2"), "--missing": ("drop", "split"), "--jobs": ("1",),
    "--encoding": ("utf-8", "latin-1", "cp1252", "utf-16", "utf-7"), "--separator": (";", "\t"),
    "--limit": ("delta=0.1", "k=5", "mean=0.1", "itpr=0.5"), "--order": ("worst-first", "age=1,2,3"),
    "--runs": ("3", "20"), "--bins": ("2", "18,65", "wage=3"), "--time": ("1s", "0.01s"),
}  # fmt: skip
FLAGS = ("--rows-in-order", "--membership", "--joint", "--keep")


def table(dice: random.Random) -> bytes:
    """Return a small table as text, some of its cells strange, some of its bytes changed."""
    rows = dice.choice((0, 1, 2, 5, 12, 40))
    lines = ["id,age,town,wage,ill"]
    strange = [dice.choice(TEXTS).replace("\n", " ") for _ in range(3)]
    for row in range(rows):
        cells = [
            f"p{row}",
            str(20 + row * 7 % 40),
            f"t{row % 4}",
            str(1000.5 * row),
            "abc"[row % 3],
        ]
        if dice.random() < 0.15:
            cells[dice.randrange(5)] = dice.choice(strange)
        lines.append(dice.choice((",",) * 60 + (";",)).join(cells))
    text = (dice.choice(("\n",) * 20 + ("\r", "\r\n")).join(lines) + "\n").encode()
    return changed(dice, text) if dice.random() < 0.4 else text


def changed(dice: random.Random, data: bytes) -> bytes:
    """Flip, cut, repeat and insert some bytes."""
    made = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 5, 30))):
        place = dice.randrange(len(made) + 1)
        match dice.randrange(5):
            case 0 if place < len(made):
                made[place] ^= 1 << dice.randrange(8)
            case 1:
                del made[place:]
            case 2:
                del made[place : place + dice.randrange(1, 9)]
            case 3:
                made[place:place] = dice.choice(TEXTS).encode()
            case _:
                made[place:place] = made[max(0, place - 40) : place] * dice.choice((1, 2, 50))
    return bytes(made[:900_000])


def arrow_table(dice: random.Random) -> Any:
    """Return a table whose columns have any of Arrow's types."""
    import datetime
    import decimal

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    rows = dice.choice((0, 1, 3, 24))
    rng = np.random.default_rng(dice.randrange(2**32))
    numbers = rng.integers(0, 5, rows)
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30)
    made: list[Callable[[], Any]] = [
        *(lambda kind=kind: pa.array(numbers.tolist(), kind) for kind in (
            pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
            pa.float32(), pa.float64(), pa.duration("s"), pa.duration("ns"), pa.time32("s"), pa.time32("ms"),
            pa.date32(), pa.date64(), pa.time64("us"), pa.time64("ns"), pa.timestamp("ms"),
            pa.timestamp("us", "Europe/Berlin"), pa.decimal32(5, 1), pa.decimal64(12, 3),
        )),
        *(lambda kind=kind: pa.array(list(map(str, numbers)), kind) for kind in (
            pa.string(), pa.large_string(), pa.string_view(), pa.large_binary(), pa.binary_view(),
            pa.dictionary(pa.int8(), pa.large_string()),
        )),
        *(lambda kind=kind: pa.array([[int(n)] * 2 for n in numbers], kind) for kind in (
            pa.large_list(pa.int8()), pa.list_(pa.int8(), 2), pa.list_view(pa.int8()), pa.large_list_view(pa.int8()),
        )),
        lambda: pa.array([[("a", int(n))] for n in numbers], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([(int(n), 1, 2) for n in numbers], pa.month_day_nano_interval()),
        lambda: pa.array(numbers.tolist(), pa.int64()).dictionary_encode(),
        lambda: pa.compute.run_end_encode(pa.array(numbers.tolist(), pa.int64())),
        lambda: pa.UnionArray.from_sparse(
            pa.array([int(n % 2) for n in numbers], pa.int8()),
            [pa.array(numbers.tolist(), pa.int64()), pa.array(list(map(str, numbers)), pa.string())],
        ),
        lambda: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes([n] * 16) for n in numbers], pa.binary(16))),
        lambda: pa.ExtensionArray.from_storage(pa.json_(), pa.array([f"[{n}]" for n in numbers], pa.string())),
        lambda: pa.ExtensionArray.from_storage(pa.bool8(), pa.array((numbers % 2).tolist(), pa.int8())),
        lambda: pa.array(numbers.astype(np.float16)),
        lambda: pa.array(rng.choice([1.0, 0.5, -0.0, np.nan, np.inf, -1.7e308, 1.7e308], rows)),
        lambda: pa.array([2**63 + int(n) for n in numbers], pa.uint64()),
        lambda: pa.array([-(2**63) + int(n) for n in numbers], pa.int64()),
        lambda: pa.array([bool(n % 2) for n in numbers]),
        lambda: pa.nulls(rows),
        lambda: pa.array([decimal.Decimal(int(n)) / 7 for n in numbers], pa.decimal128(38, 30)),
        lambda: pa.array([decimal.Decimal(10) ** 60 + int(n) for n in numbers], pa.decimal256(70, 2)),
        lambda: pa.array([day + datetime.timedelta(int(n)) for n in numbers]),
        lambda: pa.array([datetime.date(1, 1, 1 + int(n)) for n in numbers]),
        lambda: pa.array([moment + datetime.timedelta(int(n)) for n in numbers], pa.timestamp("ns", "UTC")),
        lambda: pa.array([moment] * rows, pa.timestamp("s")),
        lambda: pa.array([bytes([n]) for n in numbers], pa.binary()),
        lambda: pa.array([bytes([n] * 4) for n in numbers], pa.binary(4)),
        lambda: pa.array([[int(n)] for n in numbers], pa.list_(pa.int64())),
        lambda: pa.array([{"a": int(n)} for n in numbers], pa.struct([("a", pa.int64())])),
        lambda: pa.array([str(n) for n in numbers]).dictionary_encode(),
        lambda: pa.array([dice.choice(TEXTS) for _ in numbers], pa.string()),
        lambda: pa.array([None if n == 0 else f"v{n}" for n in numbers], pa.string()),
    ]  # fmt: skip
    columns = {name: dice.choice(made)() for name in ("age", "town", "wage", "ill")}
    return pa.table(columns)


def write_table(dice: random.Random, folder: Path) -> str:
    """Write a table in one of the formats, and return its name."""
    import pyarrow.parquet as pq

    kind = dice.choice(("csv",) * 5 + ("parquet",) * 3 + ("xlsx", "jsonl", "feather"))
    path = folder / f"table.{kind}"
    if kind == "csv":
        path.write_bytes(table(dice))
    elif kind in ("parquet", "feather"):
        made = arrow_table(dice)
        if kind == "parquet":
            made = made.rename_columns(made.column_names)
            try:
                pq.write_table(made, path)
            except Exception:  # noqa: BLE001 - a type that the format lacks
                path.write_bytes(b"PAR1")
        else:
            import pyarrow.feather as pf

            try:
                pf.write_feather(made, path)
            except Exception:  # noqa: BLE001 - a type that the format lacks
                path.write_bytes(b"ARROW1")
        if dice.random() < 0.15:
            path.write_bytes(changed(dice, path.read_bytes()))
    elif kind == "xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for number in range(dice.choice((0, 3, 15))):
            cells = [number, f"t{number % 3}", 1.5 * number, "ab"[number % 2]]
            book.active.append(["age", "town", "wage", "ill"] if number == 0 else cells)
        if dice.random() < 0.3:
            place = (dice.choice((50, 1_048_576)), dice.choice((9, 300, 16_384)))
            book.active.cell(*place, dice.choice(("x", 1, None, True, 1e300)))
        book.save(path)
        if dice.random() < 0.3:
            path.write_bytes(changed(dice, path.read_bytes()))
    else:
        lines = [
            json.dumps({"age": n, "town": dice.choice(TEXTS), "ill": "ab"[n % 2]}) for n in range(9)
        ]
        path.write_bytes(changed(dice, "\n".join(lines).encode()))
    return path.name


def options(dice: random.Random, most: int = 4) -> list[str]:
    """Return some options, with values that are likely or not."""
    words: list[str] = []
    for option in dice.sample(OPTIONS, dice.randrange(most + 1)):
        words.append(option)
        if option not in FLAGS:
            likely = LIKELY.get(option, ())
            words.append(
                dice.choice(likely) if likely and dice.random() < 0.7 else dice.choice(TEXTS)
            )
    return words


def side_file(dice: random.Random, folder: Path) -> None:
    """Write a hierarchy, a prior or ground distances, perhaps changed."""
    texts = (
        "\n".join(f"t{n};part{n % 2};*" for n in range(4)), "\n".join(f"{n};{n // 10 * 10};*" for n in range(20, 60)),
        "value,probability\na,0.5\nb,0.25\nc,0.25\n", ",a,b,c\na,0,1,2\nb,1,0,1\nc,2,1,0\n",
        "value,latitude,longitude\na,1,2\nb,3,4\nc,5,6\n", "a,b,c\n0.2,0.3,0.5\n",
    )  # fmt: skip
    text = dice.choice(texts).encode()
    (folder / "side.csv").write_bytes(changed(dice, text) if dice.random() < 0.6 else text)


def command_case(dice: random.Random, folder: Path) -> list[str]:
    """Make a command with its files."""
    from tests.command_line import write_people

    write_people(folder)
    side_file(dice, folder)
    command = dice.choice(("test",) * 5 + ("risk",) * 3 + ("audit", "sanitize", "compare"))
    data = write_table(dice, folder) if dice.random() < 0.6 else "people.csv"
    words = [command, data, "--sensitive", "ill", *options(dice)]
    if command == "sanitize":
        words += ["--out", dice.choice(("out.csv", "out.parquet", "/dev/null.csv"))]
    elif command == "audit":
        words += ["--out", "report"]
    elif dice.random() < 0.3:
        words += ["--json", dice.choice(("out.json", "-", "/dev/null"))]
    return words


PLAN = """[data]
path = "people.csv"
quasi = ["age", "town"]
sensitive = ["ill"]
[release]
sanitizer = "mondrian:k=3"
[adversary]
models = ["naive-bayes"]
distance = "wasserstein"
[run]
seed = 1
jobs = 1
[limits]
delta = 0.5
k = 2
"""


def plan_case(dice: random.Random, folder: Path) -> list[str]:
    """Make an audit by a plan that is changed."""
    from tests.command_line import write_people

    write_people(folder)
    lines = PLAN.splitlines()
    for _ in range(dice.choice((0, 1, 2))):
        place = dice.randrange(len(lines))
        key = lines[place].partition("=")[0]
        value = dice.choice(
            (
                json.dumps(dice.choice(TEXTS)),
                dice.choice(TEXTS),
                "[[]]",
                "{a=1}",
                "1979-05-27",
                "inf",
            )
        )
        lines[place] = f"{key}= {value}"
    text = "\n".join(lines).encode()
    (folder / "plan.toml").write_bytes(changed(dice, text) if dice.random() < 0.5 else text)
    return ["audit", "plan.toml", "--out", "report"]


def run_folder_case(dice: random.Random, folder: Path) -> list[str]:
    """Make a test that goes on from a folder that is changed."""
    from tests.command_line import call, write_people

    write_people(folder)
    method = dice.choice((("--method", "refit"), ("--method", "sampled", "--runs", "3")))
    words = ["test", "people.csv", "--sensitive", "ill", "--quasi", "age,town", "--jobs", "1",
             "--sanitizer", "mondrian:k=3", "--model", "naive-bayes", "--targets", "0-2", *method,
             "--run", "run"]  # fmt: skip
    call(*words)
    place = folder / "run" / "journal"
    if place.exists():
        place.write_bytes(changed(dice, place.read_bytes()))
    return words


def inputs_of(kind: str, words: list[str]) -> list[str]:
    """Return the kinds of input that a case has, as they are counted at the end."""
    if kind != "command":
        return [kind]
    found = [f"table, {Path(words[1]).suffix[1:]}"]
    side = {"--hierarchy": "hierarchy", "--prior": "prior", "--distance": "ground distances",
            "--release": "release"}  # fmt: skip
    for place, word in enumerate(words[:-1]):
        if word in side and words[place + 1].endswith(("side.csv", "people.csv")):
            found.append(side[word])
    return [*found, "options"] if set(words) & set(OPTIONS) - {"--sensitive"} else found


KINDS: dict[str, Callable[[random.Random, Path], list[str]]] = {
    "command": command_case, "plan": plan_case, "run folder": run_folder_case,
}  # fmt: skip


def http_case(dice: random.Random, folder: Path) -> str | None:
    """Send changed requests to a server of its own; return what broke it."""
    from tests.web.site import V1, open_site, people

    site = open_site(folder)
    dataset = site.upload(people(20))["id"]
    wish: Any = {
        "releases": [{"sanitizer": "mondrian:k=5"}], "adversary": {"membership": False}, "seed": 1,
        "data": {"quasi": ["age"], "sensitive": ["ill"]}, "limits": {"delta": 1},
    }  # fmt: skip
    paths = [f"/datasets/{dataset}/runs", f"/datasets/{dataset}/estimate", f"/datasets/{dataset}",
             f"/datasets/{dataset}/releases", "/datasets", "/runs", f"/datasets/{dataset}/plan"]  # fmt: skip
    for _ in range(12):
        text = json.dumps(wish)
        for _ in range(dice.choice((0, 1, 2))):
            values = ('"mondrian:k=5"', '["age"]', "1", "false", '["ill"]', "{")
            text = text.replace(
                dice.choice(values),
                dice.choice(
                    (json.dumps(dice.choice(TEXTS)), "null", "[]", "{}", "1e999", "[" * 2000)
                ),
                1,
            )
        body = changed(dice, text.encode()) if dice.random() < 0.3 else text.encode()
        method, path = dice.choice(("POST", "POST", "PUT", "PATCH", "GET")), dice.choice(paths)
        answer = site.client.request(
            method, f"{V1}{path}", content=body, headers={"content-type": "application/json"}
        )
        if answer.status_code >= 500:
            return f"{method} {path} {answer.status_code}: {body[:300]!r}"
    site.work()
    return None


def try_case(seed: str, number: int) -> dict[str, Any]:
    """Make one case, run it here, and tell what came of it."""
    from tests.command_line import call

    dice = random.Random(f"{seed} {number}")
    kind = dice.choice((*("command",) * 12, *("plan",) * 4, *("run folder",) * 2, "HTTP"))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, contextlib.chdir(name):
        start = time.process_time()
        try:
            if kind == "HTTP":
                words, broken = [kind], http_case(dice, Path(name))
                return {"inputs": [kind], "words": words, "broken": broken, "code": 0}
            words = KINDS[kind](dice, Path(name))
            start = time.process_time()
            ended = call(*[word.replace("\0", "") for word in words])
        except Exception:  # noqa: BLE001 - whatever it is, it is what we look for
            broken = traceback.format_exc()[-1500:]
            return {"inputs": [kind], "words": [], "broken": broken, "code": 70}
        seconds = time.process_time() - start
    broken = None
    if ended.code not in (0, 1, 2, 3, 130):
        broken = ended.err[-1500:]
    elif any(word in ended.err for word in ("Warning", "Traceback", "Error:", "error:")):
        broken = f"a warning: {ended.err[-1500:]}"
    elif seconds > SECONDS:
        broken = f"{seconds:.0f} s"
    made = inputs_of(kind, words)
    return {"inputs": made, "words": words, "broken": broken, "code": int(ended.code)}


def work(seed: str, first: int, count: int) -> None:
    """Try cases, one line of JSON before and one after each."""
    from tests.command_line import announce

    announce()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a command may write to it by its name
    with tempfile.TemporaryFile() as errors:
        os.dup2(errors.fileno(), 2)  # what a library writes without Python's leave
        for number in range(first, first + count):
            print(json.dumps({"begins": number}), file=out)
            told = try_case(seed, number)
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            errors.seek(0)
            errors.truncate()
            if said and not told["broken"]:
                told["broken"] = f"on standard error: {said[-1500:]}"
            print(json.dumps({"number": number, **told}), file=out)


def memory_of(process: int) -> float:
    """Return the bytes that a process has in memory."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0.0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def watch(seed: str, first: int, count: int, minutes: float) -> int:
    """Let a worker try cases; begin another one behind a case that never ends or takes it all."""
    import selectors

    end, number, tried = time.monotonic() + 60 * minutes, first, Counter[tuple[str, str]]()
    found = 0
    while number < first + count and time.monotonic() < end:
        words = [sys.executable, "-m", "tests.fuzz", "--worker", "--seed", seed, "--first", str(number),
                 "--count", str(min(200, first + count - number))]  # fmt: skip
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        ) as worker:
            assert worker.stdout is not None
            ready = selectors.DefaultSelector()
            ready.register(worker.stdout, selectors.EVENT_READ)
            begun, limit, broken = time.monotonic(), PATIENCE, ""
            while time.monotonic() < end:
                if ready.select(timeout=0.5):
                    line = worker.stdout.readline()
                    if not line:
                        broken = "" if worker.wait() == 0 else f"it died with {worker.returncode}"
                        break
                    told = json.loads(line)
                    begun, limit = time.monotonic(), 4 * SECONDS
                    if "begins" in told:
                        continue
                    number = told["number"] + 1
                    for made in told["inputs"]:
                        tried[made, "refused" if told["code"] == 2 else "taken"] += 1
                    if told["broken"]:
                        found += 1
                        show(told["number"], told["words"], told["broken"])
                elif time.monotonic() - begun > limit:
                    broken = f"more than {limit} s"
                    break
                elif memory_of(worker.pid) > MEMORY:
                    broken = "more than 2 GB"
                    break
            worker.kill()
        if broken:
            found += 1
            show(number, [], broken)
            number += 1
    for name in sorted({name for name, _ in tried}):
        print(f"{name:24} {tried[name, 'taken']:8,} taken {tried[name, 'refused']:8,} refused")
    print(
        f"seed {seed}: cases {first} to {number - 1}, {found} of them broken; go on with FIRST={number}"
    )
    return min(found, 1)


def show(number: int, words: list[str], broken: str) -> None:
    """Print a broken case at once."""
    short = [word if len(word) < 80 else f"{word[:40]}… ({len(word)})" for word in words]
    print(f"== case {number}: {short}\n{broken}", flush=True)


def main() -> None:
    """Read the words and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--worker", action="store_true")
    asked = parser.parse_args()
    if asked.worker:
        work(asked.seed, asked.first, asked.count)
    else:
        sys.exit(watch(asked.seed, asked.first, asked.count, asked.minutes))


if __name__ == "__main__":
    main()

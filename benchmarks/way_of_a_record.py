"""Counts the files and functions of indiff that a record passes on its way through a command.

A table of 60 records goes through ``indiff test``, ``audit`` and ``risk``, with kernels uncompiled
so that they count too. A profiler hook notes every function of ours that is called. Ends with 1
where a command passes more files than it may.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MOST_FILES = {"test": 35, "audit": 80, "risk": 25}
SOURCE = Path(__file__).resolve().parents[1] / "src" / "indiff"


def commands(folder: Path) -> dict[str, list[str]]:
    """Return the command lines, after writing the table that they read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lines = ["age,town,ill"]
    for row in range(60):
        ill = ("flu", "cold", "ague")[row * row % 7 % 3]
        lines.append(f"{20 + row * 7 % 40},town{row % 5},{ill}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    cells = [line.split(",") for line in lines[1:]]
    frame = pa.table(
        {name: [row[i] for row in cells] for i, name in enumerate(lines[0].split(","))}
    )
    pq.write_table(frame, folder / "people.parquet")
    roles = ["--quasi", "age,town", "--sensitive", "ill"]
    text = str(folder / "people.csv")
    return {
        "test": ["test", text, *roles, "--sanitizer", "mondrian:k=5"],
        "audit": ["audit", text, *roles, "--sanitizer", "mondrian:k=5", "--out", str(folder / "r")],
        "risk": ["risk", str(folder / "people.parquet"), *roles],
    }


def trace(words: list[str]) -> None:
    """Run one command in this process and print how many of our files and functions it called."""
    import inspect
    import threading

    seen: set[tuple[str, str]] = set()
    ours = str(SOURCE)

    def note(frame: object, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code  # type: ignore[attr-defined]
            is_function = code.co_flags & inspect.CO_OPTIMIZED  # no module, no body of a class
            if code.co_filename.startswith(ours) and is_function and not importing(frame):
                seen.add((code.co_filename, code.co_qualname))

    def importing(frame: Any) -> bool:
        """Tell whether this runs only because a module is being loaded."""
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(ours):
                return True
            frame = frame.f_back
        return False

    from indiff.cli.main import main

    threading.setprofile(note)
    sys.setprofile(note)
    code: object = 0
    try:
        main(words)
    except SystemExit as ending:
        code = ending.code
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    # A class body or a comprehension is part of the function or module around it.
    functions = {one for one in seen if not one[1].split(".")[-1].startswith("<")}
    print(code, len({file for file, _ in functions}), len(functions))
    if os.environ.get("SHOW"):
        for file in sorted({file for file, _ in functions}):
            print("  ", Path(file).relative_to(SOURCE))


def main() -> int:
    """Trace each command in a process of its own."""
    short = False
    print(f"{'command':8} {'files':>6} {'most':>5} {'functions':>10}")
    with tempfile.TemporaryDirectory() as name:
        for command, words in commands(Path(name)).items():
            done = subprocess.run(
                [sys.executable, __file__, "--trace", *words],
                env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
                capture_output=True,
                text=True,
            )
            last = [line for line in done.stdout.splitlines() if line]
            counts = [line for line in last if line.replace(" ", "").isdigit()]
            if not counts:
                print(f"{command:8} failed: {done.stderr.strip().splitlines()[-1:]}")
                short = True
                continue
            code, files, functions = map(int, counts[-1].split())
            most = MOST_FILES[command]
            short |= files > most or code != 0
            print(
                f"{command:8} {files:6} {most:5} {functions:10}"
                + ("" if code == 0 else f"  exit {code}")
            )
            if os.environ.get("SHOW"):
                print("\n".join(last[last.index(counts[-1]) + 1 :]))
    return int(short)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        trace(sys.argv[2:])
    else:
        sys.exit(main())

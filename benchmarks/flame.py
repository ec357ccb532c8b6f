"""Where the time of the demo's audit goes, as a flame graph of indiff's own functions.

python benchmarks/flame.py docs/images/audit-flame.svg

The audit runs once so that everything is loaded and compiled, and then ten times while a thread
looks at it every two milliseconds. A box is a function, as wide as its share of the looks; what it
calls stands below it. Functions of libraries count for whoever of indiff calls them. Boxes below
half a per cent are left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import FrameType

import indiff

EVERY = 0.002
AUDITS = 10
WIDTH, ROW, LETTER = 1200, 18, 6.2
LEAST_SHARE = 0.005
COLOURS = ("#f3c98b", "#f0b35f", "#e89a4a", "#f5d9a6", "#eda866")


@dataclass
class Box:
    """A function, how often it was seen, and what it was seen to call."""

    name: str
    looks: int = 0
    calls: dict[str, Box] = field(default_factory=dict)


def stack_of(frame: FrameType | None) -> list[str]:
    """Return indiff's own functions on the stack, the outermost first."""
    names: list[str] = []
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("indiff."):
            names.append(f"{frame.f_code.co_name} ({module.removeprefix('indiff.')})")
        frame = frame.f_back
    return names[::-1]


def watch(thread: int, root: Box, end: threading.Event) -> None:
    """Look at a thread until the end."""
    while not end.wait(EVERY):
        box = root
        box.looks += 1
        for name in stack_of(sys._current_frames().get(thread)):
            box = box.calls.setdefault(name, Box(name))
            box.looks += 1


def draw(box: Box, left: float, depth: int, per_look: float) -> Iterator[tuple[int, str]]:
    """Yield the depth and the SVG of a box and of everything below it."""
    width = box.looks * per_look
    room = int((width - 4) / LETTER)
    label = box.name if len(box.name) <= room else f"{box.name[: room - 1]}…" if room > 3 else ""
    share = 100 * width / WIDTH
    yield (
        depth,
        (
            f'<g><title>{escape(box.name)}: {share:.1f} %</title><rect x="{left:.1f}" '
            f'y="{depth * ROW}" width="{width:.1f}" height="{ROW - 1}" rx="2" '
            f'fill="{COLOURS[len(box.name) % len(COLOURS)]}"/><text x="{left + 3:.1f}" '
            f'y="{depth * ROW + 13}">{escape(label)}</text></g>'
        ),
    )
    for one in sorted(box.calls.values(), key=lambda one: -one.looks):
        if one.looks * per_look >= LEAST_SHARE * WIDTH:
            yield from draw(one, left, depth + 1, per_look)
        left += one.looks * per_look


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    place = parser.parse_args().file.resolve()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        words = [sys.executable, "-m", "indiff.cli.main", "demo", "--out", folder]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        plan = indiff.read_plan("plan.toml")
        indiff.run_audit(plan)
        root, end = Box("the demo's audit"), threading.Event()
        watcher = threading.Thread(target=watch, args=(threading.get_ident(), root, end))
        watcher.start()
        start = time.process_time()
        for _ in range(AUDITS):
            indiff.run_audit(plan)
        seconds = (time.process_time() - start) / AUDITS
        end.set()
        watcher.join()
    root.name = f"the demo's audit, warm: {seconds:.1f} s of processor time"
    boxes = list(draw(root, 0.0, 0, WIDTH / root.looks))
    height = (max(depth for depth, _ in boxes) + 1) * ROW
    place.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11" fill="#222">\n'
        + "\n".join(svg for _, svg in boxes)
        + "\n</svg>\n",
        encoding="utf-8",
    )
    print(f"{root.looks:,} looks, {len(boxes)} boxes")


if __name__ == "__main__":
    main()

"""Prints tables, grids and progress on a terminal: 80 columns, plain and stable when piped.

Nothing here shows a value of the table: records are named by their number, columns by their name.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from indiff import text as plain
from indiff.data.schema import Role
from indiff.text import number, percent_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from indiff.data.table import Table

WIDTH = 80
BAR = 34
LOOK_EVERY = 0.5  # seconds between two looks at the numbers so far
LONGEST_LIST = 30  # columns of one role that are named; the rest are counted


class _Console(Console):
    """A console whose reader may leave early; Rich would exit with 1, an exceeded limit."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        plain.forget_output(sys.stdout)


def open_console(stream: TextIO | None = None) -> Console:
    """Return a console: colours and the terminal's width for a person, 80 columns for a pipe."""
    stream = sys.stdout if stream is None else stream
    common: dict[str, Any] = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    if stream.isatty():
        return _Console(**common)
    return _Console(width=WIDTH, force_terminal=False, color_system=None, no_color=True, **common)


def show_table(console: Console, table: Table, source: str) -> None:
    """Show what was read: the records, and every column with its role and kind."""
    dropped = f" ({table.dropped:,} more were dropped)" if table.dropped else ""
    lines = [("records", f"{len(table):,}{dropped}")]
    lines += role_lines((str(column.role), _column(table, column.name)) for column in table.schema)
    if len(table.sensitives) == 1 and table.sensitives[0].name not in table.column_names:
        count = len(table.sensitives[0].values)
        lines.append(("joint", f"{plain.name(table.sensitives[0].name)}: {count:,} joint values"))
    lines += [("note", plain.message(note)) for note in table.notes]
    section(console, f"Table {plain.name(source)}", lines)


def _column(table: Table, name: str) -> str:
    column = table.schema[name]
    kind = "date" if column.is_date else str(column.kind)
    for attribute in table.attributes:
        if attribute.name == name and attribute.hierarchy is not None:
            kind += " with hierarchy"
    for sensitive in table.sensitives:
        if sensitive.name == name:
            kind += f", {len(sensitive.values):,} {'bins' if sensitive.binned else 'values'}"
    return f"{plain.name(name)} ({kind})"


def role_lines(columns: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a line for each role that a column has, from pairs of a role and a text."""
    texts: dict[str, list[str]] = {str(role): [] for role in Role}
    for role, text in columns:
        texts[role].append(text)
    return [(role, listed(own)) for role, own in texts.items() if own]


def listed(texts: Sequence[str]) -> str:
    """Join names with commas; of very many the first, and how many more."""
    more = f" and {len(texts) - LONGEST_LIST:,} more" if len(texts) > LONGEST_LIST else ""
    return ", ".join(texts[:LONGEST_LIST]) + more


def _prediction(changed: float) -> str:
    """Say whether the prediction changes, or how often."""
    return {0.0: "same", 1.0: "changed"}.get(changed, f"changed {100 * changed:.3g} %")


def show_worst(console: Console, worst: Sequence[Mapping[str, Any]]) -> None:
    """Show the worst records of each attribute, and the model that sees each."""
    abouts = list(dict.fromkeys(row.get("about") for row in worst))
    for about in abouts:
        of = f" of {plain.name(str(about))}" if len(abouts) > 1 else ""
        own = [row for row in worst if row.get("about") == about]
        several = any("model" in row for row in own)
        columns = [*right("record", "distance", "belief with", "→ without"), ("prediction", "left")]
        rows = [
            (
                f"{row['record']}",
                number(row["distance"]),
                f"{row['belief']:.4f}",
                f"{row['belief_without']:.4f}",
                _prediction(row["prediction_changed"]),
                *([plain.name(row["model"])] if several else []),
            )
            for row in own
        ]
        heading = f"Worst records{of}, numbered from 0 (belief in the record's true value)"
        show_grid(console, heading, [*columns, *([("seen by", "fold")] if several else [])], rows)


def show_cdf(console: Console, distances: NDArray[np.float64]) -> None:
    """Show how many records are at or below a distance."""
    full = "█" if "utf" in (getattr(console.file, "encoding", "") or "").lower() else "#"
    tested, rows = len(distances), []
    for threshold in cdf_steps(distances):
        count = int((distances <= threshold).sum())
        bar = full * math.floor(BAR * count / tested)
        share = percent_down(count, tested)
        rows.append((f"≤ {number(threshold)}", bar.ljust(BAR), f"{count:,}", share))
    columns = [*right(""), ("", "left"), *right("", "")]
    show_grid(console, "Records at or below a distance", columns, rows)


def cdf_steps(distances: Any, most: int = 12) -> list[float]:
    """Choose distances at which to print the CDF: 1, 2, 5 times powers of ten, the last is δ."""
    top = float(distances.max())
    positive = distances[(distances > 0) & np.isfinite(distances)]
    steps = [0.0] if (distances == 0).any() else []
    if len(positive):
        low = float(np.quantile(positive, 0.02, method="inverted_cdf"))
        high = float(positive.max())
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for factors in ((1, 2, 5), (1,)):
            inner = [float(f"{f}e{power}") for power in powers for f in factors]
            inner = [step for step in inner if low <= step < high]
            if len(inner) <= most:
                break
        steps += [*inner[-most:], high]
    return steps if not math.isinf(top) else [*steps, math.inf]


def show_reasons(console: Console, reasons: Sequence[str], *, passed: bool) -> None:
    """Show the verdict's sentences."""
    console.print()
    for reason in reasons:
        style = "bold green" if passed else "bold red"
        print_clean(console, Text(f"Verdict: {plain.message(reason)}", style=style))


def section(console: Console, heading: str, lines: Sequence[tuple[str, str]]) -> None:
    """Show a heading and lines of a label and a text each."""
    rows = [(Text(label, "cyan"), text) for label, text in lines]
    show_grid(console, heading, [("", "left"), ("", "fold")], rows)


def right(*titles: str) -> list[tuple[str, str]]:
    """Return columns of numbers for :func:`show_grid`."""
    return [(title, "right") for title in titles]


def show_grid(
    console: Console,
    heading: str,
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[str | Text]],
    *,
    gap: int = 2,
) -> None:
    """Show rows below a heading and titles; a column is ``left``, ``right`` or may ``fold``."""
    titled = any(title for title, _ in columns)
    grid = Grid(box=None, padding=(0, gap), pad_edge=False, header_style="bold", show_header=titled)
    for title, side in columns:
        if side == "fold":
            grid.add_column(title, overflow="fold")
        else:
            grid.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        grid.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    headline(console, heading)
    print_clean(console, grid)


def headline(console: Console, text: str) -> None:
    """Show a heading."""
    console.print()
    print_clean(console, Text(text, style="bold"))


def print_clean(console: Console, shown: Any) -> None:
    """Print without the blanks that a grid leaves at the ends of lines."""
    if console.is_terminal:
        console.print(shown)
        return
    with console.capture() as captured:
        console.print(shown)
    lines = captured.get().split("\n")
    console.out("\n".join(line.rstrip() for line in lines), end="", highlight=False)


def compile_first(compile_all: Callable[[], None]) -> None:
    """Compile the kernels where they are not yet, after saying so; else say nothing."""
    from indiff.kernels import is_warm, mark_warm

    if not is_warm():
        sys.stderr.write("compiling kernels, once per installation (about 25 s on two cores) …\n")
        compile_all()
        mark_warm()


@contextmanager
def stages() -> Iterator[Callable[..., object] | None]:
    """Show the stage of the work on the terminal's error stream; nothing when piped.

    Where it is known how much of a stage is ``done``, of a ``total``, a bar shows that.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    console = open_console(sys.stderr)
    if not console.is_terminal:
        yield None
        return
    words = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), words, BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def say(stage: str, done: int = 0, total: int = 0) -> None:
            told = plain.message(stage)
            bar.update(task, description=told, completed=done, total=total or None)

        yield say


class Bar:
    """A progress that shows the distances so far, which the test hands to ``measured``."""

    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task
        self._distances: list[float] = []
        self._began = time.monotonic()
        self._before: int | None = None  # what a run folder already had
        self._looked = 0.0

    def __call__(self, done: int, total: int) -> None:
        """Move the bar."""
        now = time.monotonic()
        if self._before is None:
            self._before, self._began = done, now
        if self._distances and now - self._looked > LOOK_EVERY:
            self._looked = now
            rate = (done - self._before) / max(now - self._began, 1e-9)
            self._bar.update(self._task, so_far=f"{rate:.3g}/s, {so_far(self._distances)}")
        self._bar.update(self._task, completed=done, total=total)

    def measured(self, distance: float) -> None:
        """Take note of one more distance."""
        self._distances.append(distance)


def so_far(distances: list[float]) -> str:
    """Say what is known of δ, which can only grow, and of the CDF.

    >>> so_far([0.1, 0.2, 0.3, 0.4])
    'δ so far 0.4, median 0.2, 95 % 0.4'
    """
    found = np.asarray(distances)
    median, high = np.quantile(found, [0.5, 0.95], method="inverted_cdf")
    return f"δ so far {number(float(found.max()))}, median {number(median)}, 95 % {number(high)}"


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """Show a bar on the terminal's error stream; nothing when piped."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = open_console(sys.stderr)
    if not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=8),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[so_far]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bar:
        yield Bar(bar, bar.add_task(what, total=None, so_far=""))

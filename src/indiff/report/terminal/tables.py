"""Prints tables, releases and results on a terminal: 80 columns, plain and stable when piped.

Nothing here shows a value of the table: records are named by their number, columns by their name.
"""

from __future__ import annotations

import math
import sys
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
from indiff.report.words import EXACTNESS, PROMISE
from indiff.text import number, percent_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from indiff.data.table import Table
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult
    from indiff.release.release import Release

WIDTH = 80
BAR = 34
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
            kind += f", {len(sensitive.values):,} values"
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


def show_release(
    console: Console, release: Release, table: Table, place: str, seed: int | None
) -> None:
    """Show what a release holds and where it was written."""
    shuffle = "at random" if seed is None else f"by seed {seed}, which can undo it"
    rows = "records" if release.weights is None else "cells"
    lines = [
        ("sanitizer", plain.message(release.sanitizer)),
        (rows, f"{len(release):,}, in an order shuffled {shuffle}"),
    ]
    if release.groups is not None and len(release):
        sizes = np.bincount(release.groups)
        sizes = sizes[sizes > 0]
        lines.append(("groups", f"{len(sizes):,} of {sizes.min():,} to {sizes.max():,} records"))
    lines.append(("constraint", PROMISE[release.constraint_met]))
    dropped = table.schema.names(Role.IDENTIFIER)
    if release.kept is None:
        dropped += table.schema.names(Role.OTHER)
    else:
        lines.append(("kept as is", listed([_kept(release, n) for n in release.kept.column_names])))
    if dropped:
        lines.append(("left out", listed([plain.name(name) for name in dropped])))
    lines.append(("written to", plain.message(place)))
    lines.append(("fingerprint", f"{table.fingerprint[:16]} of the input"))
    section(console, "Release", lines)


def _kept(release: Release, name: str) -> str:
    """Name a kept column, and say so where it gives every record away."""
    import pyarrow.compute as pc

    assert release.kept is not None
    unique = pc.count_distinct(release.kept[name], mode="all").as_py() == len(release.kept) > 1
    return plain.name(name) + (" (DIFFERENT IN EVERY RECORD)" if unique else "")


def show_result(
    console: Console, result: DifferentialResult, *, known: Sequence[str] = (), worst: int = 10
) -> None:
    """Show a differential test: how it was made, its numbers, the worst records, the CDF."""
    lines = [
        ("sanitizer", plain.message(result.sanitizer)),
        ("model", plain.message(result.model)),
        ("distance", distance_line(result)),
        ("method", f"{result.method}; {EXACTNESS[result.exactness]}"),
        _tested(result),
        *missing_lines(result),
        ("seed", str(result.seed)),
        ("fingerprint", result.fingerprint[:16]),
    ]
    if result.guarantee is not None:
        lines.append(("sample", plain.message(result.guarantee)))
    lines += [("note", plain.message(note)) for note in result.notes if note not in known]
    section(console, f"Differential test of {plain.name(result.sensitive_name)}", lines)
    if len(result.distances):
        section(console, "Result", _numbers(result))
        show_worst(console, result.worst(worst))
        show_cdf(console, result.distances)


def missing_lines(result: DifferentialResult | StrongestResult) -> list[tuple[str, str]]:
    """Return lines about the calls that failed and the records that were not measured."""
    lines = []
    if result.failures:
        first = plain.message(result.failures[0])
        lines.append(("failures", f"{len(result.failures):,}; {first}"))
    if (missing := result.requested - len(result.distances)) > 0:
        lines.append(("incomplete", f"{missing:,} requested, not measured"))
    return lines


def _tested(result: DifferentialResult) -> tuple[str, str]:
    tested = f"{len(result.distances):,} tested of"
    if result.individual is None or result.sizes is None:
        return "records", f"{tested} {result.table_size:,}"
    return (
        "people",
        f"{tested} {result.population:,} by {plain.name(result.individual)}; they hold "
        f"{int(result.sizes.sum()):,} of {result.table_size:,} records; shown by their first",
    )


def distance_line(result: DifferentialResult) -> str:
    """Name the distance and its range."""
    return f"{plain.name(result.distance)}, from 0 to {number(result.largest)}"


def _numbers(result: DifferentialResult) -> list[tuple[str, str]]:
    infinite = f" ({result.infinite:,} infinite)" if result.infinite else ""
    usual = {0.5: "median", 0.95: "95 %", 0.99: "99 %"}
    quantiles = [f"{name} {number(result.quantile(share))}" for share, name in usual.items()]
    covered = f"{result.uncovered:,} targets with their record, {result.uncovered_without:,}"
    lines = [
        *constraint_lines(result),
        ("δ, the largest", number(result.delta) + infinite),
        *limit_lines(result, f", {result.runs or 0:,} runs"),
        ("mean", number(result.mean)),
        ("standard deviation", number(result.std)),
        ("quantiles", ", ".join(quantiles)),
        ("changed predictions", _changed(result)),
        ("not covered", f"{covered} without it"),
    ]
    if result.generalized_without:
        unmet = f"without {result.generalized_without:,} of the records the constraint cannot be "
        lines.append(("generalized", f"{unmet}met, and everything was generalized"))
    return lines


def _changed(result: DifferentialResult) -> str:
    """Say how many predictions change; with chance, how many in the mean."""
    share = changed_share(result)
    if result.change_chances is not None:
        return f"{share}, in the mean over the noise"
    return f"{int(result.predictions_changed.sum()):,} of {len(result.distances):,} ({share})"


def changed_share(result: DifferentialResult | StrongestResult) -> str:
    """Return the percentage of changed predictions, with its limits where it is an estimate."""
    share, how = f"{result.changed_predictions:.2f} %", result.changed_exactness
    if result.changed_interval is None:
        return share if how == "exact" else f"{share} ({how})"
    low, high = result.changed_interval
    return f"{share} ({how}: {low:.2f} to {high:.2f} %)"


def constraint_lines(result: DifferentialResult | StrongestResult) -> list[tuple[str, str]]:
    """Return a line where the sanitizer's constraint is not met."""
    if result.constraint_met is not False:
        return []
    return [("constraint", PROMISE[False])]


def limit_lines(result: DifferentialResult | StrongestResult, how: str) -> list[tuple[str, str]]:
    """Return the line on δ's limits; none where δ is no estimate."""
    if result.delta_interval is None or result.confidence is None:
        return []
    low, high = map(number, result.delta_interval)
    return [("δ, limits", f"{low} to {high} ({result.confidence:.4g} confidence{how})")]


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
        heading = f"Worst records{of} (belief in the record's true value)"
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
    """Choose distances at which to print the CDF: 1, 2, 5 times powers of ten, the last is δ.

    >>> cdf_steps(np.array([0.003, 0.01, 0.07, 0.3]))
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    >>> cdf_steps(np.zeros(3))
    [0.0]
    """
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


@contextmanager
def stages() -> Iterator[Callable[[str], object] | None]:
    """Show the stage of the work on the terminal's error stream; nothing when piped."""
    console = open_console(sys.stderr)
    if not console.is_terminal:
        yield None
        return
    with console.status("starting") as shown:
        yield lambda stage: shown.update(Text(plain.message(stage)))

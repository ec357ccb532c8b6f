"""``indiff reproduce``: recomputes the papers' tables and figures, as pages."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from indiff import text as plain
from indiff.audit.verdict import Exit
from indiff.errors import UserError
from indiff.files import make_folder

if TYPE_CHECKING:
    from indiff.papers.pages import Item

DEFAULT_OUT = Path("docs/papers")


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="all, a paper (dit-v2, dit-v1, draft, itpr), errata, or items (dit-v2:table-1).",
            show_default=False,
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Name every item, and stop.")] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the pages go.")
    ] = DEFAULT_OUT,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", help="Random selections of Adult to draw.")
    ] = 5,
    billion: Annotated[
        bool,
        typer.Option("--billion", help="Time 10⁹ rows too in itpr:figure-6 (2 GB on disk)."),
    ] = False,
    download: Annotated[
        bool,
        typer.Option("--download", help="Fetch Adult and Internet Usage if they are not here."),
    ] = False,
) -> None:
    """Recompute the papers: our numbers beside the printed ones, a page for every item.

    Data come from the folder INDIFF_DATA.
    """
    from indiff.papers import index, pages
    from indiff.papers.run import Run

    if listing:
        for item in index.choose(what or ["all"]):
            typer.echo(f"{item.name:<22}{item.cost:<7}{item.title}")
        return
    if not what:
        raise UserError("name what to reproduce: all, a paper or an item; --list names them.")
    if seeds < 1:
        raise UserError("--seeds must be at least 1", seeds)
    items = index.choose(what)
    make_folder(out)
    clock = Clock(items)
    run = Run(download=download, seeds=seeds, billion=billion, report=clock.report)
    made = 0
    try:
        for item in items:
            clock.start(item)
            page = item.make(run)
            pages.write_page(item, page, out)
            clock.finish(item)
            made += 1
            typer.echo(f"{item.name:<22}{page.status}")
    except KeyboardInterrupt:
        sys.stderr.write(f"\nindiff: interrupted; {made} of {len(items)} pages were made.\n")
        raise typer.Exit(Exit.INTERRUPTED) from None
    finally:
        pages.write_index(index.ITEMS, out)
    typer.echo(plain.message(f"{made} page{'' if made == 1 else 's'} in {out}"))


class Clock:
    """Tells on the error stream which item is running and about how long the rest takes."""

    def __init__(self, items: Sequence[Item], now: Callable[[], float] = time.monotonic) -> None:
        self._left = {item.name: item.seconds for item in items}
        self._total = len(items)
        self._now = now
        self._begun = now()
        self._expected_done = 0.0
        self._current: Item | None = None

    def start(self, item: Item) -> None:
        """Name the item that starts."""
        self._current = item
        place = self._total - len(self._left) + 1
        self._say(f"[{place}/{self._total}] {item.name}, {self.left(0.0)}")

    def report(self, done: int, total: int) -> None:
        """Tell how far the current item is; only on a terminal."""
        if self._current is not None and total and sys.stderr.isatty():
            self._say(f"  {self._current.name}: {done}/{total}, {self.left(done / total)}")

    def finish(self, item: Item) -> None:
        """Take an item off the list."""
        self._expected_done += self._left.pop(item.name)
        self._current = None

    def left(self, share: float) -> str:
        """Say about how long it still takes, corrected by how long the finished part took."""
        current = self._current.seconds * share if self._current is not None else 0.0
        done = self._expected_done + current
        slower = (self._now() - self._begun) / done if done >= 5 else 1.0
        seconds = max(0.0, sum(self._left.values()) - current) * slower
        if seconds < 90:
            return f"about {max(1, round(seconds))} s left"
        return f"about {round(seconds / 60)} min left"

    @staticmethod
    def _say(text: str) -> None:
        end = "\x1b[K\r" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"{text}{end}")
        sys.stderr.flush()

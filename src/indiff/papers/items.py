"""What a reproduction is made of: items of the papers, and the pages that they become."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from indiff.papers.run import Run

Cost = Literal["quick", "slow"]
Cell = str | int | float | None

PAPERS = {
    "dit-v2": "Kassem, Acs, Castelluccia, Palamidessi: Differential Inference Testing, version 2 "
    "(2019)",
    "dit-v1": "Kassem, Acs, Castelluccia: Differential Inference Testing, version 1 (2018)",
    "draft": "Acs, Castelluccia, Le Métayer: Testing the robustness of anonymization techniques, "
    "draft",
    "itpr": "Information Theoretic-based Privacy Risk Evaluation for Data Anonymization (2019)",
    "errata": "What the papers got wrong, and what we found",
}


@dataclass(frozen=True)
class Grid:
    """A table of a page; numbers are written with four significant digits, None as a dash."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A chart of a page: a Vega-Lite specification, and what it shows in words.

    ``part`` tells the charts of one page apart (``a``, ``b``); it is empty where there is one.
    """

    spec: Mapping[str, Any]
    shows: str
    part: str = ""


@dataclass(frozen=True)
class Page:
    """What an item ends as: numbers beside the printed ones, charts, honest lines, a status.

    ``status`` is ``reproduced``, ``reproduced with erratum`` or ``differs because …``.
    ``printed`` says what the paper prints, with its place. ``notes`` has one line for every
    difference and why. ``timed`` marks a page with measured times, which no test compares.
    """

    status: str
    printed: str
    tables: tuple[Grid, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    timed: bool = False


@dataclass(frozen=True)
class Item:
    """One table, figure or passage of a paper, and the function that reproduces it.

    ``home`` is ``module:function`` in this package, loaded when it runs; the function takes a
    :class:`~indiff.papers.run.Run` and returns a :class:`Page`. ``seconds`` is roughly how long
    it takes on two cores, for the time left.

    >>> Item("dit-v2", "table-1", "The toy example", home="dit_v2.tables:table_1").name
    'dit-v2:table-1'
    """

    paper: str
    number: str
    title: str
    home: str
    cost: Cost = "quick"
    seconds: float = 1.0

    @property
    def name(self) -> str:
        """The name on the command line: paper and number, or the paper where it is one page."""
        return f"{self.paper}:{self.number}" if self.number else self.paper

    @property
    def stem(self) -> str:
        """The name of the page's files, without ending."""
        return self.name.replace(":", "-")

    def make(self, run: Run) -> Page:
        """Compute the page."""
        module, function = self.home.split(":")
        home = importlib.import_module(f"indiff.papers.{module}")
        make: Callable[[Run], Page] = getattr(home, function)
        return make(run)

"""Defines the items of the papers, and the pages that they become."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
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
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Chart:
    """A chart of a page: a Vega-Lite specification, and what it shows in words.

    ``part`` tells the charts of one page apart (``a``, ``b``); it is empty where there is one.
    """

    spec: Mapping[str, Any]
    shows: str
    part: str = ""


def status(agrees: bool, otherwise: str, good: str = "reproduced") -> str:
    """Return a page's status: the good one, or why it differs.

    >>> status(False, "the groups differ")
    'differs because the groups differ'
    """
    return good if agrees else f"differs because {otherwise}"


@dataclass(frozen=True)
class Page:
    """What an item ends as: numbers beside the printed ones, charts, honest lines, a status.

    ``status`` is ``reproduced``, ``reproduced with erratum`` or ``differs because …``.
    ``printed`` says what the paper prints, with its place. ``notes`` has one line for every
    difference and why. ``timed`` marks a page with measured times, which no test compares.
    """

    status: str
    printed: str
    tables: Sequence[Grid] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()
    timed: bool = False


@dataclass(frozen=True)
class Item:
    """One table, figure or passage of a paper, and the module that reproduces it.

    ``home`` is a module of this package, loaded when the item is made: its function ``table_1``
    takes a :class:`~indiff.papers.run.Run` and returns the :class:`Page` of ``table-1``.
    ``seconds`` is roughly how long it takes on two cores, for the time left.

    >>> item = Item("dit-v2", "section-4.3", "The encoding example", home="dit_v2.tables")
    >>> item.name, item.function
    ('dit-v2:section-4.3', 'section_4_3')
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

    @property
    def function(self) -> str:
        """The name of the function that makes the page."""
        return self.number.replace("-", "_").replace(".", "_") or "page"

    def make(self, run: Run) -> Page:
        """Compute the page."""
        home = importlib.import_module(f"indiff.papers.{self.home}")
        make: Callable[[Run], Page] = getattr(home, self.function)
        return make(run)

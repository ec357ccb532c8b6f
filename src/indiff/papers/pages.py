"""Defines the pages of the papers and writes them: Markdown and SVG, the same bytes every time."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from indiff.files import write_text

if TYPE_CHECKING:
    from indiff.papers.run import Run

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
TIMED = "<!-- measured times: they differ from run to run and are not compared -->"


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

    ``status`` is ``reproduced``, ``reproduced with erratum`` or ``differs because …``. ``facts``
    are what the words of the page take from the results; from ``words/`` come ``printed``, which
    says what the paper prints, with its place, ``notes``, one for every difference and why, and
    ``more`` tables. ``timed`` marks a page with measured times, which no test compares.
    """

    status: str
    tables: Sequence[Grid] = ()
    charts: Sequence[Chart] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    timed: bool = False
    printed: str = ""
    more: str = ""
    notes: Sequence[str] = ()


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
    cost: Literal["quick", "slow"] = "quick"
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
        """Compute the page, and add its words."""
        home = importlib.import_module(f"indiff.papers.{self.home}")
        make: Callable[[Run], Page] = getattr(home, self.function)
        page = make(run)
        printed, *notes = re.split(r"^- ", self._words(run=run, **page.facts), flags=re.MULTILINE)
        printed, _, more = printed.strip().partition("\n\n")
        notes = [note.strip() for note in notes if note.strip()]
        return replace(page, printed=printed, more=more, notes=notes)

    def _words(self, **facts: object) -> str:
        """Return the paper's words on this item: several items can share theirs."""
        from jinja2 import StrictUndefined, Template

        source = (files("indiff.papers") / "words" / f"{self.paper}.md.j2").read_text("utf-8")
        shared, *sections = re.split(r"^# ", source, flags=re.MULTILINE)
        texts = {
            number: text
            for names, _, text in (section.partition("\n") for section in sections)
            for number in names.split()
        }
        words = Template(shared + texts[self.number or self.paper], undefined=StrictUndefined)
        return words.render(place=self.number.replace("-", " ").capitalize(), **facts)


def as_markdown(item: Item, page: Page) -> str:
    """Write a page: where it stands, what is printed, our numbers, and every difference."""
    parts = [
        f"# {item.title}",
        *([TIMED] if page.timed else []),
        f"{PAPERS[item.paper]}. `indiff reproduce {item.name}` makes this page.",
        f"**Status:** {page.status}",
        f"**Printed:** {page.printed}",
        *(f"![{chart.shows}]({_chart_name(item, chart)})" for chart in page.charts),
        *(_grid(grid) for grid in page.tables),
        *([page.more] if page.more else []),
    ]
    if page.notes:
        parts += ["## Differences, and why", "\n".join(f"- {note}" for note in page.notes)]
    return "\n\n".join(parts) + "\n"


def _chart_name(item: Item, chart: Chart) -> str:
    return f"{item.stem}{chart.part and '-' + chart.part}.svg"


def _grid(grid: Grid) -> str:
    head, *texts = (
        [_cell(cell).replace("|", "\\|") for cell in row] for row in (grid.header, *grid.rows)
    )
    kinds = [{type(row[place]) for row in grid.rows} - {type(None)} for place in range(len(head))]
    rule = ["---:" if own and str not in own else "---" for own in kinds]
    rows = [f"| {' | '.join(row)} |" for row in [head, rule, *texts]]
    return "\n".join([f"### {grid.title}", "", *rows])


def _cell(value: Cell) -> str:
    """Write a cell; unlike in a report, a number is as long as in the papers."""
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("inf", "∞")


def as_svg(spec: Mapping[str, object]) -> str:
    """Draw a chart; the drawing holds no time, no path and no random name."""
    import vl_convert

    config = {"font": "sans-serif", "background": "white", "view": {"stroke": "#ccc"}}
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    svg: str = vl_convert.vegalite_to_svg(json.dumps({"$schema": schema, "config": config, **spec}))
    return svg.rstrip("\n") + "\n"


def write_page(item: Item, page: Page, folder: Path) -> list[Path]:
    """Write a page and its charts; return the files."""
    texts = {f"{item.stem}.md": as_markdown(item, page)}
    texts |= {_chart_name(item, chart): as_svg(chart.spec) for chart in page.charts}
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def status_of(item: Item, folder: Path) -> str | None:
    """Read the status of a page in the folder; None where it was never made."""
    path = folder / f"{item.stem}.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = re.search(r"^\*\*Status:\*\* (.+)$", text, re.MULTILINE)
    return found.group(1) if found else None


def write_index(items: Sequence[Item], folder: Path) -> Path:
    """Write README.md: every item of every paper with the status of its page."""
    parts = [
        "# The papers, recomputed",
        "Every table and figure of the four papers, our numbers beside the printed ones. "
        "`indiff reproduce all` makes these pages again, `indiff reproduce --list` names the "
        "items.",
    ]
    for paper in dict.fromkeys(item.paper for item in items):
        lines = ["| item | what | status |", "|---|---|---|"]
        for item in (item for item in items if item.paper == paper):
            status = status_of(item, folder)
            name = f"[`{item.name}`]({item.stem}.md)" if status else f"`{item.name}`"
            lines.append(f"| {name} | {item.title} | {status or 'not made yet'} |")
        parts += [f"## {PAPERS[paper]}", "\n".join(lines)]
    path = folder / "README.md"
    write_text(path, "\n\n".join(parts) + "\n")
    return path


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the middle, lowest and highest of some numbers.

    >>> spread([3.0, 1.0, 2.0])
    (2.0, 1.0, 3.0)
    """
    return float(median(values)), float(min(values)), float(max(values))


def span(values: Sequence[float], digits: str = ".4g") -> str:
    """Write the range of some numbers; one number alone as it is.

    >>> span([0.2, 0.1]), span([9.611e-05]), span([7960, 7920], ",")
    ('0.1 … 0.2', '9.611e-05', '7,920 … 7,960')
    """
    low, high = min(values), max(values)
    return format(low, digits) if low == high else f"{low:{digits}} … {high:{digits}}"


def place(printed: float, values: Sequence[float], digits: float) -> str:
    """Tell whether a printed number, rounded to ``digits``, lies inside the range of ours.

    >>> place(0.43, [0.4353], 0.01), place(0.44, [0.4353], 0.01), place(0.2, [0.1, 0.3], 0.1)
    ('same, truncated', 'same', 'inside')
    """
    low, high = min(values) - digits / 2, max(values) + digits / 2
    alone = len(set(values)) == 1
    if low <= printed <= high:
        return "same" if alone else "inside"
    if alone and printed <= values[0] < printed + digits:
        return "same, truncated"
    return "below ours" if printed < low else "above ours"


def same(ours: object, printed: object) -> str:
    """Tell whether our number, as written, is the printed one.

    >>> same("2/3", "2/3"), same("2/3", "1/2")
    ('same', 'differs')
    """
    return "same" if ours == printed else "differs"

"""Every table and figure of the four papers, none missing, and the passages with numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indiff.errors import unknown
from indiff.papers.items import PAPERS, Item
from indiff.papers.itpr.items import ITEMS as ITPR

DIT_V2 = (
    Item("dit-v2", "table-1", "The toy data set and its distances", "dit_v2.tables:table_1"),
    Item("dit-v2", "table-2", "2-anonymous versions of the toy data set", "dit_v2.tables:table_2"),
    Item("dit-v2", "table-3", "The two data sets", "dit_v2.tables:table_3", seconds=9.0),
    Item("dit-v2", "table-4", "Computation times", "dit_v2.remedy:table_4", "slow", 5.0),
    Item("dit-v2", "figure-1", "δ on Adult", "dit_v2.figures:figure_1", seconds=9.0),
    Item("dit-v2", "figure-2", "Distribution of d on Adult", "dit_v2.figures:figure_2"),
    Item("dit-v2", "figure-3", "δ on Internet Usage", "dit_v2.figures:figure_3", seconds=2.0),
    Item("dit-v2", "figure-4", "Distribution of d on Internet Usage", "dit_v2.figures:figure_4"),
    Item(
        "dit-v2",
        "figure-5",
        "Differential privacy on Adult",
        "dit_v2.figures:figure_5",
        seconds=2.0,
    ),
    Item("dit-v2", "figure-6", "Differential privacy on Internet Usage", "dit_v2.figures:figure_6"),
    Item("dit-v2", "section-4.3", "The encoding example", "dit_v2.tables:encoding_example"),
    Item(
        "dit-v2", "section-4.5.1", "Removing outliers", "dit_v2.remedy:section_4_5_1", seconds=3.0
    ),
)

DIT_V1 = (
    Item(
        "dit-v1",
        "table-1",
        "Largest d_pp, Adult, k-anonymity",
        "dit_v1.results:table_1",
        "slow",
        seconds=110.0,
    ),
    Item(
        "dit-v1",
        "table-2",
        "Largest d_pp, Adult, ℓ-diversity",
        "dit_v1.results:table_2",
        "slow",
        seconds=150.0,
    ),
    Item(
        "dit-v1",
        "table-3",
        "Largest d_pp, Internet, k-anonymity",
        "dit_v1.results:table_3",
        "slow",
        seconds=35.0,
    ),
    Item(
        "dit-v1",
        "table-4",
        "Largest d_pp, Internet, ℓ-diversity",
        "dit_v1.results:table_4",
        "slow",
        seconds=40.0,
    ),
    Item("dit-v1", "figure-1", "The procedure", "dit_v1.drawings:figure_1"),
    Item("dit-v1", "figure-2", "A hierarchy and its path lengths", "dit_v1.drawings:figure_2"),
    Item("dit-v1", "figure-3", "Different predictions, Adult", "dit_v1.results:figure_3"),
    Item("dit-v1", "figure-4", "Different predictions, Internet", "dit_v1.results:figure_4"),
    Item("dit-v1", "figure-5", "Distribution of d_pp, Adult", "dit_v1.results:figure_5", "slow"),
    Item("dit-v1", "figure-6", "Distribution of d_pp, Internet", "dit_v1.results:figure_6", "slow"),
    Item("dit-v1", "figure-7", "Mean d_pp with standard deviation", "dit_v1.results:figure_7"),
    Item("dit-v1", "figure-8", "24 encodings: accuracy", "dit_v1.encodings:figure_8", "slow", 6.0),
    Item("dit-v1", "figure-9", "24 encodings: features", "dit_v1.encodings:figure_9", "slow", 6.0),
    Item("dit-v1", "figure-10", "24 encodings: time", "dit_v1.encodings:figure_10", "slow", 60.0),
    Item(
        "dit-v1", "section-3.4.1", "Equal predictions, far apart", "dit_v1.drawings:section_3_4_1"
    ),
)

DRAFT = (
    Item("draft", "definition-1", "Average-case and worst-case differentiation",
         "draft.draft:definition_1", seconds=3.0),
    Item("draft", "figure-1", "Prior and posterior", "draft.draft:figure_1"),
    Item("draft", "figure-2", "The δ-differentiator", "draft.draft:figure_2"),
)  # fmt: skip

ERRATA = (Item("errata", "", PAPERS["errata"], "errata:page", "slow", 150.0),)

ITEMS: tuple[Item, ...] = (*DIT_V2, *DIT_V1, *DRAFT, *ITPR, *ERRATA)


def choose(words: Sequence[str]) -> list[Item]:
    """Return the items that the words name, each once, in the order of the index.

    A word is ``all``, a paper, ``errata`` or an item.

    >>> [item.name for item in choose(["dit-v2:table-1"])]
    ['dit-v2:table-1']
    """
    wanted: set[str] = set()
    for word in words:
        wanted.update(item.name for item in _named(word))
    return [item for item in ITEMS if item.name in wanted]


def _named(word: str) -> Iterable[Item]:
    if word == "all":
        return ITEMS
    if word in PAPERS:
        return [item for item in ITEMS if item.paper == word]
    found = [item for item in ITEMS if item.name == word]
    if not found:
        raise unknown("item", word, ["all", *PAPERS, *(item.name for item in ITEMS)])
    return found

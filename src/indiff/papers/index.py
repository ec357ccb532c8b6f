"""Lists every table and figure of the four papers, and the passages with numbers."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.errors import unknown
from indiff.papers.pages import PAPERS, Item

ITEMS: tuple[Item, ...] = (
    Item("dit-v2", "table-1", "The toy data set and its distances", "dit_v2.tables"),
    Item("dit-v2", "table-2", "2-anonymous versions of the toy data set", "dit_v2.tables"),
    Item("dit-v2", "table-3", "The two data sets", "dit_v2.tables", seconds=3.0),
    Item("dit-v2", "table-4", "Computation times", "dit_v2.remedy", "slow", 2.0),
    Item("dit-v2", "figure-1", "δ on Adult", "dit_v2.figures", seconds=3.0),
    Item("dit-v2", "figure-2", "Distribution of d on Adult", "dit_v2.figures"),
    Item("dit-v2", "figure-3", "δ on Internet Usage", "dit_v2.figures", seconds=2.0),
    Item("dit-v2", "figure-4", "Distribution of d on Internet Usage", "dit_v2.figures"),
    Item("dit-v2", "figure-5", "Differential privacy on Adult", "dit_v2.figures", seconds=2.0),
    Item("dit-v2", "figure-6", "Differential privacy on Internet Usage", "dit_v2.figures"),
    Item("dit-v2", "section-4.3", "The encoding example", "dit_v2.tables"),
    Item("dit-v2", "section-4.5.1", "Removing outliers", "dit_v2.remedy", seconds=3.0),
    Item("dit-v1", "table-1", "Largest d_pp, Adult, k-anonymity", "dit_v1.results", "slow", 15.0),
    Item("dit-v1", "table-2", "Largest d_pp, Adult, ℓ-diversity", "dit_v1.results", "slow", 11.0),
    Item("dit-v1", "table-3", "Largest d_pp, Internet, k-anonymity", "dit_v1.results", "slow", 7),
    Item("dit-v1", "table-4", "Largest d_pp, Internet, ℓ-diversity", "dit_v1.results", "slow", 7),
    Item("dit-v1", "figure-1", "The procedure", "dit_v1.drawings"),
    Item("dit-v1", "figure-2", "A hierarchy and its path lengths", "dit_v1.drawings"),
    Item("dit-v1", "figure-3", "Different predictions, Adult", "dit_v1.results"),
    Item("dit-v1", "figure-4", "Different predictions, Internet", "dit_v1.results"),
    Item("dit-v1", "figure-5", "Distribution of d_pp, Adult", "dit_v1.results", "slow"),
    Item("dit-v1", "figure-6", "Distribution of d_pp, Internet", "dit_v1.results", "slow"),
    Item("dit-v1", "figure-7", "Mean d_pp with standard deviation", "dit_v1.results"),
    Item("dit-v1", "figure-8", "24 encodings: accuracy", "dit_v1.encodings", "slow", 3.0),
    Item("dit-v1", "figure-9", "24 encodings: features", "dit_v1.encodings", "slow"),
    Item("dit-v1", "figure-10", "24 encodings: time", "dit_v1.encodings", "slow", 16.0),
    Item("dit-v1", "section-3.4.1", "Equal predictions, far apart", "dit_v1.drawings"),
    Item("draft", "definition-1", "Average-case and worst-case differentiation", "draft",
         seconds=3.0),
    Item("draft", "figure-1", "Prior and posterior", "draft"),
    Item("draft", "figure-2", "The δ-differentiator", "draft"),
    Item("itpr", "table-1", "A 3-anonymous release", "itpr.tables"),
    Item("itpr", "table-2", "A 5-anonymous release that tells more", "itpr.tables"),
    Item("itpr", "table-3", "The example tables", "itpr.tables"),
    Item("itpr", "table-4", "Five metrics of the examples", "itpr.tables"),
    Item("itpr", "table-5", "ITPR of the examples", "itpr.tables"),
    Item("itpr", "table-6", "Two cases of Zip Code", "itpr.tables"),
    Item("itpr", "table-7", "Which metric measures which risk", "itpr.figures"),
    Item("itpr", "figure-1", "Re-identification, two values", "itpr.figures"),
    Item("itpr", "figure-2", "Re-identification, ten values", "itpr.figures"),
    Item("itpr", "figure-3", "Inference by λ", "itpr.figures"),
    Item("itpr", "figure-4", "Inference by ϑ", "itpr.figures"),
    Item("itpr", "figure-5", "ITPR by ε and ϑ", "itpr.figures", seconds=3.0),
    Item("itpr", "figure-6", "Time by number of records", "itpr.times", "slow", 8.0),
    Item("errata", "", PAPERS["errata"], "errata", "slow", 30.0),
)  # fmt: skip


def choose(words: Sequence[str]) -> list[Item]:
    """Return the items that the words name, each once, in the order of the index.

    A word is ``all``, a paper, ``errata`` or an item.

    >>> [item.name for item in choose(["dit-v2:table-1"])]
    ['dit-v2:table-1']
    """
    names = ["all", *PAPERS, *(item.name for item in ITEMS)]
    for word in words:
        if word not in names:
            raise unknown("item", word, names)
    return [item for item in ITEMS if {"all", item.paper, item.name} & set(words)]

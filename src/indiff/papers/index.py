"""Every table and figure of the four papers, none missing, and the passages with numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indiff.errors import unknown
from indiff.papers.items import PAPERS, Item
from indiff.papers.itpr import ITEMS as ITPR

DIT_V2 = (
    Item("dit-v2", "table-1", "The toy data set and its distances", "dit_v2_tables:table_1"),
    Item("dit-v2", "table-2", "2-anonymous versions of the toy data set", "dit_v2_tables:table_2"),
    Item("dit-v2", "table-3", "The two data sets", "dit_v2_tables:table_3"),
    Item("dit-v2", "section-4.3", "The encoding example", "dit_v2_tables:encoding_example"),
)

ITEMS: tuple[Item, ...] = (*DIT_V2, *ITPR)


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

"""The items of the ITPR paper."""

from __future__ import annotations

from indiff.papers.items import Item

ITEMS: tuple[Item, ...] = (
    Item("itpr", "table-1", "A 3-anonymous release", "itpr.tables:table_1"),
    Item("itpr", "table-2", "A 5-anonymous release that tells more", "itpr.tables:table_2"),
    Item("itpr", "table-3", "The example tables", "itpr.tables:table_3"),
    Item("itpr", "table-4", "Five metrics of the examples", "itpr.tables:table_4"),
    Item("itpr", "table-5", "ITPR of the examples", "itpr.tables:table_5"),
    Item("itpr", "table-6", "Two cases of Zip Code", "itpr.tables:table_6"),
    Item("itpr", "table-7", "Which metric measures which risk", "itpr.benefits:table_7"),
    Item("itpr", "figure-1", "Re-identification, two values", "itpr.figures:figure_1"),
    Item("itpr", "figure-2", "Re-identification, ten values", "itpr.figures:figure_2"),
    Item("itpr", "figure-3", "Inference by λ", "itpr.figures:figure_3"),
    Item("itpr", "figure-4", "Inference by ϑ", "itpr.figures:figure_4"),
    Item("itpr", "figure-5", "ITPR by ε and ϑ", "itpr.figures:figure_5", seconds=3.0),
    Item("itpr", "figure-6", "Time by number of records", "itpr.times:figure_6", "slow", 90.0),
)

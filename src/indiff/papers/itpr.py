"""The items of the ITPR paper."""

from __future__ import annotations

from indiff.papers.items import Item

ITEMS: tuple[Item, ...] = ()

"""Data to try things on: the generated demo table, and the papers' two data sets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indiff.datasets.fetch import adult, internet_usage
    from indiff.datasets.patients import demo, demo_hierarchies, demo_outliers, demo_table

__all__ = ["adult", "demo", "demo_hierarchies", "demo_outliers", "demo_table", "internet_usage"]

# No module here is named like a function: importing it would hide the function.
_HOMES = {"adult": "fetch", "internet_usage": "fetch"}


def __getattr__(name: str) -> Any:
    """Import a data set's module when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'patients')}"), name)

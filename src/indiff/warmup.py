"""One tiny run of every compiled kernel."""

from __future__ import annotations


def run() -> None:
    """Call each kernel once with the argument types that real runs use."""

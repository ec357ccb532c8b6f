"""Counts which columns of released records cover a target, compiled."""

from __future__ import annotations

from typing import Any

from indiff.kernels import kernel


@kernel
def add_patterns(covered: Any, group: Any, classes: Any, weights: Any, counts: Any) -> Any:
    """Add distinct rows to ``counts[t, p, c]``: ``covered[t, g]`` is a group's pattern p."""
    for target in range(covered.shape[0]):
        patterns, held = covered[target], counts[target]
        for row in range(group.shape[0]):
            held[patterns[group[row]], classes[row]] += weights[row]

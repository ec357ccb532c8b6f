"""The definitions, record by record, in plain Python: what every engine is compared with."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tests.checker import Equal, Ordered, Tree, earth_movers_distance


def value(raw: Any) -> Hashable:
    """Null, NaN and the empty text are one value."""
    missing = raw is None or raw == "" or (isinstance(raw, float) and math.isnan(raw))
    return "\0missing" if missing else raw


def entropy(counts: Mapping[Any, int]) -> float:
    total = sum(counts.values())
    return math.fsum(c / total * math.log2(total / c) for c in counts.values())


def grouped(
    keys: Sequence[Hashable], xs: Sequence[Hashable]
) -> tuple[dict[Hashable, Counter[Hashable]], Counter[Hashable]]:
    groups: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    for key, x in zip(keys, xs, strict=True):
        groups[key][x] += 1
    return dict(groups), Counter(xs)


def information(keys: Sequence[Hashable], xs: Sequence[Hashable]) -> dict[str, float]:
    """H … ITPR by Eq. 1–13 with the errata of the ITPR paper."""
    groups, whole = grouped(keys, xs)
    total = len(xs)
    h = entropy(whole)
    weighted = [counts.total() / total * entropy(counts) for counts in groups.values()]
    plain = [entropy(counts) for counts in groups.values()]
    conditional = math.fsum(weighted)
    sizes = [counts.total() for counts in groups.values()]
    return {
        "h": h,
        "h_conditional": conditional,
        "h_normalised": conditional / h if h else 1.0,
        "h_joint": entropy(Counter(zip(keys, xs, strict=True))),
        "h_columns": entropy(Counter(keys)),
        "dr": 1 - conditional / h if h else 0.0,
        "mi": h - conditional,
        "cp": 1 - 2 ** -(h - conditional),
        "mil": max(h - part for part in weighted),
        "mil_unweighted": max(h - part for part in plain),
        "theta": max(h - part for part in plain),
        "eld": max(2**-part for part in plain),
        "itpr": max(1 - len(groups) * part / h for part in weighted) if h else 0.0,
        "epsilon": max(sizes) - min(sizes),
        "lambda_": max(
            max(counts[x] for x in whole) - min(counts[x] for x in whole)
            for counts in groups.values()
        ),
    }


def models(
    keys: Sequence[Hashable], xs: Sequence[Hashable], ground: Equal | Ordered | Tree
) -> dict[str, Any]:
    """The group models by their definitions."""
    groups, whole = grouped(keys, xs)
    total = len(xs)
    distinct = min(len(counts) for counts in groups.values())
    gains = [
        (counts[x] / counts.total() - q / total) / (q / total)
        for counts in groups.values()
        for x, q in whole.items()
    ]
    fits = all(
        (counts[x] / counts.total() - q / total) / (q / total) <= -math.log(q / total) + 1e-12
        for counts in groups.values()
        for x, q in whole.items()
    )
    logs = [
        abs(math.log(counts[x] / counts.total() * total / q)) if counts[x] else math.inf
        for counts in groups.values()
        for x, q in whole.items()
    ]
    ranked = [sorted(counts.values(), reverse=True) for counts in groups.values()]
    return {
        "l": min(counts.total() / max(counts.values()) for counts in groups.values()),
        "alpha": max(max(counts.values()) / counts.total() for counts in groups.values()),
        "distinct_l": distinct,
        "entropy_l": min(2 ** entropy(counts) for counts in groups.values()),
        "recursive": (max(r[0] / sum(r[distinct - 1 :]) for r in ranked), distinct),
        "t": max(float(earth_movers_distance(counts, whole, ground)) for counts in groups.values()),
        "beta": max(gains),
        "beta_enhanced": max(gains) if fits else math.inf,
        "delta_disclosure": max(logs),
    }

"""The names of limits: ``delta``, ``k``, ``inference.itpr``, ``inference.diagnosis.dr``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indiff.audit.metrics import METRICS
from indiff.errors import unknown
from indiff.report.finding import Limit

# Numbers that describe, and that no limit can be set on.
_DESCRIPTIONS = ("records", "missing", "told_by_the_crowd")
BOTH = ("itpr", "dr")  # short for re-identification and inference together
PLANES = ("reidentification", "inference")


def limit_names() -> list[str]:
    """Return every name of a limit that does not name an attribute.

    >>> "delta" in limit_names() and "itpr" in limit_names()
    True
    """
    return [name for name in METRICS if name not in _DESCRIPTIONS] + list(BOTH)


def check_limit_names(names: Iterable[str], sensitive: Sequence[str]) -> None:
    """Refuse a limit on something that no audit measures."""
    for name in names:
        if name in limit_names():
            continue
        plane, _, rest = name.partition(".")
        attribute, _, what = rest.rpartition(".")
        if plane != "inference" or not attribute or f"inference.{what}" not in METRICS:
            raise unknown("limit", name, limit_names())
        if attribute not in sensitive:
            raise unknown("sensitive attribute", attribute, sensitive)


def limit_on(metric: str, about: str | None, limits: dict[str, float]) -> Limit | None:
    """Return the narrowest limit on a metric of an attribute, with its direction.

    >>> limit_on("inference.itpr", "ill", {"itpr": 0.9, "inference.ill.itpr": 0.5})
    Limit(name='inference.ill.itpr', rule='at most', value=0.5)
    >>> limit_on("k", None, {"k": 5}).rule
    'at least'
    """
    plane, _, what = metric.partition(".")
    names = [metric]
    if plane in PLANES:
        names = [f"{plane}.{about}.{what}", metric, what]
    for name in names:
        if name in limits:
            return Limit(name, METRICS[metric].rule, limits[name])
    return None

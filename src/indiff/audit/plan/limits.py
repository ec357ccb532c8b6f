"""Knows the limits: names (``delta``, ``inference.ill.dr``), ranges, and which are at least."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from indiff.audit.metrics import METRICS
from indiff.errors import UserError, option, unknown

if TYPE_CHECKING:
    from indiff.risk.population.measure import PopulationRisk

# Numbers that describe, and that no limit can be set on.
_DESCRIPTIONS = ("records", "missing", "told_by_the_crowd")
BOTH = ("itpr", "dr")  # short for re-identification and inference together
PLANES = ("reidentification", "inference")

SIZES = ("k", "singled_out", "prosecutor", "journalist", "marketer")
GROUP_MODELS = (
    "l", "distinct_l", "entropy_l", "alpha", "t", "beta", "beta_enhanced", "delta_disclosure",
)  # fmt: skip
# Of combinations that were named, and of records that few columns single out: who asks for what.
FEW_COLUMNS = {
    "keys.k": "keys", "keys.singled_out": "keys", "special.records": "special",
    "special.dis": "special",
}  # fmt: skip
INFORMATION = (
    "itpr", "dr", "mi", "cp", "mil", "mil_unweighted", "eld", "theta", "h_conditional",
    "h_normalised",
)  # fmt: skip

# What a number against the population needs to be known of it: one of these options.
_SIZE, _ANY = ("population", "sampling"), ("population", "sampling", "weight")
POPULATION = {
    "k_map": ("population",), "presence": ("population",), "presence_low": ("population",),
    "journalist": ("population",), "journalist_average": ("population",),
    "marketer": ("population",), "uniques": _SIZE, "unique_share": _SIZE, "smallest": _ANY,
    "individual_risk": _ANY, "global_risk": _ANY, "expected": _ANY,
    "tau1": _ANY, "tau2": _ANY, "household_risk": ("household",),
    "household_average": ("household",), "household_expected": ("household",),
}  # fmt: skip

# Of what only ``indiff risk`` has; METRICS knows what an audit shows.
_RANGES: dict[str, tuple[float, float | None]] = {
    "journalist": (0, 1), "beta_enhanced": (0, None), "mi": (0, None), "cp": (0, 1),
    "mil": (0, None), "mil_unweighted": (0, None), "eld": (0, 1), "theta": (0, None),
    "h_conditional": (0, None), "h_normalised": (0, 1),
}  # fmt: skip
_AT_LEAST = ("h_conditional", "h_normalised")
_DISTANCES = ("delta", "mean", "quantile", "together.delta")


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


def check_claim(claim: Mapping[str, float]) -> None:
    """Refuse what is no claim of differential privacy; none at all is none.

    >>> check_claim({"delta": 1e-6})
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: a claim needs an epsilon, as in epsilon=1; got delta alone.
    """
    if not claim:
        return
    for name in claim:
        if name not in ("epsilon", "delta"):
            raise unknown("claim", name, ("epsilon", "delta"), field="claim")
    if "epsilon" not in claim:
        rule = "a claim needs an epsilon, as in epsilon=1"
        raise UserError(rule, "delta alone", field="claim")
    for name, most in (("epsilon", math.inf), ("delta", 1.0)):
        if not 0 <= claim.get(name, 0.0) < most:
            span = "of at least 0" if most == math.inf else "from 0 to below 1"
            raise UserError(f"a claimed {name} is a number {span}", claim[name], field="claim")


def range_of(name: str, distance: Any = None) -> tuple[float, float | None]:
    """Return between what a number can lie; that of δ depends on the distance.

    >>> range_of("k"), range_of("inference.ill.dr"), range_of("delta", "wasserstein")
    ((1, None), (0, 1), (0, 2.0))
    """
    if name in METRICS and name not in _DISTANCES:
        return METRICS[name].range
    what = name.rpartition(".")[2]
    if what in _RANGES:
        return _RANGES[what]
    if what not in _DISTANCES:
        return next(one.range for own, one in METRICS.items() if own.rpartition(".")[2] == what)
    from indiff.distances.functions import LARGEST

    largest = LARGEST.get(distance, math.inf) if isinstance(distance, str) else math.inf
    return (0, None if math.isinf(largest) else largest)


def check_ranges(limits: Mapping[str, float], distance: Any = None) -> None:
    """Refuse a limit outside what its number can be: it would hold, or not, whatever is measured.

    >>> check_ranges({"delta": 3}, "wasserstein")
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: a limit on delta (wasserstein) is a number from 0 to 2; got 3.
    """
    for name, limit in limits.items():
        least, largest = range_of(name, distance)
        if not least <= limit < math.inf or (largest is not None and limit > largest):
            span = f"of at least {least:g}" if largest is None else f"from {least:g} to {largest:g}"
            by = f" ({distance})" if largest is not None and name in _DISTANCES else ""
            rule = f"a limit on {name}{by} is a number {span}"
            raise UserError(rule, f"{limit:g}", field="limit")


def is_at_least(name: str) -> bool:
    """Tell whether less is worse: a limit on it is exceeded when the number is below.

    >>> is_at_least("k"), is_at_least("inference.ill.h_conditional"), is_at_least("delta")
    (True, True, False)
    """
    if name in METRICS:
        return METRICS[name].rule == "at least"
    return name.rpartition(".")[2] in _AT_LEAST


def is_stricter(name: str, limit: float, than: float) -> bool:
    """Tell whether a limit on a number allows less than another one.

    >>> is_stricter("k", 11, 5), is_stricter("delta", 0.1, 0.1)
    (True, False)
    """
    return limit > than if is_at_least(name) else limit < than


def narrowest_name(name: str, limits: Mapping[str, float]) -> str | None:
    """Return which limit counts for what a name limits: its own, or the next broader one.

    >>> narrowest_name("inference.ill.itpr", {"itpr": 0.5, "inference.itpr": 0.4})
    'inference.itpr'
    """
    plane, _, rest = name.partition(".")
    what = rest.rpartition(".")[2]
    broader = [name, f"{plane}.{what}", what] if plane in PLANES else [name]
    broader += [what] if plane == "together" else []  # a limit on δ is on that of all, too
    return next((one for one in broader if one in limits), None)


def narrowest(name: str, limits: Mapping[str, float]) -> float | None:
    """Return the limit that counts for what a name limits."""
    found = narrowest_name(name, limits)
    return None if found is None else limits[found]


def with_stricter(own: Mapping[str, float], asked: Mapping[str, float]) -> dict[str, float]:
    """Put the limits of a policy beside a plan's own; where both limit a number, the stricter.

    >>> with_stricter({"k": 5, "delta": 0.1}, {"k": 11, "prosecutor": 0.09})
    {'k': 11, 'delta': 0.1, 'prosecutor': 0.09}
    """
    found = {}
    for name in (*own, *asked):
        first, second = narrowest(name, own), narrowest(name, asked)
        if first is None or (second is not None and is_stricter(name, second, first)):
            first = second
        assert first is not None
        found[name] = first
    return found


def risk_limits(limits: Mapping[str, float], sensitive: Sequence[str]) -> dict[str, float]:
    """Name the numbers of ``indiff risk``; ``inference.itpr`` is of every sensitive attribute.

    >>> risk_limits({"k": 5, "inference.itpr": 0.5}, ["ill", "income"])
    {'k': 5, 'inference.ill.itpr': 0.5, 'inference.income.itpr': 0.5}
    """
    found: dict[str, float] = {}
    for name, limit in limits.items():
        for expanded in _names(name, sensitive):
            if expanded in found:
                raise UserError("a limit may be given once", f"{expanded!r} twice", field="limit")
            found[expanded] = limit
    check_ranges(found)
    return found


def require_population(limits: Iterable[str], found: PopulationRisk | None) -> None:
    """Refuse a limit on a number that what is known of the population does not give."""
    for name in limits:
        plane, _, what = name.partition(".")
        if plane == "population" and (found is None or found.figure(name) is None):
            ways = [option(one) for one in POPULATION[what]]
            table = " as a table" if POPULATION[what] == ("population",) else ""
            raise UserError(
                f"the limit {name} needs to know the population",
                way_out=f"Add {' or '.join(ways)}{table}",
                field=POPULATION[what][0],
            )


def _names(name: str, sensitive: Sequence[str]) -> list[str]:
    plane, _, rest = name.partition(".")
    if name in (*SIZES, *FEW_COLUMNS) or (plane == "reidentification" and rest in INFORMATION):
        return [name]
    if plane == "population" and rest in POPULATION:
        return [name]
    if name not in GROUP_MODELS and plane != "inference":
        raise unknown("limit", name, _known())
    if not sensitive:
        raise UserError(
            f"the limit {name} needs a sensitive attribute; add {option('sensitive', 'COLUMN')}.",
            field="sensitive",
        )
    if name in GROUP_MODELS:
        return [name]
    attribute, _, metric = rest.rpartition(".")
    if metric not in INFORMATION:
        raise unknown("limit", name, _known())
    if attribute and attribute not in sensitive:
        raise unknown("sensitive attribute", attribute, sensitive)
    return [f"inference.{x}.{metric}" for x in ([attribute] if attribute else sensitive)]


def _known() -> list[str]:
    planes = [f"{plane}.{metric}" for plane in PLANES for metric in INFORMATION]
    against = [f"population.{name}" for name in POPULATION]
    return [*SIZES, *GROUP_MODELS, *planes, *FEW_COLUMNS, *against]

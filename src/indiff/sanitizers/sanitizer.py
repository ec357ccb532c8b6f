"""What a sanitizer is, which ones have a name, and whether a release keeps its promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import UserError, unknown
from indiff.release.regions import region_of
from indiff.release.release import Release, anything, release_of, span_column
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.marginals import Marginals
from indiff.sanitizers.noise.mechanisms import (
    CellMechanism,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
)
from indiff.sanitizers.oracles.command import parse_command
from indiff.sanitizers.oracles.folder import Releases
from indiff.sanitizers.oracles.function import Oracle, SeededOracle, takes_rng
from indiff.sanitizers.oracles.http_service import is_address, parse_http
from indiff.sanitizers.perturbation.mdav import Mdav
from indiff.sanitizers.perturbation.noisy_values import AdditiveNoise, MultiplicativeNoise
from indiff.sanitizers.perturbation.pram import Pram
from indiff.sanitizers.perturbation.rank_swap import RankSwap
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.text import describe


@runtime_checkable
class Sanitizer(Protocol):
    """f: table → release, possibly randomized (DIT v2, Definition 1).

    One that says ``per_record = False`` promises that only quasi-identifiers and the sensitive
    value of a record matter, neither its place nor its other columns: records that look alike are
    then tested once.
    """

    @property
    def randomized(self) -> bool:
        """Whether two calls on the same table may differ."""
        ...

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release of a table."""
        ...


@dataclass(frozen=True)
class Identity:
    """Publish the raw table: the papers' k = 1 and ℓ = 1 (DIT v2, Section 4.5.1)."""

    randomized: ClassVar[bool] = False

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release in which every cell is its own value."""
        values = [(a, np.arange(len(a.values), dtype=np.int32)) for a in table.attributes]
        columns = [span_column(a, a.codes, each, each, region_of) for a, each in values]
        return release_of(table, columns, sanitizer="identity")


@dataclass(frozen=True)
class Suppress:
    """Publish the sensitive values alone: every quasi-identifier cell is ``*``."""

    randomized: ClassVar[bool] = False

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return a release in which every cell is ``*``."""
        return release_of(table, map(anything, table.attributes), sanitizer="suppress")


def _pair(text: str) -> tuple[float, int]:
    """Read the c and ℓ of recursive (c, ℓ)-diversity."""
    c, _, depth = text.partition("/")
    return float(c), int(depth)


def _weights(text: str) -> dict[str, float]:
    """Read the weights of columns.

    >>> _weights("age:2/sex:0.5")
    {'age': 2.0, 'sex': 0.5}
    """
    pairs = [part.rpartition(":") for part in text.split("/")]
    return {name: float(weight) for name, _, weight in pairs}


def _bins(text: str) -> int | None:
    return None if text == "none" else int(text)


# What a parameter looks like, where a plain number would not do.
_EXAMPLES: dict[Callable[[str], Any], str] = {
    int: "give a whole number",
    _pair: "give c and ℓ, as in 3/2",
    _weights: "give columns and their weights, as in age:2/sex:0.5",
}
_LIMITS: dict[str, Callable[[str], Any]] = {
    "k": int, "l": int, "distinct_l": int, "entropy_l": float, "recursive": _pair, "t": float,
}  # fmt: skip
_BY_EPSILON: dict[str, Callable[[str], Any]] = {"epsilon": float, "bins": _bins}

# Each sanitizer's parameters and how their text is read.
SANITIZERS: dict[str, tuple[Callable[..., Sanitizer], dict[str, Callable[[str], Any]]]] = {
    "mondrian": (Mondrian, {**_LIMITS, "regions": str, "unmet": str}),
    "recoding": (
        Recoding,
        {
            **_LIMITS, "suppression": float, "loss": str, "weights": _weights, "suppressed": str,
            "unmet": str,
        },
    ),
    "laplace": (Laplace, _BY_EPSILON),
    "geometric": (Geometric, _BY_EPSILON),
    "gaussian": (Gaussian, {"sigma": float, "bins": _bins}),
    "randomized-response": (RandomizedResponse, _BY_EPSILON),
    "dp-marginals": (Marginals, {**_BY_EPSILON, "rows": int}),
    "pram": (Pram, {"p": float, "redraw": str}),
    "rank-swap": (RankSwap, {"percent": float}),
    "additive-noise": (AdditiveNoise, {"scale": float}),
    "multiplicative-noise": (MultiplicativeNoise, {"scale": float}),
    "mdav": (Mdav, {"k": int}),
    "identity": (Identity, {}),
    "suppress": (Suppress, {}),
}  # fmt: skip


def as_sanitizer(sanitizer: Any) -> Sanitizer:
    """Return a sanitizer from its text, from a frame → frame function, or as it is.

    >>> as_sanitizer("mondrian:k=5,t=0.2")
    Mondrian(k=5, l=None, distinct_l=None, entropy_l=None, recursive=None, t=0.2,
             regions='tight', unmet='error')
    >>> as_sanitizer("mondrian:recursive=3/2").recursive
    (3.0, 2)
    >>> str(as_sanitizer("laplace:epsilon=0.5,bins=3"))
    'laplace:epsilon=0.5,bins=3'
    >>> as_sanitizer("command(timeout=60):cp {input} {output}").timeout
    60.0
    """
    if isinstance(sanitizer, str):
        return _parse(sanitizer)
    if isinstance(sanitizer, type):
        raise UserError(
            f"a sanitizer must be an object, not a class: write {sanitizer.__name__}(…)."
        )
    if isinstance(sanitizer, Sanitizer):
        return sanitizer
    if callable(sanitizer):
        return SeededOracle(sanitizer) if takes_rng(sanitizer) else Oracle(sanitizer)
    raise UserError(
        "a sanitizer is a name such as 'mondrian:k=5', an object with "
        "sanitize(table), or a function from frame to frame",
        f"{sanitizer!r}",
    )


# What follows these names is one text, with commas and equal signs of its own.
BLACK_BOXES = ("command", "shell", "releases", "http", "https")
_COMMAND = re.compile(r"\s*(command|shell)(?:\(([^)]*)\))?:(.*)", re.DOTALL)


def is_black_box(text: str) -> bool:
    """Tell whether a sanitizer's text is that of one with an inside of its own.

    >>> is_black_box("command(timeout=60):cp {input} {output}"), is_black_box("mondrian:k=5")
    (True, False)
    """
    return re.match(rf"\s*({'|'.join(BLACK_BOXES)})(\([^)]*\))?:", text) is not None


def _parse(text: str) -> Sanitizer:
    command = _COMMAND.fullmatch(text)
    if command is not None:
        return parse_command(command[1], command[2] or "", command[3])
    if is_address(text):
        return parse_http(text)
    name, _, rest = text.partition(":")
    name = name.strip()
    if name == "releases":
        return Releases(rest.strip())
    if name not in SANITIZERS:
        raise unknown("sanitizer", name, [*SANITIZERS, *BLACK_BOXES])
    make, known = SANITIZERS[name]
    parameters: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in rest.split(","))):
        key, sign, value = part.partition("=")
        if key not in known:
            raise (
                unknown(f"parameter of {name}", key, known)
                if known
                else UserError(f"{name} takes no parameters", f"{part!r}", f"Write {name} alone")
            )
        if not sign:
            raise UserError("a parameter is written name=value", f"{part!r} in {text!r}")
        if key in parameters:
            raise UserError("a parameter may be given once", f"{key!r} twice in {text!r}")
        try:
            parameters[key] = known[key](value)
        except ValueError:
            way_out = _EXAMPLES.get(known[key], "give a number")
            raise UserError(f"{key} cannot be {value!r} in {text!r}; {way_out}.") from None
    needed = getattr(make, "strength", None)  # it cannot be made without
    if needed is not None and needed not in parameters:
        value = getattr(make, "example", "0.5")
        raise UserError(f"{name} needs {needed}", f"{text!r}", f"Write {name}:{needed}={value}")
    return make(**parameters)


@dataclass(frozen=True)
class Promise:
    """Whether a promise is kept, and why not; ``kept`` is None where none was made."""

    kept: bool | None
    why_not: str | None = None


def promise_of(sanitizer: Any, table: Table, constraint_met: bool | None) -> Promise:
    """Judge a release of a table by what its sanitizer promises.

    Mondrian and recoding promise their constraint, and ``constraint_met`` says what came of it. A
    mechanism of differential privacy promises just that: judged is what it would publish, since
    noise that repeats from a seed is only ever tested. The raw table, your own function or program
    and a file made elsewhere promise nothing.

    >>> from indiff import datasets
    >>> table = datasets.demo_table()
    >>> promise_of(as_sanitizer("identity"), table, None).kept is None
    True
    >>> promise_of(as_sanitizer("laplace:epsilon=1"), table, None).kept
    False
    """
    if isinstance(sanitizer, CellMechanism):
        reasons = sanitizer.why_not_private(table)
        if reasons is None:
            return Promise(kept=True)
        return Promise(False, f"{sanitizer} is not differentially private: {reasons}")
    if constraint_met is False:
        return Promise(False, f"the constraint of {describe(sanitizer)} is not met")
    return Promise(constraint_met)


def all_kept(each: Iterable[bool | None]) -> bool | None:
    """Tell whether all of several promises are kept; None where one was not made.

    >>> all_kept([True, True]), all_kept([True, None]), all_kept([None, False]), all_kept([])
    (True, None, False, None)
    """
    found = list(each)
    if False in found:
        return False
    return None if None in found or not found else True

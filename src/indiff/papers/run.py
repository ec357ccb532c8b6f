"""Keeps what the items of one run share: the data, the seeds, and every result measured once.

The hierarchies are part of the authors' published code (MIT): the files of Kassem's
``diffTesting``, and one of Gong's ``Basic_Mondrian``, on which it is built. A copy
with other bytes is refused.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from indiff.datasets.fetch import RemoteFile, locate

if TYPE_CHECKING:
    from indiff.data.table import Table

SEEDS = 5
_INTERNET = ("education_attainment", "major_occupation", "marital_status", "race")
TREES = {  # the columns that are generalized along the authors' hierarchies
    "adult": ("education", "marital-status", "native-country"),
    "internet-v2": _INTERNET,
    "internet-v1": ("country", *_INTERNET),
}

_AUTHORS = "https://raw.githubusercontent.com/kassemal/diffTesting"
_MONDRIAN = "https://raw.githubusercontent.com/qiyuangong/Basic_Mondrian"
_FIRST = f"{_AUTHORS}/1339c3c8acdf3e4fb81fe23b29248e0407e1f4ac/data"
_SECOND = f"{_AUTHORS}/0b11dbb7144344436191c8b97a41ad74265a4acc/data"
_THIRD = f"{_AUTHORS}/03ea55ddd1ea304be7307519abe863bda4c6077c/data"
_BASIC = f"{_MONDRIAN}/085689e373926bb6a4968dcac969ceffbd455036/data"

# Table, column: where it is published, its SHA-256 and its size.
_PUBLISHED = {
    ("adult", "education"): (
        _FIRST, "7ad8955c3fc0c11f75cf25fc70f181783d9aa4f7ad7766e5277802ca30f300e7", 606),
    ("adult", "marital-status"): (
        _BASIC, "cdd6c2ba10295372a0be6d2a617a63eee68147d51d8ecdb3d53bdf6a289af227", 153),
    ("adult", "native-country"): (
        _FIRST, "e384ea447bc46182158beb9a93f255cb43fec3f20335b57bea65aed14af90bb3", 1340),
    ("internet", "country"): (
        _SECOND, "d98971e5c2581a9a868ddd338c0f72bba99fff197dcbc76247b56ee945feb4f7", 5936),
    ("internet", "education_attainment"): (
        _THIRD, "40919672760e96fbf178994b6fc97f0313b767b653a4f3d5be1632a965ece991", 144),
    ("internet", "major_occupation"): (
        _THIRD, "6a33b90875c050fc9826028e45da6ac364a28f3b23eaf6a1abb98c52559fd635", 107),
    ("internet", "marital_status"): (
        _SECOND, "968a770738a5de7bc1aed8577b7f7b8c12a8d7b8e031352611e8cbb0778522dc", 123),
    ("internet", "race"): (
        _THIRD, "b015fba891d98b00cee068efb940997cae5feb091e0d4adfa1bcc3ff0448e284", 187),
}  # fmt: skip

T = TypeVar("T")
P = ParamSpec("P")
S = TypeVar("S")


def once(make: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a function of a run, or of something with a run, be called once for equal arguments."""
    signature = inspect.signature(make)

    @wraps(make)
    def found(of: S, /, *args: P.args, **named: P.kwargs) -> T:
        given = signature.bind(of, *args, **named)
        given.apply_defaults()
        key = (make.__module__, make.__qualname__, *given.arguments.values())
        run: Any = getattr(of, "run", of)
        kept: dict[Hashable, T] = run.kept
        if key not in kept:
            kept[key] = make(of, *args, **named)
        return kept[key]

    return found


@dataclass(eq=False)
class Run:
    """One call of ``indiff reproduce``.

    ``seeds`` is how many selections of 10,000 Adult records are drawn; ``billion`` asks for times
    at 10⁹ rows; ``report(done, total)`` hears how far a long item is.
    """

    folder: Path | None = None
    download: bool = False
    seeds: int = SEEDS
    billion: bool = False
    report: Callable[[int, int], object] = lambda done, total: None
    kept: dict[Hashable, Any] = field(default_factory=dict)

    @once
    def table(
        self, name: str, seed: int = 0, *, trees: bool = True, records: int = 10_000
    ) -> Table:
        """Return a data set: ``adult`` (some records of it), ``internet-v1`` or ``internet-v2``.

        ``trees`` generalizes along the authors' hierarchies.
        """
        from indiff import datasets

        data, _, version = name.partition("-")
        place: dict[str, Any] = {"folder": self.folder, "download": self.download}
        if trees:
            place["hierarchies"] = hierarchy_files(data, columns=TREES[name], **place)
        if data == "adult":
            return datasets.adult(records, seed, **place)
        return datasets.internet_usage(version, **place)  # type: ignore[arg-type]


def hierarchy_files(
    table: str,
    *,
    columns: tuple[str, ...] | None = None,
    folder: str | Path | None = None,
    download: bool = False,
    base_url: str | None = None,
) -> dict[str, Path]:
    """Return the hierarchy file of each generalized column of ``adult`` or ``internet``.

    Looked for as ``hierarchies/TABLE/COLUMN.csv`` below ``folder`` (else ``INDIFF_DATA``), then
    in the user's cache; fetched only with ``download=True``.

    Example, which needs the network once::

        hierarchy_files("adult", download=True)["education"]
    """
    chosen = folder if folder is not None else os.environ.get("INDIFF_DATA")
    below = Path(chosen) / "hierarchies" / table if chosen else None
    found = {}
    for column in columns or [column for name, column in _PUBLISHED if name == table]:
        place, digest, size = _PUBLISHED[table, column]
        word = column.replace("-", "_")
        published = f"{table}_{word}.txt"
        local = below is not None and (below / f"{word}.csv").is_file()
        name = f"{word}.csv" if local else published
        file = RemoteFile(name, f"{place}/{published}", digest, size)
        found[column] = locate(file, folder=below, download=download, base_url=base_url)
    return found

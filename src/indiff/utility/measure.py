"""Measures what one release loses, by every utility measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.sanitizers.parse import as_sanitizer
from indiff.utility.accuracy import MODEL, Analyst
from indiff.utility.groups import average_group, discernibility, normalised_average_group
from indiff.utility.penalty import certainty_penalty


@dataclass(frozen=True)
class Utility:
    """What a release loses, and what an analyst keeps; what has no meaning here is None.

    ``missing`` says why, measure by measure. Utility measures compare releases of one table; none
    of them says that a release is good enough for a purpose, which only the purpose can say.
    """

    ncp: float | None
    discernibility: int | None
    average_group: float | None
    normalised_average_group: float | None
    accuracy: float | None
    accuracy_original: float | None
    accuracy_majority: float | None
    task: str | None
    model: str
    seed: int
    missing: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain data."""
        return asdict(self)


def measure(
    table: Table,
    release: Release,
    *,
    sanitizer: Any = None,
    task: str | None = None,
    seed: int = 0,
    analyst: Analyst | None = None,
) -> Utility:
    """Measure what a release of a table loses.

    ``sanitizer`` is what made the release: the analyst's accuracy needs it, since it is measured
    on a release of a part of the records (:class:`~indiff.utility.Analyst`). ``task`` is the
    column that the analyst predicts, the sensitive one by default. An ``analyst`` who was made
    before is used as he is, so that several releases share his training on the original.

    >>> from indiff import Mondrian, datasets
    >>> from indiff.utility import measure
    >>> table = datasets.demo_table()
    >>> found = measure(table, Mondrian(k=5).sanitize(table), sanitizer="mondrian:k=5")
    >>> 0 < found.ncp < 1, found.average_group >= 5, 0 < found.accuracy < 1
    (True, True, True)
    """
    missing: dict[str, str] = {}
    ncp = _kept(missing, "ncp", lambda: certainty_penalty(table, release))
    cost = _kept(missing, "discernibility", lambda: discernibility(table, release))
    average = _kept(missing, "average_group", lambda: average_group(table, release))
    normalised = None
    asked = getattr(sanitizer if sanitizer is None else as_sanitizer(sanitizer), "k", 1)
    if average is not None and asked > 1:
        normalised = normalised_average_group(average, asked)
    else:
        missing["normalised_average_group"] = missing.get(
            "average_group", "it is relative to the k that was asked for, and none was"
        )
    accuracy = None
    if sanitizer is None:
        missing["accuracy"] = (
            "the analyst trains on a release of a part of the records, which only the sanitizer "
            "can make: pass sanitizer="
        )
    else:
        analyst = analyst or Analyst(table, task=task, seed=seed)
        keeper = analyst
        accuracy = _kept(missing, "accuracy", lambda: keeper.accuracy(sanitizer))
    return Utility(
        ncp=ncp,
        discernibility=None if cost is None else int(cost),
        average_group=average,
        normalised_average_group=normalised,
        accuracy=accuracy,
        accuracy_original=None if analyst is None else analyst.original,
        accuracy_majority=None if analyst is None else analyst.majority,
        task=None if analyst is None else analyst.predicted,
        model=MODEL,
        seed=seed if analyst is None else analyst.seed,
        missing=missing,
    )


def _kept(missing: dict[str, str], name: str, find: Callable[[], float]) -> float | None:
    """Return a measure, or keep the reason why there is none."""
    try:
        found = find()
    except UserError as error:
        missing[name] = str(error)
        return None
    if math.isnan(found):
        missing[name] = "nothing was released: there is no row, or none with a weight"
        return None
    return found

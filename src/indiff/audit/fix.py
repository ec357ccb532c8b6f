"""Removes outliers from the original until the release is below a limit on δ."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.audit.findings.exposure import Progress
from indiff.audit.plan.limits import check_ranges
from indiff.audit.redaction import Redaction
from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.differential.strongest import choose_models
from indiff.differential.test import describe
from indiff.errors import InternalError, UserError
from indiff.files import write_frame, write_text
from indiff.inference.models import is_randomized_model
from indiff.release.release import Release
from indiff.sanitizers.noise.mechanisms import CellMechanism
from indiff.sanitizers.sanitizer import Sanitizer, as_sanitizer
from indiff.text import FORMAT, html, html_table, json_text, number
from indiff.utility import Analyst, Utility, measure
from indiff.version import __version__

BUDGET = 0.05
SHARE = 0.25
# The fast path and the general one add the same numbers in another order.
ROUNDING = 1e-9
NAMES = ("fixed-release.csv", "fixed-removed.csv", "fix.json")
CUT_SHORT = "not verified: interrupted"
DOES_NOT_PROVE = (
    "The limit is kept for the records that are left, against this adversary. Which records were "
    "removed depends on the data: whoever knows the rule and misses somebody in the release learns "
    "that this person stood out, and the people removed are not protected by their absence from "
    "anyone who can tell that they are absent. Keep the list of removed records to yourself."
)
MISSED = (
    "The limit was not reached: nothing is said of any release, and the table was audited whole. "
    "More removals, or another order of them, might have reached it. The list names people who "
    "stand out: keep it to yourself."
)
_PLAIN = ("status", "reason", "limit", "budget", "sanitizer", "model", "records")
Status = Literal["below", "budget", "stopped", "interrupted"]


@dataclass(frozen=True)
class Round:
    """One test on the way: how many records had been removed, and what was found then.

    ``delta`` is what the limit is checked against; ``above`` counts records above the limit.
    """

    removed: int
    delta: float
    mean: float
    above: int


@dataclass(frozen=True, eq=False)
class Fix:
    """The outcome of :func:`fix`: the rounds, the release, what was removed, what it cost.

    ``status`` is ``below`` (the limit is kept for every record that is left), ``budget`` (the
    budget of removals was used and it does not), ``stopped`` (the table that is left cannot be
    sanitized or tested) or ``interrupted``. Only with ``below`` is there a ``release``.
    """

    status: Status
    reason: str
    limit: float
    budget: int
    records: int
    sanitizer: str
    model: str
    rounds: tuple[Round, ...]
    removed: NDArray[np.int64] = field(repr=False)
    release: Release | None = field(repr=False)
    verified_delta: float | None
    verified_by: str
    utility_before: Utility | None
    utility_after: Utility | None
    fingerprint: str
    seed: int

    @property
    def holds(self) -> bool:
        """Whether the release is below the limit."""
        return self.status == "below"

    @property
    def delta(self) -> float:
        """δ of the last round."""
        return self.rounds[-1].delta if self.rounds else math.nan

    @property
    def does_not_prove(self) -> str:
        """What removing records does not prove; that the limit is kept is said only if it does."""
        return DOES_NOT_PROVE if self.holds else MISSED

    def _repr_html_(self) -> str:
        rows = [
            (place, f"{one.removed:,}", number(one.delta), number(one.mean), f"{one.above:,}")
            for place, one in enumerate(self.rounds)
        ]
        heads = ("round", "removed", "δ", "mean", "above the limit")
        return (
            f"<div><h3>{html(self.sanitizer)}: {html(self.reason)}</h3>{html_table(heads, rows)}"
            f"<p>{html(self.does_not_prove)}</p></div>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data, with record numbers and no value of the table."""
        return {
            "format": FORMAT,
            "kind": "fix",
            **{name: getattr(self, name) for name in _PLAIN},
            "removed": len(self.removed),
            "removed_records": self.removed.tolist(),
            "rounds": [asdict(one) for one in self.rounds],
            "verified_delta": self.verified_delta,
            "verified_by": self.verified_by,
            "utility_before": None if self.utility_before is None else asdict(self.utility_before),
            "utility_after": None if self.utility_after is None else asdict(self.utility_after),
            "does_not_prove": self.does_not_prove,
            "fingerprint": self.fingerprint,
            "seed": self.seed,
            "versions": {"indiff": __version__, "numpy": np.__version__},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json_text(self.to_dict())

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write the release (only if it is below the limit), the removed records and the outcome.

        The files are their owner's alone; of the three only ``fixed-release.csv`` is for others.
        """
        places = {name: Path(folder) / name for name in NAMES}
        places["fixed-release.csv"].unlink(missing_ok=True)  # an older one would pass for this one
        if self.release is None:
            del places["fixed-release.csv"]
        else:
            write_frame(self.release.sorted_rows(), places["fixed-release.csv"])  # as audited
        write_frame(pa.table({"record": self.removed}), places["fixed-removed.csv"])
        write_text(places["fix.json"], self.to_json())
        return places


def fix(
    table: Table,
    sanitizer: Any,
    *,
    delta: float,
    budget: float | None = None,
    share: float = SHARE,
    model: Any = None,
    distance: Any = "wasserstein",
    prior: Any = None,
    known: Any = None,
    task: str | None = None,
    verify: bool = True,
    runs: int = 100,
    confidence: float = 0.95,
    jobs: int = -1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Fix:
    """Remove outliers from the original until the release is below a limit on δ.

    DIT v2, Section 4.5.1: outliers are removed from the *original*, then everything is sanitized
    and tested again, since taking them out of the release alone leaves the cuts they caused.
    Each round removes the worst quarter (``share``) of the records above the limit, at least one:
    removing moves every cut, so that δ can rise and many of the others fall below the limit by
    themselves. ``budget`` is the most records to remove: a number, or a share below 1 (5 % of the
    records by default). What is left at the end is tested once more from scratch by the general
    path (``verify``), where the sanitizer and the model are not random.

    The limit then holds for the records that are left and this adversary. It does not hold for
    the people removed, and the choice of them depends on the data: see ``does_not_prove``.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [21, 22, 23, 24, 25, 26, 27, 28, 90, 91, 92, 93],
    ...                              "ill": list("nynynynynnnn")}), quasi=["age"], sensitive="ill")
    >>> fixed = fix(table, Mondrian(k=4), delta=0.9, budget=4)
    >>> fixed.holds, fixed.verified_delta <= 0.9
    (True, True)
    """
    chosen, most = as_sanitizer(sanitizer), most_removals(budget, len(table))
    _check(table, chosen, delta, distance, share)
    # The same adversaries in every round, however few records are left.
    models = choose_models(model, chosen, table)
    options = {
        "model": models.models, "distance": distance, "runs": runs, "confidence": confidence,
        "jobs": jobs, "seed": seed, "prior": prior, "known": known,
    }  # fmt: skip
    search = Search(table, chosen, float(delta), most, options)
    search.remove(share, progress)
    verified, verified_by = None, "not verified"
    if search.status == "below":
        verified, verified_by = _verify(search, verify)
    if verified_by == CUT_SHORT:
        search.end("interrupted", "the release could not be verified from scratch")
    release = before = after = None
    if search.status == "below":
        release = chosen.sanitize(search.left, np.random.default_rng(seed))
        before, after = _costs(table, chosen, release, search.removed, task, seed)
    return Fix(
        status=search.status,
        reason=search.reason,
        limit=search.limit,
        budget=most,
        records=len(table),
        sanitizer=describe(chosen),
        model=", ".join(models.named),
        rounds=tuple(search.rounds),
        removed=search.removed,
        release=release,
        verified_delta=verified,
        verified_by=verified_by,
        utility_before=before,
        utility_after=after,
        fingerprint=table.fingerprint,
        seed=seed,
    )


def _check(table: Table, chosen: Sanitizer, delta: float, distance: Any, share: float) -> None:
    """Refuse what no removal can be searched for."""
    check_ranges({"delta": delta}, distance)
    if not 0 < share <= 1:
        raise UserError("share must be above 0 and at most 1", f"{share!r}")
    table.sensitive  # noqa: B018 - one attribute at a time: says how to choose
    if isinstance(chosen, CellMechanism):
        raise UserError(
            "records removed because of what the data says void differential privacy",
            describe(chosen),
            "Add more noise instead: a smaller epsilon or a larger sigma",
        )


@dataclass
class Search:
    """The rounds on the way to a release below the limit, and how they ended."""

    left: Table
    sanitizer: Sanitizer
    limit: float
    budget: int
    options: dict[str, Any]
    status: Status = "budget"
    reason: str = ""
    rounds: list[Round] = field(default_factory=list)
    removed: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def end(self, status: Status, reason: str) -> None:
        """Say how the rounds ended."""
        self.status, self.reason = status, reason

    def remove(self, share: float, progress: Progress | None = None, most: int = 10**9) -> None:
        """Test, and remove the worst of the records above the limit, until none or nothing is left.

        The first test may raise: then the question itself does not fit. There are at most so
        many rounds.
        """
        whole, worst = self.left, None
        while worst is None or len(worst):
            if len(self.rounds) >= most:
                return self.end("interrupted", f"after {most} rounds it was not known")
            if worst is not None:
                self.removed = np.sort(np.concatenate([self.removed, worst]))
                self.left = self.left.take(np.flatnonzero(~np.isin(self.left.records, worst)))
            if progress is not None:
                progress(f"round {len(self.rounds)}", len(self.removed), self.budget)
            try:
                result = differential_test(self.left, self.sanitizer, **self.options)
            except UserError as error:
                if not self.rounds:
                    raise
                told = Redaction(whole).text(error.message)
                return self.end("stopped", f"without the removed records: {told}")
            if not result.complete:
                reason = "not every record was measured: nothing is known"
                return self.end("interrupted", reason)
            checked = result.uppers
            above = int((~(checked <= self.limit)).sum())
            self.rounds.append(Round(len(self.removed), result.delta_upper, result.mean, above))
            if result.constraint_met is False:
                return self.end("stopped", f"{result.unmet}, which is never a pass")
            if not above:
                held = f"δ is at most {self.limit:g} for all {len(self.left):,} records left"
                return self.end("below", held)
            count = min(math.ceil(share * above), self.budget - len(self.removed))
            worst = result.records[np.lexsort((result.records, -checked))[:count]]
        used = f"the budget of {self.budget:,} removals is used, and δ is above {self.limit:g}"
        return self.end("budget", used)


def most_removals(budget: float | None, records: int) -> int:
    """Read a budget: a number of records, or a share of them."""
    asked = BUDGET if budget is None else budget
    most = math.floor(asked * records) if 0 < asked < 1 else asked
    if isinstance(asked, bool) or most != int(most) or not 0 <= most <= records - 2:
        raise UserError(
            f"a budget is a number of records from 0 to {records - 2:,}, or a share "
            "of them below 1",
            f"{budget!r}",
        )
    return int(most)


def _verify(search: Search, wanted: bool) -> tuple[float | None, str]:
    """Test what is left from scratch, record by record, and insist on the same answer."""
    if not wanted:
        return None, "not verified: verify=False"
    sanitizer, found = search.sanitizer, search.rounds[-1].delta
    if sanitizer.randomized or any(map(is_randomized_model, search.options["model"])):
        return None, "not verified: a randomized sanitizer or model has no single answer"
    again = differential_test(search.left, sanitizer, **{**search.options, "method": "refit"})
    if not again.complete:
        return None, CUT_SHORT
    if abs(again.delta - found) > ROUNDING or again.delta > search.limit + ROUNDING:
        raise InternalError(
            f"the general path finds δ = {again.delta!r} where the rounds found {found!r}"
        )
    return float(again.delta), f"refit of all {len(search.left):,} records"


def _costs(
    table: Table,
    sanitizer: Sanitizer,
    release: Release,
    removed: NDArray[np.int64],
    task: str | None,
    seed: int,
) -> tuple[Utility | None, Utility | None]:
    """Measure the release of the whole table and of what is left, both against the whole table."""
    rng = np.random.default_rng(seed)
    analysts: list[Analyst | None] = [None, None]
    try:
        analysts = [
            Analyst(table, task=task, seed=seed, removed=gone)
            for gone in ((), tuple(removed.tolist()))
        ]
    except UserError:
        if task is not None:
            raise
    before, after = (
        measure(table, one, sanitizer=None if analyst is None else sanitizer, analyst=analyst)
        for one, analyst in zip((sanitizer.sanitize(table, rng), release), analysts, strict=True)
    )
    return before, after

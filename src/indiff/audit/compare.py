"""Compares several sanitizers or parameters, risk against utility."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from indiff.audit.findings.exposure import Progress
from indiff.audit.findings.release import measured
from indiff.audit.plan.limits import check_ranges
from indiff.audit.plan.values.settings import Setting, sweep
from indiff.audit.redaction import Redaction
from indiff.audit.verdict import Check, rule_of
from indiff.data.table import Table
from indiff.databases import one_database
from indiff.differential import differential_test
from indiff.differential.strongest import Adversaries, choose_models
from indiff.differential.test import describe
from indiff.errors import Message, UserError, marked, unknown
from indiff.release.release import to_backend
from indiff.release.unmeasured import Unmeasured, broken, gaps
from indiff.risk.columns import ColumnsRisk
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Identity, Sanitizer, as_sanitizer
from indiff.text import FORMAT, json_text
from indiff.utility import Analyst, measure
from indiff.version import __version__

Measure = Literal["ncp", "discernibility", "average_group", "accuracy"]
# How a measure of utility is read: the sign that makes less the better.
UTILITIES: dict[str, int] = {"ncp": 1, "discernibility": 1, "average_group": 1, "accuracy": -1}
# What a limit is checked against.
LIMITS = {
    "delta": "delta_upper", "mean": "mean_upper", "itpr": "itpr", "t": "t", "k": "k", "l": "l",
}  # fmt: skip
INTERRUPTED = "interrupted"
_TESTED = ("delta", "mean", "delta_upper", "mean_upper", "exactness", "constraint_met")
_PLAIN = (
    "task", "accuracy_majority", "before", "sensitive", "records", "fingerprint", "interrupted",
    "seed",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One setting: what it risks and what it keeps; a number that is not there is None.

    ``itpr`` is that of re-identification, ``itpr_inference`` that of the sensitive attribute.
    ``delta_upper`` is what a limit is checked against: δ, or its upper limit where δ is an
    estimate; ``models`` are the adversaries, of whom δ is the strongest's. A ``failed`` row has its
    reason and the numbers found before; ``notes`` say which measures have no meaning here. With
    ``unmeasured`` columns in its release a setting keeps no limit.
    """

    setting: str
    parameter: str | None = None
    value: float | str | None = None
    delta: float | None = None
    mean: float | None = None
    exactness: str | None = None
    itpr: float | None = None
    k: int | None = None
    l: float | None = None  # noqa: E741 - the name that users and papers know
    t: float | None = None
    ncp: float | None = None
    discernibility: int | None = None
    average_group: float | None = None
    accuracy: float | None = None
    accuracy_original: float | None = None
    on_front: bool = False
    status: Literal["measured", "failed"] = "measured"
    reason: str | None = None
    delta_upper: float | None = None
    mean_upper: float | None = None
    itpr_inference: float | None = None
    normalised_average_group: float | None = None
    constraint_met: bool | None = None
    models: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()

    def within(self, limits: Mapping[str, float]) -> bool:
        """Tell whether everything that a limit is set on was measured and keeps it."""
        if self.status != "measured" or self.constraint_met is False or self.unmeasured:
            return False
        if self.exactness in ("lower-bound", "approximation"):  # it may be worse than it looks
            return False
        found = ((name, getattr(self, LIMITS[name]), limit) for name, limit in limits.items())
        return not any(
            value is None or Check(name, value, limit, rule_of(name)).exceeded
            for name, value, limit in found
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        lists = ("models", "notes", "unmeasured")
        return {name: list(x) if name in lists else x for name, x in asdict(self).items()}


@dataclass(frozen=True)
class Comparison:
    """Several settings side by side; made by :func:`compare`.

    ``before`` has the risk of the original records, ``utility`` is the measure that the Pareto
    front and a recommendation go by.
    """

    rows: tuple[Row, ...]
    before: dict[str, float | None]
    utility: Measure
    task: str
    accuracy_majority: float
    sensitive: str
    records: int
    fingerprint: str
    seed: int
    backend: str = "pyarrow"
    interrupted: bool = False
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def recommend(self, **limits: float) -> Row | None:
        """Return the setting that keeps most utility within the limits, or None where none does.

        Limits: ``delta``, ``mean``, ``itpr`` and ``t`` at most, ``k`` and ``l`` at least. An
        estimate is judged by its upper end; a setting that failed, does not meet its own
        constraint, was not measured on every record or releases columns of which nothing was
        measured is never recommended. Among equals the
        one with the smaller δ, then the first. The recommendation is the best of *these*
        settings by *this* measure against *these* adversaries, and no more.
        """
        if not limits:
            raise UserError("a recommendation needs a limit, such as delta=0.1.")
        for name in limits:
            if name not in LIMITS:
                raise unknown("limit", name, LIMITS)
        check_ranges(limits)
        useful = {row: getattr(row, self.utility) for row in self.rows if row.within(limits)}
        sign = UTILITIES[self.utility]
        return min(
            (row for row, value in useful.items() if value is not None),
            key=lambda row: (sign * useful[row], row.delta_upper or 0.0),
            default=None,
        )

    def _repr_html_(self) -> str:
        from indiff.report.page.html import compared

        return compared(self.to_dict())

    @property
    def failed(self) -> tuple[Row, ...]:
        """The settings that could not be measured."""
        return tuple(row for row in self.rows if row.status == "failed")

    def to_dict(self, *, limits: Mapping[str, float] | None = None) -> dict[str, Any]:
        """Return the comparison as plain data, with the recommendation under these limits."""
        best = self.recommend(**limits) if limits else None
        return {
            "format": FORMAT,
            "kind": "comparison",
            "rows": [row.to_dict() for row in self.rows],
            "recommended": None if best is None else best.setting,
            "limits": dict(limits or {}),
            "utility": self.utility,
            "front": ["delta", self.utility],
            **{name: getattr(self, name) for name in _PLAIN},
            "versions": {
                "indiff": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
            "timing": {"seconds": sum(self.seconds.values()), "steps": dict(self.seconds)},
        }

    def to_json(self, *, limits: Mapping[str, float] | None = None) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(limits=limits))

    def to_frame(self) -> Any:
        """Return one row per setting in the kind of frame that the table was read from."""
        rows = [row.to_dict() for row in self.rows]
        texts = any(isinstance(row["value"], str) for row in rows)
        for row in rows:
            row["unmeasured"] = ", ".join(one["name"] for one in row["unmeasured"])
            row |= {"models": ", ".join(row["models"]), "notes": "; ".join(row["notes"])}
            row["value"] = str(row["value"]) if texts and row["value"] is not None else row["value"]
        return to_backend(pa.Table.from_pylist(rows), self.backend)


@one_database()
def compare(
    table: Table,
    sanitizers: Sequence[Any] | str,
    *,
    task: str | None = None,
    utility: Measure | None = None,
    model: Any = None,
    distance: Any = "wasserstein",
    prior: Any = None,
    known: Any = None,
    runs: int = 100,
    confidence: float = 0.95,
    jobs: int = -1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Measure several sanitizers on one table: δ and risk against utility.

    ``sanitizers`` are names, objects or functions; a name may hold several values of a parameter
    (``"mondrian:k=2,5,10"``). ``task`` is what the analyst predicts, ``utility`` the measure for
    the Pareto front: ``ncp``, or ``accuracy`` where a sanitizer is randomized, since NCP sees no
    noise. A setting is on the front if no other has both a smaller δ and more utility (or one of
    them and the other equal). A setting that fails stays, with the reason. No value of the table
    that fewer than 10 records hold is named.

    >>> import indiff
    >>> table = indiff.datasets.demo_table()
    >>> found = compare(table, "mondrian:k=5,500")
    >>> [(row.setting, row.on_front) for row in found.rows]
    [('mondrian:k=5', True), ('mondrian:k=500', True)]
    >>> found.recommend(delta=1).setting
    'mondrian:k=500'
    """
    table.sensitive  # noqa: B018 - one attribute at a time: says how to choose
    settings = _settings(sanitizers)
    if utility is not None and utility not in UTILITIES:
        raise unknown("measure of utility", utility, UTILITIES)
    noisy = any(sanitizer.randomized for _, sanitizer in settings)
    chosen: Measure = utility or ("accuracy" if noisy else "ncp")
    start = time.perf_counter()
    analyst = Analyst(table, task=task, seed=seed)
    before = {
        **_risks(measured(table, Identity().sanitize(table)).risk, table),
        "accuracy": analyst.original,
    }
    seconds = {"original": time.perf_counter() - start}
    rows: list[Row] = []
    interrupted = False
    redaction = Redaction(table)
    adversaries = _adversaries(model, [sanitizer for _, sanitizer in settings], table)
    for place, (setting, sanitizer) in enumerate(settings):
        row = Row(setting.text, setting.parameter, setting.value,
                  accuracy_original=analyst.original, models=tuple(adversaries[place].named),
                  )  # fmt: skip
        if interrupted:
            rows.append(_failed(row, "interrupted before this setting"))
            continue
        if progress is not None:
            progress(setting.text, place, len(settings))
        start = time.perf_counter()
        try:
            row = _measure_setting(
                row, table, sanitizer, analyst, model=adversaries[place].models,
                distance=distance, runs=runs, confidence=confidence, jobs=jobs, seed=seed,
                prior=prior, known=known,
            )  # fmt: skip
        except KeyboardInterrupt:  # what was measured before is kept
            row = _failed(row, INTERRUPTED)
        interrupted = row.reason == INTERRUPTED
        left_out = adversaries[place].left_out
        told = row.notes if left_out is None else (*row.notes, left_out)
        notes, reason = tuple(map(redaction.text, told)), row.reason
        reason = None if reason is None else redaction.text(reason)
        rows.append(replace(row, reason=reason, notes=notes))
        seconds[setting.text] = time.perf_counter() - start
    return Comparison(
        rows=_with_front(rows, chosen),
        before=before,
        utility=chosen,
        task=redaction.document(analyst.predicted),
        accuracy_majority=analyst.majority,
        sensitive=redaction.document(table.sensitive.name),
        records=len(table),
        fingerprint=table.fingerprint,
        seed=seed,
        backend=table.backend,
        interrupted=interrupted,
        seconds=seconds,
    )


def _settings(sanitizers: Sequence[Any] | str) -> list[tuple[Setting, Sanitizer]]:
    """Expand and check every setting before anything is measured."""
    wanted = [sanitizers] if isinstance(sanitizers, str) else list(sanitizers)
    if not wanted:
        raise UserError("a comparison needs a sanitizer, such as mondrian:k=2,5,10.")
    found: list[tuple[Setting, Sanitizer]] = []
    for one in wanted:
        if isinstance(one, str):
            found += [(setting, as_sanitizer(setting.text)) for setting in sweep(one)]
        else:
            made = as_sanitizer(one)
            found.append((Setting(describe(made), None, None), made))
    texts = [setting.text for setting, _ in found]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise UserError("a setting may be compared once", f"{twice!r} twice", "Leave one out")
    return found


def _adversaries(model: Any, sanitizers: Sequence[Sanitizer], table: Table) -> list[Adversaries]:
    """Choose the adversaries of every setting; a tree is asked of all that it could be, or of none.

    A setting that one adversary less was asked of would look safer than it is.
    """
    found = [choose_models(model, one, table, share=len(sanitizers)) for one in sanitizers]
    left_out = next((one.left_out for one in found if one.left_out is not None), None)
    if left_out is None:
        return found
    return [replace(choose_models(model, one), left_out=left_out) for one in sanitizers]


def _measure_setting(
    row: Row, table: Table, sanitizer: Sanitizer, analyst: Analyst, **options: Any
) -> Row:
    """Measure one setting; return its row, or that it failed and why."""
    try:
        result = differential_test(table, sanitizer, **options)
        release = sanitizer.sanitize(table, np.random.default_rng(analyst.seed))
    except UserError as error:
        return _failed(row, str(error))
    side = measured(table, release)
    kept = measure(table, release, sanitizer=sanitizer, analyst=analyst)
    lost = {} if side.reason is None else {"itpr, k, l, t": side.reason}
    lost |= {name: why for name, why in kept.missing.items() if name != "accuracy"}
    notes = [Message(f"{name}: {marked(why)}") for name, why in lost.items()]
    notes += map(Message, [*broken(result.unmeasured), *gaps(result.unmeasured)])
    if isinstance(sanitizer, Recoding):  # whom suppression alone protects
        notes += map(Message, release.notes)
    row = replace(
        row,
        **{name: getattr(result, name) for name in (*_TESTED, "unmeasured")},
        **_risks(side.risk, table),
        **{name: getattr(kept, name) for name in (*UTILITIES, "normalised_average_group")},
        notes=tuple(notes),
    )
    if not result.complete:
        reason = INTERRUPTED if result.interrupted else "not every record could be measured"
        return _failed(row, reason)
    if "accuracy" in kept.missing:
        return _failed(row, Message(f"the analyst's accuracy: {marked(kept.missing['accuracy'])}"))
    return row


def _failed(row: Row, reason: str) -> Row:
    return replace(row, status="failed", reason=reason)


def _risks(risk: ColumnsRisk | None, table: Table) -> dict[str, Any]:
    """Return the risk metrics that a row shows; None where the release stands for no records."""
    if risk is None:
        return dict.fromkeys(("itpr", "itpr_inference", "k", "l", "t"))
    about = table.sensitive.name
    return {
        "itpr": risk.reidentification.itpr,
        "itpr_inference": risk.inference[about].itpr,
        "k": risk.groups.k,
        "l": risk.groups.sensitive[about].l,
        "t": risk.groups.sensitive[about].t,
    }


def _with_front(rows: Sequence[Row], utility: str) -> tuple[Row, ...]:
    """Mark the rows that no other one beats in δ and in utility."""
    sign = UTILITIES[utility]
    points: list[tuple[float, float] | None] = []
    for row in rows:
        useful = getattr(row, utility)
        kept = row.constraint_met is not False and not row.unmeasured
        counts = row.status == "measured" and kept and useful is not None
        points.append((row.delta_upper or 0.0, sign * useful) if counts else None)
    return tuple(replace(row, on_front=on) for row, on in zip(rows, on_front(points), strict=True))


def on_front(points: Sequence[tuple[float, float] | None]) -> list[bool]:
    """Tell which points no other one beats in both numbers; less is better, None never counts.

    >>> on_front([(0.1, 5.0), (0.2, 3.0), (0.2, 4.0), None])
    [True, True, False, False]
    """
    known = [point for point in points if point is not None]
    return [
        point is not None
        and not any(o != point and o[0] <= point[0] and o[1] <= point[1] for o in known)
        for point in points
    ]

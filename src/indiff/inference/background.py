"""Background knowledge: a prior of the adversary's own, and which columns he knows."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.side_files import label_of, number_of, read_cells
from indiff.data.table import Table
from indiff.errors import InternalError, UserError, from_data, unknown
from indiff.inference.encodings import Tally
from indiff.inference.models import Model, NaiveBayes, TallyModel
from indiff.release.release import Release
from indiff.text import describe

Floats = NDArray[np.float64]

TOLERANCE = 1e-6  # what rounding in a user's file may leave of the sum


@dataclass(frozen=True, eq=False)
class Prior:
    """Probabilities of sensitive values, by name: the same for all, or for each record.

    Made by :meth:`of`, from a mapping or a CSV file. ``shares`` has the key None for everybody,
    or one key per record.
    """

    shares: Mapping[int | None, Mapping[str, float]]

    @classmethod
    def of(cls, prior: Mapping[Any, Any] | str | Path | Prior) -> Prior:
        """Read a prior: ``{value: probability}``, ``{record: {value: probability}}``, or a file.

        A file has the columns ``value,probability``, or ``record`` and one column per value.

        >>> Prior.of({"Flu": 0.9, "Cancer": 0.1}).for_records(("Cancer", "Flu"), [7])
        array([[0.1, 0.9]])
        """
        if isinstance(prior, Prior):
            return prior
        if isinstance(prior, str | Path):
            return cls(_read(Path(prior)))
        if not isinstance(prior, Mapping) or not prior:
            raise UserError(
                "a prior is a mapping from sensitive values to probabilities, one such "
                "mapping for each record, or a CSV file",
                from_data(prior),
            )
        if any(isinstance(shares, Mapping) for shares in prior.values()):
            return cls({_record(key): _checked(shares, key) for key, shares in prior.items()})
        return cls({None: _checked(prior, None)})

    @property
    def per_record(self) -> bool:
        """Whether records have priors of their own."""
        return None not in self.shares

    def for_records(self, values: Sequence[Any], records: Sequence[int] | NDArray[Any]) -> Floats:
        """Return π: one row per record, one column per sensitive value."""
        if not self.per_record:
            row = self._row(values, None)
            return np.broadcast_to(row, (len(records), len(row)))
        return np.array([self._row(values, int(r)) for r in records]).reshape(-1, len(values))

    def _row(self, values: Sequence[Any], record: int | None) -> Floats:
        where = "" if record is None else f" for record {record:,}"
        if record not in self.shares:
            raise UserError(
                f"a prior for each record must name every tested record; there is none{where}",
                way_out="Add it, or test fewer records",
            )
        shares = self.shares[record]
        missing = [value for value in values if label_of(value) not in shares]
        if missing:
            raise UserError(
                f"a prior must give every sensitive value a probability{where}; it misses "
                f"{', '.join(map(from_data, missing[:5]))}",
                way_out="Add it, with 0 if it is ruled out",
            )
        return np.array([shares[label_of(value)] for value in values])


@dataclass(frozen=True, eq=False)
class Background:
    """Any model with background knowledge (DIT draft, Section 4.1): a prior π, and known columns.

    With ``prior``, π replaces the release's class shares q: belief(c) ∝ model(c) · π_c / q_c, and
    0 where q_c = 0. It is exact for a model that follows Bayes' rule with q as prior, as naive
    Bayes does, and what a careful adversary does with any other. With ``known``, the model sees
    these columns of the release alone: for naive Bayes the exact marginalisation. What the
    adversary really knows is a guess; knowing less than he does makes a release look safer.

    >>> Background(NaiveBayes(), known=("age",))
    Background(model=NaiveBayes(alpha=1.0, prior='release'), prior=None, known=('age',))
    """

    model: Model
    prior: Prior | None = None
    known: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return describe(self.model)

    @cached_property
    def randomized(self) -> bool:
        """Whether fitting the model twice may give two beliefs."""
        return bool(getattr(self.model, "randomized", False))

    @property
    def per_record(self) -> bool:
        """Whether two targets with the same values may be believed to differ."""
        return self.prior is not None and self.prior.per_record

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the result must know about the model."""
        return tuple(getattr(self.model, "notes", ()))

    def __getattr__(self, name: str) -> Any:
        # Only a model that takes seeds may be asked for a seeded copy.
        if name == "seeded" and hasattr(self.__dict__.get("model"), "seeded"):
            return lambda seed: replace(self, model=self.model.seeded(seed))  # type: ignore[attr-defined]
        raise AttributeError(name)

    def beliefs(self, release: Release, targets: Table) -> Floats:
        """Return the belief about each target from the release."""
        seen = release
        if self.known is not None:
            seen = replace(release, columns=tuple(release.column(name) for name in self.known))
        believed = self.model.beliefs(seen, targets)
        return self._by_prior(believed, release.class_totals(), release.sensitive_values, targets)

    def learns_from_tally(self, columns: int) -> bool:
        """Tell whether a tally of so many columns is all that it needs of a release."""
        return isinstance(self.model, TallyModel) and self.model.learns_from_tally(columns)

    def belief_from_tally(self, tally: Tally, target: Table) -> Floats:
        """Return the belief about the target of a tally, just as :meth:`beliefs` has it."""
        if not isinstance(self.model, TallyModel):
            raise InternalError(f"{self} was given a tally, and needs a release")
        seen = tally if self.known is None else tally.of_columns(self.known)
        believed = self.model.belief_from_tally(seen, target)
        return self._by_prior(believed, tally.class_totals(), target.sensitive.values, target)

    def _by_prior(
        self, believed: Floats, totals: Floats, values: Sequence[Any], targets: Table
    ) -> Floats:
        """Put the adversary's prior in place of the release's shares."""
        if self.prior is None:
            return believed
        prior = self.prior.for_records(values, targets.records)
        held = totals > 0
        weighted = np.where(held, believed * prior / np.where(held, totals, 1.0), 0.0)
        sums = weighted.sum(axis=1, keepdims=True)
        if not (sums > 0).all():
            stray = int(np.flatnonzero(~(sums[:, 0] > 0))[0])
            raise UserError(
                "a prior must give some probability to a value that the release leaves "
                f"possible; for record {int(targets.records[stray]):,} it gives all of "
                "them none",
                way_out="Give every value that may be true a little",
            )
        return np.asarray(weighted / sums, np.float64)


def with_background(
    model: Model,
    table: Table,
    prior: Mapping[Any, Any] | str | Path | Prior | None = None,
    known: Sequence[str] | str | None = None,
) -> tuple[Model, tuple[str, ...]]:
    """Return the model with the adversary's knowledge, and notes that say what it is.

    Naive Bayes has a place for one prior for all, and keeps its exact and fast path.
    """
    notes: list[str] = []
    if known is not None:
        asked = [known] if isinstance(known, str) else known
        names = [attribute.name for attribute in table.attributes]
        if not isinstance(asked, Collection) or any(not isinstance(name, str) for name in asked):
            raise UserError("known is a list of names of quasi-identifiers", f"{known!r}")
        if not asked:
            raise UserError("known names no quasi-identifier; leave it out if all are known.")
        for name in asked:
            if name not in names:
                raise unknown("quasi-identifier", name, names)
        kept = tuple(name for name in names if name in asked)
        model = Background(model, known=kept)
        notes.append(f"the adversary knows {', '.join(kept)} alone of {len(names)} columns")
    if prior is not None:
        read = Prior.of(prior)
        model = _with_prior(model, table, read)
        whose = "one for each record" if read.per_record else "the same for all records"
        notes.append(f"a prior of the adversary's own ({whose}) replaces the release's shares")
    return model, tuple(notes)


def _with_prior(model: Model, table: Table, prior: Prior) -> Model:
    inner = model.model if isinstance(model, Background) else model
    known = model.known if isinstance(model, Background) else None
    if isinstance(inner, NaiveBayes) and inner.prior != "release":
        raise UserError(
            "a prior is given once",
            f"prior= beside a model with a prior of its own, {inner!r}",
            "Remove one",
        )
    values = table.sensitive.values
    if prior.per_record:
        return Background(inner, prior, known)
    row = prior.for_records(values, [0])[0]
    if not isinstance(inner, NaiveBayes) or not row.sum() > 0:
        return Background(inner, prior, known)
    follows = replace(inner, prior=tuple(float(share) for share in row / row.sum()))
    return follows if known is None else Background(follows, None, known)


def _record(key: Any) -> int:
    if isinstance(key, bool) or not isinstance(key, int | np.integer):
        raise UserError("a prior for each record has record numbers as keys", from_data(key))
    return int(key)


def _checked(shares: Any, record: int | None) -> dict[str, float]:
    """Return the shares by name; they are probabilities that sum to 1."""
    where = "" if record is None else f" for record {record:,}"
    if not isinstance(shares, Mapping):
        raise UserError(
            "a prior for each record maps values to probabilities", f"{from_data(shares)}{where}"
        )
    named: dict[str, float] = {}
    for value, share in shares.items():
        numeric = isinstance(share, int | float | np.number) and not isinstance(share, bool)
        if not numeric or not 0 <= share <= 1:
            raise UserError(
                f"a prior is made of probabilities from 0 to 1{where}",
                f"{from_data(share)} for {from_data(value)}",
            )
        label = label_of(value)
        if label in named:
            raise UserError(f"a prior names the value {from_data(label)} twice{where}; keep one.")
        named[label] = float(share)
    total = math.fsum(named.values())
    if abs(total - 1) > TOLERANCE:
        raise UserError(f"a prior must sum to 1{where}", f"{total:.6g}", "Rescale it")
    return named


def _read(path: Path) -> dict[int | None, dict[str, float]]:
    lines = read_cells(path, "prior probabilities")
    header = [cell.lower() for cell in lines[0][1]] if lines else []
    if header == ["value", "probability"]:
        named = {cells[0]: _share(path, line, cells[1]) for line, cells in lines[1:]}
        if len(named) < len(lines) - 1:
            raise UserError(f"{path.name} names a value twice; keep one line for each.")
        return {None: _checked(named, None)}
    if len(header) < 2 or header[0] != "record":
        raise UserError(
            f"{path.name} must have the columns value and probability, or record and "
            "one column per sensitive value",
            from_data(lines[0][1], ", ".join) if lines else "nothing",
        )
    values = lines[0][1][1:]
    if len(set(values)) < len(values):
        raise UserError(f"{path.name} names a value twice; keep one column for each.")
    found: dict[int | None, dict[str, float]] = {}
    for line, cells in lines[1:]:
        if not cells[0].isdecimal():
            raise UserError(
                f"{path.name}, line {line}: a record is a number from 0", from_data(cells[0])
            )
        record = int(cells[0])
        if record in found:
            raise UserError(f"{path.name}, line {line}: record {record:,} is there twice.")
        shares = [_share(path, line, cell) for cell in cells[1:]]
        found[record] = _checked(dict(zip(values, shares, strict=True)), record)
    if not found:
        raise UserError(f"{path.name} names no record; expected one line for each.")
    return found


def _share(path: Path, line: int, cell: str) -> float:
    return number_of(path, line, cell, "a probability", 0, 1)

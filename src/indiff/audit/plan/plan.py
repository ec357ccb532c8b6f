"""Plan: everything an audit needs, checked when made and against its table, read from TOML."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from indiff.audit.plan import options
from indiff.audit.plan.limits import check_limit_names, check_ranges, with_stricter
from indiff.audit.plan.refusals import below, has_truth, refusal
from indiff.audit.plan.values.checks import CHECKS
from indiff.audit.plan.values.tables import READING, as_one, check_join, check_places
from indiff.audit.plan.values.targets import read_targets
from indiff.data.schema import Role
from indiff.data.side_files import read_toml
from indiff.errors import UserError, option, unknown

if TYPE_CHECKING:
    from indiff.audit.plan.policies import Policy
    from indiff.data.table import Table
    from indiff.release.release import Release as MadeElsewhere


# One name may be given for a list of them.
_LISTS = (
    "quasi", "sensitive", "identifier", "other", "suppressed", "models", "known", "confirmed",
    "before", "join", "on", "also",
)  # fmt: skip


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false where they are not asked for: they would pass for 1 and 0."""
        name = str(info.field_name)
        asked: Any = cls.model_fields[name].annotation
        section = isinstance(asked, type) and issubclass(asked, BaseModel)
        if asked is not bool and not section and has_truth(value):
            raise UserError("true and false are no value here; write a number or a text.")
        if name == "targets" and isinstance(value, str):
            return read_targets(value)
        return [value] if name in _LISTS and isinstance(value, str) else value

    @field_validator("*")
    @classmethod
    def _can_be(cls, value: Any, info: ValidationInfo) -> Any:
        if value is not None and info.field_name in CHECKS:
            CHECKS[info.field_name](value)
        if info.field_name in ("sanitizer", "also") and info.data.get("allow_remote"):
            from indiff.sanitizers.oracles.http_service import with_remote

            return (
                [with_remote(x) for x in value] if isinstance(value, list) else with_remote(value)
            )
        return value


class Data(options.Data, _Section):
    """The table: where it is and what its columns are."""

    def read(self, source: Any = None) -> Table:
        """Read the table, or the frame that is given instead, with these roles and kinds."""
        from indiff.data.table import read_table

        beside = ("path", "individual", "join", "on")
        given = {name: one for name, one in self if name not in beside}
        first = self.path if source is None else source
        if self.join:
            from indiff.data.joining.joined import join_tables

            reading = {name: given[name] for name in READING}
            first = join_tables([first, *self.join], on=self.on, **reading)
        return read_table(first, **given)

    @model_validator(mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        return check_join(value) if isinstance(value, Mapping) else value

    def beside(self, made: Release, count: int, table: Table) -> list[Table]:
        """Return the table of each of several sanitizers; the first is the one that was read."""
        check_places("tables", made.tables, count)
        check_places("columns", made.columns, count)
        found = [table]
        for place in map(str, range(2, count + 1)):
            path, quasi = made.tables.get(place, self.path), made.columns.get(place, self.quasi)
            same = place not in made.tables and place not in made.columns
            changed = self.model_copy(update={"path": path, "quasi": quasi})
            found.append(table if same else changed.read())
        return found


class Population(options.Population, _Section):
    """What is known of the population that the table is a sample of."""


class Release(options.Release, _Section):
    """How the release is made, or the file of one made elsewhere."""

    def read(self, table: Table) -> MadeElsewhere:
        """Read the file of a release made elsewhere."""
        from indiff.release.reading import read_release

        return read_release(self.file, table, encoding=self.encoding, suppressed=self.suppressed)

    @model_validator(mode="after")
    def _published_beside(self) -> Release:
        for name in ("tables", "columns") if self.also else ():
            check_places(name, getattr(self, name), 1 + len(self.also))
        if self.also and self.file is not None:
            raise UserError(
                f"{option('also')} is for releases that are made here",
                f"one made elsewhere, {Path(self.file).name!r}",
                f"Name what was published before with {option('before')}",
                field="also",
            )
        return self

    @model_validator(mode="after")
    def _made_elsewhere(self) -> Release:
        for name in ("suppressed", "key", "rows_in_order", "encoding") if self.file is None else ():
            if getattr(self, name):
                raise UserError(
                    f"{option(name)} is said of a release made elsewhere",
                    way_out="Name its file, or leave it out",
                    field="release_encoding" if name == "encoding" else name,
                )
        if self.write is not None and self.file is not None:
            raise UserError(
                f"{option('write_release')} is for a release that is made here",
                f"one made elsewhere, {Path(self.file).name!r}",
                "Leave it out: that file is what is judged",
                field="write-release",
            )
        return self


class Adversary(options.Adversary, _Section):
    """Who learns from the release, and how this learning is measured."""

    @property
    def ground_file(self) -> str | None:
        """The file with the ground distances, where the distance names one."""
        ground = self.distance.removeprefix("emd:")
        return ground if ground.lower().endswith(".csv") else None


class Context(options.Context, _Section):
    """Why the data is released, to whom, by whose rules, and who might attack it."""

    @field_validator("review_by", mode="before")
    @classmethod
    def _day(cls, value: Any) -> Any:
        """Read a day that TOML, too, knows as one."""
        return value.isoformat() if isinstance(value, datetime.date) else value

    @property
    def policy_file(self) -> str | None:
        """The file with a policy of the user's own, where there is one."""
        own = self.policy is not None and self.policy.lower().endswith(".toml")
        return self.policy if own else None

    def to_dict(self) -> dict[str, str | None]:
        """Return what a report says of the context; the policy has a part of its own."""
        return self.model_dump(exclude={"policy", "confirmed", "confirmed_by"})

    @property
    def voucher(self) -> str | None:
        """Who vouches for the points that no program can check."""
        return self.confirmed_by or self.author


class Report(options.Report, _Section):
    """What the report shows."""


class Run(options.Run, _Section):
    """How the audit is run."""


class Plan(_Section):
    """Everything an audit needs; what cannot be is refused in one sentence.

    >>> plan = Plan(data={"path": "patients.csv", "sensitive": "diagnosis"}, limits={"delta": 0.1})
    >>> plan.release.sanitizer, plan.adversary.models, plan.report.min_cell
    ('mondrian:k=5', ['auto'], 10)
    >>> Plan(data={"sensitive": "diagnosis"}, limits={"delte": 0.1})
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: [limits]: no limit 'delte': did you mean 'delta'? Known: ...
    """

    data: Data
    population: Population = Population()
    release: Release = Release()
    adversary: Adversary = Adversary()
    context: Context = Context()
    limits: dict[str, float] = {}
    report: Report = Report()
    run: Run = Run()

    def __init__(self, **sections: Any) -> None:
        try:
            super().__init__(**sections)
        except ValidationError as error:
            cause = error.errors()[0].get("ctx", {}).get("error")
            raise refusal(error.errors()[0], cause, type(self).model_fields) from cause

    @field_validator("data", mode="before")
    @classmethod
    def _one_table(cls, value: Any) -> Any:
        """Read several tables, ``[[data]]``, as one that the others are joined to."""
        return as_one(value) if isinstance(value, list) else value

    @field_validator("limits", mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """Read ``inference.itpr = 0.5``, which TOML nests."""
        return _flattened(value) if isinstance(value, Mapping) else value

    @cached_property
    def policy(self) -> Policy | None:
        """The policy that the plan names, read from its file."""
        if self.context.policy is None and not self.context.confirmed:
            return None
        from indiff.audit.plan.policies import check_confirmed, read_policy

        found = None if self.context.policy is None else read_policy(self.context.policy)
        check_confirmed(found, self.context.confirmed, self.context.voucher)
        return found

    @property
    def all_limits(self) -> dict[str, float]:
        """The plan's own limits and those of its policy; of two on a number the stricter."""
        asked = self.policy.limits_for(self.context.release_model) if self.policy else {}
        return with_stricter(self.limits, asked)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the audit reads."""
        who = self.adversary
        named = [self.data.path, *self.data.join, self.release.file, who.prior, who.ground_file]
        named += [self.context.policy_file, self.population.file, *self.release.before]
        named += self.release.tables.values()
        named += self.data.hierarchies.values()
        return tuple(name for name in named if name is not None)

    @property
    def settings(self) -> dict[str, Any]:
        """The adversary's knowledge and the run, as the functions that test take them."""
        who = {"distance", "prior", "known", "runs", "confidence"}
        return self.adversary.model_dump(include=who) | self.run.model_dump(
            include={"jobs", "seed"}
        )

    @model_validator(mode="after")
    def _one_release(self) -> Plan:
        if self.release.write is None:
            return self
        from indiff.sanitizers.sanitizer import as_sanitizer

        apart = len(self.data.sensitive) > 1 and not self.data.joint
        random = as_sanitizer(self.release.sanitizer).randomized
        if apart or random:
            got, way_out = (
                ("several sensitive attributes, each with a release of its own", "Say joint")
                if apart
                else (
                    "chance that comes from the plan's seed, which the report names",
                    "Make it with sanitize, and audit that file",
                )
            )
            raise UserError(
                f"{option('write_release')} writes the one release that may be published",
                got, way_out, field="write-release",
            )  # fmt: skip
        return self

    @model_validator(mode="after")
    def _limits_fit(self) -> Plan:
        names = self.data.sensitive
        check_limit_names(self.limits, [", ".join(names)] if self.data.joint else names)
        check_ranges(self.limits, self.adversary.distance)
        return self


def _flattened(limits: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in limits.items():
        inner = isinstance(value, Mapping)
        found |= _flattened(value, f"{before}{name}.") if inner else {f"{before}{name}": value}
    return found


def read_plan(path: str | Path) -> Plan:
    """Read a plan; the paths in it are relative to its folder."""
    place = Path(path)
    way_out = "Check the path, or write one with: indiff audit --init DATA"
    sections = read_toml(place, "a plan", way_out, shown=str(place))
    try:
        return _beside(Plan(**sections), place.parent)
    except UserError as error:
        raise below(f"{place.name},", error) from None


def _beside(plan: Plan, folder: Path) -> Plan:
    """Return the plan with every path that is relative put below a folder."""

    def placed(path: Any) -> Any:  # a population may be a number
        return str(folder / path) if isinstance(path, str) and path != "-" else path

    data, who, made, why = plan.data, plan.adversary, plan.release, plan.context
    policy = why.policy if why.policy_file is None else placed(why.policy_file)
    released = {"file": placed(made.file), "write": placed(made.write)}
    released |= {"before": [placed(path) for path in made.before]}
    released |= {"tables": {place: placed(path) for place, path in made.tables.items()}}
    tables = {"path": placed(data.path), "join": [placed(path) for path in data.join]}
    hierarchies = {name: placed(path) for name, path in data.hierarchies.items()}
    distance = who.distance if who.ground_file is None else f"emd:{placed(who.ground_file)}"
    changed = {
        "population": plan.population.model_copy(update={"source": placed(plan.population.source)}),
        "data": data.model_copy(update=tables | {"hierarchies": hierarchies}),
        "release": made.model_copy(update=released),
        "adversary": who.model_copy(update={"prior": placed(who.prior), "distance": distance}),
        "context": why.model_copy(update={"policy": policy}),
    }
    return plan.model_copy(update=changed)


def check_files(plan: Plan) -> None:
    """Refuse a plan that names a file beside the table that is not there.

    >>> check_files(Plan(data={"sensitive": "ill"}, release={"file": "nowhere/release.csv"}))
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: [release] file must exist; there is no 'nowhere/release.csv'. ...
    """
    named = {"[release] file": plan.release.file, "[adversary] prior": plan.adversary.prior}
    named |= {"[context] policy": plan.context.policy_file}
    named |= {"[population] source": plan.population.file}
    named |= {f"[release] before ({path})": path for path in plan.release.before}
    named |= {f"[release] tables.{place}": path for place, path in plan.release.tables.items()}
    for place, path in named.items():
        if path is not None and not Path(path).exists():
            raise UserError(f"{place} must exist; there is no {path!r}", way_out="Check its name")
    made = plan.release
    if not made.also:  # what is said of others than this release would not be heeded
        check_places("tables", made.tables, 1)
        check_places("columns", made.columns, 1)
    _ = plan.policy  # a policy that cannot be read is refused before the table is


def check_names(plan: Plan, table: Table) -> None:
    """Refuse a plan that names a column or a record which the table does not have."""
    for name in (plan.data.individual, plan.population.weight, plan.population.household):
        if name is not None and name not in table.column_names:
            raise unknown("column", name, table.column_names)
    for name in plan.adversary.known or ():
        table.attribute(name)
    if isinstance(plan.adversary.targets, list):
        from indiff.differential.people import as_rows

        as_rows(table, plan.adversary.targets)
    roles = [role for role in Role if role != Role.IDENTIFIER]
    allowed = [name for role in roles for name in table.schema.names(role)]
    allowed += [one.name for one in table.sensitives if one.name not in allowed]
    if plan.report.task is not None and plan.report.task not in allowed:
        raise unknown("column to predict", plan.report.task, allowed)

"""Plan: everything an audit needs, checked when made and against its table, read from TOML."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
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
from indiff.audit.plan.targets import check_targets, read_targets
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
    "before",
)  # fmt: skip


# What a value can be where its type alone does not say it.


def _check_sanitizer(text: str) -> None:
    from indiff.sanitizers.sanitizer import as_sanitizer

    as_sanitizer(text)


def _check_models(names: list[str]) -> None:
    from indiff.inference import as_model

    for name in filter("auto".__ne__, names):
        as_model(name)
    if len(set(names)) < len(names):
        raise UserError("models need names of their own", ", ".join(names))


def _check_distance(name: str) -> None:
    from indiff.distances.functions import as_distance, as_emd

    if as_emd(name) is None:
        as_distance(name)


def _check_method(name: str) -> None:
    from indiff.differential.test import METHODS

    if name not in METHODS:
        raise unknown("method", name, METHODS)


def _check_settings(text: str) -> None:
    from indiff.audit.plan.settings import expand

    for setting in expand(text):
        _check_sanitizer(setting.text)


def _check_time(span: str | float) -> None:
    from indiff.differential.people import seconds_of

    seconds_of(span)


def _check_jobs(jobs: int) -> None:
    most = options.MOST_WORKERS
    if jobs != -1 and not 1 <= jobs <= most:
        raise UserError(f"jobs must be -1 (all cores) or from 1 to {most:,}", jobs)


def _check_policy(name: str) -> None:
    from indiff.audit.plan.policies import check_name

    check_name(name)


def _check_day(text: str) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError("a day is written 2027-12-31", f"{text!r}") from None


_CHECKS: dict[str, Callable[[Any], None]] = {
    "sanitizer": _check_sanitizer, "models": _check_models, "targets": check_targets,
    "distance": _check_distance, "method": _check_method, "parameter": _check_settings,
    "time": _check_time, "jobs": _check_jobs, "policy": _check_policy, "review_by": _check_day,
}  # fmt: skip


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
        if value is not None and info.field_name in _CHECKS:
            _CHECKS[info.field_name](value)
        return value


class Data(options.Data, _Section):
    """The table: where it is and what its columns are."""

    def read(self, source: Any = None) -> Table:
        """Read the table, or the frame that is given instead, with these roles and kinds."""
        from indiff.data.table import read_table

        names = [name for name in type(self).model_fields if name not in ("path", "individual")]
        given = {name: getattr(self, name) for name in names}
        return read_table(self.path if source is None else source, **given)


class Population(options.Population, _Section):
    """What is known of the population that the table is a sample of."""


class Release(options.Release, _Section):
    """How the release is made, or the file of one made elsewhere."""

    def read(self, table: Table) -> MadeElsewhere:
        """Read the file of a release made elsewhere."""
        from indiff.release.reading import read_release

        return read_release(self.file, table, encoding=self.encoding, suppressed=self.suppressed)

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
        named = [self.data.path, self.release.file, who.prior, who.ground_file]
        named += [self.context.policy_file, self.population.file, *self.release.before]
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
    hierarchies = {name: placed(path) for name, path in data.hierarchies.items()}
    distance = who.distance if who.ground_file is None else f"emd:{placed(who.ground_file)}"
    changed = {
        "population": plan.population.model_copy(update={"source": placed(plan.population.source)}),
        "data": data.model_copy(update={"path": placed(data.path), "hierarchies": hierarchies}),
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
    for place, path in named.items():
        if path is not None and not Path(path).exists():
            raise UserError(f"{place} must exist; there is no {path!r}", way_out="Check its name")
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

"""Plan: everything an audit needs, checked when made and against its table, read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
from indiff.audit.plan.limits import check_limit_names, check_ranges
from indiff.data.schema import Role
from indiff.errors import UserError, did_you_mean, option, unknown

if TYPE_CHECKING:
    from indiff.data.table import Table
    from indiff.release.release import Release as MadeElsewhere


def _has_truth(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_truth(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_has_truth(inner) for inner in value)
    return isinstance(value, bool)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse true and false where they are not asked for: they would pass for 1 and 0."""
        asked: Any = cls.model_fields[str(info.field_name)].annotation
        section = isinstance(asked, type) and issubclass(asked, BaseModel)
        if asked is not bool and not section and _has_truth(value):
            raise UserError("true and false are no value here; write a number or a text.")
        return value


class Data(options.Data, _Section):
    """The table: where it is and what its columns are."""

    @field_validator("quasi", "sensitive", "identifier", "other", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def read(self, source: Any = None) -> Table:
        """Read the table, or the frame that is given instead, with these roles and kinds."""
        from indiff.data.table import read_table

        given = {name: getattr(self, name) for name in type(self).model_fields}
        del given["individual"]
        path = given.pop("path")
        return read_table(path if source is None else source, **given)


class Release(options.Release, _Section):
    """How the release is made, or the file of one made elsewhere."""

    def read(self, table: Table) -> MadeElsewhere:
        """Read the file of a release made elsewhere."""
        from indiff.release.reading import read_release

        return read_release(self.file, table, encoding=self.encoding, suppressed=self.suppressed)

    @field_validator("suppressed", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _made_elsewhere(self) -> Release:
        if self.suppressed and self.file is None:
            raise UserError(
                f"{option('suppressed')} is said of a release made elsewhere",
                way_out="Name its file, or leave it out",
                field="suppressed",
            )
        return self

    @field_validator("sanitizer")
    @classmethod
    def _known(cls, value: str) -> str:
        from indiff.sanitizers.parse import as_sanitizer

        as_sanitizer(value)
        return value


class Adversary(options.Adversary, _Section):
    """Who learns from the release, and how this learning is measured."""

    @field_validator("models", "known", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("models")
    @classmethod
    def _known_models(cls, value: list[str]) -> list[str]:
        from indiff.inference import as_model

        for name in value:
            if name != "auto":
                as_model(name)
        if len(set(value)) < len(value):
            raise UserError("models need names of their own", ", ".join(value))
        return value

    @field_validator("targets")
    @classmethod
    def _some_targets(cls, value: int | list[int] | None) -> int | list[int] | None:
        if isinstance(value, int) and value < 1:
            raise UserError("targets is a number of at least 1, or record numbers", value)
        if isinstance(value, list) and not value:
            raise UserError("targets names no record; leave it out to test all of them.")
        return value

    @field_validator("distance")
    @classmethod
    def _known_distance(cls, value: str) -> str:
        from indiff.distances.functions import as_distance, as_emd

        if as_emd(value) is None:
            as_distance(value)
        return value

    @property
    def ground_file(self) -> str | None:
        """The file with the ground distances, where the distance names one."""
        ground = self.distance.removeprefix("emd:")
        return ground if ground.lower().endswith(".csv") else None

    @field_validator("method")
    @classmethod
    def _known_method(cls, value: str) -> str:
        from indiff.differential.test import METHODS
        from indiff.errors import unknown

        if value not in METHODS:
            raise unknown("method", value, METHODS)
        return value


class Report(options.Report, _Section):
    """What the report shows."""

    @field_validator("parameter")
    @classmethod
    def _known_settings(cls, value: str | None) -> str | None:
        from indiff.audit.plan.settings import expand
        from indiff.sanitizers.parse import as_sanitizer

        for setting in expand(value) if value is not None else ():
            as_sanitizer(setting.text)
        return value


class Run(options.Run, _Section):
    """How the audit is run."""

    @field_validator("time")
    @classmethod
    def _span(cls, value: str | float | None) -> str | float | None:
        from indiff.differential.people import seconds_of

        if value is not None:
            seconds_of(value)
        return value

    @field_validator("jobs")
    @classmethod
    def _processes(cls, value: int) -> int:
        if value == 0 or value < -1:
            raise UserError("jobs must be -1 (all cores) or at least 1", value)
        return value


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
    release: Release = Release()
    adversary: Adversary = Adversary()
    limits: dict[str, float] = {}
    report: Report = Report()
    run: Run = Run()

    def __init__(self, **sections: Any) -> None:
        try:
            super().__init__(**sections)
        except ValidationError as error:
            cause = error.errors()[0].get("ctx", {}).get("error")
            raise _refusal(error.errors()[0], cause) from cause

    @field_validator("limits", mode="before")
    @classmethod
    def _flat(cls, value: Any) -> Any:
        """Read ``inference.itpr = 0.5``, which TOML nests."""
        return dict(_flattened(value)) if isinstance(value, Mapping) else value

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that the audit reads."""
        who = self.adversary
        named = [self.data.path, self.release.file, who.prior, who.ground_file]
        named += self.data.hierarchies.values()
        return tuple(name for name in named if name is not None)

    @model_validator(mode="after")
    def _limits_fit(self) -> Plan:
        names = self.data.sensitive
        if self.data.joint and len(names) > 1:
            names = [", ".join(names)]
        if self.limits:
            check_limit_names(self.limits, names)
            check_ranges(self.limits, self.adversary.distance)
        return self


def _flattened(limits: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in limits.items():
        if isinstance(value, Mapping):
            found += _flattened(value, f"{before}{name}.")
        else:
            found.append((f"{before}{name}", value))
    return found


def read_plan(path: str | Path) -> Plan:
    """Read a plan; the paths in it are relative to its folder."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(
            f"a plan must be readable; {str(place)!r} is not ({error.strerror})",
            way_out="Check the path, or write one with: indiff audit --init DATA",
        ) from None
    except UnicodeDecodeError:
        raise UserError(
            f"a plan is UTF-8 text; {str(place)!r} is not", way_out="Save it as UTF-8"
        ) from None
    try:
        sections = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{place.name} is no TOML: {error}", way_out="Correct that line") from None
    try:
        return _beside(Plan(**sections), place.parent)
    except UserError as error:
        raise _below(f"{place.name},", error) from None


def _beside(plan: Plan, folder: Path) -> Plan:
    """Return the plan with every path that is relative put below a folder."""

    def placed(path: str | None) -> str | None:
        return path if path in (None, "-") else str(folder / path)

    data = plan.data.model_copy(
        update={
            "path": placed(plan.data.path),
            "hierarchies": {name: placed(path) for name, path in plan.data.hierarchies.items()},
        }
    )
    who = plan.adversary
    ground = who.ground_file
    distance = who.distance if ground is None else f"emd:{placed(ground)}"
    adversary = who.model_copy(update={"prior": placed(who.prior), "distance": distance})
    release = plan.release.model_copy(update={"file": placed(plan.release.file)})
    return plan.model_copy(update={"data": data, "release": release, "adversary": adversary})


def _refusal(first: Any, cause: object) -> UserError:
    """Say what is wrong first, naming the section and the key."""
    place = [str(part) for part in first["loc"] if not _is_branch(str(part))]
    section = f"[{place[0]}]" if place else "the plan"
    where = " ".join([section, *place[1:2]])
    field = place[1] if len(place) > 1 else None
    if isinstance(cause, UserError):
        return _below(f"{where if place else '[limits]'}:", cause)
    if first["type"] == "extra_forbidden":
        return _stray(place)
    if first["type"] == "missing":
        return UserError(f"{where} is needed; add it to the plan.", field=field)
    if first["type"] == "too_short":
        return UserError(f"{where} must name at least 1 of them", "none", field=field)
    rule = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return UserError(f"{where} must be {rule}", repr(first["input"]), field=field)


def _below(place: str, error: UserError) -> UserError:
    """Return the error with the place in a plan that it is about."""
    return UserError(f"{place} {error.rule}", error.got, error.way_out, field=error.field)


def _is_branch(part: str) -> bool:
    """Tell pydantic's names for the members of a union from keys."""
    return part in ("int", "str", "float") or "[" in part


def _stray(place: list[str]) -> UserError:
    known: list[str] = list(Plan.model_fields)
    what = f"a plan has no section [{place[0]}]"
    if len(place) > 1:
        section: Any = Plan.model_fields[place[0]].annotation
        known, what = list(section.model_fields), f"[{place[0]}] has no key {place[1]!r}"
    rule = f"{what}{did_you_mean(place[-1], known)}"
    return UserError(rule, way_out=f"Known: {', '.join(known)}", field=place[-1])


def check_files(plan: Plan) -> None:
    """Refuse a plan that names a file beside the table that is not there.

    >>> check_files(Plan(data={"sensitive": "ill"}, release={"file": "nowhere/release.csv"}))
    Traceback (most recent call last):
        ...
    indiff.errors.UserError: [release] file must exist; there is no 'nowhere/release.csv'. ...
    """
    named = {"[release] file": plan.release.file, "[adversary] prior": plan.adversary.prior}
    for place, path in named.items():
        if path is not None and not Path(path).exists():
            raise UserError(f"{place} must exist; there is no {path!r}", way_out="Check its name")


def check_names(plan: Plan, table: Table) -> None:
    """Refuse a plan that names a column or a record which the table does not have."""
    if plan.data.individual is not None and plan.data.individual not in table.column_names:
        raise unknown("column", plan.data.individual, table.column_names)
    for name in plan.adversary.known or ():
        table.attribute(name)
    if isinstance(plan.adversary.targets, list):
        from indiff.differential.people import as_rows

        as_rows(table, plan.adversary.targets)
    allowed = [
        name for role in Role if role != Role.IDENTIFIER for name in table.schema.names(role)
    ]
    allowed += [one.name for one in table.sensitives if one.name not in allowed]
    if plan.report.task is not None and plan.report.task not in allowed:
        raise unknown("column to predict", plan.report.task, allowed)

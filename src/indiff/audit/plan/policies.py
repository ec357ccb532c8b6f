"""Reads policies: whose limits must hold, from where they come, and what else must be so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from indiff.audit.plan.limits import check_limit_names, check_ranges, is_stricter
from indiff.audit.plan.options import Context
from indiff.data.side_files import read_toml
from indiff.errors import UserError, did_you_mean, option, unknown

PRESETS = Path(__file__).parent / "presets"
CHANCES = ("prosecutor", "marketer")  # of a correct link, if somebody tries
AVERAGES = (
    "marketer", "mean", "reidentification.dr", "inference.dr", "dr", "changed_predictions",
    "ncp", "average_group", "accuracy",
)  # fmt: skip
# What a scan of the released columns can look for: the kinds of identifiers of 45 CFR
# 164.514(b)(2)(i), and columns that name people whatever they are called.
SCANS = (
    "names", "places", "dates", "phones", "faxes", "emails", "social-security", "medical-records",
    "health-plans", "accounts", "licences", "vehicles", "devices", "urls", "ip-addresses",
    "biometrics", "photographs", "unique-codes",
)  # fmt: skip
CONTEXT = tuple(
    name for name in Context.__annotations__ if name not in ("policy", "confirmed", "confirmed_by")
)  # in the order in which a report shows them
Words = Annotated[str, MinLen(1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PolicyLimit(_Part):
    """One limit of a policy, as its source has it.

    ``cell`` is the group size that the source takes for the same as a limit on the largest chance
    of a correct link: a group of 11 for 0.09, though one in 11 is a little more.
    """

    metric: str
    label: Words
    limit: float
    kind: Literal["maximum", "average"]
    scope: Literal["sample", "population"]
    cell: Annotated[int, Ge(1)] | None = None
    source: Words | None = None

    @model_validator(mode="after")
    def _fits(self) -> PolicyLimit:
        check_limit_names([self.metric], [])
        check_ranges({self.metric: self.limit})
        kind = "average" if self.metric in AVERAGES else "maximum"
        if self.kind != kind:
            raise UserError(f"{self.metric} is of kind {kind}", self.kind)
        if self.cell is not None and self.metric != "prosecutor":
            raise UserError("cell is said of a limit on prosecutor", self.metric, "Leave it out")
        return self


class Point(_Part):
    """One thing that must be so beside limits, and what shows it: one of the four."""

    item: Words
    scan: str | None = None
    context: list[str] = []
    metrics: list[str] = []
    confirm: Words | None = None

    @model_validator(mode="after")
    def _fits(self) -> Point:
        shown = [name for name in _SHOWN_BY if getattr(self, name)]
        if len(shown) != 1:
            known, got = ", ".join(_SHOWN_BY), ", ".join(shown)
            raise UserError(f"a point is shown by exactly one of {known}", got or "none")
        if self.scan is not None and self.scan not in SCANS:
            raise unknown("scan", self.scan, SCANS)
        for name in self.context:
            if name not in CONTEXT:
                raise unknown("key of [context]", name, CONTEXT)
        check_limit_names(self.metrics, [])
        return self


_SHOWN_BY = ("scan", "context", "metrics", "confirm")


class Clause(_Part):
    """Where a report answers a clause of the source."""

    clause: Words
    section: Words


class Policy(_Part):
    """Whose limits must hold: a preset, or a file of the same form.

    ``pr_attack`` is the chance that somebody tries at all, where the source has one: its limits on
    a chance are on the product of both.
    """

    name: str = ""
    title: Words
    document: Words
    year: Annotated[int, Ge(1900), Le(2999)]
    section: Words
    verified: bool
    note: str = ""
    pr_attack: Annotated[float, Gt(0), Le(1)] | None = None
    limits: list[PolicyLimit] = []
    checklist: list[Point] = []
    crosswalk: list[Clause] = []

    @model_validator(mode="after")
    def _asks(self) -> Policy:
        if not self.limits and not self.checklist:
            raise UserError("a policy has a limit or a point of a checklist", "none")
        self.limits_for(None)
        if self.pr_attack is not None:
            self.limits_for("controlled")
        return self

    @property
    def source(self) -> str:
        """The document, its year and its section."""
        return f"{self.document} ({self.year}); see: {self.section}"

    @cached_property
    def confirmable(self) -> tuple[str, ...]:
        """The points that people can vouch for: what no program can check, and open scans."""
        named = [point.confirm or point.scan for point in self.checklist]
        return tuple(name for name in named if name is not None)

    def attack(self, release_model: str | None) -> float:
        """Return the chance of an attack that counts: of a public release somebody tries."""
        closed = release_model in ("controlled", "internal")
        return self.pr_attack if closed and self.pr_attack is not None else 1.0

    def threshold(self, limit: PolicyLimit, release_model: str | None) -> float:
        """Return what a number of the audit must keep, so that the limit holds."""
        value = limit.limit if limit.cell is None else 1 / limit.cell
        return value / self.attack(release_model) if limit.metric in CHANCES else value

    def limits_for(self, release_model: str | None) -> dict[str, float]:
        """Return the limits by their names, as a plan has them; of two on a number the stricter."""
        found: dict[str, float] = {}
        for one in self.limits:
            value = self.threshold(one, release_model)
            if one.metric not in found or is_stricter(one.metric, value, found[one.metric]):
                found[one.metric] = value
        check_ranges(found)
        return found


def preset_names() -> list[str]:
    """Return the names of the policies that come with indiff.

    >>> "ema-0070" in preset_names() and "cell-11" in preset_names()
    True
    """
    return sorted(place.stem for place in PRESETS.glob("*.toml"))


def check_name(policy: str) -> None:
    """Refuse what is neither the name of a preset nor a file of one's own."""
    if policy not in preset_names() and not policy.lower().endswith(".toml"):
        known = ", ".join(preset_names())
        raise UserError(
            f"no policy {policy!r}{did_you_mean(policy, preset_names())}",
            way_out=f"Known: {known}, or a file of your own (.toml)",
            field="policy",
        )


def read_policy(policy: str) -> Policy:
    """Read a preset by its name, or a file of one's own.

    >>> [(one.metric, one.limit) for one in read_policy("cell-5").limits]
    [('k', 5.0)]
    """
    check_name(policy)
    preset = policy in preset_names()
    place = PRESETS / f"{policy}.toml" if preset else Path(policy)
    way_out = "Check the path, or name a preset"
    found = read_toml(place, "a policy", way_out, shown=place.name, field="policy")
    return _checked(found, place)


def check_confirmed(policy: Policy | None, points: Sequence[str], voucher: str | None) -> None:
    """Refuse points that a policy does not ask for, and points for which nobody vouches."""
    known = () if policy is None else policy.confirmable
    for name in points:
        if name not in known:
            raise unknown("point to confirm", name, known, field="confirmed")
    if points and voucher is None:
        raise UserError(
            "somebody vouches for what no program can check; nobody is named",
            way_out=f"Say who: {option('confirmed_by')}",
            field="confirmed_by",
        )


def _checked(found: dict[str, Any], place: Path) -> Policy:
    try:
        return Policy(**{**found, "name": found.get("name", place.stem)})
    except ValidationError as error:
        first = error.errors()[0]
    except UserError as error:
        raise _refused(place, "", error.rule, error.got, error.way_out) from None
    where = " ".join(str(x + 1) if isinstance(x, int) else str(x) for x in first["loc"])
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, UserError):
        raise _refused(place, where, cause.rule, cause.got, cause.way_out)
    if first["type"] == "extra_forbidden":
        known = _keys(first["loc"])
        wrong = str(first["loc"][-1])
        rule = f"there is no key {wrong!r}{did_you_mean(wrong, known)}"
        raise _refused(place, "", rule, None, f"Known: {', '.join(known)}")
    if first["type"] == "missing":
        raise UserError(f"{place.name}, {where} is needed; add it.", field="policy")
    rule = f"{place.name}, {where} must be {first['msg'].removeprefix('Input should be ')}"
    raise UserError(rule, repr(first["input"]), field="policy")


def _refused(place: Path, where: str, rule: str, got: object, way_out: str) -> UserError:
    at = f"{place.name}, {where}:" if where else f"{place.name}:"
    return UserError(f"{at} {rule}", got, way_out, field="policy")


def _keys(at: tuple[Any, ...]) -> list[str]:
    parts: dict[str, type[_Part]] = {
        "limits": PolicyLimit, "checklist": Point, "crosswalk": Clause,
    }  # fmt: skip
    return list((parts[at[0]] if len(at) > 1 else Policy).model_fields)

"""Says in one sentence what a plan gets wrong: the section, the key, and what it must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indiff.errors import UserError, did_you_mean


def refusal(first: Any, cause: object, plan: Mapping[str, Any]) -> UserError:
    """Say what is wrong first, naming the section and the key; ``plan`` has a plan's fields."""
    # Pydantic names the members of a union beside keys.
    names = map(str, first["loc"])
    place = [one for one in names if one not in ("int", "str", "float") and "[" not in one]
    section = f"[{place[0]}]" if place else "the plan"
    where = " ".join([section, *place[1:2]])
    field = place[1] if len(place) > 1 else None
    if isinstance(cause, UserError):
        return below(f"{where if place else '[limits]'}:", cause)
    if first["type"] == "extra_forbidden":
        return _stray(place, plan)
    if first["type"] == "missing":
        return UserError(f"{where} is needed; add it to the plan.", field=field)
    if first["type"] == "too_short":
        return UserError(f"{where} must name at least 1 of them", "none", field=field)
    rule = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return UserError(f"{where} must be {rule}", repr(first["input"]), field=field)


def below(place: str, error: UserError) -> UserError:
    """Return the error with the place in a plan that it is about."""
    return UserError(f"{place} {error.rule}", error.got, error.way_out, field=error.field)


def _stray(place: list[str], plan: Mapping[str, Any]) -> UserError:
    known, what = list(plan), f"a plan has no section [{place[0]}]"
    sections = {name: one.annotation for name, one in plan.items() if name != "limits"}
    for name, section in sections.items():
        if len(place) == 1 and place[0] in section.model_fields:
            rule = f"{place[0]} is a key of a section; write it below [{name}]."
            return UserError(rule, field=place[0])
    if len(place) > 1:
        section = sections[place[0]]
        known, what = list(section.model_fields), f"[{place[0]}] has no key {place[1]!r}"
    rule = f"{what}{did_you_mean(place[-1], known)}"
    return UserError(rule, way_out=f"Known: {', '.join(known)}", field=place[-1])


def has_truth(value: Any) -> bool:
    """Tell whether true or false is somewhere in a value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(map(has_truth, value))
    return isinstance(value, bool)

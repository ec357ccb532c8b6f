"""Checks values of a plan whose type alone does not say what they can be."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from indiff.errors import UserError, unknown


def _check_sanitizer(text: str) -> None:
    from indiff.sanitizers.sanitizer import as_sanitizer

    as_sanitizer(text)


def _check_models(names: list[str]) -> None:
    from indiff.inference import as_model

    for name in names:
        if name != "auto":
            as_model(name)
    if len(set(names)) < len(names):
        raise UserError("models need names of their own", ", ".join(names))


def _check_targets(targets: int | list[int]) -> None:
    if isinstance(targets, int) and targets < 1:
        raise UserError("targets is a number of at least 1, or record numbers", targets)
    if isinstance(targets, list) and not targets:
        raise UserError("targets names no record; leave it out to test all of them.")


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
    from indiff.audit.plan.options import MOST_WORKERS

    if jobs != -1 and not 1 <= jobs <= MOST_WORKERS:
        rule = f"jobs must be -1 (all cores) or from 1 to {MOST_WORKERS:,}"
        raise UserError(rule, jobs)


def _check_policy(name: str) -> None:
    from indiff.audit.plan.policies import check_name

    check_name(name)


def _check_day(text: str) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError("a day is written 2027-12-31", f"{text!r}") from None


CHECKS: dict[str, Callable[[Any], None]] = {
    "sanitizer": _check_sanitizer,
    "models": _check_models,
    "targets": _check_targets,
    "distance": _check_distance,
    "method": _check_method,
    "parameter": _check_settings,
    "time": _check_time,
    "jobs": _check_jobs,
    "policy": _check_policy,
    "review_by": _check_day,
}

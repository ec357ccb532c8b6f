"""Says what a value of a plan can be where its type alone does not say it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from indiff.audit.plan.option import MOST_WORKERS
from indiff.audit.plan.values.targets import check_targets
from indiff.errors import UserError, unknown


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
    from indiff.audit.plan.values.settings import expand

    for setting in expand(text):
        _check_sanitizer(setting.text)


def _check_time(span: str | float) -> None:
    from indiff.differential.people import seconds_of

    seconds_of(span)


def _check_jobs(jobs: int) -> None:
    most = MOST_WORKERS
    if jobs != -1 and not 1 <= jobs <= most:
        raise UserError(f"jobs must be -1 (all cores) or from 1 to {most:,}", jobs)


def _check_claim(claim: dict[str, float]) -> None:
    from indiff.audit.plan.limits import check_claim

    check_claim(claim)


def _check_policy(name: str) -> None:
    from indiff.audit.plan.policies import check_name

    check_name(name)


def _check_day(text: str) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise UserError("a day is written 2027-12-31", f"{text!r}") from None


def _check_also(texts: list[str]) -> None:
    for text in texts:
        _check_sanitizer(text)


CHECKS: dict[str, Callable[[Any], None]] = {
    "sanitizer": _check_sanitizer, "also": _check_also, "models": _check_models,
    "targets": check_targets, "distance": _check_distance, "method": _check_method,
    "parameter": _check_settings, "time": _check_time, "jobs": _check_jobs, "policy": _check_policy,
    "review_by": _check_day,
    "claim": _check_claim,
}  # fmt: skip

"""Whether a plan fits its table: what it names must be there before anything is measured."""

from __future__ import annotations

from pathlib import Path

from indiff.audit.plan.plan import Plan
from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.differential.targets.choice import as_rows
from indiff.errors import UserError, unknown


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
        as_rows(table, plan.adversary.targets)
    allowed = [
        name for role in Role if role != Role.IDENTIFIER for name in table.schema.names(role)
    ]
    allowed += [one.name for one in table.sensitives if one.name not in allowed]
    if plan.report.task is not None and plan.report.task not in allowed:
        raise unknown("column to predict", plan.report.task, allowed)

"""Tests releases that were made elsewhere: one, several together, or a synthetic one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indiff.audit.plan.recipe import Recipe
from indiff.cli.questions import refuse_given
from indiff.cli.warmup import compile_all
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.beside.several_result import SeveralResult
    from indiff.differential.synthetic.result import SyntheticResult

# What has no meaning beside several: what their candidate rows leave is found without a model.
_NOT_SEVERAL = ("model", "prior", "known", "distance", "rows-in-order")
# Nor has this for a synthetic file, of which no row is anybody's, and which is judged by chance.
_NOT_SYNTHETIC = (*_NOT_SEVERAL, "key", "suppressed", "targets", "limit")


def check_several(recipe: Recipe, releases: Sequence[str]) -> None:
    """Refuse what has no meaning for several releases, and a release that is named twice."""
    if len(set(releases)) < len(releases):
        raise UserError("a release may be named once", ", ".join(releases), field="release")
    if len(releases) > 1:
        refuse_given(
            [f"--{name}" for name in _NOT_SEVERAL if name in recipe.given],
            "several releases are compared by their candidate rows",
            "Leave it out, or test one release",
            "release",
        )


def check_synthetic(recipe: Recipe, releases: Sequence[str]) -> None:
    """Refuse what has no meaning for a synthetic file, and held-out records of anything else."""
    if not recipe["synthetic"]:
        if recipe["held-out"] is not None:
            rule = "--held-out has what the generator of a --synthetic release never saw"
            raise UserError(rule, way_out="Add --synthetic, or leave it out", field="held_out")
        return
    if len(releases) != 1:
        got = "none" if not releases else f"{len(releases)} of them"
        raise UserError("--synthetic is said of one --release", got, field="synthetic")
    refuse_given(
        [f"--{name}" for name in _NOT_SYNTHETIC if name in recipe.given],
        "a synthetic file is judged by what chance gives",
        "Leave it out, or leave out --synthetic",
        "synthetic",
    )


def test_beside(
    recipe: Recipe, plan: Plan, table: Table, targets: Sequence[int] | int | None
) -> list[ReleaseResult]:
    """Test one release beside its original, without its sanitizer."""
    from indiff.differential.beside.dropped_row import test_release
    from indiff.report.terminal import tables as terminal

    terminal.compile_first(compile_all)
    who, records = plan.adversary, records_of(table, targets, plan.run.seed)
    return [
        test_release(
            table.focus(sensitive.name), recipe["release"], key=plan.release.key,
            rows_in_order=plan.release.rows_in_order, model=recipe.model, distance=who.distance,
            targets=records, prior=who.prior, known=who.known, encoding=plan.release.encoding,
            suppressed=plan.release.suppressed,
        )
        for sensitive in table.sensitives
    ]  # fmt: skip


def test_made_up(recipe: Recipe, plan: Plan, table: Table) -> list[SyntheticResult]:
    """Test one synthetic file beside its original, and beside records that it never saw."""
    from indiff.differential.synthetic.test import test_synthetic

    return [
        test_synthetic(
            table.focus(sensitive.name), recipe["release"], held_out=recipe["held-out"],
            confidence=plan.adversary.confidence, seed=plan.run.seed,
            encoding=plan.release.encoding,
        )
        for sensitive in table.sensitives
    ]  # fmt: skip


def test_several(
    plan: Plan, table: Table, releases: Sequence[str], targets: Sequence[int] | int | None
) -> list[SeveralResult]:
    """Test what several releases of the same people tell together."""
    from indiff.differential.beside.several import test_releases
    from indiff.report.terminal import tables as terminal

    terminal.compile_first(compile_all)
    return [
        test_releases(
            table.focus(sensitive.name), releases, key=plan.release.key,
            targets=records_of(table, targets, plan.run.seed), encoding=plan.release.encoding,
            suppressed=plan.release.suppressed,
        )
        for sensitive in table.sensitives
    ]  # fmt: skip


def records_of(
    table: Table, targets: Sequence[int] | int | None, seed: int
) -> Sequence[int] | None:
    """Return the records to test where they are needed by number: drawn, if only how many."""
    if not isinstance(targets, int):
        return targets
    from indiff.differential.people import choose_targets, find_people

    drawn = choose_targets(table, find_people(table, None), targets, seed=seed).people
    return table.records[drawn.rows].tolist()

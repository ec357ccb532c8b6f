"""``indiff sanitize``: writes a release from a built-in sanitizer."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from indiff.audit.plan.recipe import Recipe
from indiff.audit.verdict import Exit
from indiff.cli.warmup import compile_all
from indiff.errors import UserError
from indiff.files import check_places

if TYPE_CHECKING:
    from indiff.sanitizers.sanitizer import Sanitizer


def command(recipe: Recipe) -> None:
    """Write a release: every quasi-identifier generalized, the rows in a shuffled order."""
    from indiff.data.schema import Role
    from indiff.release.unmeasured import broken, judge_columns
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.results import show_release
    from indiff.sanitizers.noise.mechanisms import NotDifferentiallyPrivate
    from indiff.sanitizers.sanitizer import promise_of

    out, seed = recipe["out"], recipe["seed"]
    plan = recipe.plan(run={"seed": seed or 0})
    check_places({"--out": out}, [Path(name) for name in plan.files], frames=("--out",))
    chosen = _declared(recipe)
    table = plan.data.read()
    terminal.compile_first(compile_all)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotDifferentiallyPrivate)  # shown below, with exit code 1
        release = chosen.sanitize(table)  # noise for publication never comes from a seed
    if recipe["keep"]:
        if release.weights is not None or len(release) < len(table):
            raise UserError(
                "--keep needs a row per record; a noisy table has none, and one without its "
                "suppressed records too few",
                way_out="Leave it out",
                field="keep",
            )
        release = replace(release, kept=table.frame().select(table.schema.names(Role.OTHER)))
    release.write(out, seed=seed)
    console = terminal.open_console()
    terminal.show_table(console, table, Path(recipe["data"]).name)
    show_release(console, release, table, str(out), seed)
    # Each of several sensitive attributes is as good as another to judge other columns by.
    reasons = broken(judge_columns(release, table.focus(table.sensitives[0].name)))
    promise = promise_of(chosen, table, release.constraint_met)
    if promise.why_not is not None:
        reasons.append(f"{promise.why_not}, which is never a pass")
    if reasons:
        terminal.show_reasons(console, reasons, passed=False)
    raise typer.Exit(Exit.EXCEEDED if reasons else Exit.NOTHING_EXCEEDED)


def _declared(recipe: Recipe) -> Sanitizer:
    """Return the sanitizer; a mechanism of differential privacy gets its declared cells."""
    from indiff.sanitizers.noise.mechanisms import CellMechanism
    from indiff.sanitizers.sanitizer import as_sanitizer

    sanitizer = as_sanitizer(recipe["sanitizer"])
    edges, domains = recipe["edges"], recipe["domain"]
    if not edges and not domains:
        return sanitizer
    if not isinstance(sanitizer, CellMechanism):
        raise UserError(
            "--edges and --domain are for noisy tables", sanitizer, "Leave out", field="edges"
        )
    return replace(sanitizer, edges=edges, domains=domains)

"""``indiff test``: runs the differential test on a table, or on a release beside its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from indiff import text as plain
from indiff.audit.plan.recipe import Recipe, lists, read_limits
from indiff.audit.plan.shell import in_shell, worded_for_shell
from indiff.audit.plan.values.targets import read_targets
from indiff.audit.several import DETERMINED, judge_several
from indiff.audit.synthetic import judge_synthetic
from indiff.audit.verdict import TEST_LIMITS, Verdict, judge_releases, judge_tests
from indiff.cli.beside.releases import (
    check_several,
    check_synthetic,
    test_beside,
    test_made_up,
    test_several,
)
from indiff.cli.questions import (
    Answers,
    answer,
    check_claim_alone,
    check_questions,
    finish_claim,
    refuse_given,
)
from indiff.cli.warmup import compile_all
from indiff.errors import Message, UserError, unknown
from indiff.files import check_places, write_records, write_text
from indiff.text import json_text

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan
    from indiff.data.table import Table
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    Result = DifferentialResult | StrongestResult

USUAL = "mondrian:k=5"
# What has no meaning beside --release, which drops rows of one release.
_NOT_BESIDE = (
    "sanitizer", "method", "why", "membership", "run", "time", "backend", "individual", "join",
)  # fmt: skip


def command(recipe: Recipe) -> None:
    """Test what a release tells about each record that it could not tell without it."""
    releases, sanitizers = recipe.raw["release"] or [], recipe["sanitizer"] or [USUAL]
    limits = read_limits(recipe["limit"], [DETERMINED] if len(releases) > 1 else list(TEST_LIMITS))
    orders, first = split_orders(recipe.raw["order"])
    plan = recipe.plan(
        data={"orders": lists("--order", orders), "identifier": identifiers(recipe)},
        adversary={"targets": None},
        release={"sanitizer": sanitizers[0]},
        limits=limits,
    )
    check_options(recipe, first)
    check_together(recipe, sanitizers)
    check_several(recipe, releases)
    check_synthetic(recipe, releases)
    check_claim_alone(plan, recipe)
    check_questions(plan, recipe)
    outputs = {"--json": recipe["json"], "--records": recipe["records"]}
    if any(outputs.values()):
        held = [recipe["held-out"]] if recipe["held-out"] else []
        inputs = [Path(name) for name in (*plan.files, *releases, *held)]
        check_places(outputs, inputs, frames=("--records",))
    table = plan.data.read()
    table = replace(table, notes=tuple(map(worded_for_shell, table.notes)))
    targets = read_targets(recipe.raw["targets"], table.source.num_rows)
    if len(releases) > 1:
        several = test_several(plan, table, releases, targets)
        finish(recipe, table, several, judge_several(several, limits), [Answers()] * len(several))
    if recipe["synthetic"]:
        made_up = test_made_up(recipe, plan, table)
        finish(recipe, table, made_up, judge_synthetic(made_up), [Answers()] * len(made_up))
    if plan.release.file is not None:
        beside = test_beside(recipe, plan, table, targets)
        finish(recipe, table, beside, judge_releases(beside, limits), [Answers()] * len(beside))
    if plan.adversary.claim:
        finish_claim(table, plan, recipe, targets, first)
    check_knowledge(table, plan)
    others = plan.data.beside(plan.release, len(sanitizers), table)[1:]
    results, untested = run(table, plan, recipe, sanitizers, others, targets=targets, order=first)
    answers = [
        Answers() if result.interrupted else answer(table, plan, result, recipe)
        for result in results
    ]
    verdict = judge_tests(results, limits, untested, recipe["run"])
    finish(recipe, table, results, verdict, answers)


def finish(
    recipe: Recipe, table: Table, results: Sequence[Any], verdict: Verdict,
    answers: Sequence[Answers],
) -> NoReturn:  # fmt: skip
    """Write what was asked for, print roles, results and verdict, and end with its code."""
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.beside.several_result import SeveralResult
    from indiff.differential.strongest import StrongestResult
    from indiff.differential.synthetic.result import SyntheticResult
    from indiff.report.terminal import results as printed
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.claim import show_membership_by_runs
    from indiff.report.terminal.several import show_several
    from indiff.report.terminal.synthetic import show_synthetic

    shown: dict[Any, Any] = {
        ReleaseResult: printed.show_release_result,
        SeveralResult: show_several,
        SyntheticResult: show_synthetic,
        StrongestResult: printed.show_strongest,
    }
    console = terminal.open_console()
    try:
        if recipe["json"] is not None:
            document = document_of(table, results, answers, recipe["show-values"])
            write_text(recipe["json"], json_text(verdict.beside(document)))
        if recipe["records"] is not None:
            write_records(recipe["records"], results)
    finally:  # what cannot be written takes the verdict along, but no result
        terminal.show_table(console, table, Path(recipe["data"]).name)
        for result, found in zip(results, answers, strict=True):
            show: Any = shown.get(type(result), printed.show_result)
            show(console, _worded(result, recipe["show-values"]), known=table.notes)
            if found.why:
                printed.show_why(console, found.why)
            if found.membership:
                printed.show_membership(console, found.membership)
            if found.by_runs:
                show_membership_by_runs(console, found.by_runs.to_dict())
    terminal.show_reasons(console, verdict.reasons, passed=verdict.exit_code == 0)
    raise typer.Exit(verdict.exit_code)


def _worded(result: Any, show_values: bool) -> Any:
    """Return a result with options as they are typed, and no more values than asked for."""
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.beside.several_result import SeveralResult
    from indiff.differential.strongest import StrongestResult
    from indiff.differential.synthetic.result import SyntheticResult

    def shell(text: Any) -> Any:
        return text.worded(in_shell) if isinstance(text, Message) else text

    if isinstance(result, SeveralResult):
        each_one = (replace(one, notes=tuple(map(shell, one.notes))) for one in result.considered)
        worded = replace(result, considered=tuple(each_one))
        return worded if show_values else worded.without_values()
    if isinstance(result, SyntheticResult):
        return replace(result, notes=tuple(map(shell, result.notes)))
    if isinstance(result, StrongestResult):
        each = {name: _worded(one, show_values) for name, one in result.results.items()}
        return replace(result, results=each)
    if not isinstance(result, ReleaseResult):
        told = (worded_for_shell(one, show_values=show_values) for one in result.failures)
        return replace(result, failures=tuple(told))
    test = result.test and replace(result.test, notes=tuple(map(shell, result.test.notes)))
    notes = tuple(map(shell, result.notes))
    return replace(result, notes=notes, skipped=shell(result.skipped), test=test)


def check_options(recipe: Recipe, order: str | None) -> None:
    """Refuse, before any file is read, what makes no sense together."""
    from indiff.differential.calls.calls import BACKENDS
    from indiff.differential.people import ORDERS

    if recipe["backend"] not in BACKENDS:
        raise unknown("backend", recipe["backend"], BACKENDS, field="backend")
    recipe["retries"]
    if (recipe["backend"] == "dask") != (recipe["scheduler"] is not None):
        raise UserError(
            "--backend dask and --scheduler tcp://HOST:PORT belong together",
            f"only {'--backend' if recipe['scheduler'] is None else '--scheduler'}",
            field="backend",
        )
    orders = (*ORDERS, "outlying") if recipe["claim"] else ORDERS
    if order is not None and order not in orders:
        raise unknown("order", order, orders, field="order")
    for name in ("individual", "join"):
        if recipe[name] and recipe["why"] is not None:
            raise UserError(
                f"--why explains single records, not people; leave out --{name}.", field="why"
            )
    how = [recipe["key"] is not None, recipe["rows-in-order"]]
    if recipe["release"] is None:
        return
    if all(how):
        raise UserError(
            "rows are matched by --key or by --rows-in-order, not by both; leave one.", field="key"
        )
    defaults = {"sanitizer": USUAL, "method": "auto", "backend": "loky", "join": []}
    given = [f"--{name}" for name in _NOT_BESIDE if recipe[name] != defaults.get(name)
             and recipe[name] not in (None, False)]  # fmt: skip
    given += ["second --model"] if len(recipe["model"]) > 1 else []
    given += ["--order of targets"] if order is not None else []
    refuse_given(
        given, "--release tests one release by dropping its rows", "Leave it out", "release"
    )


def check_together(recipe: Recipe, sanitizers: Sequence[str]) -> None:
    """Refuse several sanitizers that are not tested together, and what explains one of them."""
    if len(sanitizers) > 1 and not recipe["together"]:
        raise UserError(
            "several sanitizers are tested --together, or one by one by indiff compare",
            f"{len(sanitizers)} of them without it",
            field="sanitizer",
        )
    given = [f"--{name}" for name in ("why", "membership") if recipe[name]]
    if len(sanitizers) > 1 and given:
        raise UserError(
            f"{given[0]} is about one release; leave it out, or leave out --together.",
            field=given[0].removeprefix("--"),
        )


def split_orders(texts: Sequence[str] | None) -> tuple[list[str], str | None]:
    """Tell the order of a column's values, which has an equals sign, from that of the targets.

    >>> split_orders(["size=small,large", "worst-first"])
    (['size=small,large'], 'worst-first')
    """
    columns = [text for text in texts or () if "=" in text]
    others = [text for text in texts or () if "=" not in text]
    if len(others) > 1:
        raise UserError(
            "--order of the targets may be given once", ", ".join(others), field="order"
        )
    return columns, others[0] if others else None


def identifiers(recipe: Recipe) -> list[str]:
    """Return the identifiers: the column that names people is one, unless it has another role."""
    individual: str | None = recipe["individual"]
    found: list[str] = list(recipe["identifier"])
    roles = [*(recipe["quasi"] or ()), *recipe["sensitive"], *recipe["other"], *found]
    return found if individual is None or individual in roles else [*found, individual]


def check_knowledge(table: Table, plan: Plan) -> None:
    """Refuse, before any test, a prior, a column or a ground that does not fit an attribute."""
    import numpy as np

    from indiff.distances.functions import bind_distance
    from indiff.inference import NaiveBayes
    from indiff.inference.background import with_background
    from indiff.sanitizers.noise.mechanisms import CellMechanism
    from indiff.sanitizers.sanitizer import as_sanitizer

    who = plan.adversary
    # A noisy table has values of its own, which the test itself checks first.
    noisy = isinstance(as_sanitizer(plan.release.sanitizer), CellMechanism)
    informed = who.prior is not None or who.known is not None
    for sensitive in table.sensitives:
        if informed:
            with_background(NaiveBayes(), table.focus(sensitive.name), who.prior, who.known)
        if who.distance.startswith("emd:") and not noisy:
            measure = bind_distance(who.distance, sensitive)[1]
            belief = np.full((1, len(sensitive.values)), 1 / len(sensitive.values))
            measure(belief, belief)  # what it needs to be installed is missed now


def run(
    table: Table, plan: Plan, recipe: Recipe, sanitizers: Sequence[str],
    others: Sequence[Table] = (), **choice: Any,
) -> tuple[list[Result], list[str]]:  # fmt: skip
    """Test one sensitive attribute after the other; an interruption leaves the rest untested."""
    from indiff.differential import differential_test
    from indiff.differential.people import as_deadline
    from indiff.differential.test import check_testable, part_of
    from indiff.report.terminal import tables as terminal

    names = [sensitive.name for sensitive in table.sensitives]
    for name in names:
        check_testable(table.focus(name))
    terminal.compile_first(compile_all)
    settings: dict[str, Any] = {
        **plan.settings, "model": recipe.model, "method": plan.adversary.method,
        "individual": plan.data.individual, "retries": recipe["retries"],
        "backend": recipe["backend"], "scheduler": recipe["scheduler"],
        "time": as_deadline(plan.run.time),  # it begins now, once for all attributes
        **choice,
    }  # fmt: skip
    results: list[Result] = []
    for place, name in enumerate(names):
        folder = recipe["run"] if len(names) == 1 else part_of(recipe["run"], "attribute", place)
        with terminal.progress(f"testing {plain.name(name)}") as report:
            own = [one.focus(name) for one in (table, *others)]
            result = differential_test(
                own if any(one is not table for one in others) else own[0], sanitizers,
                together=True, progress=report, run=folder, **settings,
            )  # fmt: skip
        results.append(result)
        if result.interrupted or result.out_of_time:
            return results, names[place + 1 :]
    return results, []


def document_of(
    table: Table, results: Sequence[Any], answers: Sequence[Answers], show_values: bool = False
) -> dict[str, Any]:
    """Return one result as its own document, several below their names; roles beside."""
    from indiff.differential.beside.several_result import SeveralResult
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    documents = [
        (result.to_dict(values=True) if show_values and isinstance(result, SeveralResult)
         else result.to_dict()) | found.to_dict()
        for result, found in zip(results, answers, strict=True)
    ]  # fmt: skip
    document = documents[0]
    beside = not isinstance(results[0], DifferentialResult | StrongestResult)
    if len(table.sensitives) > 1:
        document = {
            "format": document["format"],
            "kind": f"{document['kind']}s" if beside else "differential-tests",
            "results": {one["sensitive"]: one for one in documents},
        }
    if beside:
        return document
    columns = [
        {"name": c.name, "role": str(c.role), "kind": "date" if c.is_date else str(c.kind)}
        for c in table.schema
    ]
    return document | {"columns": columns}

"""``indiff test``: the differential test on a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from indiff import text as plain
from indiff.audit.plan import parsing
from indiff.cli import long_runs, options, release_beside
from indiff.cli.adversaries import (
    Answers,
    Questions,
    answer,
    check_knowledge,
    check_names,
    input_files,
)
from indiff.cli.long_runs import LongRun, names_people, split_orders
from indiff.cli.verdict import NOTHING_EXCEEDED, TEST_LIMITS, Verdict, judge
from indiff.cli.writing import judged, together
from indiff.errors import UserError
from indiff.files import check_places, write_text
from indiff.report.records import write_records

if TYPE_CHECKING:
    from indiff.data.table import Table
    from indiff.differential.result import DifferentialResult
    from indiff.differential.strongest import StrongestResult

    Result = DifferentialResult | StrongestResult

DEFAULT_SANITIZER = "mondrian:k=5"


def command(
    data: options.Data,
    sensitive: options.Sensitive,
    quasi: options.Quasi = None,
    joint: options.Joint = False,
    identifier: options.Identifier = None,
    other: options.Other = None,
    hierarchy: options.Hierarchies = None,
    kind: options.Kinds = None,
    order: options.Orders = None,
    bins: options.Bins = None,
    missing: options.Missing = "error",
    missing_token: options.MissingTokens = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    sanitizer: options.Sanitizer = DEFAULT_SANITIZER,
    release: release_beside.Release = None,
    key: release_beside.Key = None,
    rows_in_order: release_beside.RowsInOrder = False,
    release_encoding: release_beside.ReleaseEncoding = None,
    model: options.Model = None,
    prior: options.Prior = None,
    known: options.Known = None,
    distance: options.Distance = "wasserstein",
    targets: options.Targets = None,
    method: options.Method = "auto",
    runs: options.Runs = 100,
    confidence: options.Confidence = 0.95,
    jobs: options.Jobs = -1,
    individual: long_runs.Individual = None,
    run_folder: long_runs.Run = None,
    time: long_runs.Time = None,
    retries: long_runs.Retries = 2,
    backend: long_runs.Backend = "loky",
    scheduler: long_runs.Scheduler = None,
    seed: options.Seed = 0,
    limit: options.Limits = None,
    json_file: options.Json = None,
    records: options.Records = None,
    why: options.Why = None,
    show_values: options.ShowValues = False,
    membership: options.Membership = False,
) -> None:
    """Test what a release tells about each record that it could not tell without it."""
    limits = parsing.limits(limit, TEST_LIMITS)
    models = parsing.split_lists(model)
    columns = parsing.split_lists(known) or None
    questions = Questions(why, show_values, membership)
    orders, first = split_orders(order)
    asked = LongRun(run_folder, time, retries, backend, scheduler, individual, first)
    asked.check()
    if individual is not None and why is not None:
        raise UserError("--why explains single records, not people; leave out --individual.")
    check_names(sanitizer, models, distance, method, questions)
    check_numbers(jobs, confidence)
    release_beside.check_options(
        release, key, rows_in_order, release_encoding,
        {
            "--sanitizer": sanitizer != DEFAULT_SANITIZER, "--method": method != "auto",
            "--why": why is not None, "--membership": membership,
            "second --model": len(models) > 1, **asked.given(),
        },
    )  # fmt: skip
    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    check_places(
        {"--json": json_file, "--records": records},
        [
            data,
            *map(Path, hierarchies.values()),
            *input_files(distance, prior),
            *([] if release is None else [release]),
        ],
        frames=("--records",),
    )
    named = parsing.split_lists([*(quasi or ()), *sensitive, *(identifier or ()), *(other or ())])
    table = options.read(
        data, quasi=quasi, sensitive=sensitive, joint=joint,
        identifier=names_people(individual, named, identifier), other=other,
        hierarchy=hierarchy, kind=kind, order=orders, bins=bins, missing=missing,
        missing_token=missing_token, encoding=encoding, sheet=sheet,
    )  # fmt: skip
    if release is not None:
        code = release_beside.run(
            table, data.name, release, key=key, rows_in_order=rows_in_order,
            model=models[0] if models else None, distance=distance,
            targets=records_of(table, parsing.targets(targets, table.source.num_rows), seed),
            prior=prior, known=columns,
            encoding=release_beside.encoding_of(release, data, release_encoding, encoding),
            limits=limits, json_file=json_file, records=records,
        )  # fmt: skip
        raise typer.Exit(code)
    check_knowledge(table, sanitizer, distance, prior, columns)
    results, untested = run(
        table,
        sanitizer,
        asked,
        model=models if len(models) > 1 else models[0] if models else None,
        prior=prior,
        known=columns,
        distance=distance,
        targets=parsing.targets(targets, table.source.num_rows),
        method=method,
        runs=runs,
        confidence=confidence,
        jobs=jobs,
        seed=seed,
    )
    answers = [
        Answers()
        if result.interrupted
        else answer(
            table.focus(result.sensitive_name), sanitizer, result, questions, models=models,
            prior=prior, known=columns, confidence=confidence, seed=seed,
        )
        for result in results
    ]  # fmt: skip
    verdict = judge(results, limits, untested, run_folder)
    if json_file is not None:
        write_text(json_file, as_json(table, results, verdict, answers))
    if records is not None:
        write_records(records, results)
    show(table, data.name, results, verdict, answers)
    raise typer.Exit(verdict.code)


def check_numbers(jobs: int, confidence: float) -> None:
    """Refuse numbers out of their range before any file is read."""
    if jobs < 1 and jobs != -1:
        raise UserError("--jobs must be -1 (all cores) or at least 1", jobs)
    if not 0 < confidence < 1:
        raise UserError("--confidence must be between 0 and 1", confidence)


def records_of(
    table: Table, targets: Sequence[int] | int | None, seed: int
) -> Sequence[int] | None:
    """Return the records to test where they are needed by number: drawn, if only how many."""
    if not isinstance(targets, int):
        return targets
    from indiff.differential.people import find_people
    from indiff.differential.targets.choice import choose_targets

    drawn = choose_targets(table, find_people(table, None), targets, seed=seed).people
    return table.records[drawn.rows].tolist()


def run(
    table: Table, sanitizer: str, asked: LongRun | None = None, **settings: Any
) -> tuple[list[Result], list[str]]:
    """Test one sensitive attribute after the other; an interruption leaves the rest untested."""
    from indiff.differential import differential_test
    from indiff.differential.test import check_testable
    from indiff.report.terminal.progress import progress

    for sensitive in table.sensitives:
        check_testable(table.focus(sensitive.name))
    options.announce_compilation()
    names = [sensitive.name for sensitive in table.sensitives]
    asked = LongRun() if asked is None else asked
    settings |= asked.settings()
    results: list[Result] = []
    for place, name in enumerate(names):
        with progress(f"testing {plain.name(name)}") as report:
            result = differential_test(
                table.focus(name), sanitizer, progress=report, run=asked.folder(table, place),
                **settings,
            )  # fmt: skip
        results.append(result)
        if result.interrupted or result.out_of_time:
            return results, names[place + 1 :]
    return results, []


def as_json(
    table: Table, results: Sequence[Result], verdict: Verdict, answers: Sequence[Answers] = ()
) -> str:
    """Return one result as its own JSON, several below their names; limits and roles beside."""
    documents = [result.to_dict() for result in results]
    for one, answered in zip(documents, answers or [Answers()] * len(results), strict=True):
        one.update(answered.to_dict())
    document = together(documents, "differential-tests", several=len(table.sensitives) > 1)
    document["columns"] = [
        {"name": c.name, "role": str(c.role), "kind": "date" if c.is_date else str(c.kind)}
        for c in table.schema
    ]
    return judged(document, verdict)


def show(
    table: Table,
    source: str,
    results: Sequence[Result],
    verdict: Verdict,
    answers: Sequence[Answers] = (),
) -> None:
    """Print the table's roles, every result with what was asked about it, and the verdict."""
    from indiff.differential.strongest import StrongestResult
    from indiff.report.terminal import adversaries
    from indiff.report.terminal import tables as terminal

    console = terminal.open_console()
    terminal.show_table(console, table, source)
    for place, result in enumerate(results):
        if isinstance(result, StrongestResult):
            adversaries.show_strongest(console, result, known=table.notes)
        else:
            terminal.show_result(console, result, known=table.notes)
        found = answers[place] if answers else Answers()
        if found.why:
            adversaries.show_why(console, found.why)
        adversaries.show_membership(console, found.membership)
    terminal.show_reasons(console, verdict.reasons, passed=verdict.code == NOTHING_EXCEEDED)

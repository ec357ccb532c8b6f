"""``indiff test``: the differential test on a table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from indiff.commands import options, parsing
from indiff.commands.places import check_places, write_text
from indiff.commands.verdict import NOTHING_EXCEEDED, TEST_LIMITS, Verdict, judge
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.differential.result import DifferentialResult
    from indiff.table import Table


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
    sanitizer: options.Sanitizer = "mondrian:k=5",
    model: options.Model = None,
    distance: options.Distance = "wasserstein",
    targets: options.Targets = None,
    method: options.Method = "auto",
    runs: options.Runs = 100,
    confidence: options.Confidence = 0.95,
    jobs: options.Jobs = -1,
    seed: options.Seed = 0,
    limit: options.Limits = None,
    json_file: options.Json = None,
    records: options.Records = None,
) -> None:
    """Test what a release tells about each record that it could not tell without it."""
    limits = parsing.limits(limit, TEST_LIMITS)
    check_names(sanitizer, model, distance, jobs)
    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    check_places(
        {"--json": json_file, "--records": records},
        [data, *map(Path, hierarchies.values())],
        frames=("--records",),
    )
    table = options.read(
        data, quasi=quasi, sensitive=sensitive, joint=joint, identifier=identifier, other=other,
        hierarchy=hierarchy, kind=kind, order=order, bins=bins, missing=missing,
        missing_token=missing_token, encoding=encoding, sheet=sheet,
    )  # fmt: skip
    results, untested = run(
        table,
        sanitizer,
        model=model,
        distance=distance,
        targets=parsing.targets(targets, table.source.num_rows),
        method=method,
        runs=runs,
        confidence=confidence,
        jobs=jobs,
        seed=seed,
    )
    verdict = judge(results, limits, untested)
    if json_file is not None:
        write_text(json_file, as_json(table, results, verdict))
    if records is not None:
        write_records(records, results)
    show(table, data.name, results, verdict)
    raise typer.Exit(verdict.code)


def check_names(sanitizer: str, model: str | None, distance: str, jobs: int) -> None:
    """Refuse a misspelt name before any file is read."""
    from indiff.distances import as_distance
    from indiff.inference import as_model
    from indiff.sanitizers.parse import as_sanitizer

    as_sanitizer(sanitizer)
    as_distance(distance)
    if model is not None:
        as_model(model)
    if jobs < 1 and jobs != -1:
        raise UserError(f"--jobs must be -1 (all cores) or at least 1; got {jobs}.")


def run(
    table: Table, sanitizer: str, **settings: Any
) -> tuple[list[DifferentialResult], list[str]]:
    """Test one sensitive attribute after the other; an interruption leaves the rest untested."""
    from indiff.differential import differential_test
    from indiff.differential.testing import check_testable
    from indiff.report.terminal import progress

    for sensitive in table.sensitives:
        check_testable(table.focus(sensitive.name))
    options.announce_compilation()
    names = [sensitive.name for sensitive in table.sensitives]
    results: list[DifferentialResult] = []
    for place, name in enumerate(names):
        with progress(f"testing {len(table):,} records") as report:
            result = differential_test(table.focus(name), sanitizer, progress=report, **settings)
        results.append(result)
        if len(result.distances) < result.requested and not result.failures:
            return results, names[place + 1 :]
    return results, []


def as_json(table: Table, results: Sequence[DifferentialResult], verdict: Verdict) -> str:
    """Return one result as its own JSON, several below their names; limits and roles beside."""
    documents = [json.loads(result.to_json()) for result in results]
    document = documents[0]
    if len(table.sensitives) > 1:
        document = {
            "format": documents[0]["format"],
            "kind": "differential-tests",
            "results": {one["sensitive"]: one for one in documents},
        }
    document["columns"] = [
        {"name": c.name, "role": str(c.role), "kind": "date" if c.is_date else str(c.kind)}
        for c in table.schema
    ]
    document["limits"] = [
        {
            "sensitive": check.sensitive,
            "name": check.name,
            "value": check.value if math.isfinite(check.value) else str(check.value),
            "limit": check.limit,
            "exceeded": check.exceeded,
        }
        for check in verdict.checks
    ]
    document["verdict"] = {"exit_code": verdict.code, "reasons": list(verdict.reasons)}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_records(path: Path, results: Sequence[DifferentialResult]) -> None:
    """Write one row per tested record; with several sensitive attributes, below each other."""
    import pyarrow as pa

    from indiff.release import write_frame

    frames = [result.to_arrow() for result in results]
    if len(results) > 1:
        frames = [
            frame.add_column(0, "sensitive", pa.array([result.sensitive_name] * len(frame)))
            for frame, result in zip(frames, results, strict=True)
        ]
    write_frame(pa.concat_tables(frames), path)


def show(
    table: Table, source: str, results: Sequence[DifferentialResult], verdict: Verdict
) -> None:
    """Print the table's roles, every result and the verdict."""
    from indiff.report import terminal

    console = terminal.open_console()
    terminal.show_table(console, table, source)
    for result in results:
        terminal.show_result(console, result, known=table.notes)
    terminal.show_reasons(console, verdict.reasons, passed=verdict.code == NOTHING_EXCEEDED)

"""``indiff demo``: does the whole job on built-in data, with a report at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from indiff.audit.verdict import judge_tests
from indiff.cli.test import as_json
from indiff.cli.warmup import announce
from indiff.files import write_text
from indiff.report.records import write_records

SANITIZER = "mondrian:k=5"
OUT = Path("indiff-demo")


def command(
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="Where the table, its release and the report go."
        ),
    ] = OUT,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of every random choice.", metavar="N")
    ] = 0,
) -> None:
    """Audit a made-up table of 5,000 patients, six of them outliers, and write the report."""
    from indiff.audit.plan.plan import Plan
    from indiff.audit.run import run_audit
    from indiff.datasets import demo, demo_outliers, demo_table
    from indiff.datasets.patients import IDENTIFIER, QUASI, SENSITIVE
    from indiff.files import make_folder, write_frame
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.audit import show_audit, show_paths

    make_folder(out)
    plan = Plan(
        data={"identifier": IDENTIFIER, "quasi": list(QUASI), "sensitive": SENSITIVE},
        release={"sanitizer": SANITIZER},
        limits={"k": 5, "delta": 0.5},
        report={
            "title": "Audit of the demo: 5,000 made-up patients",
            "parameter": "mondrian:k=2,5,10,20,50",
        },
        run={"seed": seed},
    )
    table = demo_table(seed=seed)
    announce()
    audited = run_audit(plan, table, command="indiff demo", source="demo (made-up patients)")
    (result,), (release,) = audited.results, audited.releases
    write_frame(demo(seed=seed), out / "patients.csv")
    release.write(out / "release.csv", seed=seed)
    write_text(out / "result.json", as_json(table, [result], judge_tests([result], {})))
    write_records(out / "records.csv", [result])
    paths = audited.write(out)
    console = terminal.open_console()
    show_audit(console, audited.document)
    terminal.show_outliers(console, result, demo_outliers(seed=seed))
    means = "a limit is exceeded" if audited.verdict["status"] == "fail" else "nothing exceeded"
    terminal.section(
        console,
        "Exit code",
        [
            ("indiff demo", "0: it has shown what it should"),
            ("indiff audit", f"{audited.verdict['exit_code']} with this verdict: {means}"),
        ],
    )
    show_paths(console, paths)

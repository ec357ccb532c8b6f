"""``indiff demo``: does the whole job on built-in data, with a report at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from indiff.audit.verdict import judge_tests
from indiff.cli.questions import Answers
from indiff.cli.test import document_of
from indiff.cli.warmup import compile_all
from indiff.files import write_records, write_text
from indiff.text import json_text

SANITIZER = "mondrian:k=5"
OUT = Path("indiff-demo")
DATA, PLAN, RELEASE = "patients.csv", "plan.toml", "release.csv"


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
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Also write report.pdf, by Chromium or Chrome.")
    ] = False,
) -> None:
    """Audit a made-up table of 5,000 patients, six of them outliers, and write the report."""
    from indiff.audit.document import PDF
    from indiff.audit.plan.plan_text import as_toml
    from indiff.audit.run import run_audit
    from indiff.datasets import demo, demo_hierarchies, demo_outliers, demo_table
    from indiff.datasets.patients import LIMIT
    from indiff.differential.strongest import strongest
    from indiff.files import make_folder, write_frame
    from indiff.report.page.pdf import find_browser
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.audit import show_audit, show_paths
    from indiff.report.terminal.results import show_outliers

    if pdf:
        find_browser()
    make_folder(out)
    table = demo_table(seed=seed)
    write_frame(demo(seed=seed), out / DATA)
    for column, lines in demo_hierarchies().items():
        write_text(out / f"{column}.csv", "".join(f"{line}\n" for line in lines))
    write_text(out / PLAN, as_toml(_plan(seed)))
    terminal.compile_first(compile_all)
    audited = run_audit(
        out / PLAN, command=f"indiff audit {PLAN}", source="demo (made-up patients)"
    )
    result = strongest({one.model: one for one in audited.results})
    audited.write_release(out / RELEASE)
    document = document_of(table, [result], [Answers()])
    write_text(out / "result.json", json_text(judge_tests([result], {}).beside(document)))
    write_records(out / "records.csv", [result])
    paths = audited.write(out)
    if pdf:
        paths[PDF] = out / PDF
        audited.write_pdf(paths[PDF])
    console = terminal.open_console()
    show_audit(console, audited.document)
    show_outliers(console, result, demo_outliers(seed=seed), LIMIT)
    means = "a limit is exceeded" if audited.verdict["status"] == "fail" else "nothing exceeded"
    terminal.section(
        console,
        "Exit code",
        [
            ("indiff demo", "0: it has shown what it should"),
            ("indiff audit", f"{audited.verdict['exit_code']} with this verdict: {means}"),
            ("the same again", f"indiff audit {out / PLAN}"),
        ],
    )
    show_paths(console, paths)


def _plan(seed: int) -> dict[str, dict[str, Any]]:
    """Return the audit of the demo as a plan, whose files lie beside it."""
    from indiff.datasets import demo_hierarchies
    from indiff.datasets.patients import IDENTIFIER, LIMIT, QUASI, SENSITIVE

    return {
        "data": {
            "path": DATA,
            "identifier": [IDENTIFIER],
            "quasi": list(QUASI),
            "sensitive": [SENSITIVE],
            "hierarchies": {column: f"{column}.csv" for column in demo_hierarchies()},
        },
        "release": {"sanitizer": SANITIZER, "write": RELEASE},
        "context": {
            "purpose": "to show what an audit finds",
            "recipients": "anybody who tries indiff",
            "release_model": "public",
            "controller": "nobody: these patients are made up",
            "author": "indiff demo",
            "data_period": "admissions of the year 2023, made up",
            "attackers": "a neighbour or a colleague of a patient",
            "knowledge": "the quasi-identifiers of a person, and that the person is a patient",
            "confidentiality": "made-up data, not confidential",
            "limits_by": "indiff demo, as an example: k = 5 is widely used, and a δ of 0.4 lets a "
            "fifth of a guess rest on one record. It was set with the data known, so that the "
            "adversary naive-bayes finds the six planted outliers and nobody else",
        },
        "limits": {"k": 5, "delta": LIMIT},
        "report": {
            "title": "Audit of the demo: 5,000 made-up patients",
            "parameter": "mondrian:k=2,5,10,20,50,100,200,500,1000,2000",
        },
        "run": {"seed": seed},
    }

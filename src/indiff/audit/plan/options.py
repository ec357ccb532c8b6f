"""Declares every option once: its name, type, range, default and help, and its section.

The sections below are those of a plan. :mod:`indiff.audit.plan.plan` checks them, the command line
makes its options of them, the pages take their ranges and descriptions, and ``docs/options.md`` is
written from them, without pydantic or Typer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MinLen

from indiff.audit.plan.option import (
    AUDIT,
    BESIDE,
    CLAIM,
    COMPARISON,
    ENGINE,
    LONG,
    METRICS,
    OUT,
    POPULATION,
    TABLE,
    TEST,
    Bins,
    Count,
    Names,
    NotNegative,
    Option,
)  # fmt: skip


# From here on these are tables.
# fmt: off
class Data:
    """The table: where it is and what its columns are."""

    path: Annotated[str | None, Option(
        "A file (CSV, TSV, Parquet, Excel, Feather, JSON lines, Stata, SPSS, SAS), a folder, a "
        "pattern, or - (standard input).", "DATA", name="data", typed=Path,
    )] = None
    quasi: Annotated[Names | None, Option(
        "Quasi-identifiers: a,b,c. Default: every other column.", "A,B,C", TABLE,
    )] = None
    sensitive: Annotated[Names, MinLen(1), Option(
        "Sensitive column, several (s,s2), or an expression: 'income > 50000'.", "S[,S2]", TABLE,
    )]
    joint: Annotated[bool, Option(
        "Take several sensitive columns as one joint value.", None, TABLE,
    )] = False
    identifier: Annotated[Names, Option(
        "Columns that name people; a release drops them.", "A,B", TABLE,
    )] = []
    other: Annotated[Names, Option(
        "Columns to leave out of the test; a release made here has none of them (sanitize --keep "
        "keeps them).", "A,B", TABLE,
    )] = []
    kinds: Annotated[dict[str, str], Option(
        "numeric, categorical or ordinal; repeatable.", "COLUMN=KIND", TABLE, "kind",
    )] = {}
    orders: Annotated[dict[str, Names], Option(
        "An ordinal column's values in order; repeatable.", "COLUMN=A,B,C", TABLE, "order",
    )] = {}
    hierarchies: Annotated[dict[str, str], Option(
        "A column's hierarchy file; repeatable.", "COLUMN=FILE", TABLE, "hierarchy",
    )] = {}
    bins: Annotated[Bins | dict[str, Bins] | None, Option(
        "Bins of a numeric sensitive column: 4 (quantiles) or edges 18,65.",
        "[COLUMN=]N", TABLE, typed=Names,
    )] = None
    missing: Annotated[Literal["error", "drop", "split"], Option(
        "Records without a numeric quasi-identifier: error, drop or split.",
        "RULE", TABLE, typed=str,
    )] = "error"
    missing_tokens: Annotated[Names, Option(
        "A text that means missing, beside the empty one.", "T", TABLE, "missing-token",
    )] = [""]
    decimal: Annotated[Literal[".", ","] | None, Option(
        "The decimal sign in text, where it cannot be told: . or ,", "SIGN", TABLE, typed=str,
    )] = None
    date_format: Annotated[str | dict[str, str] | None, Option(
        "How dates are written, where it cannot be told: %d.%m.%Y, %m/%d/%Y …, or excel for its "
        "serial numbers (of a column).", "[COLUMN=]F", TABLE, typed=Names,
    )] = None
    header_row: Annotated[Count | None, Option(
        "The line or row that names the columns, below titles: 3.", "N", TABLE,
    )] = None
    encoding: Annotated[str | None, Option(
        "Of a text file that is not UTF-8: cp1252, latin-1 …", "E", TABLE,
    )] = None
    separator: Annotated[Literal[",", ";", "\t", "|"] | None, Option(
        "The sign between the fields of a text file, where its header does not show it: , ; | or a "
        "tab.", "SIGN", TABLE, typed=str,
    )] = None
    sheet: Annotated[str | int | None, Option(
        "A workbook's sheet: its name, or #0, #1 …", "S", TABLE, typed=str,
    )] = None
    join: Annotated[Names, Option(
        "Another table of the people of DATA: visits, prescriptions …; repeatable.", "FILE", TABLE,
    )] = []
    on: Annotated[Names, Option(
        "The columns by which tables are joined: a person's first, then a visit's. They are "
        "identifiers.", "KEY[,KEY2]", TABLE,
    )] = []
    individual: Annotated[str | None, Option(
        "The column whose equal values are one person, left out with all records.", "COLUMN", TABLE,
    )] = None


class Population:
    """What is known of the population that the table is a sample of."""

    source: Annotated[str | int | None, Option(
        "The population: a file with the same columns, or its size: register.parquet, 83000000.",
        "FILE|N", POPULATION, "population", str,
    )] = None
    sampling: Annotated[float | None, Gt(0), Le(1), Option(
        "The share of the population that was drawn: 0.05.", "P", POPULATION,
    )] = None
    weight: Annotated[str | None, Option(
        "The column of survey weights: how many people a record stands for.", "COLUMN", POPULATION,
    )] = None
    household: Annotated[str | None, Option(
        "The column whose equal values are one household.", "COLUMN", POPULATION,
    )] = None

    @property
    def file(self) -> str | None:
        """The file that has the population, where it is not a number."""
        return self.source if isinstance(self.source, str) else None

    @property
    def asked(self) -> dict[str, Any]:
        """What is known, as :func:`indiff.measure_risk` takes it; empty where nothing is."""
        known = {"population": self.source, "sampling": self.sampling, "weight": self.weight}
        known["household"] = self.household
        return {name: value for name, value in known.items() if value is not None}


class Release:
    """How the release is made, or the file of one made elsewhere."""

    allow_remote: Annotated[bool, Option(
        "Let an http:// sanitizer be outside this machine and its private networks: the table is "
        "sent there.", None, TEST,
    )] = False
    sanitizer: Annotated[str, Option(
        "name:parameter=value,…, as in mondrian:k=5,l=2 (mondrian has k, l, distinct_l, entropy_l, "
        "recursive=C/L, t, regions=tight or cut, unmet=error or generalize) or "
        "recoding:k=5,suppression=0.02 (the same limits; loss, suppressed=keep or drop); or a "
        "program, 'command:./anonymize.sh {input} {output}'; or a service, "
        "http://127.0.0.1:8000/anonymize; or a folder of releases, releases:DIR. Others: "
        "laplace, pram, rank-swap, mdav … (docs/sanitizers.md).",
        "F", TEST,
    )] = "mondrian:k=5"
    file: Annotated[str | None, Option(
        "Test this release of DATA, whatever made it, instead of a sanitizer.",
        "FILE", BESIDE, "release", Path,
    )] = None
    before: Annotated[Names, Option(
        "A release of the same people that was published before: what it and this one tell "
        "together is found, too; repeatable.", "FILE", BESIDE,
    )] = []
    also: Annotated[Names, Option(
        "A sanitizer whose release is published beside this one; repeatable.", "F", TEST,
    )] = []
    tables: Annotated[dict[str, str], Option(
        "The table of the second sanitizer …: 2=2024.csv; repeatable.", "N=FILE", TEST, "table",
    )] = {}
    columns: Annotated[dict[str, Names], Option(
        "Quasi-identifiers of the second sanitizer …: 2=age,sex; repeatable.", "N=A,B", TEST,
    )] = {}
    encoding: Annotated[str | None, Option(
        "Of the release, where it is neither UTF-8 nor DATA's.", "E", BESIDE, "release-encoding",
    )] = None
    suppressed: Annotated[Names, Option(
        "A text that stands for a suppressed cell of the release, beside *: NA, or '' for blank "
        "cells; repeatable.", "TOKEN", BESIDE,
    )] = []
    key: Annotated[str | None, Option(
        "The column that tells whose row of the release is whose.", "COLUMN", BESIDE,
    )] = None
    rows_in_order: Annotated[bool, Option(
        "The release's rows are DATA's, in its order.", None, BESIDE,
    )] = False
    write: Annotated[str | None, Option(
        "Write exactly the release that was judged, whose SHA-256 the report names (.csv, .tsv, "
        ".parquet).", "FILE", OUT, "write-release", Path,
    )] = None


class Adversary:
    """Who learns from the release, and how this learning is measured."""

    models: Annotated[Names, MinLen(1), Option(
        "The adversary: auto (the strongest of naive-bayes, frequency and, where it is fast, tree; "
        "of a noisy table frequency), naive-bayes, frequency, tree, forest, logistic, "
        "gradient-boosting, mlp, knn, each but frequency with an encoding "
        "(tree:encoding=Scaling-Hot); several (a,b): the strongest.", "A[,B]", TEST, "model",
    )] = ["auto"]
    distance: Annotated[str, Option(
        "Between the two beliefs: wasserstein, emd, tv, kl …; with a ground distance "
        "emd:hierarchy, emd:numeric or emd:FILE.csv.", "D", TEST,
    )] = "wasserstein"
    prior: Annotated[str | None, Option(
        "What the adversary believes beforehand: value,probability.", "FILE", TEST, typed=Path,
    )] = None
    known: Annotated[Names | None, Option(
        "The only quasi-identifiers that the adversary knows.", "A,B", TEST,
    )] = None
    method: Annotated[str, Option(
        "auto, leave-one-out, closed-form, refit or sampled; the result names it.", "M", TEST,
    )] = "auto"
    targets: Annotated[int | list[int] | None, Option(
        "How many records to test, drawn at random (200), or which: 0-49, 7-7 or 3,10-12. Default: "
        "all.", "N|R", TEST, typed=str,
    )] = None
    runs: Annotated[Count, Option("Runs with and without a record, if sampled.", "N", TEST)] = 100
    confidence: Annotated[float, Gt(0), Lt(1), Option(
        "Of the limits of a sampled result.", "P", TEST,
    )] = 0.95
    keys: Annotated[Names, Option(
        "Combinations of columns that somebody may have: age+sex+zip; repeatable.", "A+B,C+D", TEST,
    )] = []
    special: Annotated[NotNegative, Option(
        "Find the records that up to N columns single out (SUDA2).", "N", TEST,
    )] = 0
    claim: Annotated[dict[str, float], Option(
        "Test a claim: epsilon=1, delta=1e-6; exit 1 if refuted.", "NAME=X", CLAIM, typed=Names,
    )] = {}
    calls: Annotated[Count, Option("Releases to make for the claim.", "N", CLAIM)] = 2000
    canaries: Annotated[Count | None, Option("One release; so many in by lot.", "N", CLAIM)] = None
    membership: Annotated[bool, Option('How well beliefs tell "in" from "out".', None, OUT)] = True


class Context:
    """Why the data is released, to whom, by whose rules, and who might attack it."""

    policy: Annotated[str | None, Option(
        "Whose limits must hold, beside your own: ema-0070, health-canada, ipc-low, cell-11, "
        "hipaa-safe-harbor, iso-27559 …, or a file of yours (.toml).", "NAME|FILE", AUDIT,
    )] = None
    purpose: Annotated[str | None, Option("What the release is for.", "TEXT")] = None
    recipients: Annotated[str | None, Option("Who receives it.", "TEXT")] = None
    release_model: Annotated[Literal["public", "controlled", "internal"] | None, Option(
        "public (anybody), controlled (by agreement) or internal.", "MODEL",
    )] = None
    controller: Annotated[str | None, Option("Who is responsible for the data.", "TEXT")] = None
    author: Annotated[str | None, Option("Who made this assessment.", "TEXT")] = None
    data_period: Annotated[str | None, Option("When the data was collected.", "TEXT")] = None
    attackers: Annotated[str | None, Option("Who might attack, and why.", "TEXT")] = None
    knowledge: Annotated[str | None, Option("What they may know from elsewhere.", "TEXT")] = None
    limits_by: Annotated[str | None, Option("Who chose the limits, and why these.", "TEXT")] = None
    review_by: Annotated[str | None, Option(
        "The day by which this is looked at again: 2027-12-31.", "DATE",
    )] = None
    confidentiality: Annotated[str | None, Option(
        "How the report is marked: confidential …", "TEXT",
    )] = None
    confirmed: Annotated[Names, Option(
        "Points of the policy that no program can check and that you vouch for, by their names.",
        "A,B",
    )] = []
    confirmed_by: Annotated[str | None, Option(
        "Who vouches for them; the author if nobody else is named.", "TEXT",
    )] = None


class Limits:
    """What must hold for exit code 0."""

    limits: Annotated[dict[str, float], Option(
        "Fail (exit 1) beyond this: delta=0.1, t=0.2, itpr=0.5 (at most), k=5, l=2 (at least) …; "
        "repeatable.", "NAME=X", TEST, "limit", Names,
    )] = {}


class Report:
    """What the report shows."""

    title: Annotated[str | None, Option("Of the report.", "TEXT", OUT)] = None
    min_cell: Annotated[Count, Option("Name a value only if so many hold it.", "N", OUT)] = 10
    show_values: Annotated[bool, Option(
        "Show values of the table; the report is marked.", None, OUT,
    )] = False
    worst: Annotated[int, Ge(0), Le(1000), Option("Explain so many records.", "N", OUT)] = 10
    parameter: Annotated[str | None, Option(
        "Also test other parameters: mondrian:k=2,5,10.", "F", AUDIT,
    )] = None
    pdf: Annotated[bool, Option(
        "Also write report.pdf, by Chromium or Chrome where one is installed.", None, OUT,
    )] = False
    task: Annotated[str | None, Option(
        "The column that an analyst predicts. Default: the sensitive one.", "COLUMN", AUDIT,
    )] = None


class Run:
    """How the audit is run."""

    seed: Annotated[NotNegative, Option("Of every random choice.", "N")] = 0
    jobs: Annotated[int, Option("Processes; -1 uses all cores.", "N", TEST)] = -1
    time: Annotated[str | float | None, Option(
        "Begin no record after 90s, 10m, 2h … of testing.", "SPAN", LONG, typed=str,
    )] = None


class Shell:
    """What the command line takes beside a plan."""

    metadata: Annotated[Path | None, Option(
        "Kinds, keys and roles, from Frictionless, CSVW, Croissant or SDV.", "FILE", TABLE,
    )] = None
    run: Annotated[Path | None, Option(
        "Keep every finished record here; the same command goes on.", "DIR", LONG,
    )] = None
    retries: Annotated[NotNegative, Option(
        "How often a failing call is repeated before it is given up.", "N", LONG,
    )] = 2
    backend: Annotated[str, Option("Where calls are made: loky or dask.", "B", LONG)] = "loky"
    scheduler: Annotated[str | None, Option(
        "A Dask scheduler's address, tcp://host:8786.", "URL", LONG,
    )] = None
    together: Annotated[bool, Option(
        "One adversary reads the releases of all sanitizers that are given.", None, TEST,
    )] = False
    synthetic: Annotated[bool, Option("The release is a synthetic file.", None, BESIDE)] = False
    held_out: Annotated[Path | None, Option(
        "Records that the generator of a --synthetic release never saw.", "FILE", BESIDE,
    )] = None
    why: Annotated[Count | None, Option(
        "Explain the N worst records, without any value.", "N", OUT,
    )] = None
    combinations: Annotated[NotNegative, Option(
        "Rank all combinations of up to N columns.", "N", METRICS,
    )] = 0
    details: Annotated[bool, Option(
        "Also per column and per value (default).", None, METRICS, no="no-details",
    )] = True
    share: Annotated[float, Gt(0), Le(1), Option(
        "Find the smallest sets of columns that single out this share of the records.", "P",
    )] = 0.5
    size: Annotated[Count | None, Option(
        "Look at sets of up to N columns. Default: 3, or fewer where that takes long.", "N",
    )] = None
    engine: Annotated[str, Option("auto, in-process, duckdb or spark.", "E", ENGINE)] = "auto"
    master: Annotated[str | None, Option(
        "A Spark cluster: spark://HOST:7077, local[4] …", "URL", ENGINE,
    )] = None
    threads: Annotated[Count | None, Option("Default: all cores.", "N", ENGINE)] = None
    memory_limit: Annotated[str | None, Option(
        "2GB: DuckDB spills beyond it; Spark's heap here.", "SIZE", ENGINE,
    )] = None
    utility: Annotated[str | None, Option(
        "What the front goes by: ncp (default), discernibility, average_group, accuracy (default "
        "with noise).", "U", COMPARISON,
    )] = None
    recommend: Annotated[dict[str, float], Option(
        "Name what keeps most utility within delta=0.1, mean, itpr, t (at most), k, l (at least); "
        "repeatable; exit 1 if nothing does.", "NAME=X", COMPARISON, typed=Names,
    )] = {}
    edges: Annotated[dict[str, list[float]], Option(
        "Declared bin edges, for differential privacy.", "COLUMN=X,Y", TEST,
    )] = {}
    domains: Annotated[dict[str, Names], Option(
        "Declared values, for differential privacy.", "COLUMN=A,B", TEST, "domain",
    )] = {}
    keep: Annotated[bool, Option("Keep the columns of role other, as they are.", None, OUT)] = False
    init: Annotated[bool, Option(
        "Write a commented plan.toml for this table, roles guessed.", None, AUDIT,
    )] = False
    fix: Annotated[str | None, Option(
        "Remove outliers from a copy of the table until delta=X holds; audit the rest.",
        "delta=X", AUDIT,
    )] = None
    budget: Annotated[float | None, Option(
        "The most records to remove: a number, or a share. Default: 0.05.", "N", AUDIT,
    )] = None
    out: Annotated[Path, Option("Where the report goes.", "DIR", OUT)] = Path("indiff-audit")
    json: Annotated[Path | None, Option(
        "Write the result as JSON; - is standard output.", "FILE", OUT,
    )] = None
    records: Annotated[Path | None, Option(
        "Write one row per record (.csv, .parquet).", "FILE", OUT,
    )] = None
    markdown: Annotated[Path | None, Option("Write the table as Markdown.", "FILE", OUT)] = None
    junit: Annotated[Path | None, Option("Limits as test cases (JUnit XML).", "FILE", OUT)] = None
    summary: Annotated[Path | None, Option("Verdict, limits (Markdown).", "FILE", OUT)] = None
    chart: Annotated[Path | None, Option(
        "Draw δ against utility (.html, .svg, .png).", "FILE", OUT,
    )] = None


SECTIONS = {
    "data": Data, "population": Population, "release": Release, "adversary": Adversary,
    "context": Context, "limits": Limits, "report": Report, "run": Run, "": Shell,
}

"""The options that several commands share, and the table that they describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indiff.audit.plan import parsing

if TYPE_CHECKING:
    from indiff.data.table import Table

_TABLE = "The table"
_TEST = "The test"
_OUT = "Output"


def _option(name: str, help: str, panel: str, metavar: str | None = None) -> Any:
    return typer.Option(
        name, help=help, rich_help_panel=panel, metavar=metavar, show_default=metavar != "FILE"
    )


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A CSV, TSV, Parquet or Excel file.", show_default=False),
]
Quasi = Annotated[
    list[str] | None,
    _option("--quasi", "Quasi-identifiers: a,b,c. Default: every other column.", _TABLE, "A,B,C"),
]
Sensitive = Annotated[
    list[str],
    _option(
        "--sensitive",
        "Sensitive column, several (s,s2), or an expression: 'income > 50000'.",
        _TABLE,
        "S[,S2]",
    ),
]
Joint = Annotated[
    bool, _option("--joint", "Take several sensitive columns as one joint value.", _TABLE)
]
Identifier = Annotated[
    list[str] | None,
    _option("--identifier", "Columns that name people; a release drops them.", _TABLE, "A,B"),
]
Other = Annotated[
    list[str] | None, _option("--other", "Columns to leave out of the test.", _TABLE, "A,B")
]
Hierarchies = Annotated[
    list[str] | None,
    _option("--hierarchy", "A column's hierarchy file; repeatable.", _TABLE, "COLUMN=FILE"),
]
Kinds = Annotated[
    list[str] | None,
    _option("--kind", "numeric, categorical or ordinal; repeatable.", _TABLE, "COLUMN=KIND"),
]
Orders = Annotated[
    list[str] | None,
    _option(
        "--order",
        "An ordinal column's values in order: COLUMN=A,B,C. Of the targets, on test: worst-first, "
        "random or given.",
        _TABLE,
        "ORDER",
    ),
]
Bins = Annotated[
    list[str] | None,
    _option(
        "--bins",
        "Bins of a numeric sensitive column: 4 (quantiles) or edges 18,65.",
        _TABLE,
        "[COLUMN=]N",
    ),
]
Missing = Annotated[
    str,
    _option(
        "--missing",
        "Records without a numeric quasi-identifier: error, drop or split.",
        _TABLE,
        "RULE",
    ),
]
MissingTokens = Annotated[
    list[str] | None,
    _option("--missing-token", "A text that means missing, beside the empty one.", _TABLE, "T"),
]
Encoding = Annotated[
    str | None,
    _option("--encoding", "Of a text file that is not UTF-8: latin-1, cp1252 …", _TABLE, "E"),
]
Sheet = Annotated[
    str | None, _option("--sheet", "A workbook's sheet: its name, or #0, #1 …", _TABLE, "S")
]

Sanitizer = Annotated[
    str,
    _option(
        "--sanitizer",
        "name:parameter=value,…, as in mondrian:k=5,l=2; or a program, "
        "'command:./anonymize.sh {input} {output}'; or a folder of releases, releases:DIR.",
        _TEST,
        "F",
    ),
]
Model = Annotated[
    list[str] | None,
    _option(
        "--model",
        "The adversary: naive-bayes (default), frequency (default for noisy tables), tree, "
        "forest, logistic, gradient-boosting, mlp, knn, each but frequency with an encoding "
        "(tree:encoding=Scaling-Hot); several (a,b): the strongest.",
        _TEST,
        "A[,B]",
    ),
]
Prior = Annotated[
    Path | None,
    _option("--prior", "What the adversary believes beforehand: value,probability.", _TEST, "FILE"),
]
Known = Annotated[
    list[str] | None,
    _option("--known", "The only quasi-identifiers that the adversary knows.", _TEST, "A,B"),
]
Distance = Annotated[
    str,
    _option(
        "--distance",
        "Between the two beliefs: wasserstein, emd, tv, kl …; with a ground distance "
        "emd:hierarchy, emd:numeric or emd:FILE.csv.",
        _TEST,
        "D",
    ),
]
Why = Annotated[
    int | None,
    _option("--why", "Explain the N worst records, without any value.", _OUT, "N"),
]
ShowValues = Annotated[
    bool, _option("--show-values", "With --why: show values of the table.", _OUT)
]
Membership = Annotated[
    bool, _option("--membership", 'How well beliefs tell "in" from "out".', _OUT)
]
Targets = Annotated[
    str | None,
    _option(
        "--targets",
        "How many records to test, drawn at random (200), or which: 0-49, 7-7 or 3,10-12. "
        "Default: all.",
        _TEST,
        "N|R",
    ),
]
Method = Annotated[
    str,
    _option(
        "--method",
        "auto, leave-one-out, closed-form, refit or sampled; the result names it.",
        _TEST,
        "M",
    ),
]
Runs = Annotated[
    int, _option("--runs", "Runs with and without a record, where sampled.", _TEST, "N")
]
Confidence = Annotated[
    float, _option("--confidence", "Of the limits of a sampled result.", _TEST, "P")
]
Jobs = Annotated[int, _option("--jobs", "Processes; -1 uses all cores.", _TEST, "N")]
ShuffleSeed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, metavar="N",
        help="Of the order of rows; whoever knows it can undo the shuffle. Random by default.",
    ),
]  # fmt: skip
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of every random choice.", metavar="N")]
Limits = Annotated[
    list[str] | None,
    _option("--limit", "Fail (exit 1) above this: delta=0.1; repeatable.", _TEST, "NAME=X"),
]

Json = Annotated[Path | None, _option("--json", "Write the result as JSON.", _OUT, "FILE")]
Out = Annotated[
    Path, _option("--out", "Where the release goes (.csv, .tsv, .parquet).", _OUT, "FILE")
]
Edges = Annotated[
    list[str] | None,
    _option("--edges", "Declared bin edges, for differential privacy.", _TEST, "COLUMN=X,Y"),
]
Domains = Annotated[
    list[str] | None,
    _option("--domain", "Declared values, for differential privacy.", _TEST, "COLUMN=A,B"),
]
Keep = Annotated[bool, _option("--keep", "Keep the columns of role other, as they are.", _OUT)]
Records = Annotated[
    Path | None, _option("--records", "Write one row per record (.csv, .parquet).", _OUT, "FILE")
]


def announce_compilation() -> None:
    """Compile what is missing, and say so on standard error."""
    from indiff.cli.warmup import announce

    announce(lambda line: typer.echo(line, err=True))


def read(
    data: Path,
    *,
    quasi: list[str] | None,
    sensitive: list[str],
    joint: bool,
    identifier: list[str] | None,
    other: list[str] | None,
    hierarchy: list[str] | None,
    kind: list[str] | None,
    order: list[str] | None,
    bins: list[str] | None,
    missing: str,
    missing_token: list[str] | None,
    encoding: str | None,
    sheet: str | None,
) -> Table:
    """Read the table that the options describe."""
    from indiff.data.table import read_table

    return read_table(
        data,
        quasi=parsing.split_lists(quasi) if quasi else None,
        sensitive=parsing.split_lists(sensitive),
        joint=joint,
        identifier=parsing.split_lists(identifier),
        other=parsing.split_lists(other),
        kinds=parsing.pairs("--kind", kind, "KIND"),
        orders=parsing.lists("--order", order),
        hierarchies=dict(parsing.pairs("--hierarchy", hierarchy, "FILE")),
        bins=parsing.bins(bins),
        missing=missing,  # type: ignore[arg-type]
        missing_tokens=("", *(missing_token or ())),
        encoding=encoding,
        sheet=parsing.sheet(sheet),
    )

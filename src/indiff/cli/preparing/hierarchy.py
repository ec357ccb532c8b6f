"""``indiff hierarchy``: builds a column's hierarchy, and shows what each level merges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indiff.audit.plan.option import REQUIRED, Option
from indiff.audit.plan.recipe import OPTIONS as DECLARED
from indiff.audit.plan.recipe import Declared, split_list
from indiff.errors import UserError
from indiff.files import check_places

WAYS = "In one of these ways"
READING = (
    "missing-token", "decimal", "date-format", "header-row", "encoding", "separator", "sheet",
)  # fmt: skip


def _option(name: str, kind: Any, default: Any, text: str, *more: str) -> Declared:
    return Declared(name, "", name, kind, default, (), Option(text, *more))


OPTIONS = [
    _option("column", str, REQUIRED, "The column.", "COLUMN"),
    _option("from", Path, REQUIRED, "The table that has the column.", "DATA"),
    _option(
        "out", Path, None,
        "Write the hierarchy (leaf;parent;…;* on each line); without it levels are only shown.",
        "FILE",
    ),
    _option("show-values", bool, False, "Show the largest group of each level by its name."),
    _option(
        "intervals", str, None,
        "Intervals of numbers, each width a multiple of the one before, or auto.", "5,10,20", WAYS,
    ),
    _option("start", int, 0, "Where an interval begins.", "N", WAYS),
    _option("dates", str, None, "month, quarter, year and decade, or auto.", "A,B", WAYS),
    _option("mask", str, None, "Mask characters from the right or the left.", "SIDE", WAYS),
    _option(
        "prefixes", str, None, "How many first characters stay of codes and postcodes, or icd10.",
        "3,1", WAYS,
    ),
    _option(
        "groups", str, None, "So many neighbours each, by --order or as they sort.", "2,4,8", WAYS
    ),
    _option(
        "priorities", str, None,
        "So many values stay, by --order or those that most records hold; the others merge.",
        "20,10,5", WAYS,
    ),
    _option("order", str, None, "All values of the column, in their order.", "A,B,C", WAYS),
    *(DECLARED[name] for name in READING),
]  # fmt: skip


def command(asked: Mapping[str, Any]) -> None:
    """Build a column's hierarchy from its values; show how many values each level merges."""
    from indiff.data.built_hierarchy import build_hierarchy
    from indiff.report.terminal import tables as terminal

    source, out = asked["from"], asked["out"]
    check_places({"--out": out}, [source], frames=())
    reading = {DECLARED[name].field: DECLARED[name].read(asked[name]) for name in READING}
    built = build_hierarchy(
        str(source),
        asked["column"],
        intervals=_listed(asked, "intervals", str),
        start=asked["start"],
        dates=_listed(asked, "dates", str),
        mask=asked["mask"],
        prefixes="icd10" if asked["prefixes"] == "icd10" else _listed(asked, "prefixes", int),
        groups=_listed(asked, "groups", int),
        priorities=_listed(asked, "priorities", int),
        order=_listed(asked, "order", str),
        **reading,
    )
    if out is not None:
        built.write(out)
    console = terminal.open_console()
    named = asked["show-values"]
    heads = ("groups", "records each", "values merged", "records merged")
    columns = [("level", "left"), *terminal.right(*heads)]
    rows = [
        [
            "values" if height == 0 else str(height),
            f"{level.groups:,}",
            f"{level.fewest:,}" + (f" to {level.most:,}" if level.most > level.fewest else ""),
            f"{level.merged_values:,}",
            f"{level.merged_records:,}",
            *([level.example] if named else []),
        ]
        for height, level in enumerate(built.levels)
    ]
    if named:
        columns.append(("largest", "fold"))
    title = f"The levels of {asked['column']}, {built.records:,} records"
    terminal.show_grid(console, title, columns, rows)
    notes = [("note", text) for text in built.warnings]
    if out is not None:
        notes.append(("hierarchy", f"{out} has the column's values; nobody else can read it"))
        notes.append(("use it", f"--hierarchy {asked['column']}={out}"))
    if notes:
        terminal.section(console, "Beside", notes)


def _listed(
    asked: Mapping[str, Any], name: str, read: Callable[[str], Any]
) -> Sequence[Any] | None:
    """Return a list as it was typed, or None where it was not."""
    if asked[name] is None:
        return None
    try:
        return [read(part) for part in split_list(asked[name])]
    except ValueError:
        raise UserError(
            f"--{name} is a list of whole numbers", repr(asked[name]), field=name
        ) from None

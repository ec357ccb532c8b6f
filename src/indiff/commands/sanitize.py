"""``indiff sanitize``: a release from a built-in sanitizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from indiff.commands import options, parsing
from indiff.commands.places import check_places
from indiff.commands.verdict import EXCEEDED, NOTHING_EXCEEDED


def command(
    data: options.Data,
    out: options.Out,
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
    seed: options.Seed = 0,
    keep: options.Keep = False,
) -> None:
    """Write a release: every quasi-identifier generalized, the rows in a shuffled order."""
    import numpy as np

    from indiff.report import terminal
    from indiff.sanitizers.parse import as_sanitizer
    from indiff.schema import Role

    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    check_places({"--out": out}, [data, *map(Path, hierarchies.values())], frames=("--out",))
    chosen = as_sanitizer(sanitizer)
    table = options.read(
        data, quasi=quasi, sensitive=sensitive, joint=joint, identifier=identifier, other=other,
        hierarchy=hierarchy, kind=kind, order=order, bins=bins, missing=missing,
        missing_token=missing_token, encoding=encoding, sheet=sheet,
    )  # fmt: skip
    options.announce_compilation()
    release = chosen.sanitize(table, np.random.default_rng(seed))
    if keep:
        release = replace(release, kept=table.frame().select(table.schema.names(Role.OTHER)))
    release.write(out, seed=seed)
    console = terminal.open_console()
    terminal.show_table(console, table, data.name)
    terminal.show_release(console, release, table, str(out), seed)
    if not release.constraint_met:
        reason = f"the constraint of {release.sanitizer} is not met, which is never a pass"
        terminal.show_reasons(console, [reason], passed=False)
    raise typer.Exit(NOTHING_EXCEEDED if release.constraint_met else EXCEEDED)

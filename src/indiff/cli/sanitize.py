"""``indiff sanitize``: a release from a built-in sanitizer."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from indiff.audit.plan import parsing
from indiff.cli import options
from indiff.cli.shell_words import in_shell_words
from indiff.cli.verdict import EXCEEDED, NOTHING_EXCEEDED
from indiff.errors import UserError
from indiff.files import check_places

if TYPE_CHECKING:
    from indiff.sanitizers.protocol import Sanitizer


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
    edges: options.Edges = None,
    domain: options.Domains = None,
    seed: options.ShuffleSeed = None,
    keep: options.Keep = False,
) -> None:
    """Write a release: every quasi-identifier generalized, the rows in a shuffled order."""
    from indiff.data.schema import Role
    from indiff.report.terminal import tables as terminal
    from indiff.sanitizers.noise.mechanisms import NotDifferentiallyPrivate
    from indiff.sanitizers.parse import as_sanitizer

    hierarchies = parsing.pairs("--hierarchy", hierarchy, "FILE")
    check_places({"--out": out}, [data, *map(Path, hierarchies.values())], frames=("--out",))
    chosen = _declared(as_sanitizer(sanitizer), edges, domain)
    table = options.read(
        data, quasi=quasi, sensitive=sensitive, joint=joint, identifier=identifier, other=other,
        hierarchy=hierarchy, kind=kind, order=order, bins=bins, missing=missing,
        missing_token=missing_token, encoding=encoding, sheet=sheet,
    )  # fmt: skip
    options.announce_compilation()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotDifferentiallyPrivate)  # shown below, with exit code 1
        release = chosen.sanitize(table)  # noise for publication never comes from a seed
    if keep:
        if release.weights is not None:
            raise UserError(
                "--keep needs a row per record; a noisy table has none", way_out="Leave it out"
            )
        release = replace(release, kept=table.frame().select(table.schema.names(Role.OTHER)))
    release.write(out, seed=seed)
    release = replace(release, sanitizer=in_shell_words(release.sanitizer))
    console = terminal.open_console()
    terminal.show_table(console, table, data.name)
    terminal.show_release(console, release, table, str(out), seed)
    if not release.constraint_met:
        reason = f"{release.sanitizer} is not met, which is never a pass"
        terminal.show_reasons(console, [reason], passed=False)
    raise typer.Exit(NOTHING_EXCEEDED if release.constraint_met else EXCEEDED)


def _declared(
    sanitizer: Sanitizer, edges: list[str] | None, domains: list[str] | None
) -> Sanitizer:
    """Give a mechanism of differential privacy its declared cells."""
    from indiff.sanitizers.noise.mechanisms import NoisySanitizer

    if not edges and not domains:
        return sanitizer
    if not isinstance(sanitizer, NoisySanitizer):
        raise UserError("--edges and --domain are for noisy tables", sanitizer, "Leave out")
    return replace(
        sanitizer,
        edges=parsing.numbers("--edges", edges),
        domains=parsing.lists("--domain", domains),
    )

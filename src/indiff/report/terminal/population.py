"""Prints the risk against the population: every number with its labels and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indiff import text as plain
from indiff.report.terminal.tables import right, section, show_grid
from indiff.text import number

if TYPE_CHECKING:
    from rich.console import Console

    from indiff.report.finding import Finding
    from indiff.risk.population.loglinear import LoglinearRisk
    from indiff.risk.population.measure import PopulationRisk


def show_population(console: Console, found: PopulationRisk, findings: Sequence[Finding]) -> None:
    """Show what is known of the population, every number against it, and the models."""
    lines = [
        ("people", f"{number(found.size)}"),
        ("sampled", f"{100 * found.sampling:.4g} %"),
        *(("note", plain.message(note)) for note in found.notes),
    ]
    section(console, "Population: the risk among all the people the table is a sample of", lines)
    rows = [(_name(one), _value(one), _labels(one)) for one in findings]
    columns = [("metric", "left"), *right("value"), ("label", "left")]
    show_grid(console, "Population: numbers, each with what it is of", columns, rows)
    meanings = [(_name(one), _meaning(one)) for one in findings]
    section(console, "What they mean, and what they do not prove", meanings)
    if found.uniques is not None:
        _show_models(console, found)
    if found.loglinear is not None:
        _show_loglinear(console, found.loglinear)


def _name(one: Finding) -> str:
    return one.metric.removeprefix("population.")


def _value(one: Finding) -> str:
    assert one.value is not None
    return number(one.value)


def _labels(one: Finding) -> str:
    return f"{one.parameters['statistic']}, {one.parameters['of']}, {one.exactness}"


def _meaning(one: Finding) -> str:
    return f"{one.means} But: {one.does_not_prove}"


def _show_models(console: Console, found: PopulationRisk) -> None:
    assert found.uniques is not None
    rows = []
    for name, one in found.uniques.models.items():
        uniques = "none" if one.uniques is None else number(one.uniques)
        share = "" if one.share is None else f"{100 * one.share:.3g} %"
        chosen = "chosen" if name == found.uniques.chosen else ""
        told = f"assumes {one.assumes}" if one.converged else f"did not converge: {one.reason}"
        rows.append((name, uniques, share, chosen, told))
    columns = [("model", "left"), *right("uniques", "share"), ("rule", "left"), ("", "fold")]
    show_grid(
        console, "Population uniques by model, and which Dankar's rule chooses", columns, rows
    )


def _show_loglinear(console: Console, found: LoglinearRisk) -> None:
    rows = []
    for name, one in found.models.items():
        chosen = "chosen" if name == found.chosen else ""
        z = "too large" if one.z is None else number(one.z)
        done = "converged" if one.converged else "did not converge"
        rows.append(
            (name, number(one.tau1), number(one.tau2), number(one.pearson), z, chosen, done)
        )
    titles = ("τ₁", "τ₂", "Pearson/df", "fit z")
    columns = [("model", "left"), *right(*titles), ("", "left"), ("", "fold")]
    heading = "Log-linear models of the columns; beyond ±2 a fit's z says that it does not fit"
    show_grid(console, heading, columns, rows)

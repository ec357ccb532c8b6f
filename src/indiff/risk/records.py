"""Writes one row per record: its group's size, its terms of ITPR, and its risk."""

from __future__ import annotations

from indiff.files import private_files
from indiff.risk.counts import Counted, keys, plain_terms, same
from indiff.risk.metrics import InformationRisk
from indiff.risk.population.individual import household_groups

_NH = "CASE WHEN d = 1 THEN 0.0 ELSE n * GREATEST(0.0, LOG2(n) - clogc / n) END"


def write_records(
    counted: Counted,
    path: str,
    reidentification: InformationRisk,
    inference: dict[str, InformationRisk],
    risks: str | None = None,
    special: str | None = None,
) -> None:
    """Write one row per record: its place, group size, and group terms of ITPR.

    ``record`` is the 0-based position in the input, ``group_size`` counts the individuals that
    share its quasi-identifiers, ``itpr`` is its group's term of the re-identification ITPR, and
    ``itpr:NAME`` that of each sensitive attribute: the maximum over records is the metric. With
    ``risks``, a table of groups with their people and their risk against the population,
    ``population_size`` and ``individual_risk`` are added, and ``household_risk`` if there is one.
    With ``special``, a table of groups with their score, so are ``special_score`` and
    ``special_dis``.
    """
    engine, positions = counted.engine, counted.positions
    weighted = "n * LOG2(n)" if counted.people is None else _NH
    made = [
        engine.keep(
            f"SELECT {keys(positions)}, {counted.size} AS size, {weighted} AS nh "
            f"FROM {counted.groups} t"
        )
    ]
    columns = [
        "r.record AS record",
        "g0.size AS group_size",
        "CASE WHEN g0.size = 1 THEN 1 ELSE 0 END AS singled_out",
        f"{_term(reidentification, 'g0')} AS itpr",
    ]
    for place, values in enumerate(counted.values):
        terms = plain_terms(counted.pairs(positions, place), keys(positions))
        made.append(engine.keep(f"SELECT {keys(positions)}, {_NH} AS nh FROM {terms} t"))
        risk = inference[values.sensitive.name]
        label = engine.quoted(f"itpr:{values.sensitive.name}")
        columns.append(f"{_term(risk, f'g{place + 1}')} AS {label}")
    if risks is not None:
        made.append(engine.keep(f"SELECT {keys(positions)}, w, r FROM {risks} t"))
        last = f"g{len(made) - 1}"
        columns += [f"{last}.w AS population_size", f"{last}.r AS individual_risk"]
    if special is not None:
        made.append(special)
        last = f"g{len(made) - 1}"
        columns += [f"{last}.score AS special_score", f"{last}.dis AS special_dis"]
    joins = " ".join(
        f"JOIN {table} g{place} ON {same(positions, 'r', f'g{place}')}"
        for place, table in enumerate(made)
    )
    if risks is not None and counted.household is not None:
        position = counted.household[1]
        houses = engine.keep(f"SELECT h, risk FROM {household_groups(counted, risks, position)} t")
        made.append(houses)
        columns.append("h.risk AS household_risk")
        joins += f" JOIN {houses} h ON r.c{position} = h.h"
    rows = engine.records()
    with private_files():
        engine.write(
            f"SELECT {', '.join(columns)} FROM {rows} r {joins} ORDER BY record", path, made
        )
    for table in made:
        engine.forget(table)


def _term(risk: InformationRisk, table: str) -> str:
    """Return SQL for a group's term of ITPR (Eq. 10, errata 1); 0 for a constant X."""
    if risk.h == 0:
        return "CAST(0 AS DOUBLE)"
    return f"1 - {table}.nh * {risk.groups / risk.records / risk.h!r}"

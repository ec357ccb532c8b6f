"""Which records: each one's group, written by the engine to a file."""

from __future__ import annotations

from indiff.files import private_files
from indiff.risk.counted import Counted
from indiff.risk.counts import keys, plain_terms, same
from indiff.risk.information import InformationRisk

_NH = "CASE WHEN d = 1 THEN 0.0 ELSE n * GREATEST(0.0, LOG2(n) - clogc / n) END"


def write_records(
    counted: Counted,
    path: str,
    reidentification: InformationRisk,
    inference: dict[str, InformationRisk],
) -> None:
    """Write one row per record: its number, group size, and group terms of ITPR.

    ``record`` is the 0-based position in the input, ``group_size`` counts the individuals that
    share its quasi-identifiers, ``itpr`` is its group's term of the re-identification ITPR, and
    ``itpr:NAME`` that of each sensitive attribute: the maximum over records is the metric.
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
    for number, values in enumerate(counted.values):
        terms = plain_terms(counted.pairs(positions, number), positions)
        made.append(engine.keep(f"SELECT {keys(positions)}, {_NH} AS nh FROM {terms} t"))
        risk = inference[values.sensitive.name]
        label = engine.quoted(f"itpr:{values.sensitive.name}")
        columns.append(f"{_term(risk, f'g{number + 1}')} AS {label}")
    joins = " ".join(
        f"JOIN {table} g{number} ON {same(positions, 'r', f'g{number}')}"
        for number, table in enumerate(made)
    )
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

"""measure_risk: the question, the counting, and the answers in one frozen result."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from indiff.data.hierarchy import Hierarchy
from indiff.data.reading.door import Reading
from indiff.engines.protocol import EngineName, Resources
from indiff.errors import UserError
from indiff.risk.columns import contributions, levels, search
from indiff.risk.counted import Counted, Question, count, measure_columns
from indiff.risk.fingerprint import fingerprint
from indiff.risk.records import write_records
from indiff.risk.result import Method, Risk
from indiff.version import __version__

Progress = Callable[[str], object]


def measure_risk(
    source: Any,
    *,
    quasi: Sequence[str] | str,
    sensitive: Sequence[str] | str | None = None,
    individual: str | None = None,
    joint: bool = False,
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
    missing_tokens: Sequence[str] = ("",),
    encoding: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    decimal: str | None = None,
    date_format: str | Mapping[str, str] | None = None,
    engine: EngineName = "auto",
    combinations: int = 0,
    details: bool = True,
    records: str | Path | None = None,
    outlier: float = 0.9,
    master: str | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Risk:
    """Measure what quasi-identifiers tell about who a record is and what its values are.

    ``source`` is a path (text, Parquet, Excel), a pattern of text or Parquet files, a folder of
    Parquet files, a pandas, Polars or PyArrow frame, a DuckDB relation, a Spark DataFrame, or a
    release. ``individual`` names the column whose equal values are one individual; without it
    each row is one. Null, NaN and ``missing_tokens`` are one missing value, a value of its own in
    every column.
    ``details=False`` leaves out what concerns single columns and their values;
    ``combinations=3`` ranks all combinations of up to three quasi-identifiers; ``records`` names
    a CSV or Parquet file to which the engine writes one row per record.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, 47, 47], "ill": ["flu", "flu", "flu", "HIV"]})
    >>> risk = measure_risk(people, quasi="age", sensitive="ill")
    >>> risk.reidentification.itpr, risk.groups.k, risk.groups.distinct_l
    (0.5, 2, 1)
    >>> risk.inference["ill"].itpr, str(risk.inference["ill"].at_maximum)
    (1.0, '2 records in 1 groups (2 in groups of 2)')

    A low number does not prove that a release is safe: it speaks of an attacker who knows these
    columns and nothing else, and of this table alone.
    """
    question = Question(
        _names(quasi),
        _names(sensitive),
        individual,
        joint,
        kinds or {},
        orders or {},
        hierarchies or {},
    )
    if combinations < 0:
        raise UserError(
            "combinations must be 0 or more columns", combinations, field="combinations"
        )
    say = progress or (lambda _: None)
    say("counting")
    reading = Reading(missing_tokens, encoding, sheet, header_row, decimal, date_format)
    resources = Resources(master, threads, memory_limit)
    counted = count(source, question, engine, reading, resources)
    try:
        say("all quasi-identifiers together")
        together = measure_columns(counted, counted.positions)
        single = {}
        if details and len(counted.quasi) > 1:
            for position, name in enumerate(counted.quasi):
                say(f"column {name}")
                single[name] = measure_columns(counted, [position])
        elif details:
            single = {counted.quasi[0]: together}
        say("values")
        found_levels, distinct = levels(counted, single, outlier) if details else ((), {})
        parts = contributions(counted, together, single) if details else ()
        say("combinations")
        ranked = search(counted, combinations) if combinations else ()
        if records is not None:
            say("records")
            write_records(counted, str(records), together.reidentification, together.inference)
        return Risk(
            records=counted.records,
            reidentification=together.reidentification,
            inference=together.inference,
            groups=together.groups,
            columns=single,
            contributions=parts,
            levels=found_levels,
            distinct_values=distinct,
            combinations=ranked,
            method=Method(
                source=counted.source,
                engine=counted.engine.name,
                quasi=counted.quasi,
                sensitive=tuple(values.sensitive.name for values in counted.values),
                individual=individual,
                missing_tokens=tuple(missing_tokens),
                kinds={v.sensitive.name: str(v.sensitive.kind) for v in counted.values},
                versions=_versions(counted),
                fingerprint=fingerprint(
                    counted.engine, question.quasi, question.sensitive, individual
                ),
            ),
        )
    finally:
        counted.engine.close()


def _names(names: Sequence[str] | str | None) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names or ())


def _versions(counted: Counted) -> dict[str, str]:
    engines = {"in-process": ("pyarrow", "numba", "duckdb"), "duckdb": ("duckdb",)}
    used = engines.get(counted.engine.name, ("pyspark",))
    return {
        "indiff": __version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in used},
    }

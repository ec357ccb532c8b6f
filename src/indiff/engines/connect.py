"""Chooses the engine that counts a source, and lets it count."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from indiff.data.reading.door import Reading
from indiff.data.reading.source import Source, open_source
from indiff.data.table import Table
from indiff.engines.protocol import Countings, Engine, EngineName, Resources
from indiff.errors import UserError, unknown
from indiff.release.release import Release

ENGINES = {
    "in-process": "indiff.engines.in_process.engine",
    "duckdb": "indiff.engines.duckdb.engine",
    "spark": "indiff.engines.spark.engine",
}


def connect(
    source: Any,
    columns: Sequence[str],
    countings: Countings,
    *,
    engine: EngineName = "auto",
    reading: Reading | None = None,
    resources: Resources | None = None,
) -> Engine:
    """Count the rows of a source by each of the ``countings`` (positions in ``columns``).

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 30, None], "ill": ["yes", "", "no"]})
    >>> engine = connect(people, ["age", "ill"], {"cells": [0, 1]}, engine="duckdb")
    >>> engine.query(f"SELECT c0, c1, n FROM {engine.counts['cells']} ORDER BY c0, c1")
    [(30, 'yes', 1), (30, None, 1), (None, 'no', 1)]
    >>> engine.close()
    """
    if engine != "auto" and engine not in ENGINES:
        raise unknown("engine", engine, ["auto", *ENGINES], field="engine")
    reading, resources = reading or Reading(), resources or Resources()
    found = open_source(_records_of(source), columns, reading)
    if isinstance(source, Table | Release):
        found = replace(found, name=type(source).__name__)
    columns = columns if found.frame is None else found.frame.column_names
    # The door has made null of them in text.
    tokens = () if found.is_text_here else reading.missing_tokens
    chosen = _best(found, resources) if engine == "auto" else engine
    more = {"or_in_duckdb": True} if engine == "auto" and chosen == "in-process" else {}
    try:
        module = importlib.import_module(ENGINES[chosen])
        return module.connect(found, columns, countings, tokens, resources, **more)
    except BaseException:
        found.close()
        raise


def _best(found: Source, resources: Resources) -> str:
    if found.spark is not None or resources.master is not None:
        return "spark"
    return "in-process" if found.kind in ("parquet", "frame") else "duckdb"


def _records_of(source: Any) -> Any:
    """Return the records of a table, or those of a release with its regions as text."""
    if isinstance(source, Release):
        if source.weights is not None:
            raise UserError(
                "risk is measured on records, one per row; this release has weighted rows (noisy "
                "counts), which stand for no record."
            )
        return source.to_frame()
    return source.frame() if isinstance(source, Table) else source

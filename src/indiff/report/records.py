"""Writes one row for each tested record to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indiff.files import label, write_frame


def write_records(path: Path, results: Sequence[Any]) -> None:
    """Write one row per tested record; with several attributes or models, below each other."""
    import pyarrow as pa

    frames = [result.to_arrow() for result in results]
    if len({result.sensitive_name for result in results}) < len(results):  # who sees which
        frames = [
            frame.append_column("model", pa.array([label(result.model)] * len(frame)))
            for frame, result in zip(frames, results, strict=True)
        ]
    if len(results) > 1:
        frames = [
            frame.add_column(0, "sensitive", pa.array([label(result.sensitive_name)] * len(frame)))
            for frame, result in zip(frames, results, strict=True)
        ]
    write_frame(pa.concat_tables(frames, promote_options="default"), path)

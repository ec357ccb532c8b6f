"""Calls pyCANON and ANJANA in their own environment, since they pin an old numpy and pandas.

Nothing of a rival is corrected here: what it returns is what a test sees. ``README.md`` beside
this file lists where that differs from the textbook definitions.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tests.conftest import skip
from tests.rivals import wire

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".rivals" / "bin" / "python"
MEASURES = (
    "k",
    "alpha_k",
    "distinct_l",
    "entropy_l",
    "recursive",
    "t",
    "basic_beta",
    "enhanced_beta",
    "delta_disclosure",
)


class RivalError(Exception):
    """The rival raised; the message is the end of its traceback."""


@dataclass(frozen=True)
class Case:
    """One table to measure. The frame's integer index travels with it, as pyCANON looks at it."""

    frame: pd.DataFrame
    quasi: Sequence[str]
    sensitive: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """pyCANON's answers by measure, and how long each call took inside its process."""

    values: dict[str, Any]
    seconds: dict[str, float]


def pycanon(
    frame: pd.DataFrame,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    *,
    measures: Sequence[str] = MEASURES,
) -> dict[str, Any]:
    """Return pyCANON's measures of one table.

    ``alpha_k`` is [α, k] and ``recursive`` is [c, ℓ]; t is by ranks for a number column and by
    equal distance for a text column. A measure that raises in pyCANON raises
    :class:`RivalError` here: leave it out with ``measures``.
    """
    return pycanon_each([Case(frame, quasi, sensitive)], measures=measures)[0].values


def pycanon_each(
    cases: Sequence[Case], *, measures: Sequence[str] = MEASURES, timeout: float = 600
) -> list[Measured]:
    """Measure many tables in one process, as starting it costs more than a small table."""
    unknown = set(measures) - set(MEASURES)
    if unknown:
        raise ValueError(f"no measure {sorted(unknown)}; there are {MEASURES}")
    arguments = {
        "measures": list(measures),
        "cases": [{"quasi": list(c.quasi), "sensitive": list(c.sensitive)} for c in cases],
    }
    with tempfile.TemporaryDirectory(prefix="rival-") as name:
        folder = Path(name)
        _run("call_pycanon", folder, [case.frame for case in cases], arguments, timeout)
        answers = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return [Measured(answer["values"], answer["seconds"]) for answer in answers]


def anjana_k_anonymity(
    frame: pd.DataFrame,
    quasi: Sequence[str],
    identifiers: Sequence[str],
    hierarchies: Mapping[str, Sequence[Sequence[Any]]],
    k: int,
    *,
    suppression: float = 0,
) -> pd.DataFrame:
    """Release with ANJANA's k-anonymity; see :func:`anjana` for the arguments."""
    return anjana(
        "k_anonymity", frame, quasi, identifiers, hierarchies, suppression=suppression, k=k
    )


def anjana_l_diversity(
    frame: pd.DataFrame,
    quasi: Sequence[str],
    identifiers: Sequence[str],
    hierarchies: Mapping[str, Sequence[Sequence[Any]]],
    k: int,
    l_div: int,
    *,
    sensitive: str,
    suppression: float = 0,
) -> pd.DataFrame:
    """Release with ANJANA's distinct ℓ-diversity on top of k-anonymity."""
    return anjana(
        "l_diversity",
        frame,
        quasi,
        identifiers,
        hierarchies,
        suppression=suppression,
        sens_att=sensitive,
        k=k,
        l_div=l_div,
    )


def anjana_t_closeness(
    frame: pd.DataFrame,
    quasi: Sequence[str],
    identifiers: Sequence[str],
    hierarchies: Mapping[str, Sequence[Sequence[Any]]],
    k: int,
    t: float,
    *,
    sensitive: str,
    suppression: float = 0,
) -> pd.DataFrame:
    """Release with ANJANA's t-closeness on top of k-anonymity."""
    return anjana(
        "t_closeness",
        frame,
        quasi,
        identifiers,
        hierarchies,
        suppression=suppression,
        sens_att=sensitive,
        k=k,
        t=t,
    )


def anjana(
    method: str,
    frame: pd.DataFrame,
    quasi: Sequence[str],
    identifiers: Sequence[str],
    hierarchies: Mapping[str, Sequence[Sequence[Any]]],
    *,
    suppression: float = 0,
    timeout: float = 600,
    **options: Any,
) -> pd.DataFrame:
    """Call ``anjana.anonymity.<method>``; ``options`` are its own arguments.

    ``hierarchies`` gives each quasi-identifier its levels, level 0 the values themselves, all of
    one length and position by position (see :func:`levels`). ``suppression`` is the percentage of
    records ANJANA may drop. When ANJANA cannot reach the goal it returns an empty frame.
    """
    arguments = {
        "method": method,
        "quasi": list(quasi),
        "identifiers": list(identifiers),
        "hierarchies": {
            column: [list(level) for level in steps] for column, steps in hierarchies.items()
        },
        "suppression": suppression,
        "options": options,
    }
    with tempfile.TemporaryDirectory(prefix="rival-") as name:
        folder = Path(name)
        _run("call_anjana", folder, [frame], arguments, timeout)
        return wire.read_frame(folder / "out.csv")


def levels(lines: Iterable[str], *, separator: str = ";") -> list[list[str]]:
    """Turn ``leaf;parent;…;*`` lines of any depth into the equally deep levels ANJANA wants.

    A short line repeats ``*`` at its top.

    >>> levels(["11th;Secondary;School;*", "Bachelors;University;*"])
    [['11th', 'Bachelors'], ['Secondary', 'University'], ['School', '*'], ['*', '*']]
    """
    paths = [
        [label for label in map(str.strip, line.split(separator)) if label and label != "*"]
        for line in lines
        if line.strip()
    ]
    depth = max(map(len, paths)) + 1
    return [[path[level] if level < len(path) else "*" for path in paths] for level in range(depth)]


def _run(
    script: str,
    folder: Path,
    frames: Sequence[pd.DataFrame],
    arguments: Mapping[str, Any],
    timeout: float,
) -> None:
    if not PYTHON.exists():
        skip("the rivals' environment is missing: run `make .rivals/.installed`")
    for position, frame in enumerate(frames):
        wire.write_frame(frame, folder / f"in{position}.csv")
    (folder / "arguments.json").write_text(json.dumps(arguments), encoding="utf-8")
    # Rivals print and warn freely, so answers travel in files and both streams are kept aside.
    # One BLAS thread: the tests themselves already run side by side.
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [str(PYTHON), "-m", f"tests.rivals.scripts.{script}", str(folder)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RivalError("\n".join(done.stderr.strip().splitlines()[-3:]))

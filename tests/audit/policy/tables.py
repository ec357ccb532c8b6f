"""Tables whose groups have a known size, and audits of them by a policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

import indiff

CONTEXT = {
    "purpose": "research",
    "recipients": "universities",
    "release_model": "controlled",
    "controller": "the hospital",
    "author": "the officer",
    "data_period": "2019 to 2023",
    "attackers": "a neighbour",
    "knowledge": "age and sex",
    "review_by": "2030-01-01",
}


def groups_of(size: int, **columns: list[str]) -> pa.Table:
    """Return four groups of so many people each; more columns are repeated in every group."""
    bands = ["20-29", "30-39"]
    rows = [(band, sex) for band in bands for sex in "fm" for _ in range(size)]
    more = {name: (cells * len(rows))[: len(rows)] for name, cells in columns.items()}
    return pa.table(
        {
            "years": [band for band, _ in rows],
            "sex": [sex for _, sex in rows],
            "ill": [("yes", "no")[place % 2] for place in range(len(rows))],
            **more,
        }
    )


def audited(table: Any, policy: str, **sections: Any) -> Any:
    """Audit a table that is released as it is, unless the sections say otherwise."""
    columns = [name for name in table.column_names if name != "ill"]
    roles = {"quasi": columns, "sensitive": "ill", **sections.pop("data", {})}
    context = {"policy": policy, **sections.pop("context", {})}
    sections.setdefault("release", {"sanitizer": "identity"})
    plan = indiff.Plan(
        data=roles,
        context=context,
        adversary={"models": ["naive-bayes"], "membership": False},
        report={"worst": 0},
        **sections,
    )
    return indiff.run_audit(plan, table)


def with_a_column(table: pa.Table, folder: Path) -> dict[str, str]:
    """Write the table as a release made elsewhere, with a column of which nothing is known."""
    place = folder / "release.csv"
    born = [str(1950 + row % 7) for row in range(len(table))]
    pa.csv.write_csv(table.append_column("born", [born]), place)
    return {"file": str(place)}


def outcome(result: Any) -> tuple[str, int]:
    """Return how the policy came out, and the exit code."""
    return result.document["policy"]["status"], result.verdict["exit_code"]

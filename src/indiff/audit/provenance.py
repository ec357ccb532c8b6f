"""Ties a report to its files: fingerprints of what was read, SHA-256 of the judged release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indiff.audit.plan.plan import Plan
from indiff.data.key import keyed
from indiff.data.reading.input_files import STANDARD_INPUT, found_files
from indiff.data.table import Table
from indiff.errors import InternalError, UserError
from indiff.files import FRAME_ENDINGS, file_digest, frame_digest, write_frame
from indiff.release.release import Release

USUAL_ENDING = ".csv"  # of a release that nobody asked to write


def input_files(
    plan: Plan, table: Any = None, plan_file: str | Path | None = None
) -> list[dict[str, Any]]:
    """Return every file that an audit reads beside a release, its fingerprint and what it is for.

    Neither a plain SHA-256 nor the size: with all records but one value known, they confirm it.
    ``table`` is what is audited instead of the plan's file: of a table nothing is read any more.
    ``plan_file`` is where the plan itself was read, if it was.
    """
    named: list[tuple[str, Path]] = []
    if plan.data.path is not None and table is None:
        for name in (plan.data.path, *plan.data.join):
            named += [("table", path) for path in found_files(name)[0]]
    if not isinstance(table, Table):
        named += [("hierarchy", Path(path)) for path in plan.data.hierarchies.values()]
    others: dict[str, str | Path | None] = {
        "prior": plan.adversary.prior,
        "ground distance": plan.adversary.ground_file,
    }
    others |= {"policy": plan.context.policy_file, "plan": plan_file}
    named += [(what, Path(path)) for what, path in others.items() if path is not None]
    named += [("table of another release", Path(path)) for path in plan.release.tables.values()]
    named += [("earlier release", Path(path)) for path in plan.release.before]
    typed = plan.data.path == STANDARD_INPUT
    return [
        {
            "part": what,
            "name": "standard input" if typed and what == "table" else path.name,
            "fingerprint": file_fingerprint(path),
        }
        for what, path in named
    ]


def file_fingerprint(path: str | Path) -> str:
    """Return the keyed SHA-256 of a file, which only the owner of the key can check."""
    return keyed(str(file_digest(path)["sha256"]))


def judged_files(plan: Plan, releases: Sequence[Release]) -> list[dict[str, Any]]:
    """Return the SHA-256 of every release that is judged.

    It is that of the file made elsewhere, or of the one that :func:`write_judged` writes.
    """
    if plan.release.file is not None:
        path, rows = Path(plan.release.file), len(releases[0]) if releases else None
        return [{"name": path.name, **file_digest(path), "rows": rows, "about": None}]
    place = None if plan.release.write is None else Path(plan.release.write)
    ending = USUAL_ENDING if place is None else _ending(place)
    return [
        {
            "name": None if place is None else place.name,
            **frame_digest(one.sorted_rows(), ending),
            "rows": len(one),
            "about": one.sensitive_name,
        }
        for one in releases
    ]


def write_judged(release: Release, path: str | Path, told: dict[str, Any]) -> None:
    """Write a release, rows sorted, and hold the file to the SHA-256 that its report names."""
    place = Path(path)
    ending = USUAL_ENDING if told["name"] is None else Path(told["name"]).suffix.lower()
    if _ending(place) != ending:
        raise UserError(
            f"the report names the SHA-256 of a {ending} file",
            f"{place.name!r}",
            f"Write a {ending} file, or name this one in the plan, as write under [release]",
            field="write-release",
        )
    write_frame(release.sorted_rows(), place)
    if place.is_file() and file_digest(place)["sha256"] != told["sha256"]:
        raise InternalError("the release that was written is not the one that was judged.")


def _ending(place: Path) -> str:
    ending = place.suffix.lower()
    if ending not in FRAME_ENDINGS:
        raise UserError(
            f"a release must be written to a file that ends in {', '.join(FRAME_ENDINGS)}",
            f"{place.name!r}",
            "Change the ending",
            field="write-release",
        )
    return ending

"""Checks that a report belongs to a release, and that its numbers can be recomputed."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from indiff.audit.document import AuditResult
from indiff.audit.findings.exposure import Progress
from indiff.audit.outliers import audit_rest, without_outliers
from indiff.audit.plan.plan import Plan
from indiff.audit.plan.values.targets import read_targets
from indiff.audit.provenance import file_fingerprint
from indiff.audit.redaction import RARE
from indiff.audit.run import run_audit
from indiff.audit.verdict import Exit
from indiff.data.key import VARIABLE, is_own
from indiff.data.reading.input_files import found_files
from indiff.errors import HIDDEN, UserError, from_data
from indiff.files import file_digest

Status = Literal["same", "different", "undecided", "not asked"]
CLOSE = 1e-9  # numbers that differ by less than this share are the same on another machine
# What a repetition does not repeat: the plan is its ground, and notes say why, not what.
_NOT_COMPARED = ("timing", "command", "versions", "plan", "files", "next_steps")


class _Input(BaseModel):
    name: str
    part: str
    fingerprint: str


class _Sum(BaseModel):
    sha256: str


class _Files(BaseModel):
    input: list[_Input] | None = None
    release: list[_Sum] | None = None


class _Data(BaseModel):
    hierarchies: dict[str, str]


class _Adversary(BaseModel):
    models: list[str]
    prior: str | None
    distance: str
    targets: Any


class _Release(BaseModel):
    file: str | None


class _Run(BaseModel):
    time: str | float | None


class _Plan(BaseModel):
    data: _Data
    adversary: _Adversary
    release: _Release
    run: _Run
    context: dict[str, Any] | None = None


class _Table(BaseModel):
    fingerprint: str
    source: str


class _Verdict(BaseModel):
    exit_code: int


class _Finding(BaseModel):
    id: str


class _Fix(BaseModel):
    delta: float
    budget: float | None
    status: str


class _Document(BaseModel):
    """The parts of a report that are read here; whoever had it in hand may have changed them."""

    plan: _Plan
    table: _Table
    verdict: _Verdict
    versions: dict[str, str]
    findings: list[_Finding]
    files: _Files | None = None
    tried: dict[str, Any] | None = None
    fix: _Fix | None = None


@dataclass(frozen=True)
class Answer:
    """One thing that was checked: release, table or numbers; ``names`` are what differs."""

    about: str
    status: Status
    text: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verification:
    """What was checked of a report, and how a command ends that asked for it."""

    answers: tuple[Answer, ...]

    @property
    def exit_code(self) -> Exit:
        """1 where something differs, 3 where something cannot be decided, else 0."""
        found = {one.status for one in self.answers}
        if "different" in found:
            return Exit.EXCEEDED
        return Exit.INCOMPLETE if "undecided" in found else Exit.NOTHING_EXCEEDED


def verify(
    report: str | Path,
    release: str | Path,
    data: str | Path | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Compare a release with the report about it; with the data, make the audit once more.

    Files that the plan names beside the table (hierarchies, a prior) are looked for in its folder.
    """
    document, place = _read(Path(report)), Path(release)
    answers = [_of_release(document, place)]
    if data is None:
        text = "were not recomputed: that needs the table, by --data"
        return Verification((*answers, Answer("numbers", "not asked", text)))
    paths, _ = found_files(str(data))
    named = [one["fingerprint"] for one in _files(document, "input") if one["part"] == "table"]
    is_input = sorted(named) == sorted(map(file_fingerprint, paths))
    elsewhere = document["plan"]["release"]["file"] is not None
    if elsewhere and answers[0].status != "same":
        text = "were not recomputed: they are about another release than this file"
        return Verification((*answers, Answer("numbers", "not asked", text)))
    try:
        plan = plan_of(document, str(data), paths[0].parent, str(place))
        again = _again(plan, document, progress).document
    except UserError as error:
        text = f"cannot be recomputed from the report's plan: {error.message}"
        return Verification((*answers, Answer("numbers", "undecided", text)))
    told = _of_table(document, again, paths[0].name, is_input=is_input)
    answers.append(told)
    if told.status == "same" or not is_own(document["table"]["fingerprint"]):
        answers.append(_of_numbers(document, again))
    return Verification(tuple(answers))


def _again(plan: Plan, document: Mapping[str, Any], progress: Progress | None) -> AuditResult:
    """Make the audit once more; outliers that were removed before it are removed again."""
    how: dict[str, Any] = {"progress": progress, "source": document["table"]["source"]}
    fix = document.get("fix")
    if fix is None:
        return run_audit(plan, **how)
    found, table = without_outliers(plan, fix["delta"], fix["budget"], progress)
    return audit_rest(plan, found, table, **how)


def _read(path: Path) -> dict[str, Any]:
    document = AuditResult.from_json(_text(path)).document
    try:
        _Document.model_validate(document)
    except ValidationError as error:
        named = ".".join(map(str, error.errors()[0]["loc"]))
        raise UserError(
            f"a report has the parts that an audit wrote; {str(path)!r} has none, or another kind "
            f"of value, at {from_data(named)}",
            way_out="Name the report.json as the audit wrote it",
        ) from None
    return document


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"a report must be readable; {str(path)!r} is not ({error.strerror})",
            way_out="Name the report.json that an audit wrote",
        ) from None
    except UnicodeDecodeError:
        raise UserError(
            f"a report is JSON in UTF-8; {str(path)!r} is not",
            way_out="Name the report.json that an audit wrote",
        ) from None


def _files(document: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (document.get("files") or {}).get(part) or []
    return found


def _of_release(document: Mapping[str, Any], place: Path) -> Answer:
    own = file_digest(place)["sha256"]
    named = [one["sha256"] for one in _files(document, "release")]
    if not named:
        text = f"the report names no SHA-256 of a release, so nothing ties {place.name!r} to it"
        return Answer("release", "undecided", text)
    if own in named:
        return Answer("release", "same", f"{place.name!r} is the release that was judged ({own})")
    text = f"{place.name!r} is not the release that was judged: its SHA-256 is {own}, not "
    return Answer("release", "different", text + " or ".join(named))


def _of_table(
    document: Mapping[str, Any], again: Mapping[str, Any], name: str, *, is_input: bool
) -> Answer:
    if not is_own(document["table"]["fingerprint"]):
        text = (
            f"the report's fingerprints were made with another key than the one here: nothing but "
            f"the numbers tells whether {name!r} has its records ({VARIABLE} names the key's file)"
        )
        return Answer("table", "undecided", text)
    if document["table"]["fingerprint"] == again["table"]["fingerprint"]:
        same = "the file" if is_input else "another file with the records"
        return Answer("table", "same", f"{name!r} is {same} that the report is about")
    if is_input:
        text = f"{name!r} is the file that was read, but the report is about other records of it"
        return Answer("table", "undecided", text)
    return Answer("table", "different", f"{name!r} has other records than the report is about")


def _of_numbers(document: Mapping[str, Any], again: Mapping[str, Any]) -> Answer:
    names = tuple(dict.fromkeys(differences(document, again)))
    if not names:
        return Answer("numbers", "same", "are those of the report: every finding was recomputed")
    versions = {
        f"{name} {version}": f"{again['versions'].get(name)}"
        for name, version in document["versions"].items()
        if again["versions"].get(name) != version
    }
    if versions:
        made = ", ".join(f"{was} (here {now})" for was, now in versions.items())
        text = f"differ, perhaps because the report was made with {made}"
    elif _was_cut_short(document):
        text = "differ, perhaps because the audit was cut short"
    else:
        return Answer("numbers", "different", "are not those of the report", names)
    return Answer("numbers", "undecided", text, names)


def _was_cut_short(document: Mapping[str, Any]) -> bool:
    ended = document["verdict"]["exit_code"], (document.get("fix") or {}).get("status")
    cut = Exit.INTERRUPTED in ended or "interrupted" in ended
    return cut or bool(document["plan"]["run"]["time"])


def differences(document: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[str]:
    """Name the findings that differ, then every other part of two documents that does."""
    theirs, ours = ({one["id"]: one for one in doc["findings"]} for doc in (document, again))
    for name in dict.fromkeys([*theirs, *ours]):
        if not _equal(_compared(theirs.get(name)), _compared(ours.get(name))):
            yield name
    hidden = {"findings", *_NOT_COMPARED}
    document, again = (_without_fingerprint(doc) for doc in (document, again))
    for key in dict.fromkeys([*document, *again]):
        if key in hidden:
            continue
        one, other = _compared(document.get(key)), _compared(again.get(key))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for inner in dict.fromkeys([*one, *other]):
                if not _equal(one.get(inner), other.get(inner)):
                    yield f"{key}.{inner}"
        elif not _equal(one, other):
            yield key
    sums = [[one["sha256"] for one in _files(doc, "release")] for doc in (document, again)]
    if sums[0] != sums[1]:
        yield "files.release"


def _without_fingerprint(document: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is an answer of its own, and differs by the key."""
    table = {name: part for name, part in document["table"].items() if name != "fingerprint"}
    return {**document, "table": table}


def _compared(part: Any) -> Any:
    """Leave out notes: which adversaries a plan left open is told by them alone."""
    if not isinstance(part, Mapping):
        return part
    found = {key: inner for key, inner in part.items() if key != "notes"}
    if isinstance(found.get("parameters"), Mapping):
        found["parameters"] = {k: v for k, v in found["parameters"].items() if k != "left_out"}
    return found


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    numbers = [isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other)]
    if all(numbers) and max(abs(one), abs(other)) < 1e300:
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(one == other)


def plan_of(document: Mapping[str, Any], data: str, folder: Path, release: str) -> Plan:
    """Return the plan that a document tells, its files found beside the table.

    Where the document withholds a value that the plan needs, or a file is missing, it is refused.
    """
    sections = copy.deepcopy(dict(document["plan"]))
    if any(text in (HIDDEN, RARE) for text in _texts(sections)):
        raise UserError("the report withholds a value of its plan.")
    odd = [
        name
        for name, held in sections.items()
        if held is not None and not isinstance(held, Mapping)
    ]
    if odd:
        raise UserError(f"a section of a plan has named values; {odd[0]} has none.")
    table, who, made = sections["data"], sections["adversary"], sections["release"]
    who["models"] = (document.get("tried") or {}).get("asked") or who["models"]
    table["path"] = data
    table["hierarchies"] = {
        name: _beside(folder, file) for name, file in table["hierarchies"].items()
    }
    table["join"] = [_beside(folder, file) for file in table.get("join", ())]
    tables = made.get("tables", {}).items()
    made["tables"] = {place: _beside(folder, file) for place, file in tables}
    made["before"] = [_beside(folder, file) for file in made.get("before", ())]
    people = sections.get("population") or {}
    if isinstance(people.get("source"), str):
        people["source"] = _beside(folder, people["source"])
    if who["prior"] is not None:
        who["prior"] = _beside(folder, who["prior"])
    ground = who["distance"].removeprefix("emd:")
    if ground.lower().endswith(".csv"):
        who["distance"] = f"emd:{_beside(folder, ground)}"
    context = sections.get("context") or {}
    if str(context.get("policy") or "").lower().endswith(".toml"):
        context["policy"] = _beside(folder, context["policy"])
    if isinstance(who["targets"], str):
        who["targets"] = read_targets(who["targets"])
    if made["file"] is not None:
        made["file"] = release
    plan = Plan(**sections)
    named = {one["name"]: one["fingerprint"] for one in _files(document, "input")}
    for path in map(Path, plan.files):
        if str(path) in (data, release):
            continue
        told = named.get(path.name)
        if told is not None and is_own(told) and told != file_fingerprint(path):
            raise UserError(f"{path.name!r} is another file than the one that was read.")
    return plan


def _beside(folder: Path, name: str) -> str:
    place = folder / name
    if not place.exists():
        raise UserError(f"{name!r} is needed beside the table, in its folder.")
    return str(place)


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for key, inner in part.items():
            yield key
            yield from _texts(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _texts(inner)

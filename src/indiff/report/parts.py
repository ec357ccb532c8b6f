"""Gathers every part of a report once, for the page and for Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from indiff import text as plain
from indiff.report import adversaries, sheet
from indiff.report import finding as words
from indiff.report.adversaries import first_sentence, is_by_adversary, side_by_side
from indiff.report.glossary import glossary
from indiff.report.limits import POINTS, claim_lines
from indiff.report.plain_words import sanitized, sentence
from indiff.report.references import references
from indiff.report.together import is_told, together
from indiff.text import duration, moment, number, percent

Document = Mapping[str, Any]
ASKED: tuple[Any, ...] = ("singling-out", "linkability", "inference", "together", "utility")
HEADINGS = {
    "private": "Private: what one person's own record gives away",
    "public": "Public: what the crowd teaches",
    None: "From the published columns",
}
TITLES = {
    "sheet": "Filing sheet",
    **{name: words.QUESTIONS[name].title for name in ASKED[:-1]},
    "worst": "Most exposed records",
    "utility": words.QUESTIONS["utility"].title,
    "released": "What was released, and what was not measured",
    "reading": "What a pass is not, and how to read this report",
}
APPENDIX = {
    "claim": "The claim",
    "policy": "The policy",
    "findings": "Every finding in full",
    "why": "Most exposed records, and why",
    "table": "The table",
    "method": "Method, and how to repeat it",
    "references": "References",
    "glossary": "Glossary",
}
COLUMNS_NOTE = (
    "Columns that tell little alone may tell much together. A released region depends on the "
    "record's other columns too, so a column can tell more alone than it did before."
)
RECORD_NUMBERS = "Records are named by their position in the input; the first is record 0."
_READING = (
    (
        "The differential test",
        "For every record the table is sanitized twice, with and without it. An adversary learns "
        "from both releases, and the distance d between the two beliefs about that person's "
        "sensitive value is measured. δ is the largest distance.",
    ),
    (
        "δ in plain words",
        "How much of a guess about one person rests on that person's own record. 0: the guess is "
        "the same whether or not the person took part. 2, the most by the usual distance: no "
        "value that is thought possible with the record is thought possible without it. In "
        "between, half of δ is the share of the belief that moves: 0.4 moves up to 20 of 100 parts "
        "of it.",
    ),
    (
        "ITPR and DR in plain words",
        "How far the published columns narrow down whose record it is, or which value it has: 0 "
        "leaves all doubt, 1 leaves none. DR is the average over all people, ITPR is about the "
        "group that gives most away.",
    ),
    (
        "Private and public inference",
        "If the release tells something about you even without your record, it has learned from "
        "the crowd: a public inference, and the point of publishing data. If it tells only with "
        "your record, it is about you: a private inference, and a leak.",
    ),
    (
        "Exactness",
        "exact: computed for every record. estimate: sampled, with an interval in brackets that "
        "holds the true number with the stated confidence; a limit is checked against its worse "
        "end. lower-bound: not every record was tested, the truth can be worse. approximation: a "
        "faster method that can err.",
    ),
    ("Record numbers", RECORD_NUMBERS),
    (
        "Limits",
        "A limit is set in the plan, by its policy or with the command; it says more if it was set "
        "before the numbers were known. What failed or was not measured never counts as passed.",
    ),
)
_OF_COLUMN = re.compile(r"column (?P<name>'[^']*')(?P<says>[: ].*)", re.DOTALL)
_NUMBER = re.compile(r"\d[\d,.]*")
_COUNTED = re.compile(r" \([^)]*\d[^)]*\)|: [^:]*\d[^:]*$")
_PARAMETERS = {
    "area_under_roc": "area under the ROC curve",
    "area_interval": "interval of that area",
    "true_positives_at.0.001": "found at 0.1% false alarms",
    "true_positives_at.0.01": "found at 1% false alarms",
    "true_positives_interval.0.001": "interval at 0.1% false alarms",
    "true_positives_interval.0.01": "interval at 1% false alarms",
    "told_apart": "share that makes a difference",
    "infinite": "infinite distances",
    "uncovered": "people whom no released record fits",
    "uncovered_without": "people whom no released record fits without their own",
    "generalized_without": "records without which the release breaks its promise",
    "failures": "failed calls",
    "above_limit": "records above the limit",
    "held_out": "records held out",
    "left_out": "adversaries left out",
    "statistic": "over groups or people",
    "of": "counts people of the",
    "model_of_uniques": "model that the rule chooses",
    "model_of_counts": "log-linear model",
    "converged": "models with a solution",
    "fit": "fit of the model (z, within ±2)",
}


class Reason(NamedTuple):
    """Why some numbers were not measured: said once for all of them."""

    number: int
    text: str
    titles: tuple[str, ...]


def parts(document: Document) -> dict[str, Any]:
    """Return everything that both templates show, by the names that they use."""
    worst = by_distance(document["charts"].get("worst") or [])
    here = {"policy": bool(document.get("policy")), "why": bool(worst), "worst": bool(worst)}
    here["together"] = is_told(document)
    here["claim"] = bool(document.get("claim"))
    reasons = not_measured(document["findings"])
    findings = by_question(document["findings"])
    return {
        **sheet.parts(document),
        "document": document,
        "verdict": words.VERDICTS[document["verdict"]["status"]],
        "questions": words.QUESTIONS,
        "findings": findings,
        "alone": _kinds(findings, lambda own: [one for one in own if not is_by_adversary(one)]),
        "beside": _kinds(findings, side_by_side),
        "points": POINTS,
        "together": together(document),
        "sanitized": sanitized(plain.name(str(document["release"]["sanitizer"]))),
        "whose_records": RECORD_NUMBERS,
        "headings": HEADINGS,
        "worst": worst,
        "policy": document.get("policy"),
        "claims": [
            (sentence(one["sentence"]), claim_lines(one)) for one in document.get("claim") or ()
        ],
        "notes": notes(document),
        "reasons": reasons,
        "why": {one.text: one.number for one in reasons},
        "contents": [one for one in TITLES.items() if here.get(one[0], True)],
        "appendix": [one for one in APPENDIX.items() if here.get(one[0], True)],
        "titles": TITLES | APPENDIX,
        "reading": [("What a pass is not", sheet.NO_PROOF), *_READING],
        "facts": facts(document),
        "columns_note": COLUMNS_NOTE,
        "seen": seen_rows(document),
        "seen_heads": SEEN,
        "shared": shared(document["findings"]),
        "repeat": repeat(document),
        "plan": words.flat(document.get("plan") or {}),
        "references": references(document),
        "glossary": glossary(document),
    }


def by_question(
    findings: Iterable[Mapping[str, Any]],
) -> dict[str, dict[str | None, list[dict[str, Any]]]]:
    """Findings by question, then by private, public or neither; what exceeds its limit first."""
    found: dict[str, dict[str | None, list[dict[str, Any]]]] = {}
    for place, one in enumerate(findings):
        kinds = found.setdefault(one["question"], {"private": [], "public": [], None: []})
        kinds[one.get("inference")].append({**one, "place": place})
    for kinds in found.values():
        for listed in kinds.values():
            listed.sort(key=lambda one: words.badge(one)[2])
            said: set[str] = set()
            for one in listed:  # what several adversaries' numbers mean is said once
                one["gist"] = "" if one["metric"] in said else first_sentence(one["means"])
                said |= {one["metric"]} if one["status"] == "measured" else set()
    return found


def _kinds(findings: Mapping[str, Any], make: Callable[[Any], Any]) -> dict[str, dict[Any, Any]]:
    """Make something of the findings of every kind of every question."""
    return {
        name: {kind: make(listed) for kind, listed in kinds.items()}
        for name, kinds in findings.items()
    }


def by_distance(lines: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the worst records of all sensitive attributes together, the most exposed first."""
    return sorted(lines, key=lambda row: -or_least(row["distance"]))


def or_least(value: Any) -> float:
    """Return a number to sort by: what is none comes last."""
    return -math.inf if value is None or math.isnan(float(value)) else float(value)


def parameter_name(name: str) -> str:
    """Write the name of a finding's parameter in words.

    >>> parameter_name("records_tested"), parameter_name("true_positives_at.0.01")
    ('records tested', 'found at 1% false alarms')
    """
    return _PARAMETERS.get(name, name.replace("_", " "))


def shared(findings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the parameters that are the same in all findings that have them, and have several.

    >>> tests = [{"parameters": {"method": "refit", "model": name}} for name in ("tree", "knn")]
    >>> shared(tests)
    {'method': 'refit'}
    """
    found: dict[str, list[str]] = {}
    for one in findings:
        for key, value in words.flat(one["parameters"], digits=4) if one["parameters"] else ():
            if value != "not set":
                found.setdefault(key, []).append(value)
    return {key: own[0] for key, own in found.items() if len(own) > 1 and len({*own}) == 1}


def facts(document: Document) -> list[tuple[str, str]]:
    """Return what is known of the release and of what was tried on it."""
    release, tried = document["release"], document.get("tried")
    elsewhere = ((document.get("plan") or {}).get("release") or {}).get("file")
    groups = release["groups"]
    rows = [
        (
            "released elsewhere as" if elsewhere else "sanitizer",
            plain.name(str(release["sanitizer"]))
            if elsewhere
            else sanitized(plain.name(str(release["sanitizer"]))),
        ),
        ("released records", f"{number(release['records'])}{_in_groups(groups)}"),
        ("its constraint", words.PROMISE[release["constraint_met"]]),
    ]
    if tried:
        none = "none is needed" if tried["models"] else "none"
        others = len(tried["other_encodings"])
        rows += [
            ("adversaries tried", adversaries.listed(tried["models"]) or "none"),
            ("adversaries not tried", adversaries.listed(tried["other_models"]) or "none"),
            ("how they read a cell", ", ".join(map(_read, tried["encodings"])) or none),
            (
                "other ways to read it",
                f"{others} not tried, see appendix" if others else "—",
            ),
        ]
    return [*rows, *(("note", sentence(note)) for note in notes(document))]


def not_measured(findings: Sequence[Mapping[str, Any]]) -> list[Reason]:
    """Return why numbers are missing, each reason once with all that it is the reason of."""
    titles: dict[str, list[str]] = {}
    for one in findings:
        if one["status"] != "measured":
            titles.setdefault(str(one["reason"]), []).append(one["title"])
    return [
        Reason(place, text, tuple(named)) for place, (text, named) in enumerate(titles.items(), 1)
    ]


def notes(document: Document) -> list[str]:
    """Return the notes of table and release, each once: what is said of several columns, too.

    >>> said = [f"column {name!r} has zeros: {n} of them" for name, n in (("zip", 3), ("area", 7))]
    >>> notes({"table": {"notes": said}, "release": {"notes": ["a note", "a note"]}})
    ["each of the columns 'zip', 'area' has zeros", 'a note']
    """
    blank = [
        f"{plain.name(one['name'])} is blank in {sheet.counted(one['missing'])}: blank counts as "
        "a value of its own, and whoever guesses it is right"
        for one in document["table"].get("columns") or ()
        if one["role"] == "sensitive" and one["missing"]
    ]
    found: dict[str, dict[str, str]] = {}
    for note in dict.fromkeys([*document["table"]["notes"], *document["release"]["notes"]]):
        about = _OF_COLUMN.fullmatch(note)
        says = about["says"] if about else note
        found.setdefault(_NUMBER.sub("#", says), {})[about["name"] if about else ""] = says
    told = []
    for columns in found.values():
        names, says = [name for name in columns if name], next(iter(columns.values()))
        if len(set(columns.values())) > 1:  # numbers of their own, which the JSON file has
            says = _COUNTED.sub("", says)
        several = f"each of the columns {', '.join(names)}{says}"
        told.append(several if len(names) > 1 else f"column {names[0]}{says}" if names else says)
    return [*told, *blank]


def _in_groups(groups: int | None) -> str:
    if groups is None:
        return ""
    return " in 1 group" if groups == 1 else f" in {number(groups)} groups"


def _read(encoding: str) -> str:
    usual = encoding == words.USUAL_ENCODING
    text = plain.name(str(encoding))
    return f"as {words.USUAL_READING} (encoding {text})" if usual else f"by encoding {text}"


def _joined(names: Iterable[str], none: str = "none") -> str:
    return ", ".join(plain.name(str(one)) for one in names) or none


def repeat(document: Document) -> list[tuple[str, str]]:
    """Return what is needed to make the report again."""
    tried = document.get("tried") or {}
    timing, files = document["timing"], (document.get("files") or {}).get("input") or []
    plan = [one for one in files if one.get("part") == "plan"]
    where = (
        f"{plain.name(str(plan[0]['name']))}, fingerprint {plan[0]['fingerprint']}"
        if plan
        else "none was read: every parameter is listed below"
    )
    steps = ", ".join(
        f"{plain.name(str(step))} {duration(seconds)}" for step, seconds in timing["steps"].items()
    )
    shown = f"only those of at least {document['min_cell']} records"
    return [
        ("command", str(document["command"])),
        ("plan file", where),
        ("seed", str(document["seed"])),
        (
            "versions",
            ", ".join(
                f"{plain.name(str(what))} {plain.name(str(version))}"
                for what, version in document["versions"].items()
            ),
        ),
        ("started", moment(timing["started"])),
        ("duration", duration(timing["seconds"]) + (f" ({steps})" if steps else "")),
        ("encodings not tried", _joined(tried.get("other_encodings", ()))),
        ("values named", "every value (confidential)" if document["show_values"] else shown),
        (
            "to check it",
            "Put the files of the filing sheet in one folder, run the command with these versions, "
            "and compare: only times may differ. indiff verify report.json FILE --data TABLE does "
            "both and names what differs.",
        ),
    ]


SEEN = (
    "column", "different values in the table", "different cells released",
    "a typical cell may stand for", "cells that show the value itself",
    "cells that show nothing (suppressed)",
)  # fmt: skip
_NOT_SEEN = {
    "coarser": "not counted",
    "unmeasured": "not measured",
}


def seen_rows(document: Document) -> list[tuple[str, ...]]:
    """Return, column by column, how coarse the release is: counts and shares, never a value."""
    released = document["release"].get("columns") or ()
    table = {one["name"]: one for one in document["table"]["columns"]}
    rows: list[tuple[str, ...]] = []
    if not any(one.get("seen") for one in released):
        return rows
    for one in released:
        seen, own, how = one.get("seen"), table.get(one["name"]), one["how"]
        if seen is None and how == "unchanged" and own is not None:  # as the sensitive column is
            every = own["distinct"] + bool(own["missing"])
            seen = {"values": every, "released": every, "typical": 1, "exact": 1, "suppressed": 0}
        if seen is not None:
            unit = "date" if own is not None and own["kind"] == "date" else "value"
            cells = (
                _units(seen["values"], unit),
                _units(seen["released"], "cell"),
                f"{number(seen['typical'])} of {_units(seen['values'], unit)}",
                f"{percent(seen['exact'])} of cells",
                f"{percent(seen['suppressed'])} of cells",
            )
            rows.append((str(one["name"]), *cells))
        elif how in _NOT_SEEN:
            many = "—" if own is None else _units(own["distinct"], "value")
            rows.append((str(one["name"]), many, "—", _NOT_SEEN[how], "—", "—"))
    return rows


def _units(count: int, unit: str) -> str:
    return f"{number(count)} {unit}{'' if count == 1 else 's'}"

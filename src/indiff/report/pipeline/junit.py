"""Writes an audit as JUnit XML: one test case per limit, and one for the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree as Xml

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.limits import limit_rows

# What a test runner calls what became of a limit, and of the audit as a whole.
_OF_A_LIMIT = {"good": None, "bad": "failure", "unsure": "error"}
_OF_THE_AUDIT = {"pass": None, "fail": "failure", "incomplete": "error", "no-limits": "skipped"}


class _Case(NamedTuple):
    group: str
    name: str
    outcome: str | None
    message: str
    lines: tuple[str, ...] = ()


def render(document: Mapping[str, Any]) -> str:
    """Return an audit's document as JUnit XML.

    A limit that is exceeded is a failure, one that is not decided or not measured an error. The
    last case is the verdict: it fails wherever the audit does, for whatever reason, and where no
    limit was given it is skipped, for nothing was judged. The text holds no value of the table
    that the document lacks.
    """
    cases = _cases(document)
    counts = Counter(one.outcome for one in cases)
    numbers = {
        "tests": len(cases),
        "failures": counts["failure"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
    }
    seconds = f"{document['timing']['seconds']:.3f}"
    root = Xml.Element("testsuites")
    about = {
        "id": "0",
        "package": "indiff",
        "name": _token(document["title"]),
        "timestamp": document["timing"]["started"][:19],
        "hostname": "localhost",  # the machine's own name is nobody's business
        "time": seconds,
    }
    counted = {name: str(count) for name, count in numbers.items()}
    suite = Xml.SubElement(root, "testsuite", about | counted)
    properties = Xml.SubElement(suite, "properties")
    for name, value in (
        ("indiff", document["versions"]["indiff"]),
        ("command", document["command"]),
        ("sanitizer", document["release"]["sanitizer"]),
    ):
        Xml.SubElement(properties, "property", name=name, value=plain.message(str(value)))
    for place, one in enumerate(cases):
        time = seconds if place == len(cases) - 1 else "0"  # the audit is measured as a whole
        case = Xml.SubElement(suite, "testcase", classname=one.group, name=one.name, time=time)
        if one.outcome is not None:
            said = {"message": one.message}
            said |= {} if one.outcome == "skipped" else {"type": one.group}
            told = Xml.SubElement(case, one.outcome, said)
            told.text = "\n".join(one.lines) or None
    Xml.SubElement(suite, "system-out")
    Xml.SubElement(suite, "system-err")
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _cases(document: Mapping[str, Any]) -> list[_Case]:
    found = []
    for row in limit_rows(document):
        told = plain.message(f"{row.outcome}: {row.measured}, and the limit is {row.limit}")
        name = _token(f"{row.name}: {row.limit}")
        found.append(_Case("indiff.limits", name, _OF_A_LIMIT[row.look], told))
    fix = document.get("fix")
    if fix is not None:
        outcome = None if fix["status"] == "below" else "failure"
        told = f"removing outliers did not lead to δ of at most {fix['delta']:g}"
        found.append(_Case("indiff.fix", "outliers removed", outcome, told))
    verdict = document["verdict"]
    reasons = tuple(plain.message(reason) for reason in verdict["reasons"])
    line = words.VERDICTS[verdict["status"]].line
    outcome = _OF_THE_AUDIT[verdict["status"]]
    return [*found, _Case("indiff.verdict", "verdict", outcome, line, reasons)]


def _token(text: str) -> str:
    """Return a text as XML has a token: single spaces, and never empty."""
    return " ".join(plain.message(str(text)).split()) or "audit"

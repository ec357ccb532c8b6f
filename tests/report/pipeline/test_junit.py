"""The JUnit file: it keeps the schema, and fails wherever the audit does."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import xmlschema

from indiff.report.limits import limit_rows
from indiff.report.pipeline.junit import render
from tests.report.documents import bare, hostile, usual

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")


def suite(document: dict[str, Any]) -> Xml.Element:
    """Return the one suite of a document's file, which keeps the schema."""
    text = render(document)
    SCHEMA.validate(text)
    found = Xml.fromstring(text).find("testsuite")
    assert found is not None
    return found


def outcomes(document: dict[str, Any]) -> dict[str, str | None]:
    return {
        str(case.get("name")): next((child.tag for child in case), None)
        for case in suite(document).iter("testcase")
    }


@pytest.mark.parametrize("make", [usual, hostile, bare])
def test_every_document_keeps_the_schema(make: Any) -> None:
    counted = suite(make())
    cases = list(counted.iter("testcase"))
    assert int(counted.attrib["tests"]) == len(cases)
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(counted.attrib[plural]) == len(list(counted.iter(tag)))


def test_each_limit_is_a_case_and_the_verdict_the_last() -> None:
    document = usual()
    cases = list(suite(document).iter("testcase"))
    *limits, verdict = [next((child.tag for child in case), None) for case in cases]
    looks = {"good": None, "bad": "failure", "unsure": "error"}
    assert limits == [looks[row.look] for row in limit_rows(document)]
    assert {"failure", None} <= {*limits}
    assert (cases[-1].get("name"), verdict) == ("verdict", "failure")


@pytest.mark.parametrize(
    ("status", "tag"),
    [("pass", None), ("fail", "failure"), ("incomplete", "error"), ("no-limits", "skipped")],
)
def test_the_verdict_is_judged_as_the_audit_is(status: str, tag: str | None) -> None:
    document = usual()
    document["verdict"]["status"] = status
    assert outcomes(document)["verdict"] == tag


def test_an_undecided_limit_is_an_error_and_an_unreached_fix_a_failure() -> None:
    document = usual()
    for one in document["findings"]:
        if one["metric"] == "delta":
            one |= {"exceeded": None, "exactness": "lower-bound"}
    document["fix"] = {"delta": 0.1, "budget": 3, "status": "budget", "removed": 0}
    found = outcomes(document)
    assert "error" in found.values()
    assert found["outliers removed"] == "failure"
    document["fix"]["status"] = "below"
    assert outcomes(document)["outliers removed"] is None


def test_the_reasons_stand_in_the_failure() -> None:
    document = usual()
    document["verdict"]["reasons"] = ["δ is 1.934 & above <0.1>", "and more"]
    (verdict,) = [one for one in suite(document).iter("testcase") if one.get("name") == "verdict"]
    (failure,) = verdict
    assert failure.text == "δ is 1.934 & above <0.1>\nand more"

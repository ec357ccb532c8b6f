"""The job summary: the verdict, every limit, and nothing that is read as markup."""

from __future__ import annotations

import re

from indiff.report.limits import limit_rows
from indiff.report.pipeline.summary import render
from tests.report.documents import bare, hostile, usual


def test_it_says_the_verdict_its_reasons_and_every_limit() -> None:
    document = usual()
    text = render(document)
    assert text.splitlines()[0].startswith("## ✕ ")
    assert text.splitlines()[0].endswith(": Failed")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(limit_rows(document))
    assert "exceeded" in text
    assert "no proof of safety" in text


def test_markup_in_names_is_escaped() -> None:
    text = render(hostile())
    assert "<script" not in text.replace("\\<script", "")
    assert not re.search(r"(?<!\\)<img", text)
    rows = [line for line in text.split("\n") if line.startswith("| ")]
    assert all(line.count("|") - line.count("\\|") == 5 for line in rows)


def test_an_audit_without_limits_is_no_pass() -> None:
    document = bare()
    document["verdict"]["status"] = "no-limits"
    text = render(document)
    assert "No verdict" in text
    assert ("| limit |" in text) == bool(limit_rows(document))


def test_a_summary_with_values_says_so() -> None:
    document = usual()
    document["show_values"] = True
    assert "as confidential" in render(document)
    assert "as confidential" not in render(usual())

"""The page and the Markdown have the same parts; nothing is claimed that no audit can show."""

from __future__ import annotations

import re
from typing import Any

import pytest

from indiff.report.markdown import render as markdown
from indiff.report.page.html import render
from indiff.report.parts import repeat, seen_rows, shared
from tests.report.documents import bare, usual


def whole(document: dict[str, Any]) -> dict[str, Any]:
    for row in document["charts"]["worst"]:
        row["about"] = "diagnosis"
    for point in (document["charts"]["parameter"] or {"points": []})["points"]:
        point["reason"] = None
    return document


def headings(page: str) -> list[str]:
    found = re.findall(r"<h2[^>]*>([^<]+)(?:<span|</h2>)", page.partition("</main>")[0])
    apart = ("Contents", "Appendix", "Failed", "Incomplete")
    return [one for one in found if not one.startswith(apart)]


@pytest.mark.parametrize("make", [usual, bare])
def test_both_have_the_same_sections_in_the_same_order(make: Any) -> None:
    made = whole(make())
    page, text = render(made), markdown(made)
    told = [one.partition(". ")[2] for one in re.findall(r"^## (.+)$", text, re.MULTILINE)]
    assert headings(page) == told
    assert len(told) == len(set(told))
    for one in ("Started", "Method, and how to repeat it", "How to read", "References"):
        assert (one.lower() in page.lower()) == (one.lower() in text.lower()), one
    for one in ("2026-01-01 12:00:00 UTC", "indiff audit plan.toml", "numpy 2.1.0"):
        assert one in page
        assert one in text


def test_every_finding_has_its_exactness_in_both() -> None:
    made = whole(usual())
    made["findings"][1]["exactness"] = "approximation"
    text = markdown(made)
    assert "| Smallest group (k) | 1 | 5 | at least 5: kept | approximation |" in text
    assert "higher is safer; approximation; limit" in text
    assert "<td>approximation</td>" in render(made)


def test_how_coarse_a_column_is_says_no_value() -> None:
    made = whole(usual())
    rows = seen_rows(made)
    assert rows[0] == (
        "age", "73 values", "40 cells", "7 of 73 values", "0% of cells", "25% of cells",
    )  # fmt: skip
    assert f"| {' | '.join(rows[0])} |" in markdown(made)
    # The sensitive column is published as it is: each of its cells stands for its one value.
    distinct = next(x["distinct"] for x in made["table"]["columns"] if x["name"] == "diagnosis")
    assert rows[-1] == (
        "diagnosis", f"{distinct} values", f"{distinct} cells", f"1 of {distinct} values",
        "100% of cells", "0% of cells",
    )  # fmt: skip
    assert "patient_id" not in [one[0] for one in rows]  # it is left out
    assert "How coarse each column is" in render(made)
    del made["release"]["columns"]
    assert seen_rows(made) == []


def test_what_a_repetition_needs() -> None:
    made = usual()
    assert dict(repeat(made))["plan file"].startswith("none was read")
    made["files"]["input"].append({"part": "plan", "name": "plan.toml", "fingerprint": "ef" * 36})
    told = dict(repeat(made))
    assert told["plan file"] == f"plan.toml, fingerprint {'ef' * 36}"
    assert told["command"] == "indiff audit plan.toml"
    assert told["seed"] == "0"
    assert "indiff 0.1.0, python 3.11.9" in told["versions"]


def test_what_all_findings_share_is_listed_once() -> None:
    made = whole(usual())
    for place in (6, 7, 8):
        made["findings"][place]["parameters"] = {"method": "leave-one-out", "model": f"m{place}"}
    assert shared(made["findings"]) == {"method": "leave-one-out"}
    for text in (render(made), markdown(made)):
        assert text.count("leave-one-out") == 1
        assert "m7" in text


@pytest.mark.parametrize("make", [usual, bare])
@pytest.mark.parametrize("status", ["pass", "fail", "incomplete", "no-limits"])
def test_nothing_is_called_anonymous(make: Any, status: str) -> None:
    made = whole(make())
    made["verdict"]["status"] = status
    page = re.sub(r"<script.*?</script>", "", render(made), flags=re.DOTALL)
    for text in (page, markdown(made)):
        assert "anonymous" not in text.lower()

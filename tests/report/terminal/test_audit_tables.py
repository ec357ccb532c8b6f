"""Every line of an audit, a fix and a comparison in the terminal, from documents by hand."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from indiff.differential.claim.result import ClaimResult
from indiff.report.terminal.audit import (
    _finding,
    show_comparison,
    show_findings,
    show_fix,
    show_paths,
    warn_of_release,
)
from tests.report.documents import usual


def said(show: Any, *given: Any, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(console, *given)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def one(**more: Any) -> dict[str, Any]:
    limit = {"name": "delta", "rule": "at most", "value": 0.1}
    plain = {
        "title": "δ by tree", "inference": "private", "exactness": "exact", "reason": None,
        "status": "measured", "exceeded": False, "limit": limit, "value": 0.05, "before": 0.5,
    }  # fmt: skip
    return plain | more


AT_LEAST = {"name": "k", "rule": "at least", "value": 5}


@pytest.mark.parametrize(
    ("more", "label", "before", "after", "limit"),
    [
        ({}, "δ by tree [private]", "0.5", "0.05", "≤ 0.1 kept"),
        ({"exceeded": True}, "δ by tree [private]", "0.5", "0.05", "≤ 0.1 EXCEEDED"),
        ({"exceeded": None}, "δ by tree [private]", "0.5", "0.05", "≤ 0.1 undecided"),
        ({"limit": None, "before": None}, "δ by tree [private]", "", "0.05", ""),
        ({"limit": AT_LEAST, "value": 7.0}, "δ by tree [private]", "0.5", "7", "≥ 5 kept"),
        ({"inference": None}, "δ by tree", "0.5", "0.05", "≤ 0.1 kept"),
        ({"exactness": None}, "δ by tree [private]", "0.5", "0.05", "≤ 0.1 kept"),
        (
            {"exactness": "estimate"}, "δ by tree [private, estimate]", "0.5", "0.05",
            "≤ 0.1 kept",
        ),
        (
            {"exactness": "lower-bound", "inference": None}, "δ by tree [lower-bound]", "0.5",
            "0.05", "≤ 0.1 kept",
        ),
        (
            {"status": "failed", "reason": "it broke", "value": None, "exceeded": None},
            "δ by tree [private]\nfailed: it broke", "0.5", "failed", "≤ 0.1 unknown",
        ),
        (
            {"status": "skipped", "reason": "no time", "value": None, "exceeded": None},
            "δ by tree [private]\nskipped: no time", "0.5", "skipped", "≤ 0.1 unknown",
        ),
    ],
)  # fmt: skip
def test_the_line_of_a_finding(more: Any, label: str, before: str, after: str, limit: str) -> None:
    assert [str(cell) for cell in _finding(one(**more))] == [label, before, after, limit]


@pytest.mark.parametrize(
    ("more", "value", "limit"),
    [
        ({}, "", ""),
        ({"exceeded": True}, "bold red", "bold red"),
        ({"exceeded": None}, "", "bold red"),
        ({"status": "failed", "reason": "x", "exceeded": None}, "bold red", "bold red"),
        ({"status": "skipped", "reason": "x", "exceeded": None}, "dim", "bold red"),
        ({"limit": None}, "", ""),
    ],
)
def test_what_does_not_hold_is_red(more: Any, value: str, limit: str) -> None:
    _, _, shown, allowed = _finding(one(**more))
    assert isinstance(shown, Text)
    assert isinstance(allowed, Text)
    assert (shown.style, allowed.style) == (value, limit)


@pytest.fixture
def document() -> dict[str, Any]:
    found = usual()
    for worst in found["charts"]["worst"]:
        worst.setdefault("prediction_changed", 0.0)
    return found


def test_what_was_audited(document: dict[str, Any]) -> None:
    table, release = document["table"], document["release"]
    table |= {"records": 5_000, "dropped": 0, "notes": ["it is old"]}
    release |= {"groups": None, "records": 4_990, "constraint_met": None, "notes": ["it is new"]}
    shown = lines_of(said(show_findings, document))
    assert "records 5,000" in shown
    assert "rows 4,990" in shown
    assert "note it is old" in shown
    assert "note it is new" in shown
    assert "constraint none is declared" in shown
    for column in table["columns"]:
        assert any(f"{column['name']} ({column['kind']})" in line for line in shown)
    table["dropped"], release["groups"], release["constraint_met"] = 1_234, 812, False
    shown = lines_of(said(show_findings, document))
    assert "records 5,000 (1,234 more were left out)" in shown
    assert "rows 4,990 in 812 groups" in shown
    assert "constraint NOT met: never a pass" in shown
    release["constraint_met"] = True
    assert "constraint met" in lines_of(said(show_findings, document))


def test_each_question_has_its_own_findings(document: dict[str, Any]) -> None:
    shown = said(show_findings, document)
    headings = {
        "singling-out": "Singling out: can", "linkability": "Linkability: can",
        "inference": "Inference: can", "utility": "Utility: what",
    }  # fmt: skip
    asked = {found["question"] for found in document["findings"]}
    assert {name for name, heading in headings.items() if heading in shown} == asked - {"table"}
    assert "The table: what was audited." not in shown
    less = [found for found in document["findings"] if found["question"] == "linkability"]
    shown = said(show_findings, document | {"findings": less})
    assert [name for name, heading in headings.items() if heading in shown] == ["linkability"]
    assert all(" ".join(found["title"].split()[:2]) in shown for found in less)
    assert less


def test_releases_together_have_a_table_below_their_findings(document: dict[str, Any]) -> None:
    (found, *_) = document["findings"]
    beside = found | {"question": "together", "title": "People left alone"}
    left = {"median": 2}
    told = {
        "about": "ill",
        "releases": [
            {"release": name, "released_rows": 6, "quasi": ["age"], "determined_alone": 0}
            for name in ("2024.csv", "this release")
        ],
        "growth": [
            {"candidates_left": left, "values_left": left, "determined": so_far,
             "determined_by_closest": 0, "one_candidate": 1}
            for so_far in (0, 3)
        ],
        "pairs": [], "differences": [],
    }  # fmt: skip
    shown = lines_of(said(show_findings, document | {"findings": [beside], "together": [told]}))
    title = "People left with their own ill alone, release by release"
    assert shown.index(title) > next(x for x, line in enumerate(shown) if beside["title"] in line)
    assert "release alone so far one row rows left values" in shown
    assert "2024.csv 0 0 1 2 2" in shown
    assert "this release 0 3 1 2 2" in shown
    shown = lines_of(said(show_findings, document | {"together": [told]}))
    assert title not in shown  # which is about nothing without a finding


def test_a_claim_is_shown_where_one_was_tested(document: dict[str, Any]) -> None:
    claim = ClaimResult(
        sensitive_name="ill", sanitizer="mine", epsilon=2.0, claimed=1.0, delta=0.0,
        confidence=0.95, method="runs", calls=60, requested=60, records=3, table_size=9, most=3.0,
        statistics=("rows",),
    )  # fmt: skip
    shown = said(show_findings, document | {"claim": [claim.to_dict()]})
    assert "The claim of mine" in shown
    assert "ε ≤ 1" in shown
    assert "The claim of" not in said(show_findings, document | {"claim": []})


def test_what_is_marked_counts_only_where_it_was_measured(document: dict[str, Any]) -> None:
    (found, *_) = [x for x in document["findings"] if x["status"] == "measured"]
    failed = found | {"status": "failed", "value": None, "reason": "x", "exactness": "estimate"}
    sure = found | {"exactness": "exact"}
    shown = said(show_findings, document | {"findings": [sure, failed]})
    assert "Every number is exact." in shown
    unsure = [found | {"exactness": x} for x in ("estimate", "approximation", None, "exact")]
    shown = " ".join(lines_of(said(show_findings, document | {"findings": unsure})))
    assert (
        "Numbers are exact but for those marked estimate (the report has its interval); "
        "approximation (which proves nothing if small)." in shown
    )


def test_the_worst_and_other_parameters(document: dict[str, Any]) -> None:
    charts = document["charts"]
    points = [
        {"setting": "mondrian:k=2", "delta": 0.5, "mean": 0.25, "reason": None, "models": ["tree"]},
        {"setting": "mondrian:k=9", "delta": None, "mean": None, "reason": "too few records"},
    ]
    charts["parameter"] = {"parameter": "k", "points": points}
    shown = lines_of(said(show_findings, document))
    assert "Other parameters" in shown
    assert "mondrian:k=2 δ 0.5, mean 0.25, against tree alone" in shown
    assert "mondrian:k=9 too few records" in shown
    worst = sum("worst" in line.lower() for line in shown)
    charts["parameter"] = None
    charts["worst"] = []
    shown = lines_of(said(show_findings, document))
    assert "Other parameters" not in shown
    assert sum("worst" in line.lower() for line in shown) < worst


@pytest.mark.parametrize(
    ("few", "show_values", "warning"),
    [
        (10, False, ""),
        (11, False, ""),
        (9, False, "The report may name values that few records hold: from 9 on, not 10."),
        (10, True, "The report names values of the table: it is as confidential as the table"),
    ],
)
def test_values_that_are_named_are_warned_of(
    document: dict[str, Any], few: int, show_values: bool, warning: str
) -> None:
    more = {"min_cell": few, "show_values": show_values}
    shown = " ".join(lines_of(said(show_findings, document | more)))
    assert warning in shown
    assert ("The report" in shown) == bool(warning)


def test_a_policy_is_shown_where_there_is_one(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "indiff.report.terminal.audit.show_policy", lambda _, policy: asked.append(policy)
    )
    said(show_findings, document | {"policy": None})
    said(show_findings, document | {"policy": {"name": "ours"}})
    assert asked == [{"name": "ours"}]


def test_files_are_named_in_the_last_lines() -> None:
    paths = {"html": Path("a/report.html"), "json": Path("a/with space\x1b.json")}
    shown = said(show_paths, paths)
    assert shown == "\na/report.html\na/with space\\x1b.json\n"


def fixed(rounds: int = 2, **more: Any) -> Any:
    listed = [SimpleNamespace(removed=x, delta=0.5, mean=0.01, above=3) for x in range(rounds)]
    plain = {
        "limit": 0.1, "rounds": listed, "sanitizer": "mondrian:k=5", "model": "tree",
        "reason": "it is below", "removed": [1], "records": 10, "budget": 5,
        "verified_delta": None, "verified_by": "nobody could", "utility_before": None,
        "utility_after": None, "release": object(), "does_not_prove": "that it is safe",
    }  # fmt: skip
    return SimpleNamespace(**plain | more)


def test_a_fix_says_what_was_written_and_verified() -> None:
    shown = lines_of(said(show_fix, fixed(), {"csv": Path("out.csv")}))
    assert "written out.csv" in shown
    assert "verified nobody could" in shown
    assert "outcome it is below" in shown
    assert "proves not that it is safe" in shown
    assert not any(line.startswith(("no release", "utility")) for line in shown)
    # Nobody asked for a release: that there is none is no news.
    shown = lines_of(said(show_fix, fixed(release=None)))
    assert not any(line.startswith(("no release", "written")) for line in shown)
    shown = lines_of(said(show_fix, fixed(release=None), {}))
    assert "no release none is written, since none is below the limit" in shown
    both = SimpleNamespace(ncp=0.5, discernibility=2, average_group=3, accuracy=0.25)
    for half in (fixed(utility_before=both), fixed(utility_after=both)):
        assert not any(line.startswith("utility") for line in lines_of(said(show_fix, half)))


@pytest.mark.parametrize(("rounds", "shown"), [(39, 39), (40, 40), (41, 41), (42, 41)])
def test_more_than_40_rounds_are_cut(rounds: int, shown: int) -> None:
    text = said(show_fix, fixed(rounds)).split("Fix")[0]
    found = re.findall(r"^ *(\d+|…) ", text, re.MULTILINE)
    assert len(found) == shown
    assert found[-1] == str(rounds - 1)
    assert text.count("…") == (5 if rounds > 40 else 0)  # one in each column
    assert found[:39] == [str(x) for x in range(39)]


def row(setting: str, **more: Any) -> dict[str, Any]:
    plain = {
        "setting": setting, "status": "measured", "delta": 0.25, "mean": 0.125, "itpr": 0.5,
        "k": 5, "l": 2.0, "t": 0.75, "ncp": 0.375, "discernibility": 12_345_678,
        "average_group": 6.5, "accuracy": 0.625, "exactness": "exact", "on_front": False,
        "constraint_met": True, "notes": [], "reason": None,
    }  # fmt: skip
    return plain | more


def compared(*rows: Any) -> list[str]:
    before = {"delta": 2.0, "mean": 1.0, "itpr": 1.0, "k": 1, "l": 1.0, "t": 0.875, "accuracy": 0.7}
    document = {
        "rows": list(rows), "before": before, "utility": "ncp", "task": "ill", "records": 5_000,
        "accuracy_majority": 0.3125, "seed": 7, "fingerprint": "a" * 64,
    }  # fmt: skip
    return lines_of(said(show_comparison, document))


def test_settings_side_by_side() -> None:
    name = "mondrian:" + "k" * 40
    shown = compared(
        row("mondrian:k=5", on_front=True, exactness="estimate"),
        row("broken", status="failed", reason="it broke", delta=None),
        row("unmet", constraint_met=False, exactness=None),
        row(name, constraint_met=None),
    )
    risk, utility = (
        next(place for place, line in enumerate(shown) if line.startswith(heading))
        for heading in ("Risk: lower is safer", "Utility: lower keeps more")
    )
    first, second = shown[risk:utility], shown[utility:]
    assert "(original records) 2 1 1 1 1 0.875" in first
    assert "mondrian:k=5 0.25 0.125 0.5 5 2 0.75 estimate" in first
    assert "broken – 0.125 0.5 5 2 0.75 FAILED" in first
    assert "unmet 0.25 0.125 0.5 5 2 0.75" in first
    assert "(original records) 0 – – 0.7" in second
    assert "mondrian:k=5 0.375 1.23e+07 6.5 0.625 on the front" in second
    assert "broken 0.375 1.23e+07 6.5 0.625 FAILED" in second
    assert "unmet 0.375 1.23e+07 6.5 0.625" in second
    assert "4 settings, 5,000 records" in second
    assert "front no other setting has less δ and keeps more by NCP" in second
    assert "broken FAILED: it broke" in second
    assert "unmet its own constraint is NOT met: never recommended" in second
    assert sum("NOT met" in line for line in second) == 1
    assert sum("FAILED: " in line for line in second) == 1
    assert any("the most frequent value alone: 0.3125" in line for line in second)
    assert "seed 7" in second
    shortened = [line.split(" ")[0] for line in first if line.startswith("mondrian:k" + "k")]
    assert [len(name) for name in shortened] == [30]


def test_a_note_is_said_once_with_all_its_settings() -> None:
    shown = compared(
        row("one", notes=["rows are few", "normalised_average_group has no meaning"]),
        row("two", notes=["rows are few", "it is odd"]),
    )
    assert "note one, two: rows are few" in shown
    assert "note two: it is odd" in shown
    assert not any("normalised_average_group" in line for line in shown)


@pytest.mark.parametrize(
    ("status", "told"),
    [("fail", "FAIL"), ("incomplete", "INCOMPLETE: this is no pass"), ("pass", None)],
)
def test_a_release_without_a_pass_is_not_to_be_published(status: str, told: str | None) -> None:
    text = said(warn_of_release, {"verdict": {"status": status}}, Path("some/made.csv"))
    line = f"made.csv was written, but its verdict is {told}: do not publish it."
    assert [one for one in lines_of(text) if one] == ([line] if told else [])

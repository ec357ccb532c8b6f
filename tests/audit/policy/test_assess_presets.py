"""Every preset: an example that passes, one that fails, and one that is incomplete."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from indiff.audit.plan.policies import PRESETS, preset_names
from indiff.report.limits import limit_rows
from indiff.report.terminal.audit import show_audit
from indiff.report.terminal.tables import WIDTH, open_console
from tests.audit.policy.tables import CONTEXT, audited, groups_of, outcome, with_a_column

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "report.schema.json").read_text(encoding="utf-8")
)
# By hand, from the sources: the smallest group that keeps the limit; one less does not.
# 1/11 = 0.0909 is above 0.09, so that the two of 0.09 alone need 12.
SMALLEST = {
    "ema-0070": 12, "health-canada": 12, "ipc-low": 11, "ipc-medium": 15, "ipc-high": 20,
    "cell-3": 3, "cell-5": 5, "cell-10": 10, "cell-11": 11, "cell-20": 20,
}  # fmt: skip
LIMITS = {"k": 2, "marketer": 0.5, "delta": 2}
NO_KNOWLEDGE = {"confirmed": ["no-actual-knowledge"], "confirmed_by": "the officer"}
ISO = {**CONTEXT, "confirmed": ["transparency", "harms", "incident-plan"]}
NIST = {**CONTEXT, "confirmed": ["disclosure-review"]}
Example = dict[str, Any]

PASSING: dict[str, Example] = {
    "hipaa-safe-harbor": {"context": NO_KNOWLEDGE},
    "ico-motivated-intruder": {"context": CONTEXT, "limits": LIMITS},
    "nist-800-188": {"context": NIST, "limits": LIMITS},
    "iso-27559": {"context": ISO, "limits": LIMITS},
}
FAILING: dict[str, tuple[Any, Example]] = {
    "hipaa-safe-harbor": (groups_of(5, city=["Bonn"]), PASSING["hipaa-safe-harbor"]),
    "ico-motivated-intruder": (groups_of(1), {"context": CONTEXT, "limits": {"delta": 2}}),
    "nist-800-188": (groups_of(5), {"context": NIST, "limits": {**LIMITS, "k": 6}}),
    "iso-27559": (groups_of(5), {"context": ISO, "limits": {**LIMITS, "k": 6}}),
}
OPEN: dict[str, Example] = {
    "hipaa-safe-harbor": {},
    "ico-motivated-intruder": {"context": CONTEXT, "limits": {"k": 2, "delta": 2}},
    "nist-800-188": {"context": CONTEXT, "limits": LIMITS},
    "iso-27559": {"context": {**ISO, "review_by": None}, "limits": LIMITS},
}


def test_every_preset_has_its_examples() -> None:
    assert {*SMALLEST, *PASSING} == {*SMALLEST, *FAILING} == {*SMALLEST, *OPEN}
    assert set(preset_names()) == {*SMALLEST, *PASSING}


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_group_that_keeps_a_limit(name: str, tmp_path: Path) -> None:
    kept = audited(groups_of(SMALLEST[name]), name)
    assert outcome(kept) == ("passed", 0)
    missed = audited(groups_of(SMALLEST[name] - 1), name)
    assert outcome(missed) == ("failed", 1)
    table = groups_of(SMALLEST[name])
    unknown = audited(table, name, release=with_a_column(table, tmp_path))
    assert outcome(unknown) == ("incomplete", 3)


@pytest.mark.parametrize("name", PASSING)
def test_what_passes(name: str) -> None:
    result = audited(groups_of(5), name, **PASSING[name])
    assert outcome(result) == ("passed", 0)
    assert result.verdict["status"] == "pass"


@pytest.mark.parametrize("name", FAILING)
def test_what_fails(name: str) -> None:
    table, sections = FAILING[name]
    assert outcome(audited(table, name, **sections)) == ("failed", 1)


@pytest.mark.parametrize("name", OPEN)
def test_what_is_incomplete(name: str) -> None:
    result = audited(groups_of(5), name, **OPEN[name])
    assert outcome(result) == ("incomplete", 3)
    assert any(f"{name} is open" in reason for reason in result.verdict["reasons"])


@pytest.mark.parametrize("name", preset_names())
def test_no_output_calls_anything_anonymous(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = audited(groups_of(30), name, **PASSING.get(name, {}))
    show_audit(open_console(), result.document)
    shown = capsys.readouterr().out
    page = re.sub(r"<script.*?</script>", "", result.to_html(), flags=re.DOTALL)
    preset = (PRESETS / f"{name}.toml").read_text(encoding="utf-8")
    for text in (result.to_json(), result.to_markdown(), page, shown, preset):
        assert "anonymous" not in text.lower()
    for clause in result.document["policy"]["crosswalk"]:
        for title in clause["section"].split("; "):
            assert f">{title}</h2>" in page
    rows = limit_rows(result.document)
    assert len(rows) == len({row.name for row in rows})  # each limit once
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert "Policy" in shown
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(result.to_json()))

"""What an audit finds together with releases that were published before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from indiff import Plan, UserError, run_audit

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())
DATA = "id,age,ill\na,21,flu\nb,24,cancer\nc,33,flu\nd,36,asthma\ne,45,flu\nf,48,asthma\n"
FIRST = "age,ill\n20-29,cancer\n20-29,flu\n30-39,flu\n30-39,asthma\n40-49,flu\n40-49,asthma\n"
SECOND = "age,ill\n22-34,flu\n22-34,cancer\n35-46,flu\n35-46,asthma\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("data", DATA), ("2024", FIRST), ("2025", SECOND)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def audited(folder: Path, release: dict[str, Any], progress: Any = None, **limits: float) -> Any:
    data = {"path": str(folder / "data.csv"), "quasi": ["age"], "sensitive": "ill"}
    plan = Plan(data={**data, "identifier": "id"}, release=release, limits=limits)
    return run_audit(plan, progress=progress)


def test_the_verdict_counts_the_combination(folder: Path) -> None:
    release = {"file": str(folder / "2025.csv"), "before": str(folder / "2024.csv")}
    result = audited(folder, release, determined=0)
    found = result.finding("determined:ill")
    assert found.value == pytest.approx(1 / 6)
    assert found.exceeded
    assert found.parameters["earlier"] == ["2024.csv"]
    assert found.parameters["only_together"] == 1
    assert "the rows of 2024.csv and this release" in found.means
    assert "it was 0% before this release" in found.means
    assert result.verdict["exit_code"] == 1
    assert result.verdict["reasons"][0] == (
        "People left with their own ill alone, by all releases together is 0.167, above the limit 0"
    )
    told = "considered together with what was published before: 2024.csv"
    assert told in result.document["release"]["notes"]
    (told,) = result.document["together"]
    assert [one["release"] for one in told["releases"]] == ["2024.csv", "this release"]
    assert [one["determined"] for one in told["growth"]] == [0, 1]
    assert (told["only_together"], told["added_by_this_release"]) == (1, 1)
    assert told["differences"] == [
        {"releases": ["2024.csv", "this release"], "below": 5, "groups": 1, "smallest": 2}
    ]
    jsonschema.validate(result.document, SCHEMA)
    (earlier,) = (one for one in result.document["files"]["input"] if one["part"] != "table")
    assert (earlier["part"], earlier["name"]) == ("earlier release", "2024.csv")


def test_without_a_limit_the_combination_is_no_pass(folder: Path) -> None:
    """k = 2 holds; c is named by both together alone."""
    release = {"file": str(folder / "2025.csv"), "before": str(folder / "2024.csv")}
    told = (
        "1 person is left with their own ill alone by this release together with 2024.csv, and by "
        "none of them alone; a limit on determined says how many there may be"
    )
    for limits in ({"k": 1}, {}):
        verdict = audited(folder, release, **limits).verdict
        assert (verdict["status"], verdict["exit_code"]) == ("incomplete", 3)
        assert verdict["reasons"] == [told]
    assert audited(folder, release, k=1, determined=0.5).verdict["status"] == "pass"


def test_whom_earlier_releases_told_already_is_no_fault_of_this_one(folder: Path) -> None:
    """2025 and 2024 determine c; everything as * adds nobody, and neither does 2024 twice."""
    before = [str(folder / "2024.csv"), str(folder / "2025.csv")]
    result = audited(folder, {"sanitizer": "suppress", "before": before}, k=1)
    found = result.finding("determined:ill")
    assert (found.value, found.parameters["added_by_this_release"]) == (pytest.approx(1 / 6), 0)
    assert result.verdict["status"] == "pass"
    assert audited(folder, {"sanitizer": "suppress"}).document["together"] == []


def test_the_section_is_in_every_report(folder: Path) -> None:
    release = {"file": str(folder / "2025.csv"), "before": str(folder / "2024.csv")}
    result = audited(folder, release)
    paths = result.write(folder / "out")
    page, text = paths["report.html"].read_text(), paths["report.md"].read_text()
    assert '<section id="together"' in page
    assert "## 5. Together with what was published before" in text
    assert "| 2024.csv | 6 | age | 0 | 0 | 0 | 0 | 2 | 2 |" in text
    assert "| this release | 4 | age | 0 | 1 | 1 | 1 | 2 | 2 |" in text
    assert "| 2024.csv and this release | 1 | 2 |" in text
    assert "than those of section 5 of the same people" in text
    assert "why is said in section 7." in text  # no worst records: one section less, one more
    shown = audited(folder, {"sanitizer": "mondrian:k=2"})
    assert "Together with what was published" not in shown.to_markdown()


def test_beside_a_release_that_is_made_here(folder: Path) -> None:
    release = {"sanitizer": "mondrian:k=2", "before": [str(folder / "2025.csv")]}
    doing: list[Any] = []
    result = audited(folder, release, lambda *step: doing.append(step), determined=0.5)
    assert result.finding("determined:ill").value < 0.5
    assert ("comparing with earlier releases", 0, 0) in doing  # large ones take a while


def test_without_earlier_releases_a_limit_is_not_kept(folder: Path) -> None:
    result = audited(folder, {"sanitizer": "mondrian:k=2"}, determined=0.5)
    assert result.verdict["exit_code"] == 3
    assert result.document["release"]["notes"] == []


def test_a_noisy_table_has_no_rows_to_compare(folder: Path) -> None:
    release = {"sanitizer": "laplace:epsilon=1", "before": [str(folder / "2025.csv")]}
    found = audited(folder, release).finding("determined:ill")
    assert (found.status, found.value) == ("failed", None)
    assert found.reason == "a noisy table has no rows that could be a person's"


def test_a_release_that_could_not_be_made_has_its_own_reason(folder: Path) -> None:
    release = {"sanitizer": "mondrian:k=99", "before": [str(folder / "2025.csv")]}
    found = audited(folder, release).finding("determined:ill")
    assert found.status == "failed"
    assert str(found.reason).startswith("there is no release: k must be")


def test_an_earlier_release_must_be_there_and_readable(folder: Path) -> None:
    with pytest.raises(UserError, match="must exist; there is no"):
        audited(folder, {"before": [str(folder / "2023.csv")]})
    (folder / "2023.csv").write_text("age,ill\nyoung,flu\nold,flu\n")
    with pytest.raises(UserError, match=r"'2023\.csv': column 'age', row 1 and 1 more"):
        audited(folder, {"sanitizer": "mondrian:k=2", "before": [str(folder / "2023.csv")]})


def test_whom_this_release_tells_alone_is_not_added_by_the_earlier_one(folder: Path) -> None:
    """21 has a row of its own among rows of stars, in which an adversary looks first."""
    (folder / "2023.csv").write_text("age,ill\n20-49,flu\n20-49,cancer\n20-49,asthma\n")
    (folder / "2026.csv").write_text("age,ill\n21,flu\n*,cancer\n*,asthma\n")
    release = {"file": str(folder / "2026.csv"), "before": str(folder / "2023.csv")}
    found = audited(folder, release, determined=1).finding("determined:ill")
    assert found.value == pytest.approx(1 / 6)
    assert found.parameters["added_by_this_release"] == 0
    assert found.parameters["only_together"] == 0

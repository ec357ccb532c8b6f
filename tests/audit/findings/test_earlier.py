"""What an audit finds together with releases that were published before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indiff import Plan, UserError, run_audit

DATA = "id,age,ill\na,21,flu\nb,24,cancer\nc,33,flu\nd,36,asthma\ne,45,flu\nf,48,asthma\n"
FIRST = "age,ill\n20-29,cancer\n20-29,flu\n30-39,flu\n30-39,asthma\n40-49,flu\n40-49,asthma\n"
SECOND = "age,ill\n22-34,flu\n22-34,cancer\n35-46,flu\n35-46,asthma\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("data", DATA), ("2024", FIRST), ("2025", SECOND)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def audited(folder: Path, release: dict[str, Any], **limits: float) -> Any:
    data = {"path": str(folder / "data.csv"), "quasi": ["age"], "sensitive": "ill"}
    plan = Plan(data={**data, "identifier": "id"}, release=release, limits=limits)
    return run_audit(plan)


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
    assert "published before" in result.verdict["reasons"][0]
    told = "considered together with what was published before: 2024.csv"
    assert told in result.document["release"]["notes"]
    (earlier,) = (one for one in result.document["files"]["input"] if one["part"] != "table")
    assert (earlier["part"], earlier["name"]) == ("earlier release", "2024.csv")


def test_beside_a_release_that_is_made_here(folder: Path) -> None:
    release = {"sanitizer": "mondrian:k=2", "before": [str(folder / "2025.csv")]}
    assert audited(folder, release, determined=0.5).finding("determined:ill").value < 0.5


def test_without_earlier_releases_a_limit_is_not_kept(folder: Path) -> None:
    result = audited(folder, {"sanitizer": "mondrian:k=2"}, determined=0.5)
    assert result.verdict["exit_code"] == 3
    assert result.document["release"]["notes"] == []


def test_a_noisy_table_has_no_rows_to_compare(folder: Path) -> None:
    release = {"sanitizer": "laplace:epsilon=1", "before": [str(folder / "2025.csv")]}
    found = audited(folder, release).finding("determined:ill")
    assert (found.status, found.value) == ("skipped", None)


def test_an_earlier_release_must_be_there_and_readable(folder: Path) -> None:
    with pytest.raises(UserError, match="must exist; there is no"):
        audited(folder, {"before": [str(folder / "2023.csv")]})
    (folder / "2023.csv").write_text("age,ill\nyoung,flu\nold,flu\n")
    with pytest.raises(UserError, match=r"'2023\.csv': column 'age', row 1 and 1 more"):
        audited(folder, {"sanitizer": "mondrian:k=2", "before": [str(folder / "2023.csv")]})

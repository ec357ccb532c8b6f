"""Keys and special uniques in an audit: before and after, limits that pass and fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.errors import UserError

# By age and sex: (30, f) ×3, (30, m) ×2, (40, f), (40, m) ×2: one is alone by both, nobody by one.
PEOPLE = pa.table({
    "age": [30, 30, 30, 30, 30, 40, 40, 40],
    "sex": ["f", "f", "f", "m", "m", "f", "m", "m"],
    "ill": ["flu", "cold", "flu", "flu", "cold", "flu", "cold", "flu"],
})  # fmt: skip


def audited(limits: dict[str, float], sanitizer: str = "identity", **more: Any) -> Any:
    plan = indiff.Plan(
        data={"sensitive": "ill", "quasi": ["age", "sex"], **more.pop("data", {})},
        release={"sanitizer": sanitizer},
        adversary={"models": ["frequency"], "membership": False, **more},
        limits=limits,
        report={"worst": 0},
    )
    return indiff.run_audit(plan, PEOPLE)


def test_nothing_is_found_unasked() -> None:
    assert not [one for one in audited({}).findings if one.metric.startswith(("keys", "special"))]


def test_numbers_by_hand_before_and_after() -> None:
    found = audited({}, "mondrian:k=4", keys=["age+sex", "sex"], special=2)
    alone = found.finding("keys.singled_out")
    assert (alone.before, alone.value) == (1, 0)
    assert alone.parameters["keys"] == ["age + sex", "sex"]
    assert found.finding("keys.k").before == 1
    assert found.finding("keys.k").value >= 4
    special = found.finding("special.records")
    assert (special.before, special.value) == (1, 0)
    assert special.means.startswith("Nobody is a special unique: 2 of the released columns")
    # U = 1, P = 4 records in pairs, π = 0.1: DIS = 0.1 / (0.1 + 3.6), and one record has it all.
    dis = found.finding("special.dis")
    assert dis.before == pytest.approx(0.1 / 3.7)
    assert (dis.value, dis.exactness) == (0, "exact")  # nobody has a score, which is counted


@pytest.mark.parametrize(
    ("limits", "exit_code"),
    [
        ({"keys.k": 1}, 0), ({"keys.k": 2}, 1), ({"keys.singled_out": 1}, 0),
        ({"keys.singled_out": 0}, 1), ({"special.records": 1}, 0), ({"special.records": 0}, 1),
        ({"special.dis": 0.03}, 0), ({"special.dis": 0.02}, 1),
    ],
)  # fmt: skip
def test_limits_pass_and_fail(limits: dict[str, float], exit_code: int) -> None:
    assert audited(limits, keys=["age+sex"], special=2).verdict["exit_code"] == exit_code


def test_dis_is_a_guess_and_its_limit_no_proof() -> None:
    result = audited({"special.dis": 0.03, "special.records": 1}, special=2)
    assert result.finding("special.dis").exactness == "estimate"
    assert result.finding("special.records").exactness == "exact"
    (reason,) = result.verdict["reasons"]
    assert reason.endswith("; Largest DIS-SUDA score is a model's estimate, which may be too "
                           "favourable: no proof")  # fmt: skip


def test_a_limit_on_what_was_not_asked_for_is_no_pass() -> None:
    assert audited({"special.records": 5}).verdict["exit_code"] == 3


def test_people_and_noisy_tables_have_none_and_do_not_pass() -> None:
    noisy = audited({"keys.k": 1}, "laplace:epsilon=1", keys=["age"])
    assert noisy.finding("keys.k").status == "failed"
    assert any("Smallest group by a named" in one for one in noisy.verdict["reasons"])
    assert noisy.verdict["status"] == "fail"  # for its own promise, beside


def test_a_key_that_names_no_column_is_refused_at_once() -> None:
    with pytest.raises(UserError, match="no quasi-identifier 'zip'"):
        audited({}, keys=["age+zip"])


VISITS = """id,ward,ill
1,A,flu
2,B,cold
3,A,flu
4,B,flu
4,B,cold
"""


def joined(tmp_path: Path, sanitizer: str, **limits: float) -> Any:
    """Two women and two men, one of each in each ward: nobody is alone by sex or ward."""
    (tmp_path / "people.csv").write_text("id,sex\n1,f\n2,f\n3,m\n4,m\n")
    (tmp_path / "visits.csv").write_text(VISITS)
    people = {"path": str(tmp_path / "people.csv"), "on": "id", "quasi": ["sex"]}
    visits = {"path": str(tmp_path / "visits.csv"), "quasi": "ward", "sensitive": "ill"}
    plan = indiff.Plan(
        data=[people, visits],
        release={"file": sanitizer} if sanitizer.endswith(".csv") else {"sanitizer": sanitizer},
        adversary={"models": ["frequency"], "membership": False},
        report={"worst": 0},
        limits=limits,
    )
    return indiff.run_audit(plan)


def test_people_who_are_alone_only_after_the_join(tmp_path: Path) -> None:
    """By all rows 4, who was in B twice, is alone in visits.csv, and so is 2, there once."""
    result = joined(tmp_path, "identity", **{"joined.only": 0.5})
    found = result.finding("joined.only")
    assert (found.value, found.before, found.exceeded) == (1.0, 1.0, True)
    assert result.verdict["exit_code"] == 1
    original = found.parameters["original"]
    assert (original["only_by_one_row"], original["only_by_all_rows"]) == (4, 2)
    told = "In the original it is 100% for who knows one row of a person, and 50% for who knows all"
    assert told in found.means
    told = (
        "of 4 people the original columns single out: people.csv 0 by one row, 0 by all rows; "
        "visits.csv 0 by one row, 2 by all rows; joined 4 by one row (4 of them only so), 4 by all "
        "rows (2 of them only so)"
    )
    assert told in result.document["release"]["notes"]
    names = [one["name"] for one in result.document["files"]["input"]]
    assert names == ["people.csv", "visits.csv"]
    assert result.document["plan"]["data"]["join"] == ["visits.csv"]
    assert [one["role"] for one in result.document["table"]["columns"] if one["name"] == "id"] == [
        "identifier"
    ]
    assert "id" not in result.releases[0].to_arrow().column_names


def test_a_release_that_hides_everybody(tmp_path: Path) -> None:
    result = joined(tmp_path, "suppress", **{"joined.only": 0})
    found = result.finding("joined.only")
    assert (found.value, found.before, found.exceeded) == (0.0, 1.0, False)
    assert found.means.startswith("No released row singles out anybody by the columns of people")
    notes = result.document["release"]["notes"]
    assert any(note.startswith("δ is over people: 4 people by 'id' hold 5") for note in notes)


def test_nobody_knows_whose_rows_a_file_has(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("sex,ward,ill\n*,A,flu\n*,B,cold\n")
    result = joined(tmp_path, str(tmp_path / "out.csv"), **{"joined.only": 1})
    found = result.finding("joined.only")
    assert (found.status, found.before) == ("failed", 1.0)
    assert result.verdict["exit_code"] == 3


def test_nobody_is_looked_for_in_a_release_that_was_not_made(tmp_path: Path) -> None:
    """Groups of nine of five rows cannot be: what the original tells is said, and no more."""
    result = joined(tmp_path, "mondrian:k=9", **{"joined.only": 1})
    found = result.finding("joined.only")
    assert (found.status, found.before) == ("failed", 1.0)
    assert "nobody knows whose" not in str(found.reason)
    noisy = joined(tmp_path, "laplace:epsilon=1").finding("joined.only")
    assert (noisy.status, noisy.before) == ("failed", 1.0)
    assert "weighted rows" in str(noisy.reason)

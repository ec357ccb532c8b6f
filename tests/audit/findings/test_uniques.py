"""Keys and special uniques in an audit: before and after, limits that pass and fail."""

from __future__ import annotations

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

"""What an audit proposes, on tables small enough to be worked out by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.audit.metrics import number
from indiff.audit.next_steps.case import step

AGES = [21, 22, 23, 24, 25, 26, 27, 28, 90, 91, 92, 93]
ILL = list("nynynynynnnn")


def audit(frame: pa.Table, sanitizer: str, limits: dict[str, float], **more: Any) -> Any:
    """Audit a table whose last column is sensitive, by naive Bayes and frequency."""
    *quasi, sensitive = frame.column_names
    sections: dict[str, Any] = {
        "data": {"quasi": quasi, "sensitive": sensitive},
        "release": {"sanitizer": sanitizer},
        "adversary": {"models": ["frequency"], "membership": False},
    }
    for name, own in more.items():
        sections[name] = sections.get(name, {}) | own
    plan = indiff.Plan(**sections, limits=limits)
    return indiff.run_audit(plan, frame, command="indiff audit plan.toml")


def kinds(result: Any) -> list[str]:
    return [one["kind"] for one in result.document["next_steps"]]


def texts(result: Any) -> str:
    return "\n".join(one["text"] for one in result.document["next_steps"])


def people(ages: list[int], ill: list[str]) -> pa.Table:
    return pa.table({"age": ages, "ill": ill})


def test_a_step_names_its_options_and_its_command() -> None:
    made = step("fix", "Remove 1 record.", "indiff audit plan.toml", fix="delta=0.1")
    assert made["options"] == {"fix": "delta=0.1"}
    assert made["command"] == "indiff audit plan.toml --fix delta=0.1"
    assert step("none", "Nothing helps.", "indiff audit plan.toml")["command"] is None


def test_a_pass_needs_no_step() -> None:
    assert kinds(audit(people(AGES, ILL), "mondrian:k=4", {"k": 4})) == []


def test_without_a_limit_one_is_asked_for() -> None:
    result = audit(people(AGES, ILL), "mondrian:k=4", {})
    assert kinds(result) == ["none"]
    assert "sets no limit" in texts(result)


@pytest.mark.parametrize(("policy", "k"), [("cell-11", 11), ("ipc-low", 11), ("ema-0070", 12)])
def test_the_limits_of_a_policy_are_proposed_to_be_kept(policy: str, k: int) -> None:
    """A chance of 0.09 asks for groups of 12; of one in 11, which Ontario takes for it, of 11."""
    frame = pa.table({"age": list(range(24)) * 2, "sex": list("fm") * 24, "ill": list("ny") * 24})
    result = audit(frame, "mondrian:k=2", {}, context={"policy": policy})
    assert result.bug is None
    (asked,) = [one for one in result.document["next_steps"] if one["kind"] == "parameter"]
    assert asked["options"] == {"sanitizer": f"mondrian:k={k}"}


def test_a_setting_says_which_other_limit_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of 2 give a chance of one in 2; k = 4 keeps δ and at most one in 4 as well."""
    measured = curve_of({2: 0.9, 3: 0.05, 4: 0.05, 5: 0.05})
    monkeypatch.setattr("indiff.audit.findings.exposure.parameter_curve", measured)
    report, limits = {"parameter": "mondrian:k=2,3,4,5"}, {"delta": 0.1, "prosecutor": 0.25}
    result = audit(people(AGES, ILL), "mondrian:k=2", limits, report=report)
    (proposed,) = [x for x in result.document["next_steps"] if x["kind"] == "parameter"]
    assert proposed["options"] == {"sanitizer": "mondrian:k=4"}
    assert proposed["text"].endswith(
        " It was seen to keep another limit, too: Largest chance of a correct link."
    )
    kept = audit(people(AGES, ILL), "mondrian:k=4", {"delta": 0.1, "k": 4}, report=report)
    assert "another limit" not in texts(kept)


def test_the_smallest_k_that_keeps_the_limit() -> None:
    """Without one of three the odds of the others move more than without one of six."""
    result = audit(
        people(list(range(12)), list("nynynynynyny")),
        "mondrian:k=2",
        {"delta": 0.5},
        report={"parameter": "mondrian:k=2,4,6"},
    )
    points = {x["value"]: x["delta"] for x in result.document["charts"]["parameter"]["points"]}
    keeping = [value for value, delta in points.items() if delta <= 0.5]
    assert points[2] > 0.5
    assert keeping
    (first,) = [one for one in result.document["next_steps"] if one["kind"] == "parameter"]
    assert first["options"] == {"sanitizer": f"mondrian:k={min(keeping)}"}
    assert first["command"].endswith(f"--sanitizer mondrian:k={min(keeping)}")
    each = ", ".join(f"{k} with δ {number(delta)}" for k, delta in points.items())
    assert f"k = {min(keeping)} is the smallest of those tried ({each})" in first["text"]


def curve_of(deltas: dict[int, float]) -> Any:
    """Return a curve with these δ by k, as one that was measured."""

    def curve(*_: Any) -> dict[str, Any]:
        return {
            "parameter": "k",
            "points": [
                {
                    "setting": f"mondrian:k={k}", "value": k, "delta": d, "mean": d,
                    "delta_upper": d, "mean_upper": d, "exactness": "exact",
                    "models": ["frequency"], "reason": None,
                }
                for k, d in deltas.items()
            ],
        }  # fmt: skip

    return curve


def test_smaller_groups_than_the_limit_on_k_are_not_proposed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """k = 2 and 3 would keep δ, but the plan wants groups of 4."""
    measured = curve_of({2: 0.05, 3: 0.05, 4: 0.05, 5: 0.05})
    monkeypatch.setattr("indiff.audit.findings.exposure.parameter_curve", measured)
    report = {"parameter": "mondrian:k=2,3,4,5"}
    result = audit(people(AGES, ILL), "mondrian:k=4", {"delta": 0.1, "k": 4}, report=report)
    (proposed,) = [x for x in result.document["next_steps"] if x["kind"] == "parameter"]
    assert proposed["options"] == {"sanitizer": "mondrian:k=4"}


def test_a_single_group_is_never_proposed() -> None:
    """At k = 7 no cut of 12 is allowed: everything is one group, which tells nothing."""
    result = audit(
        people(list(range(12)), list("nynynynynyny")),
        "mondrian:k=2",
        {"delta": 0.25},
        report={"parameter": "mondrian:k=2,7"},
    )
    assert all("sanitizer" not in one["options"] for one in result.document["next_steps"])
    assert "nothing could be learned" in texts(result)


@pytest.mark.parametrize(("at_2", "at_6", "helps"), [(0.5, 0.8, False), (0.8, 0.5, True)])
def test_it_is_said_where_a_larger_k_does_not_help(
    monkeypatch: pytest.MonkeyPatch, at_2: float, at_6: float, helps: bool
) -> None:
    monkeypatch.setattr(
        "indiff.audit.findings.exposure.parameter_curve", curve_of({2: at_2, 6: at_6})
    )
    report = {"parameter": "mondrian:k=2,6"}
    result = audit(people(AGES, ILL), "mondrian:k=2", {"delta": 0.1}, report=report)
    assert (
        "A larger k does not help: δ is 0.5 at k = 2 and 0.8 at k = 6." in texts(result)
    ) != helps
    assert ("k = 6 comes nearest, with a δ of 0.5" in texts(result)) == helps


def test_the_fix_is_proposed_with_the_cost_that_it_then_has() -> None:
    """One z in a group of 60 moves its share by 1/60, one of 40 n theirs by 40/60 - 39/59."""
    frame = people([30] * 60, ["n"] * 40 + ["y"] * 19 + ["z"])
    result = audit(frame, "mondrian:k=5", {"delta": 0.025})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    fixed = indiff.fix(table, "mondrian:k=5", delta=0.025, model="frequency")
    assert fixed.holds
    assert fixed.removed.tolist() == [59]
    (proposed,) = [x for x in result.document["next_steps"] if x["kind"] == "fix"]
    assert proposed["text"].startswith("Remove 1 record of 60: --fix delta=0.025")
    assert proposed["command"] == "indiff audit plan.toml --fix delta=0.025"


def test_removals_after_which_nothing_is_left_to_test_are_not_proposed() -> None:
    """Without the one y there is one value only, which no test is about."""
    result = audit(people([30] * 60, ["n"] * 59 + ["y"]), "mondrian:k=5", {"delta": 0.01})
    assert "fix" not in kinds(result)
    assert "Removing outliers does not help" in texts(result)


def test_too_many_above_the_limit_is_no_case_for_removals() -> None:
    """A tree is not cheap to ask again, so that the number above the limit is all that is known."""
    frame = people(list(range(12)), list("nynynynynyny"))
    result = audit(frame, "mondrian:k=2", {"delta": 0.1}, adversary={"models": ["tree"]})
    assert "fix" not in kinds(result)
    assert "of 12 records are above the limit" in texts(result)


def test_noise_is_never_fixed_by_removals() -> None:
    result = audit(people(AGES, ILL), "laplace:epsilon=5", {"delta": 0.001})
    assert result.verdict["status"] == "fail"
    assert "fix" not in kinds(result)


def test_the_column_that_tells_most_is_named() -> None:
    """The room is everybody's own; the sex says nothing. Without the room all look alike."""
    frame = pa.table({"sex": ["f"] * 24, "room": list(range(24)), "ill": list("nynnyy") * 4})
    result = audit(frame, "mondrian:k=2", {"delta": 0.3})
    assert "Leave room out: without it δ is " in texts(result)
    assert "keeps the limit" in texts(result)


def test_a_constraint_that_keeps_the_limit_is_proposed() -> None:
    result = audit(people(AGES, ILL), "identity", {"k": 4, "l": 1})
    (proposed,) = [x for x in result.document["next_steps"] if x["kind"] == "parameter"]
    assert proposed["options"] == {"sanitizer": "mondrian:k=4,l=1"}
    rerun = audit(people(AGES, ILL), "mondrian:k=4,l=1", {"k": 4, "l": 1})
    assert rerun.verdict["status"] == "pass"


def test_what_two_values_cannot_have_is_not_proposed() -> None:
    """Two values: ℓ = 3 is out of reach for any grouping."""
    result = audit(people(AGES, ILL), "mondrian:k=4", {"l": 3})
    assert "parameter" not in kinds(result)
    assert "No grouping of this table keeps ℓ at least 3" in texts(result)
    assert "2 distinct values" in texts(result)


def test_a_value_that_is_too_frequent_is_the_reason_and_is_not_named() -> None:
    result = audit(people(AGES, ["rare-disease"] * 9 + ["flu"] * 3), "mondrian:k=4", {"l": 2})
    assert "No grouping of this table keeps ℓ at least 2" in texts(result)
    assert "rare-disease" not in texts(result)


def test_the_column_that_singles_people_out_is_named() -> None:
    """Each badge is one person's; without it the two sexes have six each."""
    frame = pa.table({"sex": list("fm") * 6, "badge": list(range(12)), "ill": ILL})
    result = audit(frame, "identity", {"singled_out": 0})
    (coarsen,) = [x["text"] for x in result.document["next_steps"] if x["kind"] == "coarsen"]
    assert coarsen == (
        "Leave badge out: without it the smallest group has 6 records instead of "
        "1 and no record instead of 12 is alone in its group. That keeps the limit."
    )


def test_some_of_the_records_are_never_enough() -> None:
    result = audit(people(AGES, ILL), "mondrian:k=4", {"delta": 2}, adversary={"targets": [0, 1]})
    assert result.verdict["status"] == "incomplete"
    assert "Test all records" in texts(result)


def test_two_runs_propose_the_same() -> None:
    both = [
        audit(people(AGES, ILL), "mondrian:k=2", {"delta": 0.1}).document["next_steps"]
        for _ in range(2)
    ]
    assert both[0] == both[1]
    assert both[0]


def test_every_sensitive_attribute_has_its_steps() -> None:
    """What is true of one attribute names it; what is true of all is said once."""
    count = 24
    frame = pa.table(
        {
            "age": list(range(count)), "sex": list("fm") * (count // 2),
            "ill": list("ny") * (count // 2), "poor": list("nnny") * (count // 4),
        }
    )  # fmt: skip
    roles = {"quasi": ["age", "sex"], "sensitive": ["ill", "poor"]}
    result = audit(frame, "mondrian:k=2", {"delta": 0.1, "k": 3}, data=roles)
    told = [one["text"] for one in result.document["next_steps"]]
    assert result.bug is None
    assert any(one.startswith("About ill: ") for one in told)
    assert any(
        one.startswith("About poor: Other settings are tested for the first") for one in told
    )
    assert len(told) == len(set(told))


def test_the_curve_counts_who_is_above_the_limit() -> None:
    """In pairs half of the belief hangs on one record, in groups of six a tenth."""
    frame = people(list(range(12)), list("nynynynynyny"))
    result = audit(
        frame, "mondrian:k=2", {"delta": 0.5}, report={"parameter": "mondrian:k=2,6"}
    )  # fmt: skip
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    for point in result.document["charts"]["parameter"]["points"]:
        found = indiff.differential_test(table, point["setting"], model="frequency")
        assert point["above"] == int((found.distances > 0.5).sum())
    free = audit(frame, "mondrian:k=2", {"k": 3}, report={"parameter": "mondrian:k=2,6"})
    assert {x["above"] for x in free.document["charts"]["parameter"]["points"]} == {None}


def test_removals_are_proposed_where_they_are_fewest() -> None:
    """Four ages of 30 people each: in groups of 30 all are beyond the limit, in groups of 60 a z.

    One of 30 n and 30 y moves a belief by 2 × (30/60 - 29/59) = 0.017, the only z by 2/60.
    """
    ages = [age for age in (20, 21, 80, 81) for _ in range(30)]
    frame = people(ages, [*["n", "y"] * 59, "n", "z"])
    result = audit(frame, "mondrian:k=2", {"delta": 0.02})
    assert result.bug is None
    (fix,) = [x for x in result.document["next_steps"] if x["kind"] == "fix"]
    setting = fix["options"]["sanitizer"]
    assert fix["command"].endswith("--sanitizer mondrian:k=50 --fix delta=0.02")
    assert fix["text"].startswith(f"Ask for {setting}, and remove ")
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")
    fixed = indiff.fix(table, setting, delta=0.02, model="frequency")
    assert fixed.holds
    assert fixed.removed.tolist() == [119]
    assert "remove 1 record of 120: --fix delta=0.02" in fix["text"]

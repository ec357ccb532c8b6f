"""Parts of a policy: whose limit counts, what a sample tells, what is open, what people confirm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import indiff
from indiff.audit.policy import assess
from indiff.errors import UserError
from tests.audit.policy.tables import audited, groups_of, outcome, with_a_column

HEAD = 'title = "Ours"\ndocument = "House rules"\nyear = 2026\nsection = "2"\nverified = true\n'


def own_policy(folder: Path, text: str, head: str = "") -> str:
    place = folder / "ours.toml"
    place.write_text(f"{HEAD}{head}{text}")
    return str(place)


def limit(metric: str, value: float, kind: str = "maximum", scope: str = "sample") -> str:
    return (
        f'[[limits]]\nmetric = "{metric}"\nlabel = "What we allow"\nlimit = {value}\n'
        f'kind = "{kind}"\nscope = "{scope}"\n'
    )


def test_the_stricter_of_two_limits_counts_and_it_is_said() -> None:
    table = groups_of(7)
    ours = audited(table, "cell-5", limits={"k": 8})
    assert outcome(ours) == ("passed", 1)
    assert ours.finding("k").limit.value == 8
    (told,) = ours.document["policy"]["limits"]
    assert told["reason"] == "your own limit, 8, is stricter and counts"
    theirs = audited(table, "cell-10", limits={"k": 2})
    assert outcome(theirs) == ("failed", 1)
    assert theirs.finding("k").limit.value == 10
    said = "cell-10, k: it is stricter than your own limit, 2, and counts instead"
    assert said in theirs.verdict["reasons"]


def test_a_narrower_limit_of_ones_own_does_not_soften_the_policy(tmp_path: Path) -> None:
    policy = own_policy(tmp_path, limit("inference.itpr", 0.0))
    table = groups_of(5, ward=["a", "b", "c"])
    result = audited(table, policy, limits={"inference.ill.itpr": 1.0})
    assert result.finding("inference.itpr:ill").limit.value == 0.0
    assert outcome(result) == ("failed", 1)


def test_a_limit_of_ones_own_file_on_an_average(tmp_path: Path) -> None:
    # Four groups of 5: whoever links everybody is right for one in five.
    kept = own_policy(tmp_path, limit("marketer", 0.2, "average"))
    result = audited(groups_of(5), kept)
    assert outcome(result) == ("passed", 0)
    (told,) = result.document["policy"]["limits"]
    assert told["measured"] == pytest.approx(0.2)
    assert told["source"] == "House rules (2026); see: 2"
    assert result.document["policy"]["name"] == "ours"
    assert result.document["plan"]["context"]["policy"] == "ours.toml"
    missed = own_policy(tmp_path, limit("marketer", 0.19, "average"))
    assert outcome(audited(groups_of(5), missed)) == ("failed", 1)


@pytest.mark.parametrize(
    ("model", "ended"),
    [("controlled", ("passed", 0)), ("internal", ("passed", 0)), ("public", ("failed", 1)),
     (None, ("failed", 1))],
)  # fmt: skip
def test_the_chance_of_an_attack_counts_where_not_everybody_can_try(
    tmp_path: Path, model: str | None, ended: tuple[str, int]
) -> None:
    # One in 5, if somebody tries, which three in ten do: 0.06.
    policy = own_policy(tmp_path, limit("prosecutor", 0.06), "pr_attack = 0.3\n")
    result = audited(groups_of(5), policy, context={"release_model": model})
    assert outcome(result) == ended
    (told,) = result.document["policy"]["limits"]
    assert told["measured"] == pytest.approx(0.06 if ended[1] == 0 else 0.2)
    assert "attack" in told["reason"]


def test_the_risk_of_a_sample_is_an_upper_bound_on_that_of_its_population() -> None:
    """A group of the sample lies within one of the population, which is at least as large."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        population = rng.integers(0, 12, size=300)
        sample = rng.choice(population, size=60, replace=False)
        in_sample, in_population = np.bincount(sample, minlength=12), np.bincount(population)
        ours, theirs = 1 / in_sample[sample], 1 / in_population[sample]
        assert ours.max() >= theirs.max()
        assert ours.mean() >= theirs.mean()


def test_a_limit_on_the_population_says_what_the_table_tells_of_it(tmp_path: Path) -> None:
    policy = own_policy(tmp_path, limit("prosecutor", 0.2, scope="population"))
    (kept,) = audited(groups_of(5), policy).document["policy"]["limits"]
    assert "the population that it was drawn from is no larger" in kept["reason"]
    (missed,) = audited(groups_of(4), policy).document["policy"]["limits"]
    assert missed["status"] == "failed"
    assert "in the population it may be less" in missed["reason"]


def test_columns_of_which_nothing_was_measured_leave_a_policy_open(tmp_path: Path) -> None:
    table = groups_of(5)
    result = audited(table, "cell-5", release=with_a_column(table, tmp_path))
    assert outcome(result) == ("incomplete", 3)
    (told,) = result.document["policy"]["limits"]
    assert told["measured"] == 5
    assert told["reason"] == "the release has columns of which nothing was measured"


def test_groups_of_noisy_counts_are_no_groups_of_people() -> None:
    noisy = audited(groups_of(30), "cell-3", release={"sanitizer": "laplace:epsilon=1"})
    (told,) = noisy.document["policy"]["limits"]
    assert (told["measured"], told["status"]) == (None, "incomplete")
    assert noisy.verdict["exit_code"] != 0


def test_a_policy_without_limits_is_one_for_the_verdict() -> None:
    context = {"confirmed": "no-actual-knowledge", "author": "A. Müller"}
    result = audited(groups_of(5), "hipaa-safe-harbor", context=context)
    assert result.verdict == {
        "status": "pass", "exit_code": 0, "reasons": ["every part of hipaa-safe-harbor is met"],
    }  # fmt: skip


def test_only_what_the_policy_asks_can_be_confirmed() -> None:
    with pytest.raises(UserError, match="no point to confirm 'harms'"):
        audited(groups_of(5), "cell-5", context={"confirmed": ["harms"]})


@pytest.mark.parametrize(
    ("named", "who"),
    [
        ({"confirmed_by": "the board"}, "the board"),
        ({"author": "A. Müller"}, "A. Müller"),
        ({"author": "A. Müller", "confirmed_by": "the board"}, "the board"),
    ],
)
def test_the_report_names_who_vouches(named: dict[str, str], who: str) -> None:
    context = {"confirmed": "no-actual-knowledge", **named}
    result = audited(groups_of(5), "hipaa-safe-harbor", context=context)
    last = result.document["policy"]["checklist"][-1]
    assert last["status"] == "passed"
    assert last["evidence"] == f"no program can check it; {who} has vouched for it"
    assert f"{who} has vouched for it" in result.to_markdown()


def test_nobody_vouches_without_a_name() -> None:
    with pytest.raises(UserError, match=r"nobody is named\. Say who: confirmed_by="):
        audited(groups_of(5), "hipaa-safe-harbor", context={"confirmed": "no-actual-knowledge"})


def test_a_scan_that_found_something_cannot_be_confirmed_away() -> None:
    table = groups_of(5, city=["Bonn"])
    context = {"confirmed": ["places", "no-actual-knowledge"], "author": "A. Müller"}
    assert outcome(audited(table, "hipaa-safe-harbor", context=context)) == ("failed", 1)
    # Three digits of a postal code are for people to judge.
    table = groups_of(5, zip=["021**", "945**"])
    one = {**context, "confirmed": "no-actual-knowledge"}
    unsure = audited(table, "hipaa-safe-harbor", context=one)
    assert outcome(unsure) == ("incomplete", 3)
    assert outcome(audited(table, "hipaa-safe-harbor", context=context)) == ("passed", 0)


def test_a_policy_that_cannot_be_judged_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(assess.Assessment, "to_dict", breaks)
    result = audited(groups_of(5), "cell-5")
    assert result.verdict["exit_code"] == 3
    assert any("the policy could not be judged" in one for one in result.verdict["reasons"])
    assert result.document["policy"] is None


def test_a_policy_that_is_met_is_no_reason_for_failing() -> None:
    result = audited(groups_of(5), "cell-3", limits={"k": 6})
    assert result.document["policy"]["status"] == "passed"
    assert result.verdict["status"] == "fail"
    assert not any("is met" in one for one in result.verdict["reasons"])


def test_without_a_policy_the_document_has_the_context_alone() -> None:
    plan = indiff.Plan(
        data={"quasi": ["years", "sex"], "sensitive": "ill"},
        context={"purpose": "research", "review_by": "2030-01-01"},
        release={"sanitizer": "suppress"},
        adversary={"models": ["naive-bayes"], "membership": False},
    )
    document = indiff.run_audit(plan, groups_of(3)).document
    assert document["policy"] is None
    assert document["context"] == {
        "purpose": "research", "recipients": None, "release_model": None, "controller": None,
        "author": None, "data_period": None, "attackers": None, "knowledge": None,
        "limits_by": None, "review_by": "2030-01-01", "confidentiality": None,
    }  # fmt: skip

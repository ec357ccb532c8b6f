"""Plans: what is refused names the section and the key; paths are relative to the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import indiff
from indiff.audit.plan.plan import Plan, read_plan
from indiff.errors import UserError

GOOD = '[data]\npath = "people.csv"\nsensitive = "ill"\n'


@pytest.mark.parametrize(
    ("written", "targets"), [("0-4", [0, 1, 2, 3, 4]), ("7-7", [7]), ("3,5-6", [3, 5, 6]), ("7", 7)]
)
def test_targets_are_written_as_in_the_shell(written: str, targets: int | list[int]) -> None:
    """To pydantic alone "0-4" is the number -4."""
    plan = Plan(data={"sensitive": "ill"}, adversary={"targets": written})
    assert plan.adversary.targets == targets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[data]\nsensitiv = "x"\n', r"plan.toml, \[data\] sensitive is needed"),
        (GOOD + 'quazi = ["a"]\n', r"\[data\] has no key 'quazi': did you mean 'quasi'\?"),
        (GOOD + "[datas]\n", r"no section \[datas\]: did you mean 'data'\?"),
        (GOOD + '[release]\nsanitizer = "mondrain"\n', r"\[release\] sanitizer: no sanitizer"),
        (GOOD + '[adversary]\nmodels = ["tre"]\n', r"\[adversary\] models: .*'tre'"),
        (GOOD + "[adversary]\nmodels = []\n", r"\[adversary\] models must name at least 1"),
        (GOOD + '[adversary]\ndistance = "l3"\n', r"\[adversary\] distance: .*'l3'"),
        (GOOD + '[adversary]\nmethod = "fast"\n', r"\[adversary\] method: no method 'fast'"),
        (GOOD + "[adversary]\nconfidence = 1.0\n", r"\[adversary\] confidence must be less than 1"),
        (GOOD + "[limits]\nkk = 5\n", r"no limit 'kk'.*Known: k, "),
        (
            GOOD + "[limits]\nk = -1\n",
            r"\[limits\]: a limit on k is a number of at least 1; got -1",
        ),
        (GOOD + '[limits]\nk = "five"\n', r"\[limits\] k must be a valid number.*got 'five'"),
        (GOOD + "[report]\nmin_cell = 0\n", r"\[report\] min_cell must be greater than or equal"),
        (GOOD + '[report]\nparameter = "mondrian:k=5"\n', r"\[report\] parameter: a curve needs"),
        (GOOD + "[run]\njobs = 0\n", r"\[run\] jobs: jobs must be -1 \(all cores\)"),
        (GOOD + "[run]\nseed = -1\n", r"\[run\] seed must be"),
        (GOOD + '[context]\npolcy = "cell-5"\n', r"\[context\] has no key 'polcy': did you mean"),
        (GOOD + '[context]\npolicy = "cell-6"\n', r"\[context\] policy: no policy 'cell-6': did"),
        ('policy = "cell-5"\n' + GOOD, r"policy is a key of a section; write it below \[context\]"),
        (
            GOOD + '[context]\nrelease_model = "open"\n',
            r"\[context\] release_model must be 'public', 'controlled' or 'internal'; got 'open'",
        ),
        (GOOD + '[context]\nreview_by = "soon"\n', r"review_by: a day is written 2027-12-31; got"),
        (GOOD + "[context]\npurpose = 7\n", r"\[context\] purpose must be a valid string; got 7"),
        (GOOD + '[run]\ntime = "soon"\n', r"\[run\] time: time is a span above 0.*got 'soon'"),
        (GOOD + "[limits]\ndelta = true\n", r"\[limits\]: true and false are no value here"),
        (GOOD + "[limits]\ninference.itpr = false\n", r"\[limits\]: true and false are no"),
        (GOOD + "[report]\nmin_cell = true\n", r"\[report\] min_cell: true and false are no"),
        (GOOD + "bins = {ill = true}\n", r"\[data\] bins: true and false are no value here"),
        (
            GOOD + "[adversary]\ntargets = '4-x'\n",
            r"\[adversary\] targets.*is how many",
        ),
        (GOOD + "[adversary]\ntargets = 0\n", r"targets is a number of at least 1.*got 0"),
        (GOOD + "[adversary]\ntargets = []\n", r"targets names no record; leave it out"),
        ("[data\n", r"plan.toml is no TOML: .*line 1.* Correct that line"),
    ],
)
def test_one_sentence_names_section_and_key(tmp_path: Path, text: Any, message: Any) -> None:
    place = tmp_path / "plan.toml"
    place.write_text(text)
    with pytest.raises(UserError, match=message) as raised:
        read_plan(place)
    assert "\n" not in str(raised.value)


def test_paths_are_relative_to_the_plan(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    place = tmp_path / "sub" / "plan.toml"
    place.write_text(GOOD + 'hierarchies = {zip = "h/zip.csv"}\n[adversary]\nprior = "p.csv"\n')
    plan = read_plan(place)
    assert plan.data.path == str(tmp_path / "sub" / "people.csv")
    assert plan.data.hierarchies == {"zip": str(tmp_path / "sub" / "h" / "zip.csv")}
    assert plan.adversary.prior == str(tmp_path / "sub" / "p.csv")


def test_nested_and_quoted_limits_are_the_same(tmp_path: Path) -> None:
    plans = []
    for limits in ("inference.itpr = 0.5", '"inference.itpr" = 0.5', "inference = {itpr = 0.5}"):
        place = tmp_path / "plan.toml"
        place.write_text(f"{GOOD}[limits]\n{limits}\n")
        plans.append(read_plan(place).limits)
    assert plans == [{"inference.itpr": 0.5}] * 3


def test_the_context_has_a_policy_beside_the_plan_and_a_day(tmp_path: Path) -> None:
    place = tmp_path / "plan.toml"
    place.write_text(f'{GOOD}[context]\npolicy = "ours.toml"\nreview_by = 2030-01-31\n')
    plan = read_plan(place)
    assert plan.context.policy == str(tmp_path / "ours.toml")
    assert str(tmp_path / "ours.toml") in plan.files
    assert plan.context.review_by == "2030-01-31"
    place.write_text(f'{GOOD}[context]\npolicy = "cell-11"\n[limits]\nk = 5\n')
    assert read_plan(place).context.policy == "cell-11"
    assert read_plan(place).all_limits == {"k": 11}
    assert read_plan(place).limits == {"k": 5}


def test_a_missing_plan_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="indiff audit --init DATA"):
        read_plan(tmp_path / "none.toml")


def test_a_plan_is_made_in_python_and_cannot_be_changed() -> None:
    plan = indiff.Plan(data={"sensitive": "ill", "quasi": "age"})
    assert plan.data.sensitive == ["ill"]
    assert plan.data.quasi == ["age"]
    with pytest.raises(ValueError, match="frozen"):
        plan.limits = {}
    with pytest.raises(UserError, match=r"\[data\] sensitive is needed"):
        Plan(data={})

"""The verdict on tests, releases and risk as a table: every way to end, with its code and words."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from indiff.audit.metrics import METRICS, _Metrics, counted, metric, number, percent, words_for
from indiff.audit.plan.limits import (
    GROUP_MODELS,
    INFORMATION,
    SIZES,
    check_limit_names,
    check_ranges,
    is_at_least,
    limit_names,
    narrowest,
    narrowest_name,
    range_of,
    risk_limits,
)
from indiff.audit.verdict import (
    NO_LIMIT,
    Check,
    Exit,
    Verdict,
    incomplete,
    judge,
    judge_releases,
    judge_risk,
    judge_tests,
    with_columns,
)
from indiff.errors import UserError
from indiff.release.unmeasured import Unmeasured
from indiff.risk.measure import Risk


def outcome(*distances: float, **more: Any) -> Any:
    """A test of two records of two, both within 0.1, unless told otherwise."""
    each = np.array(distances or (0.0, 0.1))
    usual = {
        "distances": each, "constraint_met": True, "unmet": None, "out_of_time": False,
        "interrupted": False, "complete": True, "population": len(each), "failures": (),
        "model": "tree", "largest": 2.0, "sensitive_name": "ill", "unmeasured": (),
        "delta": float(each.max(initial=-1)) if len(each) else math.nan,
        "changed_interval": None, "changed_upper": 0.0,
    }  # fmt: skip
    usual["delta_upper"] = usual["delta"]
    usual["mean_upper"] = float(each.mean()) if len(each) else math.nan
    return SimpleNamespace(**usual | more)


EXCEEDED = "delta of ill is 0.1, above the limit 0.05"
READ = "cells read as covering a value or not (encoding TF-TF)"
KEPT = f"no limit was exceeded, against tree alone, {READ}"
PARTIAL = "nothing exceeded so far, but not every record was tested: no pass"
TIME = "the time was up: what was measured is a lower bound"
STOPPED = "interrupted: the 2 records measured so far are kept"
FAILED = "1 call failed: nothing is known about this record"
UNMET = "k is 2, which is never a pass"
BROKEN: Any = {"constraint_met": False, "unmet": "k is 2"}
SLOW: Any = {"out_of_time": True, "complete": False, "population": 3}
CUT: Any = {"interrupted": True, "complete": False, "population": 3}
FAILING: Any = {"failures": ("no",), "complete": False, "population": 3}


@pytest.mark.parametrize(
    ("results", "limit", "code", "reasons"),
    [
        ([outcome()], 0.1, 0, [KEPT]),
        ([outcome()], 0.05, 1, [EXCEEDED]),
        ([outcome()], None, 0, [NO_LIMIT]),
        ([outcome(**BROKEN)], 0.1, 1, [UNMET, KEPT]),
        ([outcome(**BROKEN)], 0.05, 1, [UNMET, EXCEEDED]),
        ([outcome(**BROKEN)], None, 1, [UNMET]),
        ([outcome(constraint_met=None)], 0.1, 0, [KEPT]),
        ([outcome(**SLOW)], 0.1, 3, [TIME, PARTIAL]),
        ([outcome(**SLOW)], 0.05, 1, [EXCEEDED, TIME]),
        ([outcome(**SLOW)], None, 3, [TIME, NO_LIMIT]),
        ([outcome(**CUT)], 0.1, 130, [STOPPED, PARTIAL]),
        ([outcome(**CUT)], 0.05, 1, [EXCEEDED, STOPPED]),
        ([outcome(**CUT)], None, 130, [STOPPED, NO_LIMIT]),
        ([outcome(**FAILING)], 0.1, 3, [FAILED, PARTIAL]),
        ([outcome(**FAILING)], None, 3, [FAILED, NO_LIMIT]),
        # Some were asked for, and all of them measured: a lower bound, no pass where limits are.
        ([outcome(population=3)], 0.1, 3, [PARTIAL]),
        ([outcome(population=3)], 0.05, 1, [EXCEEDED]),
        ([outcome(population=3)], None, 0, [NO_LIMIT]),
        # One of two is enough to keep both from a pass.
        ([outcome(), outcome(population=3)], 0.1, 3, [PARTIAL]),
        ([outcome(), outcome(**SLOW)], 0.1, 3, [TIME, PARTIAL]),
        ([outcome(), outcome(**BROKEN)], 0.1, 1, [UNMET, KEPT]),
        ([outcome(**BROKEN), outcome(**BROKEN)], None, 1, [UNMET]),
        ([outcome(0.0, 0.0)], 0.0, 0, [KEPT]),
        ([outcome(population=3, distances=np.zeros(2))], 0.1, 3, [PARTIAL]),
    ],
)
def test_every_way_a_test_can_end(results: Any, limit: Any, code: int, reasons: Any) -> None:
    verdict = judge_tests(results, {} if limit is None else {"delta": limit})
    assert (int(verdict.exit_code), list(verdict.reasons)) == (code, reasons)
    assert verdict.has_limits == (limit is not None)
    words = {0: "pass" if limit is not None else "no-limits", 1: "fail"}
    assert verdict.status == words.get(code, "incomplete")


def test_codes_are_those_of_the_readme() -> None:
    assert {one.name: int(one) for one in Exit} == {
        "NOTHING_EXCEEDED": 0, "EXCEEDED": 1, "BAD_INPUT": 2, "INCOMPLETE": 3,
        "INTERNAL_ERROR": 70, "INTERRUPTED": 130,
    }  # fmt: skip


def test_attributes_that_were_not_reached() -> None:
    """An interruption ends with 130; where the time was up, with 3; and neither is a pass."""
    verdict = judge_tests([outcome()], {"delta": 0.1}, ["income"])
    assert (verdict.exit_code, verdict.status) == (Exit.INTERRUPTED, "incomplete")
    assert judge_tests([outcome(**SLOW)], {}, ["income"]).exit_code == Exit.INCOMPLETE
    assert judge_tests([], {"delta": 0.1}, ["income"]).exit_code == Exit.INTERRUPTED


def test_where_a_run_goes_on() -> None:
    for result, said in ((outcome(**CUT), STOPPED), (outcome(**SLOW), TIME)):
        verdict = judge_tests([result], {}, run=Path("here"))
        assert verdict.reasons[0] == f"{said}; the same command goes on from 'here'"


def test_failed_calls_are_added_up() -> None:
    two = outcome(failures=("a", "b"), complete=False)
    verdict = judge_tests([two, outcome(**FAILING)], {})
    assert verdict.reasons[0] == "3 calls failed: nothing is known about these records"


@pytest.mark.parametrize(
    ("limits", "largest", "code"),
    [
        ({"delta": 2.0}, 2.0, 0),
        ({"delta": 2.5}, 2.0, 3),
        ({"delta": 9.0}, math.inf, 0),
        ({"changed_predictions": 100.0}, 2.0, 0),
        ({"changed_predictions": 100.5}, 2.0, 3),
        ({"mean": 2.5}, 2.0, 3),
    ],
)
def test_a_limit_beyond_the_largest_value_proves_nothing(
    limits: Any, largest: float, code: int
) -> None:
    verdict = judge_tests([outcome(largest=largest), outcome(largest=largest)], limits)
    assert verdict.exit_code == code
    told = [one for one in verdict.reasons if "above its largest value" in one]
    assert len(told) == (code == 3)  # once for both


def test_checks_say_whether_the_number_is_known() -> None:
    sampled = outcome(
        delta_upper=0.3, mean_upper=0.2, changed_interval=(1.0, 7.0), changed_upper=7.0
    )
    limits = {"delta": 0.2, "mean": 0.1, "changed_predictions": 5.0}
    found = judge_tests([sampled], limits)
    assert list(found.reasons) == [
        "delta of ill may be 0.3, above the limit 0.2",
        "mean of ill may be 0.2, above the limit 0.1",
        "changed_predictions of ill may be 7, above the limit 5",
    ]
    exact = judge_tests([outcome(changed_upper=7.0)], limits)
    assert exact.reasons == ("changed_predictions of ill is 7, above the limit 5",)
    assert [one.exceeded for one in exact.checks] == [False, False, True]
    # Exactly known changes beside sampled distances, and the other way round.
    mixed = judge_tests([outcome(delta_upper=0.3, changed_upper=7.0)], limits)
    assert "changed_predictions of ill is 7" in mixed.reasons[-1]


def test_where_no_record_was_measured_there_is_nothing_to_check() -> None:
    none = outcome(distances=np.zeros(0), delta=math.nan, delta_upper=math.nan, complete=False)
    assert judge_tests([none], {"delta": 0.1}).checks == ()
    # Of several models, one may have measured what another did not.
    seen = outcome(distances=np.zeros(0), delta=0.7, delta_upper=0.7, complete=False)
    assert judge_tests([seen], {"delta": 0.1}).exit_code == Exit.EXCEEDED
    strange = outcome(delta=math.nan, delta_upper=math.nan)
    assert judge_tests([strange], {"delta": 0.1}).exit_code == Exit.EXCEEDED


def test_a_check_as_plain_data() -> None:
    at_least = Check("k", 3, 5, "at least")
    assert str(at_least) == "k is 3, below the limit 5"
    assert at_least.to_dict() == {
        "sensitive": None, "name": "k", "value": 3, "limit": 5, "is_lower": True, "exceeded": True,
    }  # fmt: skip
    at_most = Check("delta", 0.5, 0.5, "at most", "ill")
    assert (at_most.exceeded, at_most.to_dict()["is_lower"]) == (False, False)
    verdict = Verdict(Exit.EXCEEDED, ("so",), (at_least,))
    assert verdict.has_limits
    assert verdict.beside({"a": 1}) == {
        "a": 1, "limits": [at_least.to_dict()],
        "verdict": {"status": "fail", "exit_code": 1, "reasons": ["so"]},
    }  # fmt: skip


NAMED, OTHER = Unmeasured("who", True, "is an identifier"), Unmeasured("note", False, "free text")


@pytest.mark.parametrize("code", list(Exit))
def test_what_is_missing_is_never_a_pass(code: Exit) -> None:
    found = incomplete(Verdict(code, ("first",)), "second")
    assert found.exit_code == (Exit.INCOMPLETE if code == 0 else code)
    assert found.reasons == ("first", "second")


@pytest.mark.parametrize(
    ("columns", "repeated", "status"),
    [
        ([], [], "pass"),
        ([], ["a copy of records"], "fail"),
        ([OTHER], [], "incomplete"),
        ([OTHER], ["a copy of records"], "fail"),
        ([OTHER, NAMED], [], "fail"),
    ],
)
def test_columns_and_copies(columns: Any, repeated: Any, status: str) -> None:
    kept = Verdict(Exit.NOTHING_EXCEEDED, ("every limit is kept",))
    found = with_columns(kept, columns, repeated)
    assert found.status == status
    assert found.reasons[-1] == "every limit is kept"
    assert len(found.reasons) == 1 + len(columns) + len(repeated)
    assert judge_tests([outcome(unmeasured=tuple(columns))], {"delta": 0.1}).status == (
        with_columns(kept, columns).status
    )


def released(test: Any, **more: Any) -> Any:
    return SimpleNamespace(**{"test": test, "unmeasured": (), "repeated": ()} | more)


@pytest.mark.parametrize(
    ("results", "limit", "code", "reason"),
    [
        ([released(outcome())], None, 0, NO_LIMIT),
        ([released(outcome())], 0.05, 1, EXCEEDED),
        ([released(outcome())], 0.1, 3, "approximation: no pass"),
        ([released(None)], 0.1, 3, "was skipped, so no limit could be checked: no pass"),
        ([released(None)], None, 0, NO_LIMIT),
        ([released(None), released(outcome())], 0.1, 3, "approximation: no pass"),
        ([released(outcome(), repeated=("a copy",))], None, 1, "a copy"),
        ([released(outcome(), unmeasured=(OTHER,))], None, 3, "note"),
        ([released(outcome(), unmeasured=(NAMED,))], 0.1, 1, "who"),
        ([released(outcome(population=3))], 0.1, 3, PARTIAL),
    ],
)
def test_a_release_beside_its_original(results: Any, limit: Any, code: int, reason: str) -> None:
    verdict = judge_releases(results, {} if limit is None else {"delta": limit})
    assert verdict.exit_code == code
    assert any(reason in one for one in verdict.reasons)


def risk(k: float = 5, itpr: float = 0.5, dr: float = 0.25) -> Any:
    of_ill = SimpleNamespace(itpr=itpr, dr=dr, h_conditional=1.5)
    made: Any = SimpleNamespace(
        groups=SimpleNamespace(k=k, t=0.3),
        reidentification=SimpleNamespace(itpr=0.9, dr=0.8),
        inference={"ill.x": of_ill},
        population=None,
    )
    made.value_of, made.verb_of = partial(Risk.value_of, made), partial(Risk.verb_of, made)
    return made


@pytest.mark.parametrize(
    ("limits", "code", "reasons"),
    [
        ({}, 0, (NO_LIMIT,)),
        ({"k": 5, "t": 0.3}, 0, ("no limit was exceeded",)),
        ({"k": 6}, 1, ("k is 5, below the limit 6",)),
        ({"k": 4, "t": 0.2}, 1, ("t is 0.3, above the limit 0.2",)),
        ({"reidentification.itpr": 0.9}, 0, ("no limit was exceeded",)),
        ({"reidentification.dr": 0.7}, 1, ("reidentification.dr is 0.8, above the limit 0.7",)),
        ({"inference.ill.x.dr": 0.2}, 1, ("inference.ill.x.dr is 0.25, above the limit 0.2",)),
        ({"inference.ill.x.h_conditional": 1.5}, 0, ("no limit was exceeded",)),
        (
            {"inference.ill.x.h_conditional": 2},
            1,
            ("inference.ill.x.h_conditional is 1.5, below the limit 2",),
        ),
    ],
)
def test_risk_is_checked_by_name(limits: Any, code: int, reasons: Any) -> None:
    verdict = judge_risk(risk(), limits)
    assert (verdict.exit_code, verdict.reasons) == (code, reasons)
    assert len(verdict.checks) == len(limits)
    assert verdict.has_limits == bool(limits)


def test_a_limit_on_a_population_that_nobody_named_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"the limit population\.k_map needs to know the population"
    ):
        judge_risk(risk(), {"k": 5, "population.k_map": 5})


def found(name: str, value: float, **more: Any) -> Any:
    words = {"about": "ill", "model": "tree", "ground": "by ranks", "baseline": "1 %"}
    return metric(name, about="ill", model="tree").found(
        f"{name}:ill", value, words, **{"about": "ill", "exactness": "exact"} | more
    )


def test_a_pass_names_the_adversaries_of_the_tests_alone() -> None:
    tree, k = found("delta", 0.1, parameters={"model": "tree"}), found("k", 7)
    other = found("mean", 0.1, parameters={"model": "knn"})
    strongest = found("delta", 0.1, parameters={"models": ["tree"]}, about="x")
    _, verdict = judge([tree, k, other, strongest], {"delta": 0.2})
    assert verdict.reasons == (f"every limit is kept, against tree alone, {READ}",)
    _, verdict = judge([k], {"k": 5})
    assert verdict.reasons == ("every limit is kept",)
    _, verdict = judge([tree], {})
    assert verdict.reasons == (NO_LIMIT,)


def test_reasons_come_in_the_order_of_their_weight() -> None:
    beyond = found("delta", 0.3)
    gap = metric("mean", about="ill", model="tree").missed("mean", "failed", "it broke")
    _, verdict = judge(
        [beyond, gap], {"delta": 0.2}, interrupted=True, unfinished=["half"], broken=["promise"]
    )
    assert len(verdict.reasons) == 5
    assert verdict.reasons[0] == "promise"
    assert verdict.reasons[1].endswith("is 0.3, above the limit 0.2")
    assert verdict.reasons[2] == "the audit was interrupted; what was measured so far is kept"
    assert verdict.reasons[3] == "half"
    assert verdict.reasons[4].endswith("could not be measured: it broke")
    assert verdict.exit_code == Exit.EXCEEDED


@pytest.mark.parametrize(
    ("name", "value", "limit", "interval", "exceeded"),
    [
        ("k", 7, 5, (4, 9), True),
        ("k", 7, 5, (5, 9), False),
        ("delta", 0.1, 0.2, (0.0, 0.3), True),
        ("delta", 0.1, 0.2, (0.0, 0.2), False),
    ],
)
def test_the_worse_end_counts(
    name: str, value: float, limit: float, interval: Any, exceeded: bool
) -> None:
    one = found(name, value, interval=interval, exactness="estimate")
    (checked,), verdict = judge([one], {name: limit})
    assert (checked.exceeded, verdict.exit_code) == (exceeded, int(exceeded))
    if exceeded:
        assert " may be " in verdict.reasons[0]
        assert "the worse end of its interval" in checked.means


def test_a_finding_without_a_limit_stays_as_it_is() -> None:
    one, two = found("delta", 0.3), found("k", 7)
    (first, second), _ = judge([one, two], {"k": 5})
    assert (first.limit, first.exceeded, first.means) == (None, None, one.means)
    assert second.exceeded is False


def test_several_that_prove_nothing_are_named_together() -> None:
    two = [found(name, 0.1, exactness="lower-bound") for name in ("delta", "mean")]
    _, verdict = judge(two, {"delta": 1, "mean": 1})
    assert verdict.reasons[0].endswith(" and 1 more are a lower bound: not every record was tested")
    _, verdict = judge(two[:1], {"delta": 1})
    assert " is a lower bound" in verdict.reasons[0]
    _, verdict = judge(two, {"k": 5})
    assert list(verdict.reasons) == [
        "the limit on k was not checked: nothing of that name was measured"
    ]


# Names and ranges of limits.


def test_every_name_can_be_limited_but_for_descriptions() -> None:
    names = limit_names()
    assert {"records", "missing", "told_by_the_crowd"}.isdisjoint(names)
    assert set(names) == (set(METRICS) | {"itpr", "dr"}) - {
        "records", "missing", "told_by_the_crowd",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["reidentification.ill.itpr", "inference..itpr", "inference.ill.k", "inference.ill"]
)
def test_names_that_no_audit_measures(name: str) -> None:
    with pytest.raises(UserError, match="no limit"):
        check_limit_names([name], ["ill"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("journalist", (0, 1)), ("beta_enhanced", (0, None)), ("inference.ill.mi", (0, None)),
        ("reidentification.cp", (0, 1)), ("inference.mil", (0, None)),
        ("mil_unweighted", (0, None)), ("eld", (0, 1)), ("theta", (0, None)),
        ("h_conditional", (0, None)),
        ("h_normalised", (0, 1)), ("k", (1, None)), ("itpr", (0, 1)), ("delta", (0, None)),
    ],
)  # fmt: skip
def test_ranges_by_definition(name: str, expected: Any) -> None:
    assert range_of(name) == expected
    least, largest = expected
    check_ranges({name: least})
    with pytest.raises(UserError, match="is a number"):
        check_ranges({name: least - 0.001})
    if largest is not None:
        check_ranges({name: largest})
        with pytest.raises(UserError, match=f"from {least} to {largest}; got"):
            check_ranges({name: largest + 0.001})
    else:
        check_ranges({name: 1e9})


def test_a_distance_that_is_a_function_has_an_open_range() -> None:
    assert range_of("delta", lambda a, b: 0) == (0, None)
    assert range_of("quantile", "wasserstein") == (0, 2)
    assert range_of("mean", "kl") == (0, None)


@pytest.mark.parametrize(
    ("name", "limits", "counts"),
    [
        ("k", {"k": 5}, "k"),
        ("k", {"t": 0.5}, None),
        ("inference.ill.itpr", {"itpr": 0.5}, "itpr"),
        ("inference.ill.itpr", {"inference.ill.itpr": 0.1, "itpr": 0.5}, "inference.ill.itpr"),
        ("reidentification.itpr", {"itpr": 0.5, "reidentification.itpr": 0.4},
         "reidentification.itpr"),
        ("reidentification.itpr", {"inference.itpr": 0.5}, None),
        ("together.delta", {"delta": 0.1}, "delta"),
        ("together.delta", {"delta": 0.1, "together.delta": 0.2}, "together.delta"),
        ("population.k_map", {"k_map": 3}, None),
    ],
)  # fmt: skip
def test_the_next_broader_limit_counts(name: str, limits: Any, counts: Any) -> None:
    assert narrowest_name(name, limits) == counts
    assert narrowest(name, limits) == (None if counts is None else limits[counts])


def test_names_of_risk() -> None:
    sensitive = ["ill", "pay"]
    for name in SIZES:
        assert risk_limits({name: 1}, []) == {name: 1}
    for name in INFORMATION:
        whole = f"reidentification.{name}"
        assert risk_limits({whole: 1}, []) == {whole: 1}
        assert risk_limits({f"inference.pay.{name}": 1}, sensitive) == {f"inference.pay.{name}": 1}
        assert risk_limits({f"inference.{name}": 1}, sensitive) == {
            f"inference.ill.{name}": 1, f"inference.pay.{name}": 1,
        }  # fmt: skip
    for name in GROUP_MODELS:
        assert risk_limits({name: 1}, sensitive) == {name: 1}
        with pytest.raises(UserError, match="needs a sensitive attribute"):
            risk_limits({name: 1}, [])
    for name in ("itpr", "reidentification.k", "somewhere.itpr", "inference.ill.k"):
        with pytest.raises(UserError, match="no limit"):
            risk_limits({name: 1}, sensitive)
    with pytest.raises(UserError, match="no sensitive attribute 'age'"):
        risk_limits({"inference.age.itpr": 1}, sensitive)
    with pytest.raises(UserError, match=r"'inference\.ill\.itpr' twice"):
        risk_limits({"inference.itpr": 0.5, "inference.ill.itpr": 0.5}, sensitive)
    with pytest.raises(UserError, match="from 0 to 1; got 2"):
        risk_limits({"inference.itpr": 2}, sensitive)
    assert not is_at_least("somewhere.else")


# Numbers in words.


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"), (5.0, "5"), (-3.0, "-3"), (12_345, "12,345"), (0.5, "0.5"), (1 / 3, "0.333"),
        (999_999_999_999_999.0, "999,999,999,999,999"), (1e15, "1e+15"), (-1e15, "-1e+15"),
        (math.inf, "infinite"), (-math.inf, "infinite"), (math.nan, "unknown"),
        (1234.5, "1.23e+03"),
    ],
)  # fmt: skip
def test_numbers(value: float, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0%"), (0.0009, "less than 0.1%"), (0.001, "0.1%"), (0.5, "50%"), (0.99900001,
        "more than 99.9%"), (1, "100%"), (1.5, "150%"), (-0.5, "-50%"), (math.inf, "infinite"),
        (math.nan, "unknown"),
    ],
)  # fmt: skip
def test_shares(value: float, said: str) -> None:
    assert percent(value) == said


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, {"rest": "100%", "records": "no records", "people": "no people", "times": "1 times",
               "ratio": "1 times", "share": "100%", "one_in": "0"}),
        (0.25, {"rest": "75%", "percent": "25%", "times": "1.25 times", "share": "400%",
                "one_in": "one in 4"}),
        (1.0, {"rest": "0%", "records": "1 record", "people": "1 person", "ratio": "2.72 times",
               "share": "100%", "one_in": "one in 1"}),
        (4.0, {"records": "4 records", "people": "4 people", "times": "5 times", "share": "25%"}),
        (700.0, {"ratio": "700 times"}),
        (699.0, {"ratio": f"{math.exp(699):.3g} times"}),
        (math.nan, {"value": "unknown", "share": "100%", "one_in": "0", "ratio": "unknown times"}),
        (math.inf, {"value": "infinite", "ratio": "infinite times", "share": "0%"}),
    ],
)  # fmt: skip
def test_one_number_in_many_words(value: float, words: dict[str, str]) -> None:
    said = words_for(value)
    assert {name: said[name] for name in words} == words


def test_what_is_counted() -> None:
    assert counted(0, "box", "boxes") == "no boxes"
    assert counted(1, "box", "boxes") == "1 box"
    assert counted(2, "box", "boxes") == "2 boxes"
    assert counted(2, "record") == "2 records"
    assert len(METRICS) == len(list(METRICS)) > 20
    fresh = _Metrics()  # read again from its table
    assert list(fresh) == list(METRICS)
    assert fresh["delta"] == METRICS["delta"]
    assert fresh["t"].at.keys() == {0.0}
    ranges: dict[str, Any] = {name: fresh[name].range for name in ("k", "t")}
    assert ranges == {"k": (1, None), "t": (0, 1)}

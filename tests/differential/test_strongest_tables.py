"""The strongest of several adversaries, on results written by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import DifferentialResult, Mondrian, read_table
from indiff.differential.strongest import (
    MOST_WORK,
    Adversaries,
    StrongestResult,
    choose_model,
    choose_models,
    is_auto,
    possible_models,
    strongest,
)
from indiff.differential.targets.guarantee import statement
from indiff.inference import Frequency, NaiveBayes
from indiff.sanitizers.noise.mechanisms import Laplace
from indiff.sanitizers.sanitizer import Identity

DOCUMENTED = Path(__file__).parents[2] / "docs" / "adversaries.md"


def result(distances: list[float], model: str, **more: Any) -> DifferentialResult:
    size = len(distances)
    mine = 0.6 if model == "one" else 0.7
    beliefs = np.tile([mine, 1 - mine], (size, 1))
    usual: dict[str, Any] = {
        "distances": np.array(distances), "beliefs": beliefs, "beliefs_without": beliefs,
        "records": np.arange(size) * 10, "classes": np.zeros(size, np.int32),
        "sensitive_name": "ill", "sensitive_values": ("a", "b"), "sanitizer": "identity",
        "model": model, "distance": "wasserstein", "method": "refit", "exactness": "exact",
        "table_size": size, "fingerprint": "0", "requested": size, "largest": 2.0,
    }  # fmt: skip
    return DifferentialResult(**usual | more)


def both(first: Any = (), second: Any = (), **more: Any) -> StrongestResult:
    one = result([0.1, 0.4, 0.3], "one", **dict(first))
    other = result([0.3, 0.2, 0.3], "other", **dict(second))
    return strongest({"one": one, "other": other}, **more)


ENDS: Any = {
    "lower": np.array([0.0, 0.1, 0.2]), "upper": np.array([0.5, 0.9, 0.4]),
    "exactness": "estimate", "confidence": 0.975, "runs": 7,
}  # fmt: skip


def test_the_largest_of_each_record_and_who_sees_it() -> None:
    found = both()
    assert found.distances.tolist() == [0.3, 0.4, 0.3]
    assert found.seen_by.tolist() == ["other", "one", "one"]  # the first listed among equals
    assert found.records.tolist() == [0, 10, 20]
    assert (found.delta, found.model, found.deltas) == (0.4, "one", {"one": 0.4, "other": 0.3})
    assert found.mean == pytest.approx(1 / 3)
    assert (found.delta_interval, found.delta_upper, found.confidence) == (None, 0.4, None)
    assert found.mean_upper == found.mean
    assert found.beliefs[:, 0].tolist() == [0.7, 0.6, 0.6]
    assert (found.complete, found.interrupted, found.exactness) == (True, False, "exact")
    assert (found.largest, found.method, found.runs) == (2.0, "refit", None)
    assert found.entry(0) == {
        "record": 0, "distance": 0.3, "model": "other", "belief": 0.7, "belief_without": 0.7,
        "prediction_changed": 0.0,
    }  # fmt: skip
    assert len({found, both()}) == 2  # a result is equal to itself alone


def test_limits_are_the_largest_of_the_models() -> None:
    found = both(ENDS, confidence=0.95)
    assert found.uppers.tolist() == [0.5, 0.9, 0.4]
    assert found.delta_upper == 0.9
    assert found.mean_upper == pytest.approx(0.6)
    # δ is at least the exact one's 0.3 and the other's lower end 0.2.
    assert found.delta_interval == (0.3, 0.9)
    assert (found.exactness, found.confidence, found.runs) == ("estimate", 0.95, 7)
    twice = both(ENDS, ENDS | {"lower": np.array([0.35, 0.0, 0.0])})
    assert twice.delta_interval == (0.35, 0.9)
    part = both(ENDS, {"exactness": "lower-bound"})
    assert (part.delta_interval, part.exactness) == (None, "lower-bound")
    assert both({"exactness": "approximation"}, ENDS).exactness == "approximation"


@pytest.mark.parametrize(
    ("first", "second", "each", "interval"),
    [
        ({}, {}, [0, 0, 0], None),
        # Known chances are added up, to one at most.
        ({"change_chances": np.array([0.5, 0.75, 0.0])}, {}, [0.5, 0.75, 0], (125 / 3, 125 / 3)),
        (
            {"change_chances": np.array([0.5, 0.75, 0.0])},
            {"change_chances": np.array([0.25, 0.5, 0.0])},
            [0.75, 1.0, 0.0], (125 / 3, 175 / 3),
        ),
        # Drawn ones have limits: at least the largest lower end, at most all upper ends together.
        (
            {"change_chances": np.array([0.5, 0.75, 0.0]), "change_limits": (0.25, 0.75)},
            {"change_chances": np.array([0.25, 0.5, 0.0]), "change_limits": (0.125, 0.5)},
            [0.75, 1.0, 0.0], (25.0, 100.0),
        ),
        (
            {"change_chances": np.array([0.5, 0.25, 0.0]), "change_limits": (0.125, 0.5)},
            {"change_chances": np.array([0.25, 0.5, 0.0])},
            [0.75, 0.75, 0.0], (25.0, 75.0),
        ),
    ],
)  # fmt: skip
def test_changed_predictions_of_any_model(
    first: Any, second: Any, each: Any, interval: Any
) -> None:
    found = both(first, second)
    assert found.predictions_changed.tolist() == each
    assert found.changed_predictions == pytest.approx(100 * sum(each) / 3)
    assert found.changed_interval == (interval if interval is None else pytest.approx(interval))


def test_where_nobody_moves_predictions_still_have_limits() -> None:
    still = result([0.0, 0.0], "one", change_limits=(0.0, 0.5), change_chances=np.zeros(2))
    assert strongest({"one": still}).changed_interval == (0.0, 50.0)


def test_what_all_models_measured_in_the_order_of_the_first() -> None:
    one = result([0.1, 0.4, 0.3], "one", records=np.array([30, 10, 20]))
    other = result([0.2, 0.5], "other", records=np.array([20, 30]), requested=3, table_size=3)
    found = strongest({"one": one, "other": other})
    assert found.records.tolist() == [30, 20]
    assert found.distances.tolist() == [0.5, 0.3]
    assert (found.complete, found.interrupted) == (False, True)
    assert found.delta == 0.5
    frame = found.to_arrow()
    assert frame["one"].to_pylist() == [0.1, 0.3]
    assert frame["other"].to_pylist() == [0.5, 0.2]
    assert frame["model"].to_pylist() == ["other", "one"]
    late = strongest({"one": one, "other": replace(other, out_of_time=True)})
    assert (late.out_of_time, late.interrupted) == (True, False)


def test_a_model_that_saw_nothing_is_no_maximum() -> None:
    none = result([], "other", requested=3, table_size=3)
    found = strongest({"one": result([0.1, 0.4, 0.3], "one"), "other": none})
    assert (found.delta, found.model) == (0.4, "one")
    assert math.isnan(found.mean_upper)
    assert found.changed_interval is None
    turned = strongest({"other": none, "one": result([0.1], "one")})
    assert (turned.model, turned.delta, turned.delta_upper) == ("one", 0.1, 0.1)


def test_models_that_were_not_tried() -> None:
    found = both(untried=("tree",))
    assert (found.complete, found.interrupted, found.exactness) == (False, True, "lower-bound")
    late = both({"out_of_time": True}, untried=("tree",))
    assert not late.interrupted


def test_what_is_shared_and_what_is_added_up() -> None:
    found = both(
        {"failures": ("a",), "notes": ("old", "one"), "constraint_met": True, "method": "refit"},
        {
            "failures": ("b",), "notes": ("old", "other"), "constraint_met": False,
            "unmet": "k is 2", "method": "sampled", "largest": 3.0,
        },
        left_out="no tree",
    )  # fmt: skip
    assert found.failures == ("a", "b")
    assert found.notes == ("old", "one", "other", "no tree")
    assert (found.constraint_met, found.unmet) == (False, "k is 2")
    assert (found.method, found.largest) == ("refit, sampled", 3.0)
    assert not found.complete
    plain = json.loads(found.to_json())
    assert plain["records_tested"] == 3
    assert plain["mean_upper"] == found.mean_upper
    many = strongest({"one": result([x / 20 for x in range(20)], "one")})
    assert len(many.to_dict()["worst"]) == 10
    assert len(many.to_dict(worst=2)["worst"]) == 2


def test_a_guarantee_needs_one_of_every_model() -> None:
    drawn: Any = {"guarantee": "so", "table_size": 100, "exactness": "lower-bound"}
    found = both(drawn, drawn, confidence=0.9)
    assert str(found.guarantee).startswith("with 90 % confidence at most ")
    assert "of the records exceed 0.4;" in str(found.guarantee)
    assert both(drawn).guarantee is None
    people = drawn | {"individual": "who", "people": 50}
    assert "of the people exceed 0.4;" in str(both(people, people).guarantee)
    # A record that one model did not measure has failed, and is taken to exceed everything.
    fewer = strongest(
        {
            "one": result([0.1, 0.4, 0.3], "one", **drawn),
            "other": result([0.3, 0.2], "other", **drawn | {"requested": 3}),
        }
    )
    assert fewer.guarantee == str(statement([0.3, 0.4], population=100, failed=1))
    assert both(drawn, drawn).guarantee == str(statement([0.3, 0.4, 0.3], population=100))
    # To move nobody's belief is measured, too.
    still = {name: result([0.0, 0.0], name, **drawn) for name in ("one", "other")}
    assert strongest(still).guarantee == str(statement([0.0, 0.0], population=100))
    assert strongest(still).mean_upper == 0
    usual = both(drawn, drawn)
    assert str(usual.guarantee).startswith("with 95 % confidence")


# Who is asked.


def table(columns: int = 1, rows: int = 6) -> Any:
    frame = {f"q{place}": list(range(rows)) for place in range(columns)}
    return read_table(
        pa.table(frame | {"ill": ["a", "b"] * (rows // 2)}), quasi=list(frame), sensitive="ill"
    )


def names(*given: Any, **more: Any) -> list[str]:
    return list(choose_models(*given, **more).named)


def test_the_usual_adversaries() -> None:
    assert is_auto(None)
    assert is_auto("auto")
    assert not is_auto("tree")
    assert not is_auto(NaiveBayes())
    assert names(None, Mondrian(k=2), table()) == ["naive-bayes", "frequency", "tree"]
    assert names("auto", Identity(), table()) == ["naive-bayes", "frequency"]
    assert names("auto", Laplace(1.0), table()) == ["frequency"]
    assert names("tree", Mondrian(k=2), table()) == ["tree"]
    coarse: Any = SimpleNamespace(coverage_says_little=True)  # a tree that reads values, then
    assert names("auto", coarse) == ["naive-bayes", "frequency", "tree:encoding=Scaling-Hot"]
    assert names([None, "tree"], Mondrian(k=2), table()) == ["naive-bayes", "frequency", "tree"]
    assert names(["auto", "frequency"], Mondrian(k=2)) == ["naive-bayes", "frequency"]
    assert len(choose_models(["auto", "frequency"], Mondrian(k=2)).models) == 2
    assert isinstance(choose_model(None, Identity()), NaiveBayes)
    assert isinstance(choose_model("auto", Laplace(1.0)), Frequency)
    assert str(choose_model("tree", Laplace(1.0))) == "tree"
    assert list(possible_models("auto", Identity())) == ["naive-bayes", "frequency", "tree"]
    assert list(possible_models(["frequency"], Identity())) == ["frequency"]
    assert list(possible_models(["frequency", "auto"], Identity())) == [
        "naive-bayes", "frequency", "tree",
    ]  # fmt: skip
    assert Adversaries((NaiveBayes(),)).left_out is None


@pytest.mark.parametrize(
    ("sanitizer", "more", "why"),
    [
        (Mondrian(k=2), {}, None),
        (Mondrian(k=2), {"method": "leave-one-out"}, None),
        (Mondrian(k=2), {"method": "refit"}, "learn again from a whole release"),
        (Identity(), {}, "learn again from a whole release"),
        (Mondrian(k=2, t=0.5), {}, None),
        (Mondrian(k=2), {"individual": "who"}, "without all records of a person"),
        (Mondrian(k=99, unmet="generalize"), {}, None),
    ],
)
def test_why_no_tree_is_asked(sanitizer: Any, more: Any, why: str | None) -> None:
    found = choose_models("auto", sanitizer, table(), **more)
    assert ("tree" in found.named) == (why is None)
    assert (found.left_out is None) == (why is None)
    assert why is None or why in str(found.left_out)


def test_how_much_work_a_tree_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets × (records + 2^columns × values): 6 records, one column, two values are 6 × 10."""
    small = table()
    assert f"{MOST_WORK:,}" in DOCUMENTED.read_text(encoding="utf-8")
    most = MOST_WORK // 60
    assert "tree" in names("auto", Mondrian(k=2), small, share=most)
    late = choose_models("auto", Mondrian(k=2), small, share=most + 1)
    assert "tree" not in late.named
    assert f"testing 6 of 6 records {most + 1} times would take it long" in str(late.left_out)
    half = MOST_WORK // 30
    for targets in (3, [3, 4, 5]):
        assert "tree" in names("auto", Mondrian(k=2), small, targets=targets, share=half)
        assert "tree" not in names("auto", Mondrian(k=2), small, targets=targets, share=half + 1)
    assert "tree" in names("auto", Mondrian(k=2), small, targets=99, share=most)
    monkeypatch.setattr("indiff.differential.strongest.MOST_WORK", 60)
    assert "tree" in names("auto", Mondrian(k=2), small)
    monkeypatch.setattr("indiff.differential.strongest.MOST_WORK", 59)
    once = choose_models("auto", Mondrian(k=2), small)
    assert "testing 6 of 6 records once would take it long" in str(once.left_out)
    monkeypatch.undo()
    assert "tree" in names("auto", Mondrian(k=2), table(columns=10))
    assert "tree" not in names("auto", Mondrian(k=2), table(columns=11))
    wide = choose_models("auto", Mondrian(k=2), table(columns=40))
    assert "40 quasi-identifiers" in str(wide.left_out)
    # Whoever asked for a tree is not told that none was tried.
    assert choose_models(["auto", "tree"], Identity(), small).left_out is None

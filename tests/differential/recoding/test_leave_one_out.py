from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import (
    Frequency,
    Hierarchy,
    NaiveBayes,
    Recoding,
    Table,
    differential_test,
    read_table,
)
from indiff.differential.path import Beliefs
from indiff.differential.recoding.leave_one_out import RecodingReleases, leave_one_out
from indiff.differential.refit.refit import refit
from indiff.distances.functions import wasserstein
from indiff.inference import Model
from indiff.sanitizers.recoding.losses import LOSSES
from tests.sanitizers.recoding.test_recoding import alike_below, any_recoding, any_sample


def same(fast: Beliefs, slow: Beliefs) -> None:
    """Check that two paths found the same, to rounding."""
    assert fast.rows.tolist() == slow.rows.tolist()
    np.testing.assert_allclose(fast.with_record, slow.with_record, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast.without, slow.without, rtol=0, atol=1e-12)
    ours, theirs = (wasserstein(one.with_record, one.without) for one in (fast, slow))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    for name in ("uncovered", "uncovered_without", "generalized"):
        assert getattr(fast, name).tolist() == getattr(slow, name).tolist(), name
    assert bool(fast.constraint_met) == bool(slow.constraint_met)


def compare(table: Table, sanitizer: Recoding, model: Any, rows: Any = None) -> None:
    """Check every target as if sanitized anew."""
    chosen = np.arange(len(table)) if rows is None else np.asarray(rows)
    fast = leave_one_out(table, sanitizer, model, chosen)
    same(fast, refit(table, sanitizer, model, chosen))


def any_model(dice: random.Random) -> Model:
    """Return a model that needs only counts."""
    prior: Any = dice.choice(["release", "uniform"])
    return Frequency() if dice.random() < 0.4 else NaiveBayes(dice.choice([1.0, 0.1]), prior)


@pytest.mark.parametrize("part", range(8))
def test_every_target_as_if_sanitized_anew(part: int) -> None:
    dice = random.Random(100 + part)
    for _ in range(15):
        sample = any_sample(dice, most=25)
        compare(sample.table, any_recoding(dice, sample), any_model(dice))


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_without_one_record(loss: str) -> None:
    dice = random.Random(loss)
    for _ in range(8):
        sample = any_sample(dice, most=25)
        given: dict[str, Any] = {"loss": loss, "weights": None, "t": None, "entropy_l": None}
        sanitizer = any_recoding(dice, sample, **given, suppression=dice.choice([0.1, 0.3]))
        compare(sample.table, sanitizer, any_model(dice))


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_every_target_as_if_sanitized_anew_at_length(part: int) -> None:
    dice = random.Random(1000 + part)
    for _ in range(100):
        sample = any_sample(dice, most=40)
        compare(sample.table, any_recoding(dice, sample), any_model(dice))


def plain(**columns: Any) -> Table:
    """Return a table of a few columns, ``ill`` the sensitive one."""
    quasi = [name for name in columns if name != "ill"]
    return read_table(pa.table(columns), quasi=quasi, sensitive="ill")


@pytest.mark.parametrize("suppressed", ["keep", "drop"])
@pytest.mark.parametrize("model", [NaiveBayes(), Frequency()], ids=str)
def test_a_group_of_exactly_k_is_suppressed_without_one(suppressed: Any, model: Any) -> None:
    table = plain(sex=list("mmmffffffx"), ill=list("ynynnyynny"))
    sanitizer = Recoding(k=3, suppression=0.4, suppressed=suppressed)
    compare(table, sanitizer, model)
    release = RecodingReleases(table, sanitizer).without(0)
    assert release.to_arrow()["sex"].to_pylist().count("m") == 0


@pytest.mark.parametrize("model", [NaiveBayes(), Frequency()], ids=str)
def test_a_group_that_becomes_diverse_without_one_is_allowed(model: Any) -> None:
    table = plain(sex=list("mmmffff"), ill=list("yynynyn"))
    compare(table, Recoding(l=2, suppression=0.5), model)
    release = RecodingReleases(table, Recoding(l=2, suppression=0.5)).without(0)
    assert release.to_arrow()["sex"].to_pylist() == list("mmffff")


@pytest.mark.parametrize("suppression", [0.25, 0.3, 0.4])
def test_a_finer_node_may_be_diverse_without_one(suppression: float) -> None:
    compare(
        alike_below(), Recoding(k=2, l=2, suppression=suppression, unmet="generalize"), NaiveBayes()
    )


def test_a_record_that_takes_the_budget_along() -> None:
    # 0.2 of 10 records are 2, of 9 only 1: without one of them another node must be published.
    table = plain(sex=list("mmmmffffxz"), ill=list("ynynnyynny"))
    sanitizer = Recoding(k=2, suppression=0.2)
    assert sanitizer.best(table).state.groups.levels == (0,)  # type: ignore[union-attr]
    released = RecodingReleases(table, sanitizer).without(0)
    assert set(released.to_arrow()["sex"].to_pylist()) == {"*"}
    for model in (NaiveBayes(), Frequency()):
        compare(table, sanitizer, model)


@pytest.mark.parametrize("t", [0.1, 0.3])
def test_closeness_refers_to_the_table_without_the_record(t: float) -> None:
    dice = random.Random(5)
    sexes, ills = dice.choices("mfx", k=24), dice.choices("abc", weights=[5, 2, 1], k=24)
    table = plain(sex=sexes, age=[dice.randrange(4) for _ in sexes], ill=ills)
    for model in (NaiveBayes(), Frequency()):
        compare(table, Recoding(k=2, t=t, suppression=0.2), model)


def test_labels_of_a_ragged_hierarchy_that_cover_one_another() -> None:
    tree = Hierarchy.from_lines(["tango;dance;art;*", "waltz;dance;art;*", "poet;art;*"])
    jobs = ["tango", "waltz", "waltz", "poet", "poet", "tango", "poet", "waltz"]
    frame = pa.table({"job": jobs, "sex": list("mfmfmfmf"), "ill": list("ynnyynny")})
    trees = {"job": tree}
    table = read_table(frame, quasi=["job", "sex"], sensitive="ill", hierarchies=trees)
    for suppression in (0, 0.3):
        for model in (NaiveBayes(), Frequency()):
            compare(table, Recoding(k=2, suppression=suppression, loss="height"), model)


def test_what_cannot_be_met_without_a_record_is_generalized() -> None:
    table = plain(sex=list("mmff"), ill=list("ynyn"))
    compare(table, Recoding(k=4, unmet="generalize"), NaiveBayes())
    result = differential_test(table, Recoding(k=4), model="naive-bayes")
    assert result.generalized_without == 4
    assert result.method == "leave-one-out"


def test_a_seeming_neighbour_of_every_row_is_found() -> None:
    """A wrong count is seen: the release without another record has other beliefs."""
    table = plain(sex=list("mmmffffffx"), ill=list("ynynnyynny"))
    sanitizer = Recoding(k=3, suppression=0.4)
    rows = np.arange(len(table))
    fast = leave_one_out(table, sanitizer, NaiveBayes(), rows)
    slow = refit(table, sanitizer, NaiveBayes(), rows[::-1])
    assert not np.allclose(fast.without, slow.without, atol=1e-6)


def test_any_other_model_gets_the_same_releases() -> None:
    dice = random.Random(11)
    for _ in range(10):
        sample = any_sample(dice, most=20)
        sanitizer = any_recoding(dice, sample)
        releases = RecodingReleases(sample.table, sanitizer)
        for row in range(len(sample.table)):
            anew = sanitizer.sanitize(sample.table.without(row))
            assert releases.without(row).to_arrow().equals(anew.to_arrow())


def test_a_tree_is_tested_by_the_same_method() -> None:
    table = plain(sex=list("mmmffffffx"), ill=list("ynynnyynny"))
    options: Any = {"model": "tree", "jobs": 1}
    fast = differential_test(table, Recoding(k=3, suppression=0.3), **options)
    slow = differential_test(table, Recoding(k=3, suppression=0.3), method="refit", **options)
    np.testing.assert_allclose(fast.distances, slow.distances, rtol=0, atol=1e-12)
    assert fast.method == "leave-one-out"


def test_people_with_several_records_are_left_out_at_once() -> None:
    columns = {"sex": list("mmmffffffx"), "who": list("aabcdefghi"), "ill": list("ynynnyynny")}
    table = read_table(pa.table(columns), quasi=["sex"], sensitive="ill", other=["who"])
    options: Any = {"model": "naive-bayes", "individual": "who", "jobs": 1}
    fast = differential_test(table, Recoding(k=3, suppression=0.3), **options)
    slow = differential_test(table, Recoding(k=3, suppression=0.3), method="refit", **options)
    np.testing.assert_allclose(fast.distances, slow.distances, rtol=0, atol=1e-12)


def test_adult(needs_data: Path) -> None:
    from tests.sanitizers.recoding.test_recoding import adult

    quasi = ["age", "sex", "race", "marital-status"]
    table = adult(needs_data, quasi, "salary-class")
    rows = np.random.default_rng(0).choice(len(table), 10, replace=False)
    compare(table, Recoding(k=5, suppression=0.02), NaiveBayes(), rows)


def test_a_result_says_how_many_are_protected_by_suppression_alone() -> None:
    table = plain(sex=list("mmmffffffx"), ill=list("ynynnyynny"))
    for method in ("leave-one-out", "refit"):
        options: Any = {"model": "frequency", "method": method, "jobs": 1}
        result = differential_test(table, Recoding(k=3, suppression=0.1), **options)
        assert any("1 of the 10 records are suppressed" in note for note in result.notes)
        assert result.constraint_met is False

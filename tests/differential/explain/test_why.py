"""Explanations: the toy example by hand, log-odds that add up, groups followed from scratch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from indiff import Laplace, Mondrian, NaiveBayes, UserError, differential_test, read_table
from indiff.data.side_files import label_of
from indiff.differential.explain.why import DecisionPath, GroupChange, explain
from indiff.inference.classifier import Classifier
from indiff.inference.encodings import Encoding
from tests.properties.random_tables import Sample, samples, sanitizers
from tests.reference_tree import grown


def toy() -> Any:
    return read_table(
        pa.table(
            {
                "Age": [28, 36, 47, 53, 72],
                "Gender": list("MMFMF"),
                "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"],
            }
        ),
        quasi=["Age", "Gender"],
        sensitive="Disease",
    )


def test_groups_of_the_toy_example() -> None:
    """D is cut into {28, 36} and {47, 53, 72}; without 28 into {36, 47} and {53, 72}."""
    why = explain(toy(), Mondrian(k=2, regions="cut"), range(5), model="frequency")
    assert [w.group.size for w in why if w.group] == [2, 2, 3, 3, 3]
    assert [w.group.fate for w in why if w.group][:3] == ["disappears", "disappears", "keeps"]
    assert why[0].group is not None
    assert why[0].group.sizes_without == (2,)
    assert (why[0].belief, why[0].belief_without) == (1.0, 0.5)
    assert all(w.is_true_value for w in why)
    assert why[0].attributes == ()
    assert why[0].prior is None


def test_log_odds_by_hand() -> None:
    """Raw data, record 3 (53, M, Flu): N_Flu = 4 and 3, N_Cancer = 1, α = 1."""
    (why,) = explain(toy(), "identity", 3, model="naive-bayes", show_values=True)
    assert (why.value, why.rival) == ("Flu", "Cancer")
    age, gender = why.attributes
    assert (age.name, gender.name) == ("Age", "Gender")
    assert age.log_odds == pytest.approx(np.log((2 / 6) / (1 / 3)))
    assert age.log_odds_without == pytest.approx(np.log((1 / 5) / (1 / 3)))
    assert gender.log_odds == pytest.approx(np.log((4 / 6) / (1 / 3)))
    assert gender.log_odds_without == pytest.approx(np.log((3 / 5) / (1 / 3)))
    assert why.prior is not None
    assert why.prior.change == pytest.approx(np.log(4 / 3))
    assert why.covering == (1, 0)
    assert str(why).startswith("without record 3 it is covered by 0 records instead of 1: belief")


def test_in_words() -> None:
    table = read_table(
        pa.table(
            {
                "age": [30, 31, 32, 33, 61, 62, 63, 64],
                "status": ["Married"] * 4 + ["Widowed"] * 4,
                "job": ["Clerk", "Sales"] * 2 + ["Guard", "Guard", "Clerk", "Guard"],
            }
        ),
        quasi=["age", "status"],
        sensitive="job",
    )
    (open_,) = explain(table, Mondrian(k=4), 5, show_values=True)
    (closed,) = explain(table, Mondrian(k=4), 5)
    # Seven records cannot be cut into two groups of four.
    assert str(open_).startswith(
        "without record 5 the group [61, 64] × Widowed of 4 records disappears (the others go to a "
        "group of 7 records): belief in 'Guard' falls from 0."
    )
    assert "; age contributes most" in str(open_)
    assert str(open_.log_odds).startswith("age +")
    assert str(closed).startswith(
        "without record 5 its group of 4 records disappears (the others go to a group of 7 "
        "records): belief in its true value falls from 0."
    )
    for secret in ("[61", "64]", "Widowed", "Guard", "Clerk", "Sales"):
        assert secret not in str(closed)
        assert secret not in repr(closed)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((7,), "(the others go to a group of 7 records)"),
        ((5, 5), "(the others go to 2 groups of 5 records)"),
        ((5, 8), "(the others go to 2 groups of 5 to 8 records)"),
    ],
)
def test_equal_groups_have_one_size(sizes: tuple[int, ...], words: str) -> None:
    assert str(GroupChange(4, "disappears", sizes)).endswith(words)


@given(samples(most=25), st.integers(0, 10**6))
def test_log_odds_add_up_to_those_of_the_beliefs(sample: Sample, pick: int) -> None:
    table = sample.table
    record = int(table.records[pick % len(table)])
    sanitizer = Mondrian(k=2, unmet="generalize")
    (why,) = explain(table, sanitizer, record, model=NaiveBayes(alpha=0.5), show_values=True)
    result = differential_test(
        table, sanitizer, model=NaiveBayes(alpha=0.5), targets=[record], method="refit"
    )
    values = list(result.sensitive_values)
    value, rival = values.index(why.value), values.index(why.rival)
    moves = result.beliefs[0] - result.beliefs_without[0]
    assert abs(moves[value]) == pytest.approx(np.abs(moves).max(), abs=1e-9)
    assert why.belief == pytest.approx(result.beliefs[0, value], abs=1e-9)
    assert why.belief_without == pytest.approx(result.beliefs_without[0, value], abs=1e-9)
    assert why.prior is not None
    parts = [why.prior, *why.attributes]
    odds = np.log(result.beliefs[0, value] / result.beliefs[0, rival])
    assert sum(part.log_odds for part in parts) == pytest.approx(odds, abs=1e-9)
    if result.beliefs_without[0, [value, rival]].min() > 0:
        odds = np.log(result.beliefs_without[0, value] / result.beliefs_without[0, rival])
        assert sum(part.log_odds_without for part in parts) == pytest.approx(odds, abs=1e-9)


@given(samples(most=25), sanitizers(), st.integers(0, 10**6))
def test_groups_are_those_of_releases_made_from_scratch(
    sample: Sample, sanitizer: Mondrian, pick: int
) -> None:
    table = sample.table
    row = pick % len(table)
    (why,) = explain(table, sanitizer, int(table.records[row]), model="frequency")
    release = sanitizer.sanitize(table)
    without = replace(sanitizer, unmet="generalize").sanitize(table.without(row))
    assert why.group is not None
    assert release.groups is not None
    assert without.groups is not None
    members = {int(r) for r in table.records[release.groups == release.groups[row]]}
    assert why.group.size == len(members)
    others = members - {int(table.records[row])}
    left = np.delete(table.records, row)
    found = {
        frozenset(int(r) for r in left[without.groups == number])
        for number in np.unique(without.groups)
    }
    touched = [group for group in found if group & others]
    if release.constraint_met and not without.constraint_met:
        assert why.group.fate == "generalized"
    else:
        assert sorted(why.group.sizes_without) == sorted(map(len, touched))
        assert (why.group.fate in ("keeps", "narrows")) == (touched == [frozenset(others)])
    if why.group.fate == "keeps":
        before = release.to_arrow().slice(row, 1).drop_columns("sensitive").to_pylist()
        place = left.tolist().index(min(others))
        assert without.to_arrow().slice(place, 1).drop_columns("sensitive").to_pylist() == before


def test_only_holder_of_a_value() -> None:
    (why,) = explain(toy(), Mondrian(k=2), 2, model="naive-bayes")
    assert str(why).endswith("to 0.00, since no other record holds it")
    assert why.prior is not None
    assert why.prior.log_odds_without == -np.inf


def test_order_and_errors() -> None:
    table = toy()
    assert [why.record for why in explain(table, Mondrian(k=2), [3, 0])] == [3, 0]
    assert explain(table, Mondrian(k=2), np.int64(3))[0].record == 3
    with pytest.raises(UserError, match="targets are record numbers from 0 to 4"):
        explain(table, Mondrian(k=2), 5)
    with pytest.raises(UserError, match="says nothing about a randomized sanitizer"):
        explain(table, Laplace(1.0), 0)


def test_nothing_changes() -> None:
    table = read_table(
        pa.table({"q": ["a", "b"] * 4, "s": ["x", "x", "y", "y"] * 2}),
        quasi=["q"],
        sensitive="s",
    )

    class Stubborn:
        def beliefs(self, release: Any, targets: Any) -> Any:
            return np.full((len(targets), 2), 0.5)

    (why,) = explain(table, "suppress", 0, model=Stubborn())
    assert str(why) == "without record 0 it is covered by 7 records instead of 8: no belief changes"


def test_two_decision_paths_by_hand() -> None:
    """Raw data: only record 2 has its age and only it has Cancer, so one question is enough."""
    (why,) = explain(toy(), "identity", 2, model="tree")
    assert why.paths == (DecisionPath(("cover its Age",), 1, 1), None)
    assert str(why) == (
        "without record 2 it is covered by 0 records instead of 1: belief in its true value falls "
        "from 1.00 to 0.00; with the record the tree looks at records that cover its Age (1 of 1 "
        "record), without it needs no question, since one value is left"
    )


def test_cuts_and_values_of_a_tree_are_shown_only_if_asked() -> None:
    table = read_table(
        pa.table(
            {
                "age": [20, 30, 40, 50, 60, 70, 80, 90],
                "town": list("AABBCCDD"),
                "ill": ["flu", "flu", "flu", "flu", "gout", "gout", "gout", "flu"],
            }
        ),
        quasi=["age", "town"],
        sensitive="ill",
    )
    model = Classifier("tree", encoding="Scaling-Hot")
    (open_,) = explain(table, "identity", 7, model=model, show_values=True)
    (closed,) = explain(table, "identity", 7, model=model)
    # The first cut lies between 50 and 60, the second between 80 and 90.
    assert open_.paths is not None
    assert open_.paths[0] == DecisionPath(
        ("have a middle of age above 55", "have a middle of age above 85"), 1, 1
    )
    # Without the record one cut between 50 and 60 tells all others apart.
    assert open_.paths[1] == DecisionPath(("have a middle of age above 55",), 3, 0)
    assert "are on its side of a cut of age" in str(closed)
    for secret in ("55", "85", "flu", "gout", "90"):
        assert secret not in str(closed)
        assert secret not in repr(closed)


@settings(max_examples=40)
@given(samples(most=25), st.integers(0, 10**6), st.sampled_from(["TF-TF", "Scaling-Hot"]))
def test_paths_are_those_of_other_trees(sample: Sample, pick: int, encoding: str) -> None:
    """Grow scikit-learn's or an exact tree on the materialised encoding; compare leaf and way."""
    table = sample.table
    row = pick % len(table)
    model = Classifier("tree", encoding=encoding)
    sanitizer = Mondrian(k=2, unmet="generalize")
    (why,) = explain(table, sanitizer, int(table.records[row]), model=model, show_values=True)
    assert why.paths is not None
    values = list(table.sensitive.values)
    value = values.index(why.value)
    target = np.array([a.codes[row] for a in table.attributes])
    releases = (sanitizer.sanitize(table), sanitizer.sanitize(table.without(row)))
    for release, path, belief in zip(
        releases, why.paths, (why.belief, why.belief_without), strict=True
    ):
        if len(np.unique(release.classes)) == 1:
            assert path is None
            continue
        assert path is not None
        assert path.held / path.size == pytest.approx(belief, abs=1e-9)
        encoded = Encoding.named(encoding).of(release)
        features = encoded.rows(target)
        if encoding == "TF-TF":
            released = zip(features, release.classes, strict=True)
            leaf, way, _ = grown([(tuple(map(int, row)), int(c), 1) for row, c in released])
            assert path.steps == tuple(f"cover its {table.attributes[a].name}" for a in way)
            assert path.size == sum(weight for _, _, weight in leaf)
            assert path.held == sum(weight for _, c, weight in leaf if c == value)
            continue
        tree = DecisionTreeClassifier(random_state=0).fit(features, release.classes)
        asked = encoded.targets(target[None])
        theirs = tree.predict_proba(asked)[0]
        assert belief == pytest.approx(theirs[tree.classes_ == value].sum(), abs=1e-9)
        assert len(path.steps) == tree.decision_path(asked).sum() - 1
        assert path.size == (tree.apply(features) == tree.apply(asked)).sum()


@settings(max_examples=40)
@given(samples(most=25), st.integers(0, 10**6), st.booleans(), st.booleans())
def test_knowledge_is_the_tests_own(
    sample: Sample, pick: int, by_record: bool, fewer: bool
) -> None:
    table = sample.table
    record = int(table.records[pick % len(table)])
    labels = [label_of(value) for value in table.sensitive.values]
    shares = np.arange(1.0, len(labels) + 1)
    one = dict(zip(labels, (shares / shares.sum()).tolist(), strict=True))
    prior: Any = {record: one} if by_record else one
    known = [table.attributes[0].name] if fewer else None
    sanitizer = Mondrian(k=2, unmet="generalize")
    (why,) = explain(table, sanitizer, record, prior=prior, known=known, show_values=True)
    result = differential_test(
        table,
        sanitizer,
        model="naive-bayes",
        targets=[record],
        prior=prior,
        known=known,
        method="refit",
    )
    values = list(result.sensitive_values)
    value, rival = values.index(why.value), values.index(why.rival)
    assert why.belief == pytest.approx(result.beliefs[0, value], abs=1e-9)
    assert why.belief_without == pytest.approx(result.beliefs_without[0, value], abs=1e-9)
    assert why.prior is not None
    assert why.prior.name == "the prior"
    assert len(why.attributes) == (1 if fewer else len(table.attributes))
    parts = [why.prior, *why.attributes]
    if result.beliefs[0, [value, rival]].min() > 0:
        odds = np.log(result.beliefs[0, value] / result.beliefs[0, rival])
        assert sum(part.log_odds for part in parts) == pytest.approx(odds, abs=1e-9)
    if result.beliefs_without[0, [value, rival]].min() > 0:
        odds = np.log(result.beliefs_without[0, value] / result.beliefs_without[0, rival])
        assert sum(part.log_odds_without for part in parts) == pytest.approx(odds, abs=1e-9)


def test_a_tree_that_knows_one_column_asks_for_no_other() -> None:
    for why in explain(toy(), "identity", range(5), model="tree", known="Gender"):
        assert why.paths is not None
        for path in why.paths:
            assert path is None or set(path.steps) <= {"cover its Gender"}
    with pytest.raises(UserError, match="no quasi-identifier 'Agee': did you mean 'Age'"):
        explain(toy(), "identity", 0, known="Agee")

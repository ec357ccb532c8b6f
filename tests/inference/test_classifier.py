"""Any classifier as the adversary: its beliefs are scikit-learn's on the materialised encoding."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from indiff import (
    Frequency,
    Identity,
    Laplace,
    Mondrian,
    NaiveBayes,
    Suppress,
    Table,
    UserError,
    differential_test,
    read_table,
)
from indiff.inference import Classifier, Encoding, as_model
from indiff.inference.training import trains_randomly, weighs_like_repeating
from indiff.release.release import Release
from tests.inference.test_models import materialise
from tests.properties.random_tables import Sample, samples, sanitizers


def patients(count: int = 60) -> Table:
    """Random people whose illness follows from age and place, but for some noise."""
    dice = np.random.default_rng(7)
    age, place = dice.integers(20, 80, count), dice.integers(0, 4, count)
    ill = (age // 20 + place + dice.integers(0, 2, count)) % 3
    return read_table(
        pa.table({"age": age, "place": [f"p{p}" for p in place], "ill": [f"d{i}" for i in ill]}),
        quasi=["age", "place"],
        sensitive="ill",
    )


def by_hand(estimator: Any, features: Any, release: Release, target: Any) -> Any:
    """Fit scikit-learn on all rows and align its answer to the sensitive values."""
    model = clone(estimator).fit(features, release.classes)
    belief = np.zeros(len(release.sensitive_values))
    belief[model.classes_] = model.predict_proba(target)[0]
    return belief


SMALL = {
    "tree": DecisionTreeClassifier(random_state=0),
    "shallow tree": DecisionTreeClassifier(max_depth=1, criterion="entropy", random_state=0),
    "tree with large leaves": DecisionTreeClassifier(min_samples_leaf=4, random_state=0),
    "balanced tree": DecisionTreeClassifier(class_weight="balanced", random_state=0),
    "forest": RandomForestClassifier(n_estimators=5, random_state=0),
    "forest of whole samples": RandomForestClassifier(5, bootstrap=False, random_state=0),
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "logistic": LogisticRegression(solver="newton-cholesky", tol=1e-8, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "mlp": MLPClassifier((4,), solver="lbfgs", max_iter=2000, alpha=1.0, random_state=0),
    "knn": KNeighborsClassifier(3),
    "bernoulli": BernoulliNB(),
    "gauss": GaussianNB(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression(random_state=0)),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("sanitizer", [Identity(), Mondrian(k=4)], ids=["raw", "k=4"])
def test_tf_beliefs_are_scikit_learns(name: str, sanitizer: Any) -> None:
    table = patients()
    model = Classifier(SMALL[name])
    for row in (0, 1, 2):
        for kept in (table, table.without(row)):
            release, target = sanitizer.sanitize(kept), table.take([row])
            wanted = by_hand(SMALL[name], materialise(release, target, 0), release, np.ones((1, 2)))
            np.testing.assert_allclose(model.beliefs(release, target)[0], wanted, atol=1e-6)


@pytest.mark.parametrize("encoding", ["Scaling-Hot", "Bounds-HotA", "QuantilesA-Binary"])
@pytest.mark.parametrize("name", ["tree", "logistic", "forest", "knn", "bernoulli"])
def test_other_encodings_are_scikit_learns_with_one_model_for_all(name: str, encoding: str) -> None:
    table = patients()
    release = Mondrian(k=4).sanitize(table)
    encoded = Encoding.named(encoding).of(release)
    assert not encoded.relative
    codes = np.stack([a.codes for a in table.attributes], axis=1)
    features, targets = encoded.rows(codes[0]), encoded.targets(codes)
    beliefs = Classifier(SMALL[name], encoding=encoding).beliefs(release, table)
    for row in range(0, len(table), 7):
        wanted = by_hand(SMALL[name], features, release, targets[row : row + 1])
        np.testing.assert_allclose(beliefs[row], wanted, atol=1e-6)


class Counting(ClassifierMixin, BaseEstimator):
    """Knows the class shares, and counts how often it is trained."""

    fits = 0

    def fit(self, X: Any, y: Any) -> Counting:
        type(self).fits += 1
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.shares_, (len(X), 1))


@pytest.mark.parametrize("encoding", ["Scaling-Hot", "Scaling-TF", "TF-Hot", "TF-TF"])
def test_targets_share_a_model_unless_tf_tells_them_apart(encoding: str) -> None:
    table = patients()
    told_apart = [a.codes for a, part in zip(table.attributes, encoding.split("-"), strict=True)
                  if part == "TF"]  # fmt: skip
    Counting.fits = 0
    Classifier(Counting(), encoding=encoding).beliefs(Mondrian(k=4).sanitize(table), table)
    assert Counting.fits == len(set(zip(*told_apart, strict=True)) or [()])


@settings(max_examples=25)
@given(samples(most=25), sanitizers())
def test_a_tree_learns_the_same_from_weighted_rows(sample: Sample, sanitizer: Mondrian) -> None:
    table = sample.table
    # The second is always grown: what a tree with a limit believes is not known beforehand.
    for row in range(min(len(table), 2)):
        release, target = sanitizer.sanitize(table.without(row)), table.take([row])
        if not len(release):
            continue
        features = materialise(release, target, 0)
        for limit in (0.0, 1e-30):
            estimator = DecisionTreeClassifier(min_impurity_decrease=limit, random_state=0)
            wanted = by_hand(estimator, features, release, np.ones((1, features.shape[1])))
            found = Classifier(estimator).beliefs(release, target)[0]
            np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_bernoulli_naive_bayes_is_the_fast_one() -> None:
    table = patients()
    release = Mondrian(k=3).sanitize(table)
    np.testing.assert_allclose(
        Classifier("naive-bayes").beliefs(release, table), NaiveBayes().beliefs(release, table),
        atol=1e-12,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["tree", "logistic", "forest", "mlp", "gradient-boosting", "knn"])
def test_a_value_that_the_release_lacks_has_no_probability(name: str) -> None:
    table = read_table(
        pa.table({"x": [1, 1, 2, 2, 3, 3, 4], "s": list("aabbabc")}), quasi=["x"], sensitive="s"
    )
    belief = Classifier(name).beliefs(Identity().sanitize(table.without(6)), table.take([6]))
    assert belief[0, 2] == 0
    np.testing.assert_allclose(belief.sum(), 1, atol=1e-9)
    lonely = Identity().sanitize(table.take([0, 1]))  # one class left: many classifiers refuse it
    assert Classifier(name).beliefs(lonely, table.take([0])).tolist() == [[1, 0, 0]]


# ── randomness ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("estimator", "random"),
    [
        (DecisionTreeClassifier(), False),
        (DecisionTreeClassifier(max_features="sqrt"), True),
        (DecisionTreeClassifier(splitter="random"), True),
        (LogisticRegression(), False),
        (LogisticRegression(solver="saga"), True),
        (KNeighborsClassifier(), False),
        (GaussianNB(), False),
        (GradientBoostingClassifier(), False),
        (GradientBoostingClassifier(subsample=0.5), True),
        (RandomForestClassifier(), True),
        (HistGradientBoostingClassifier(), True),
        (MLPClassifier(), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (make_pipeline(StandardScaler(), MLPClassifier()), True),
    ],
)
def test_what_trains_at_random(estimator: Any, random: bool) -> None:
    assert trains_randomly(estimator) is random
    assert Classifier(estimator).randomized is random


@pytest.mark.parametrize(
    ("estimator", "equal"),
    [
        (DecisionTreeClassifier(), True),
        (DecisionTreeClassifier(min_samples_leaf=2), False),
        (DecisionTreeClassifier(class_weight="balanced"), False),
        (RandomForestClassifier(), False),
        (RandomForestClassifier(bootstrap=False), True),
        (GaussianNB(), False),
        (MLPClassifier(), False),
        (KNeighborsClassifier(), False),
    ],
)
def test_where_a_weight_is_as_good_as_repeating(estimator: Any, equal: bool) -> None:
    assert weighs_like_repeating(estimator) is equal


def test_the_seed_reaches_the_classifier_and_nothing_else_changes_it() -> None:
    table = patients()
    release = Mondrian(k=4).sanitize(table)
    mine = RandomForestClassifier(3)
    model = Classifier(mine)
    first = model.beliefs(release, table.take([0, 1]))
    np.testing.assert_array_equal(first, model.beliefs(release, table.take([0, 1])))
    assert not np.array_equal(first, model.seeded(1).beliefs(release, table.take([0, 1])))
    assert mine.random_state is None
    assert not hasattr(mine, "classes_")


def test_a_random_classifier_is_sampled_and_a_fixed_one_is_left_out_of_chance() -> None:
    table = patients()
    forest = differential_test(
        table, Mondrian(k=4), model=RandomForestClassifier(3), targets=[0, 1], runs=5, jobs=1
    )
    assert forest.method == "sampled"
    assert forest.lower is not None
    assert forest.model == "RandomForestClassifier"
    tree = differential_test(table, Mondrian(k=4), model="tree", jobs=1)
    assert (tree.method, tree.exactness, tree.model) == ("leave-one-out", "exact", "tree")
    again = differential_test(table, Mondrian(k=4), model="tree", method="refit", jobs=1)
    np.testing.assert_allclose(tree.distances, again.distances, atol=1e-12)


# ── from the raw table to nothing at all ─────────────────────────────────────────────────────

FAST = {"forest": RandomForestClassifier(5), "mlp": MLPClassifier((4,), solver="lbfgs", alpha=0.1)}


@pytest.mark.parametrize("name", ["naive-bayes", "frequency", "tree", "logistic", "forest", "mlp"])
def test_raw_data_is_told_from_full_suppression(name: str) -> None:
    table = patients(40)
    options: dict[str, Any] = {"model": FAST.get(name, name), "jobs": 1}
    if name in FAST:
        options.update(targets=[0, 1, 2, 3, 4, 5], runs=6)
    raw = differential_test(table, Identity(), **options)
    hidden = differential_test(table, Suppress(), **options)
    assert raw.delta > 4 * hidden.delta
    assert raw.delta > 0.1
    if name not in FAST:
        assert hidden.delta <= 3 / len(table)
        assert raw.method in ("refit", "leave-one-out")
    else:
        assert raw.method == "sampled"


def test_nearest_neighbours_say_that_ties_are_arbitrary() -> None:
    inside = make_pipeline(StandardScaler(), KNeighborsClassifier(2))
    for model in (Classifier("knn"), as_model(KNeighborsClassifier(2)), as_model(inside)):
        assert "may be an artefact" in " ".join(model.notes)  # type: ignore[attr-defined]
    assert Classifier("tree").notes == ()


# ── weights, names and errors ────────────────────────────────────────────────────────────────


def test_the_weights_of_a_noisy_table_are_used() -> None:
    table = patients()
    release = Laplace(1.0, bins=3).sanitize(table, np.random.default_rng(0))
    assert release.weights is not None
    target = table.take([0])
    kept = release.weights > 0
    features = materialise(release, target, 0)[kept]
    for model, estimator in (
        (Classifier("tree"), DecisionTreeClassifier(random_state=0)),
        (Classifier(GaussianNB()), GaussianNB()),
    ):
        fitted = estimator.fit(features, release.classes[kept], release.weights[kept])
        wanted = fitted.predict_proba(np.ones((1, 2)))[0]
        np.testing.assert_allclose(model.beliefs(release, target)[0], wanted, atol=1e-9)
    with pytest.raises(UserError, match="knn takes no sample_weight, and the records of this"):
        Classifier("knn").beliefs(release, target)


@pytest.mark.parametrize("model", [Classifier("tree"), Classifier(GaussianNB())], ids=str)
def test_what_has_no_weight_is_not_there(model: Classifier) -> None:
    table = patients()
    release = Identity().sanitize(table)
    here = release.classes != 2
    weighted = replace(release, weights=np.where(here, 1.0, -1.0))  # noise may go below 0
    without = Identity().sanitize(table.take(np.flatnonzero(here)))
    targets = table.take([0, 1, 2])
    np.testing.assert_allclose(
        model.beliefs(weighted, targets), model.beliefs(without, targets), atol=1e-9
    )


def test_models_by_name_by_object_and_by_text() -> None:
    assert as_model("naive-bayes") == NaiveBayes()
    assert as_model("frequency") == Frequency()
    for name in ("tree", "forest", "logistic", "gradient-boosting", "mlp", "knn"):
        assert as_model(name) == Classifier(name)
        assert str(as_model(name)) == name
    text = "naive-bayes:encoding=Scaling-Hot"
    assert str(as_model(text)) == text
    assert str(as_model("tree:encoding=e64")) == "tree"
    tree = DecisionTreeClassifier()
    assert as_model(tree) == Classifier(tree)


class Stubborn(Counting):
    """Refuses every release."""

    def fit(self, X: Any, y: Any) -> Stubborn:
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Perceptron(), "must offer predict_proba, .*; Perceptron does not. Wrap it in"),
        (SVC(), "must offer predict_proba, .*; SVC does not"),
        (DecisionTreeClassifier, r"must be an object, not a class: write DecisionTreeClassifier"),
        ("trees", "no model 'trees': did you mean 'tree'"),
        ("frequency:encoding=TF-TF", "frequency takes none; got 'frequency:encoding=TF-TF'"),
        ("tree:depth=3", "takes no parameter in its name but an encoding"),
        ("tree:encoding=TFTF", "no encoding 'TFTF'"),
    ],
)
def test_models_that_make_no_sense(model: Any, text: str) -> None:
    with pytest.raises(UserError, match=text):
        as_model(model)


def test_a_classifier_that_cannot_be_trained() -> None:
    table = patients(8)
    release = Identity().sanitize(table)
    with pytest.raises(UserError, match="no classifier 'trees': did you mean 'tree'"):
        Classifier("trees")
    with pytest.raises(UserError, match=r"a classifier is a name .* or a scikit-learn classifier"):
        Classifier(3)
    with pytest.raises(UserError, match=r"Stubborn cannot learn from .* 8 records .*not today"):
        Classifier(Stubborn()).beliefs(release, table)
    with pytest.raises(UserError, match=r"KNeighborsClassifier cannot learn .*n_neighbors"):
        Classifier(KNeighborsClassifier(9)).beliefs(release, table)
    with pytest.raises(UserError, match=r"has a parameter that does not fit: .*max_depth"):
        Classifier(DecisionTreeClassifier(max_depth=-1)).beliefs(release, table)
    deep = make_pipeline(StandardScaler(), LogisticRegression(C=-1.0))
    with pytest.raises(UserError, match=r"Pipeline cannot learn from .* 'C' parameter"):
        Classifier(deep).beliefs(release, table)
    with pytest.raises(UserError, match="at least one record; got an empty one"):
        Classifier("tree").beliefs(Identity().sanitize(table.take([])), table)


def test_scikit_learn_is_loaded_when_a_classifier_is() -> None:
    code = (
        "import sys, indiff; from indiff.inference import as_model; as_model('tree');"
        "indiff.differential_test; print([m for m in sys.modules if m.startswith('sklearn')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_many_values_are_classes_without_a_warning() -> None:
    table = read_table(
        pa.table({"age": list(range(12)), "ill": [str(n % 9) for n in range(12)]}),
        quasi=["age"],
        sensitive="ill",
    )
    beliefs = Classifier("tree").beliefs(Identity().sanitize(table), table)
    assert beliefs.argmax(axis=1).tolist() == table.sensitive.codes.tolist()

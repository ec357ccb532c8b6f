"""Model selection over sanitizers: the differential test as a score, a choice within a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import indiff
from indiff.errors import UserError
from indiff.sklearn import Anonymizer, most_useful, privacy_scorer

QUASI = ["age", "sex", "zip"]


def patients(records: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    frame = indiff.datasets.demo(records=records).to_pandas()
    return frame[QUASI], frame["sex"].where(frame["age"] > 50, "young")


def test_a_search_chooses_the_most_useful_setting_within_the_limit() -> None:
    X, y = patients()
    settings = ["identity", "mondrian:k=10", "suppress"]
    search = GridSearchCV(
        make_pipeline(Anonymizer(quasi=QUASI), LogisticRegression(max_iter=1000)),
        {"anonymizer__sanitizer": settings},
        scoring={"privacy": privacy_scorer(model="frequency"), "utility": "accuracy"},
        refit=most_useful(1), cv=2,
    ).fit(X, y)  # fmt: skip
    results: Any = search.cv_results_
    delta, useful = -results["mean_test_privacy"], results["mean_test_utility"]
    assert delta[0] > delta[1] > delta[2]
    assert useful[0] >= useful[1] > useful[2]
    assert search.best_params_ == {"anonymizer__sanitizer": "suppress"}
    assert most_useful(2)(results) == 0
    refitted = -privacy_scorer(model="frequency")(search.best_estimator_)
    table = indiff.read_table(
        X.assign(y=y), quasi=QUASI, sensitive="y"
    )  # what the last fit sanitized, by the usual way
    expected = indiff.differential_test(table, indiff.Suppress(), model="frequency")
    assert refitted == pytest.approx(expected.delta, abs=1e-12)


def test_identity_and_records_as_they_are_have_the_same_features() -> None:
    X, y = patients(120)
    step = Anonymizer("identity")
    assert np.array_equal(step.fit_transform(X, y), step.transform(X))


def test_unseen_and_missing_values() -> None:
    X = pd.DataFrame({"age": [20, 30, 40, 50], "town": ["a", "b", None, "a"]})
    step = Anonymizer("identity").fit(X, list("xyxy"))
    new = pd.DataFrame({"age": [24, 90, 36, 30], "town": ["b", "nowhere", None, "a"]})
    ages, towns = np.split(step.transform(new), [step.transform(X).shape[1] - 3], axis=1)
    assert np.array_equal(
        ages, np.split(step.transform(X), [ages.shape[1]], axis=1)[0][[0, 3, 2, 1]]
    )
    assert towns.sum(axis=1).tolist() == [1, 0, 1, 1]


def test_what_cannot_be_scored_is_refused() -> None:
    X, y = patients(120)
    with pytest.raises(UserError, match="whose rows are the records"):
        Anonymizer("laplace:epsilon=1").fit(X, y)
    with pytest.raises(UserError, match="a frame with named columns"):
        Anonymizer().fit(X.to_numpy(), y)
    with pytest.raises(UserError, match="needs the target"):
        Anonymizer().fit_transform(X)
    with pytest.raises(UserError, match="needs one Anonymizer"):
        privacy_scorer()(LogisticRegression())
    with pytest.raises(UserError, match="no metric 'delte'"):
        privacy_scorer("delte")
    results = {"split0_test_privacy": [-2.0, np.nan], "mean_test_utility": [1.0, 1.0]}
    with pytest.raises(UserError, match="no setting keeps the limit 1 in every fold"):
        most_useful(1)(results)


def test_every_fold_must_keep_the_limit() -> None:
    results = {
        "split0_test_privacy": [-0.1, -0.5], "split1_test_privacy": [-1.5, -0.6],
        "mean_test_utility": [0.9, 0.6],
    }  # fmt: skip
    assert most_useful(1)(results) == 1
    assert most_useful(2)(results) == 0

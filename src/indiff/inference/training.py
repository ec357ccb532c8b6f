"""Knows how scikit-learn's classifiers train: by chance, and with weights."""

from __future__ import annotations

from typing import Any

Parameters = dict[str, Any]


def trains_randomly(estimator: Any) -> bool:
    """Tell whether training draws random numbers that matter beyond a choice between equals.

    What takes a ``random_state`` is random, but for settings that are known to ignore it or to
    use it only to choose between equally good splits. A pipeline is random if a step of it is.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trains_randomly(DecisionTreeClassifier())
    False
    >>> trains_randomly(DecisionTreeClassifier(max_features=2))
    True
    """
    parts = [estimator, *estimator.get_params().values()]
    return any(_draws(part) for part in parts if hasattr(part, "get_params"))


def _draws(part: Any) -> bool:
    if isinstance(part, type):
        return False
    own: Parameters = part.get_params(deep=False)
    if "random_state" not in own:
        return False
    match _scikit_name(part):
        case "DecisionTreeClassifier":
            return own["splitter"] != "best" or own["max_features"] is not None
        case "GradientBoostingClassifier":
            return (
                own["subsample"] != 1.0
                or own["max_features"] is not None
                or own["n_iter_no_change"] is not None
            )
        case "LogisticRegression":
            return own["solver"] not in ("lbfgs", "newton-cg", "newton-cholesky")
    return True


def weighs_like_repeating(estimator: Any) -> bool:
    """Tell whether a row with weight w teaches the same as w equal rows.

    Taking ``sample_weight`` is not enough: a limit on the number of rows in a leaf counts rows, a
    bootstrap draws rows, balanced class weights count rows. True only where it is known.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> weighs_like_repeating(DecisionTreeClassifier())
    True
    >>> weighs_like_repeating(DecisionTreeClassifier(min_samples_leaf=20))
    False
    """
    own: Parameters = estimator.get_params(deep=False)
    match _scikit_name(estimator):
        case "DecisionTreeClassifier" | "ExtraTreesClassifier" | "RandomForestClassifier":
            return _splits_any_two(own) and own["class_weight"] is None and not own.get("bootstrap")
        case "GradientBoostingClassifier":
            return (
                _splits_any_two(own)
                and own["subsample"] == 1.0
                and own["n_iter_no_change"] is None
                and own["init"] is None
            )
        case "LogisticRegression":
            return own["class_weight"] is None and not _draws(estimator)
        case "BernoulliNB" | "MultinomialNB" | "ComplementNB":
            return True
    return False


def _splits_any_two(own: Parameters) -> bool:
    """Tell whether a node of two different rows may be split, however few they are."""
    return bool(own["min_samples_split"] == 2 and own["min_samples_leaf"] == 1)


def _scikit_name(estimator: Any) -> str:
    """Return the name of a class of scikit-learn itself; what inherits from it may train anew."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""

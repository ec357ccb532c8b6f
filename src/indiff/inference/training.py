"""Knows how scikit-learn's classifiers train: by chance, with weights, and what a tree believes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from indiff.inference.encodings import Floats

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


def grown_by(estimator: Any) -> tuple[Criterion, int | None] | None:
    """Return by what criterion and how deep a decision tree is grown, if nothing else limits it.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> grown_by(DecisionTreeClassifier(criterion="log_loss", max_depth=3))
    ('entropy', 3)
    >>> print(grown_by(DecisionTreeClassifier(ccp_alpha=0.1)))
    None
    """
    own: Parameters = estimator.get_params(deep=False)
    if _scikit_name(estimator) != "DecisionTreeClassifier" or _draws(estimator):
        return None
    limited = (
        not _splits_any_two(own)
        or own["min_weight_fraction_leaf"] > 0
        or own["min_impurity_decrease"] > 0
        or own["max_leaf_nodes"] is not None
        or own["class_weight"] is not None
        or own["ccp_alpha"] > 0
        or own["monotonic_cst"] is not None
    )
    if limited:
        return None
    return "gini" if own["criterion"] == "gini" else "entropy", own["max_depth"]


def _splits_any_two(own: Parameters) -> bool:
    """Tell whether a node of two different rows may be split, however few they are."""
    return bool(own["min_samples_split"] == 2 and own["min_samples_leaf"] == 1)


def _scikit_name(estimator: Any) -> str:
    """Return the name of a class of scikit-learn itself; what inherits from it may train anew."""
    kind = type(estimator)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else ""


Criterion = Literal["gini", "entropy"]


def sure_beliefs(
    tallies: Floats, criterion: Criterion = "gini", max_depth: int | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the beliefs of any fully grown tree, and of which target every tree has this one.

    ``tallies`` are the counts of one :class:`~indiff.inference.encodings.Tally` for each target:
    whole numbers of records by pattern and class. The tree is CART's as scikit-learn grows it,
    with ``max_depth`` as its only limit: a node is split on the feature with the best score, until
    it is of one class or no feature tells its records apart.

    A target's own features are all 1, so a tree only ever asks it to go where a feature is 1: a
    node on its way is the records that cover it on the features asked so far, whatever their
    order. Where two splits are equally good, scikit-learn lets chance decide between them, and
    where a split gains nothing, rounding decides whether it is made: then all ways are followed.
    If they end in the same belief, it is the belief of every tree.

    >>> one_way = [[5, 0], [0, 0], [0, 1], [1, 3.0]]
    >>> as_good = [[4, 4], [3, 1], [1, 3], [0, 0.0]]  # on two features
    >>> beliefs, sure = sure_beliefs(np.array([one_way, as_good]))
    >>> beliefs[0].tolist(), sure.tolist()
    ([0.25, 0.75], [True, False])
    """
    from indiff.inference.tree_ways import ENTROPY, GINI, NO_LIMIT, follow_all

    beliefs = np.empty((tallies.shape[0], tallies.shape[2]))
    sure = follow_all(
        np.ascontiguousarray(tallies, np.float64),
        GINI if criterion == "gini" else ENTROPY,
        NO_LIMIT if max_depth is None else max_depth,
        beliefs,
    )
    return beliefs, sure

"""Any scikit-learn classifier as the adversary."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.errors import UserError, said, unknown
from indiff.inference import training, tree
from indiff.inference.encodings import MOST_COUNTED, EncodedRelease, Encoding, Tally
from indiff.release.release import Release

Floats = NDArray[np.float64]
AnyLesson = tuple[Floats, NDArray[np.int32], Floats | None]  # features, classes, weights


# By module, class and parameters: scikit-learn is loaded when the first of them is made. What a
# solver leaves undone looks like a distance: newton-cholesky comes within 1e-6 of the optimum.
CLASSIFIERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "naive-bayes": ("naive_bayes", "BernoulliNB", {}),
    "tree": ("tree", "DecisionTreeClassifier", {}),
    "forest": ("ensemble", "RandomForestClassifier", {}),
    "logistic": (
        "linear_model",
        "LogisticRegression",
        {"solver": "newton-cholesky", "tol": 1e-8, "max_iter": 1_000},
    ),
    "gradient-boosting": ("ensemble", "GradientBoostingClassifier", {}),
    "mlp": ("neural_network", "MLPClassifier", {"hidden_layer_sizes": (32,)}),
    "knn": ("neighbors", "KNeighborsClassifier", {}),
}

TIES = (
    "k-nearest neighbours chooses arbitrarily among released records that are equally near: its "
    "delta may be an artefact of that choice"
)


@dataclass(frozen=True, eq=False)
class Taught:
    """A trained scikit-learn model, the features of who it is asked about, and its classes.

    ``held`` are the codes of the sensitive values that the release shows; there is no model where
    it is one.
    """

    model: Any
    asked: Floats
    held: NDArray[np.int32]
    unchecked: dict[str, Any]

    def chances(self, values: int) -> Floats:
        """Return the beliefs about who it is asked about, in all of the table's values."""
        beliefs = np.zeros((len(self.asked), values))
        if self.model is None:
            beliefs[:, self.held] = 1.0
        else:
            held = self.held[self.model.classes_]
            beliefs[:, held] = self.model.predict_proba(self.asked, **self.unchecked)
        return beliefs


@dataclass(frozen=True, eq=False)
class Trained(Taught):
    """A trained model, and the encoded release that taught it."""

    encoded: EncodedRelease


@dataclass(frozen=True)
class Classifier:
    """A scikit-learn classifier, trained on the encoded release and asked about each target.

    ``estimator`` is a name or any object with ``fit`` and ``predict_proba``; it is cloned for each
    fit, and every ``random_state`` in it is set to ``seed``. A sensitive value that the release
    lacks has probability 0. With a TF encoding, the papers' choice (DIT v1, Section 4), each
    target has a model of its own; with the others one model serves all targets of a release.

    Where it makes no difference to what is learned, equal rows are given once, with their number
    as ``sample_weight``. A classifier whose training uses chance beyond a fixed choice between
    equals is ``randomized``: the test then repeats it. It is one adversary among many: a small
    distance under it does not rule out a large one under another.

    >>> Classifier("tree").randomized, Classifier("forest").randomized
    (False, True)
    >>> str(Classifier("logistic", encoding="Scaling-Hot"))
    'logistic:encoding=Scaling-Hot'
    """

    estimator: Any
    encoding: str | Encoding = "TF-TF"
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.estimator, str):
            if self.estimator not in CLASSIFIERS:
                raise unknown("classifier", self.estimator, CLASSIFIERS)
        else:
            _check_classifier(self.estimator)
        if not isinstance(self.encoding, Encoding):
            object.__setattr__(self, "encoding", Encoding.named(self.encoding))

    def __str__(self) -> str:
        known = isinstance(self.estimator, str)
        name = self.estimator if known else type(self.estimator).__name__
        return name if self.encoding == Encoding() else f"{name}:encoding={self.encoding}"

    @cached_property
    def _prototype(self) -> Any:
        from sklearn.base import clone

        if isinstance(self.estimator, str):
            module, name, parameters = CLASSIFIERS[self.estimator]
            fresh = getattr(importlib.import_module(f"sklearn.{module}"), name)(**parameters)
        else:
            fresh = clone(self.estimator)
        seeds = [n for n in fresh.get_params() if n.split("__")[-1] == "random_state"]
        fresh.set_params(**dict.fromkeys(seeds, self.seed))
        if training.weighs_like_repeating(fresh):
            try:  # scikit-learn's own: checked once, not at every fit
                fresh._validate_params()
            except ValueError as error:
                raise UserError(f"{self} has a parameter that does not fit: {error}") from error
        return fresh

    @property
    def is_own_tree(self) -> bool:
        """Whether it is the tree on TF features, which needs only counts and no scikit-learn."""
        named = isinstance(self.estimator, str) and self.estimator == "tree"
        # What inherits from it may do as it likes.
        return named and self.encoding == Encoding() and type(self).beliefs is Classifier.beliefs

    @cached_property
    def randomized(self) -> bool:
        """Whether training twice with two seeds may give two different models."""
        return not self.is_own_tree and training.trains_randomly(self._prototype)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the result must know about the classifier."""
        if self.is_own_tree:
            return ()
        from sklearn.neighbors import KNeighborsClassifier

        parts = [self._prototype, *self._prototype.get_params().values()]
        return (TIES,) if any(isinstance(part, KNeighborsClassifier) for part in parts) else ()

    def seeded(self, seed: int) -> Classifier:
        """Return the same classifier with another seed."""
        return replace(self, seed=seed)

    def beliefs(self, release: Release, targets: Table) -> Floats:
        """Return the belief about each target from the release."""
        if not len(release) or not release.class_totals().any():
            raise UserError(
                f"{self} needs a release with at least one record",
                "an empty one",
                "Check the sanitizer",
            )
        codes = release.codes_of(targets)
        if not len(codes):
            return np.empty((0, len(release.sensitive_values)))
        distinct, back = np.unique(codes, axis=0, return_inverse=True)
        encoded = self._encoding.of(release)
        beliefs = np.empty((len(distinct), len(release.sensitive_values)))
        if self.is_own_tree:
            self._follow(encoded, distinct, beliefs)
        else:
            with self._training():
                for places in encoded.sharing(distinct):
                    beliefs[places] = self._ask(encoded, distinct[places])
        return beliefs[back.ravel()]

    def _follow(self, encoded: EncodedRelease, targets: NDArray[np.int32], beliefs: Floats) -> None:
        """Write what trees believe of targets: from counts by group, or else from rows."""
        known = np.zeros(len(targets), np.bool_)
        for some, tallies in encoded.tallies(targets):
            beliefs[some], known[some] = tree.beliefs_from_tallies(tallies), True
        for place in np.flatnonzero(~known):
            counts, _ = tree.belief_from_rows(*encoded.lesson(targets[place]), beliefs.shape[1])
            beliefs[place] = counts / counts.sum()

    def learns_from_tally(self, columns: int) -> bool:
        """Tell whether a tally of so many columns is all that it needs of a release."""
        if type(self).beliefs is not Classifier.beliefs:  # what inherits from it may do as it likes
            return False
        everything_is_tf = self._encoding == Encoding() and columns <= MOST_COUNTED
        return everything_is_tf and (self.is_own_tree or self._weighs)

    def belief_from_tally(self, tally: Tally, target: Table) -> Floats:
        """Return the belief about the target of a tally, just as :meth:`beliefs` has it."""
        if self.is_own_tree:
            return tree.beliefs_from_tallies(tally.counts[None])
        with self._training():
            asked = np.ones((1, len(tally.names)))
            return self._learn(tally.lesson(), asked, tally.class_totals(), len(tally))

    @property
    def _encoding(self) -> Encoding:
        return cast(Encoding, self.encoding)

    def trained(self, release: Release, target: Table) -> Trained | None:
        """Return the model that is asked about one target; None where there is no choice."""
        codes = release.codes_of(target)
        with self._training():
            encoded = self._encoding.of(release)
            taught = self._teach(self._lesson(encoded, codes[0]), encoded.targets(codes[:1]))
        if taught.model is None:
            return None
        return Trained(taught.model, taught.asked, taught.held, taught.unchecked, encoded)

    def _teach(self, lesson: AnyLesson, asked: Floats) -> Taught:
        """Train one model for all who are asked about."""
        features, classes, weights = lesson
        held, labels = np.unique(classes, return_inverse=True)
        if len(held) == 1:  # nothing to choose from, and many classifiers refuse to
            return Taught(None, asked, held, {})
        given: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        unchecked: dict[str, Any] = {}
        if type(self._prototype).__module__ == "sklearn.tree._classes":
            # A tree works on such numbers anyway, and half of its time would go into checking.
            features, asked = features.astype(np.float32), asked.astype(np.float32)
            unchecked = {"check_input": False}
        model = self._fresh().fit(features, labels.ravel(), **given, **unchecked)
        return Taught(model, asked, held, unchecked)

    def _ask(self, encoded: EncodedRelease, targets: NDArray[np.int32]) -> Floats:
        """Return one model's beliefs about all of these targets."""
        lesson = self._lesson(encoded, targets[0])
        release, asked = encoded.release, encoded.targets(targets)
        return self._learn(lesson, asked, release.class_totals(), len(release))

    def _learn(self, lesson: AnyLesson, asked: Floats, totals: Floats, records: int) -> Floats:
        """Train one model, and return its beliefs about all who are asked about."""
        try:
            return self._teach(lesson, asked).chances(len(totals))
        except UserError:
            raise
        except ValueError as error:
            raise UserError(
                f"{self} cannot learn from a release of {records:,} records with "
                f"{int((totals > 0).sum())} sensitive values ({said(str(error))})",
                way_out="Change its parameters",
            ) from error

    def _fresh(self) -> Any:
        """Return an untrained copy; those with no estimator inside need no deeper one."""
        from sklearn.base import clone

        return copy(self._prototype) if self._weighs else clone(self._prototype)

    @contextmanager
    def _training(self) -> Generator[None, None, None]:
        """Spare scikit-learn's own what needs no check: parameters were, features are finite."""
        from sklearn import config_context
        from sklearn.exceptions import ConvergenceWarning

        checked = {"assume_finite": True, "skip_parameter_validation": True}
        with (
            config_context(**checked if self._weighs else {}),
            _thread_pools().limit(limits=1, user_api="blas"),  # many small products: threads wait
            warnings.catch_warnings(),
        ):
            # Sensitive values are classes, however many there are.
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            if self.estimator == "mlp":  # its number of rounds is fixed, settled or not
                warnings.simplefilter("ignore", ConvergenceWarning)
            yield

    def _lesson(self, encoded: EncodedRelease, target: NDArray[np.int32]) -> AnyLesson:
        """Return features, classes and weights to train on, each distinct row once if it may be."""
        if self._weighs:
            return encoded.lesson(target)
        features, classes = encoded.rows(target), encoded.release.classes
        weights = encoded.release.weights
        if weights is None:
            return features, classes, None
        if not self._takes_weights:
            raise UserError(
                f"{self} takes no sample_weight, and the records of this release have weights; "
                "use a model that takes it, such as tree or logistic."
            )
        kept = weights > 0
        return features[kept], classes[kept], weights[kept]

    @cached_property
    def _weighs(self) -> bool:
        return training.weighs_like_repeating(self._prototype)

    @cached_property
    def _takes_weights(self) -> bool:
        from sklearn.utils.validation import has_fit_parameter

        return bool(has_fit_parameter(self._prototype, "sample_weight"))


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def is_estimator(thing: object) -> bool:
    """Tell whether this looks like an estimator of scikit-learn, without loading it."""
    return hasattr(thing, "fit") and hasattr(thing, "get_params")


def _check_classifier(estimator: Any) -> None:
    if isinstance(estimator, type):
        raise UserError(
            f"a classifier must be an object, not a class: write {estimator.__name__}()."
        )
    if not is_estimator(estimator):
        raise UserError(
            f"a classifier is a name ({', '.join(CLASSIFIERS)}) or a scikit-learn classifier",
            f"{estimator!r}",
        )
    if not hasattr(estimator, "predict_proba"):
        raise UserError(
            "a classifier must offer predict_proba, since a belief is a probability "
            f"for each sensitive value; {type(estimator).__name__} does not",
            way_out="Wrap it in sklearn.calibration.CalibratedClassifierCV, or choose another",
        )

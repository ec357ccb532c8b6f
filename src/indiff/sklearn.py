"""Chooses among sanitizers with scikit-learn: an anonymizer for pipelines, and a privacy score."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from indiff.audit.verdict import TEST_LIMITS
from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table, read_table
from indiff.errors import UserError, unknown
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Identity, Suppress, as_sanitizer
from indiff.utility.accuracy import Encoder

_TARGET = "the target of the prediction"
_NO_PROOF = ("lower-bound", "approximation")


class Anonymizer(TransformerMixin, BaseEstimator):
    """A step of a pipeline that trains on a release and predicts original records.

    ``fit_transform`` sanitizes the training records, with the target as the sensitive attribute,
    and returns the release as features: a cell is spread evenly over what it covers. ``transform``
    returns the features of records as they are, which are the people to predict. ``table_`` is
    what was sanitized. Sanitizers that keep each record's row can be used: ``mondrian``,
    ``recoding`` that keeps suppressed rows, ``identity`` and ``suppress``.
    """

    def __init__(
        self,
        sanitizer: Any = "mondrian:k=5",
        *,
        quasi: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.sanitizer = sanitizer
        self.quasi = quasi
        self.kinds = kinds
        self.hierarchies = hierarchies
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Anonymizer:
        """Sanitize the training records."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **more: Any) -> NDArray[np.float64]:
        """Sanitize the training records, and return the release as features."""
        if y is None:
            raise UserError("an anonymizer needs the target: it is the sensitive attribute.")
        chosen = as_sanitizer(self.sanitizer)
        if not isinstance(chosen, Mondrian | Recoding | Identity | Suppress):
            raise UserError(
                "an anonymizer needs a sanitizer whose rows are the records, in their order",
                f"{self.sanitizer}", "Take mondrian, recoding, identity or suppress",
            )  # fmt: skip
        frame = _as_arrow(X)
        names = list(self.quasi) if self.quasi is not None else frame.column_names
        target = pa.array(np.asarray(y).tolist())
        self.table_: Table = read_table(
            frame.select(names).append_column(_TARGET, target),
            quasi=names, sensitive=_TARGET, kinds=self.kinds, hierarchies=self.hierarchies,
        )  # fmt: skip
        release = chosen.sanitize(self.table_, np.random.default_rng(self.seed))
        if len(release) != len(self.table_):
            raise UserError("an anonymizer needs every record's row; say suppressed=keep.")
        self._encoders = [Encoder.of(column) for column in release.columns]
        parts = zip(self._encoders, release.columns, strict=True)
        return np.hstack([encoder.regions(column.index) for encoder, column in parts])

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of records as they are."""
        check_is_fitted(self, "table_")
        frame = _as_arrow(X)
        return np.hstack([_features(encoder, frame) for encoder in self._encoders])


def _as_arrow(X: Any) -> pa.Table:
    try:
        return nw.from_native(X, eager_only=True).to_arrow()
    except TypeError:
        raise UserError(
            "an anonymizer takes a frame with named columns (pandas, Polars, PyArrow)",
            type(X).__name__,
        ) from None


def _features(encoder: Encoder, frame: pa.Table) -> NDArray[np.float64]:
    """Return one column's features; a value that was never seen has none."""
    codes = _codes(encoder.column.attribute, frame[encoder.column.attribute.name].to_pylist())
    found = np.zeros((len(codes), encoder.width))
    known = codes >= 0
    found[known] = encoder.values(codes[known])
    return found


def _codes(attribute: Attribute, values: Sequence[Any]) -> NDArray[np.int32]:
    """Return the place of each value among those that were seen; of a number, of the nearest."""
    last = len(attribute.values) - attribute.has_missing
    missing = attribute.missing_code
    if attribute.kind != Kind.NUMERIC:
        places = {value: at for at, value in enumerate(attribute.values[:last].tolist())}
        found = [missing if value is None else places.get(value, -1) for value in values]
        return np.array(found, np.int32)
    points = attribute.values[:last].astype(np.float64)
    numbers = np.array([_number(value) for value in values])
    upper = np.clip(np.searchsorted(points, numbers), 0, last - 1)
    lower = np.maximum(upper - 1, 0)
    nearest = np.where(numbers - points[lower] < points[upper] - numbers, lower, upper)
    return np.where(np.isnan(numbers), missing, nearest).astype(np.int32)


def _number(value: Any) -> float:
    if isinstance(value, datetime.date):
        return float(value.toordinal() - datetime.date(1970, 1, 1).toordinal())
    return float("nan") if value is None else float(value)


@dataclass(frozen=True)
class _PrivacyScorer:
    metric: str
    model: Any
    distance: Any
    seed: int

    def __call__(self, estimator: Any, X: Any = None, y: Any = None) -> float:
        """Return minus the number, so that more is better; the records to predict do not count."""
        from indiff.differential import differential_test

        step = _anonymizer(estimator)
        check_is_fitted(step, "table_")
        how = {} if self.model is None else {"model": self.model}
        result = differential_test(
            step.table_, as_sanitizer(step.sanitizer), distance=self.distance, seed=self.seed, **how
        )
        if result.exactness in _NO_PROOF:
            raise UserError(
                f"a score needs a number that can prove something; this is {result.exactness}."
            )
        return -float(getattr(result, TEST_LIMITS[self.metric]))


def privacy_scorer(
    metric: str = "delta", *, model: Any = None, distance: Any = "wasserstein", seed: int = 0
) -> Callable[..., float]:
    """Return a scorer for model selection: minus δ of the release that was trained on.

    It is the differential test of the training records and their sanitizer, and looks at no record
    that is predicted. ``metric`` is ``delta``, ``mean`` or ``changed_predictions``; of an estimate
    the upper end counts. A good score is a statement about these adversaries and these records.

    >>> import pyarrow as pa
    >>> X = pa.table({"age": [20, 21, 22, 23, 40, 41, 42, 43]})
    >>> step = Anonymizer("mondrian:k=4").fit(X, list("aabbaabb"))
    >>> privacy_scorer(model="naive-bayes")(step) > privacy_scorer(model="naive-bayes")(
    ...     Anonymizer("identity").fit(X, list("aabbaabb")))
    True
    """
    if metric not in TEST_LIMITS:
        raise unknown("metric", metric, TEST_LIMITS)
    return _PrivacyScorer(metric, model, distance, seed)


def most_useful(
    limit: float, *, privacy: str = "privacy", utility: str = "utility"
) -> Callable[[Mapping[str, Any]], int]:
    """Return a rule for ``refit=`` of a search: the most useful setting within the limit.

    The limit must be kept in every fold, not on average. Where no setting keeps it the search ends
    with an error: there is nothing to choose.
    """

    def choose(results: Mapping[str, Any]) -> int:
        folds = [
            np.asarray(results[name])
            for name in results
            if name.startswith("split") and name.endswith(f"_test_{privacy}")
        ]
        kept = -np.min(folds, axis=0) <= limit  # NaN, where a test failed, is not
        useful = np.where(kept, np.asarray(results[f"mean_test_{utility}"], float), np.nan)
        if np.isnan(useful).all():
            raise UserError(f"no setting keeps the limit {limit:g} in every fold.")
        return int(np.nanargmax(useful))

    return choose


def _anonymizer(estimator: Any) -> Anonymizer:
    """Return the anonymizer, or the one step of a pipeline that is one."""
    steps = [estimator, *getattr(estimator, "named_steps", {}).values()]
    found = [step for step in steps if isinstance(step, Anonymizer)]
    if len(found) != 1:
        rule = "a privacy score needs one Anonymizer: as the estimator, or as a pipeline's step"
        raise UserError(rule, f"{len(found)} of them")
    return found[0]

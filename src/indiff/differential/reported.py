"""Says what the results of one model and of several have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.errors import UserError
from indiff.release.release import to_backend
from indiff.text import json_text


class Reported:
    """What the results of one model and of several have in common."""

    distances: NDArray[np.float64]
    beliefs: NDArray[np.float64]
    beliefs_without: NDArray[np.float64]
    classes: NDArray[np.int32]
    backend: str

    @property
    @abstractmethod
    def delta(self) -> float:
        """The largest distance."""

    @property
    @abstractmethod
    def predictions_changed(self) -> NDArray[np.float64]:
        """For each record, the probability that the most probable value is another without it."""

    def _repr_html_(self) -> str:
        from indiff.differential.notebook import tested

        return tested(self)

    @property
    def mean(self) -> float:
        """The mean distance of the records; infinite where one is."""
        return float(self.distances.mean()) if len(self.distances) else math.nan

    @property
    def average_case(self) -> float:
        """Average-case differentiation (DIT draft, Definition 1): the same number as the mean."""
        return self.mean

    @property
    def std(self) -> float:
        """The standard deviation of the finite distances."""
        finite = self.distances[np.isfinite(self.distances)]
        return float(finite.std()) if len(finite) else math.nan

    @property
    def infinite(self) -> int:
        """How many distances are infinite; they are kept, never clipped."""
        return int(np.isinf(self.distances).sum())

    def quantile(self, share: float) -> float:
        """Return the smallest distance that at least this share of the records does not exceed."""
        if not 0 <= share <= 1:
            raise UserError("a quantile is a share from 0 to 1", share, field="share")
        if not len(self.distances):
            return math.nan
        return float(np.quantile(self.distances, share, method="inverted_cdf"))

    @property
    def quantiles(self) -> dict[float, float]:
        """The usual quantiles of the distances."""
        shares = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
        return {share: self.quantile(share) for share in shares}

    def cdf(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the distinct distances and the share of records at or below each (Figure 2)."""
        values, counts = np.unique(self.distances, return_counts=True)
        return values, np.cumsum(counts) / len(self.distances)

    @property
    def changed_predictions(self) -> float:
        """The percentage of records whose prediction changes (DIT v1, Section 3.4.1)."""
        if not len(self.distances):
            return math.nan
        return float(100 * self.predictions_changed.mean())

    @property
    def true_beliefs(self) -> NDArray[np.float64]:
        """The belief in each record's true value, with the record in the table."""
        return self.beliefs[np.arange(len(self.classes)), self.classes]

    @property
    def true_beliefs_without(self) -> NDArray[np.float64]:
        """The belief in each record's true value, without the record."""
        return self.beliefs_without[np.arange(len(self.classes)), self.classes]

    @property
    def worst_case(self) -> float:
        """Worst-case differentiation (DIT draft, Definition 1): the same number as δ."""
        return self.delta

    def to_frame(self) -> Any:
        """Return :meth:`to_arrow` in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)

    def to_json(self, *, worst: int = 10) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(worst=worst))

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return one row per record."""

    @abstractmethod
    def to_dict(self, *, worst: int = 10) -> dict[str, Any]:
        """Return the result as plain data."""

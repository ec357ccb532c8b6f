"""Measures any sanitizer and model that are not random, by the paper's own procedure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from indiff.data.table import Table
from indiff.differential.measurement import Measurement, Named, measure_beliefs
from indiff.differential.noise.path import Sampled
from indiff.differential.path import Test, is_random
from indiff.differential.refit.refit import refit
from indiff.errors import UserError, option
from indiff.inference import Frequency, Model
from indiff.inference.frequency import SmoothedFrequency
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, OnGrid
from indiff.sanitizers.oracles.function import BlackBox
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import describe


class Refit:
    """Sanitizes again and fits again for every target (DIT v2, Section 3.2, Steps 2 to 5)."""

    name: ClassVar[str] = "refit"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        if not is_random(sanitizer, model):
            return None
        return UserError(
            "method 'refit' runs once with and once without a record, which says "
            "nothing about a randomized sanitizer or model",
            f"{describe(sanitizer)}, {describe(model)} and {distance[0]}",
            f"Use {option('method', 'sampled')}",
            field="method",
        )

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure the distances; a black box that turns out to be random is sampled instead."""
        sanitizer, model = test.sanitizer, test.model
        release = test.whole() if isinstance(sanitizer, BlackBox) else None
        if release is not None and not test.forced and not _repeats(test):
            note = f"two runs of {describe(sanitizer)} on the same table differ: sampled"
            measurement = Sampled().measure(test, distances)
            return replace(measurement, notes=(*measurement.notes, note))
        if isinstance(sanitizer, NoisySanitizer):
            sanitizer, model = _without_noise(test.table, sanitizer, model)
        with test.asking(self.name, distances) as asking:
            beliefs = refit(test.table, sanitizer, model, test.people, asking, release=release)
        return measure_beliefs(beliefs, test.table, model, distances, self.name)


def _repeats(test: Test) -> bool:
    """Tell whether a second call on the same table leads to the same beliefs."""
    targets = test.table.take(test.people.rows)
    releases = (test.whole(), test.sanitizer.sanitize(test.table))
    first, second = (test.model.beliefs(made, targets) for made in releases)
    return bool(np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True))


def _without_noise(
    table: Table, sanitizer: NoisySanitizer, model: Model
) -> tuple[Sanitizer, Model]:
    """Return a mechanism at ε = ∞ on fixed cells; a value that nobody holds then has no weight."""
    domains = {k: v for k, v in sanitizer.domains.items() if k != table.sensitive.name}
    plain = replace(sanitizer, domains=domains)
    smoothed = SmoothedFrequency() if isinstance(model, Frequency) else model
    return OnGrid(plain, plain.grid(table)), smoothed

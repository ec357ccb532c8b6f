"""Measures randomized sanitizers and models: by the closed form where it holds, else by runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from indiff.differential.measurement import Measurement, Named
from indiff.differential.noise.people import measure_noisy_people
from indiff.differential.noise.randomized import measure_by_runs, measure_exactly
from indiff.differential.path import Test
from indiff.distances.functions import DISTANCES
from indiff.errors import InternalError, UserError, option
from indiff.inference import Frequency, Model
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import describe

_SAMPLED = f"Use {option('method', 'sampled')}"


class ClosedForm:
    """Exact for noisy tables and randomized response (``docs/closed-form.md``)."""

    name: ClassVar[str] = "closed-form"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        name, function = distance
        theorem = name == "wasserstein" and DISTANCES[name] is function
        if (
            isinstance(sanitizer, NoisySanitizer)
            and isinstance(model, Frequency)
            and (theorem or not sanitizer.randomized)  # without noise any distance will do
        ):
            return None
        return UserError(
            "method 'closed-form' needs a noisy table or randomized response, the "
            "model frequency and the distance wasserstein",
            f"{describe(sanitizer)}, {describe(model)} and {name}",
            _SAMPLED,
            field="method",
        )

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Measure by the theorem, which is about one record; people with several by runs."""
        if not isinstance(test.sanitizer, NoisySanitizer):
            raise InternalError("the closed form was chosen for a sanitizer that it does not know")
        if test.people.are_records:
            with test.asking(self.name, distances):
                return measure_exactly(test.table, test.sanitizer, distances, test.people.rows)
        if test.forced:
            raise UserError(
                "method 'closed-form' is about people with one record each; "
                f"{test.people.column!r} has people with several",
                way_out=_SAMPLED,
                field="method",
            )
        if not (test.people.sizes == 1).any():
            note = "people with several records have no closed form: sampled"
            measurement = Sampled().measure(test, distances)
            return replace(measurement, notes=(*measurement.notes, note))
        beside = " beside the closed form"  # limits then hold for fewer people together
        with test.asking(Sampled.name, distances, beside=beside) as asking:
            return measure_noisy_people(test, test.sanitizer, distances, asking)


class Sampled:
    """R runs with and R runs without each person, and limits from them; right for anything."""

    name: ClassVar[str] = "sampled"

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return None: runs can measure any distance."""
        return None

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Estimate the distances from runs with common random numbers."""
        with test.asking(self.name, distances) as asking:
            return measure_by_runs(test, distances, test.people, asking)

"""Holds one test as it was asked for, and says what a path to its distances must offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as Folder
from typing import ClassVar, Protocol

from indiff.data.table import Table
from indiff.differential.calls.calls import Calls
from indiff.differential.calls.identity import identity, table_identity
from indiff.differential.calls.journal import Journal
from indiff.differential.calls.run import Asking, Progress, Watch
from indiff.differential.measurement import Measurement, Named
from indiff.differential.people import Chosen, People
from indiff.errors import UserError
from indiff.inference import Model
from indiff.inference.protocol import is_randomized_model
from indiff.release.release import Release
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import describe


@dataclass(frozen=True)
class Test:
    """One table, one sanitizer f, one model 𝒜, whom to test, and how to make the calls.

    ``forced`` says that the user named the method, ``whole`` gives the release of the whole table,
    made when it is first asked for, and ``run`` is the folder that keeps what is finished.
    """

    __test__ = False  # pytest: no test of this project

    table: Table
    sanitizer: Sanitizer
    model: Model
    chosen: Chosen
    population: int
    runs: int
    confidence: float
    seed: int
    calls: Calls
    run: Folder | None
    progress: Progress | None
    notes: tuple[str, ...]
    whole: Callable[[], Release]
    forced: bool = False

    @property
    def people(self) -> People:
        """The people to test."""
        return self.chosen.people

    @contextmanager
    def asking(
        self, method: str, distances: Sequence[Named], *, beside: str = ""
    ) -> Iterator[Asking]:
        """Say how to ask for targets, with the run's folder open if there is one.

        ``beside`` tells runs apart whose limits hold for another set of people.
        """
        watch = Watch(self.progress, distances[0][1])
        asking = Asking(calls=self.calls, order=self.chosen.order, watch=watch)
        if self.run is None:
            yield asking
            return
        with Journal(self.run, self._settings(method, distances, beside)) as journal:
            yield replace(asking, journal=journal, calls=replace(self.calls, one_by_one=True))

    def _settings(self, method: str, distances: Sequence[Named], beside: str) -> dict[str, str]:
        """Say what a run depends on, in words that complete "the … is another one"."""
        settings = {
            "table": table_identity(self.table),
            "individual column": str(self.people.column),
            "sanitizer": f"{describe(self.sanitizer)} {identity(self.sanitizer)}",
            "model": f"{describe(self.model)} {identity(self.model)}",
            "seed": str(self.seed),
            "method": method + beside,
        }
        if method == "sampled":  # what is kept are distances, with limits for all targets together
            of = ", ".join(f"{name} {identity(function)}" for name, function in distances)
            settings |= {
                "number of runs": str(self.runs),
                "confidence": repr(self.confidence),
                "distance": of,
                "set of targets": identity(self.table.records[self.people.firsts]),
            }
        return settings


class Path(Protocol):
    """One way to the distances of DIT v2, Section 3.2; ``method.PATHS`` lists them all.

    A path may do Steps 2 to 5 literally (``refit``), or arrive at the same numbers by a shorter
    way that it proves.
    """

    name: ClassVar[str]

    def obstacle(self, sanitizer: Sanitizer, model: Model, distance: Named) -> UserError | None:
        """Return why it cannot measure this distance; None where it can."""
        ...

    def measure(self, test: Test, distances: Sequence[Named]) -> Measurement:
        """Sanitize with and without each target, believe, and measure how far beliefs move."""
        ...


def is_random(sanitizer: Sanitizer, model: Model) -> bool:
    """Tell whether a sanitizer or a model says of itself that two calls may differ."""
    return sanitizer.randomized or is_randomized_model(model)

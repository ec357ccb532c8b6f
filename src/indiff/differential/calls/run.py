"""Asks for every target of a run: first the run's folder, then by calls that the folder keeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indiff.differential.calls.attempt import Answer, Ask
from indiff.differential.calls.calls import Calls, answers
from indiff.differential.calls.journal import Journal

Floats = NDArray[np.float64]
Progress = Callable[[int, int], object]


class Code(Protocol):
    """How an answer's value is written to a journal and read back."""

    def write(self, place: int, value: Any) -> Mapping[str, Any]:
        """Return the value as what JSON has."""
        ...

    def read(self, place: int, written: Mapping[str, Any]) -> Any:
        """Return the value again, bit by bit the same."""
        ...


class Share:
    """One part of a progress that several tests, one after the other, make together.

    >>> share = Share(lambda done, total: print(done, "of", total), place=1, parts=2)
    >>> share(3, 10)
    13 of 20
    """

    def __init__(self, progress: Progress, place: int, parts: int) -> None:
        self._progress, self._place, self._parts = progress, place, parts
        if hasattr(progress, "measured"):
            self.measured = progress.measured

    def __call__(self, done: int, total: int) -> None:
        """Tell how many of all parts together are done."""
        self._progress(self._place * total + done, self._parts * total)


@dataclass
class Watch:
    """Tells the progress: how many are done and, to whoever wants it, their distances so far.

    A progress that has a method ``measured`` gets each new distance, and may show what δ and the
    CDF look like so far.
    """

    progress: Progress | None = None
    measure: Callable[[Floats, Floats], Any] | None = None

    def beliefs(self, present: Floats, absent: Floats) -> None:
        """Tell the largest distance between the beliefs about one person's records."""
        if self._wants_distances and self.measure is not None:
            self.distance(float(np.max(np.asarray(self.measure(present, absent), np.float64))))

    def distance(self, distance: float) -> None:
        """Tell the distance of one person."""
        if self._wants_distances and not math.isnan(distance):
            self.progress.measured(distance)  # type: ignore[union-attr]

    def count(self, done: int, total: int) -> None:
        """Tell how many are done."""
        if self.progress is not None:
            self.progress(done, total)

    @property
    def _wants_distances(self) -> bool:
        return hasattr(self.progress, "measured")


@dataclass(frozen=True)
class Asking:
    """How a run is made: its calls, its folder, the order of its targets, and who watches.

    ``order`` lists people, the one to ask for first at the front; by default all, as they stand.
    """

    calls: Calls = field(default_factory=Calls)
    journal: Journal | None = None
    order: NDArray[np.intp] | None = None
    watch: Watch = field(default_factory=Watch)

    def sequence(self, back: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the distinct targets in the order in which people ask for them.

        >>> Asking(order=np.array([2, 0, 1])).sequence(np.array([1, 1, 0]))
        array([0, 1])
        """
        asked = back if self.order is None else back[self.order]
        return asked[np.sort(np.unique(asked, return_index=True)[1])]

    def about(self, chosen: NDArray[np.bool_]) -> Asking:
        """Return how to ask about some of the people only, in the same order.

        >>> Asking(order=np.array([2, 0, 1])).about(np.array([True, False, True])).order
        array([1, 0])
        """
        order = np.arange(len(chosen)) if self.order is None else self.order
        return replace(self, order=(np.cumsum(chosen) - 1)[order[chosen[order]]])

    def collect(
        self,
        ask: Ask,
        names: NDArray[np.int64],
        back: NDArray[np.intp],
        code: Code,
        keep: Callable[[int, Any], None],
    ) -> tuple[dict[int, str], int]:
        """Ask for every distinct target, and hand each answer to ``keep``.

        ``back`` says which target each person is. Return why targets failed, and how many needed
        another call. An interruption keeps what is done: the caller sees what is missing.
        """
        failed: dict[int, str] = {}
        repeated = done = 0
        sharing = np.bincount(back, minlength=len(names))
        try:
            with closing(self.ask(ask, names, self.sequence(back), code)) as groups:
                for group in groups:
                    for answer in group:
                        done += int(sharing[answer.place])
                        if answer.failure is not None:
                            failed[answer.place] = answer.failure
                            continue
                        repeated += answer.tries > 1
                        keep(answer.place, answer.value)
                    self.watch.count(done, len(back))
        except KeyboardInterrupt:
            pass
        return failed, repeated

    def ask(
        self, ask: Ask, names: NDArray[np.int64], places: NDArray[np.intp], code: Code
    ) -> Generator[list[Answer], None, None]:
        """Yield an answer for each place; ``names`` are the targets' names in a journal.

        A target that failed in an earlier run is asked for again.
        """
        rest = places
        if self.journal is not None:
            known = np.zeros(len(places), np.bool_)
            order = np.argsort(names[places])
            ordered = names[places][order]
            for name, entry in self.journal.take():
                spot = int(np.searchsorted(ordered, name))
                if spot < len(ordered) and ordered[spot] == name and "failed" not in entry:
                    known[order[spot]] = True
                    place = int(places[order[spot]])
                    yield [Answer(place, code.read(place, entry), None, entry["calls"])]
            rest = places[~known]
        with closing(answers(ask, rest, self.calls)) as groups:
            for group in groups:
                if self.journal is not None:
                    self.journal.append(
                        [(int(names[one.place]), _entry(one, code)) for one in group]
                    )
                yield group


def _entry(answer: Answer, code: Code) -> Mapping[str, Any]:
    if answer.failure is not None:
        return {"calls": answer.tries, "failed": answer.failure}
    return {"calls": answer.tries, **code.write(answer.place, answer.value)}

"""Runs of a noisy table for the adversary who reads one cell: only that cell's noise is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from indiff.differential.noise.exact import Cases
from indiff.differential.noise.runs import PAIRED, REPEATED, Floats, Pairs
from indiff.errors import InternalError
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NoisyTable, RandomizedResponse


@dataclass(frozen=True)
class CellRuns:
    """R beliefs from noisy counts 1 + max(0, count + noise) (DIT v2, Eqs. 2 to 4), per case.

    The noise is that of the whole table's mechanism, restricted to one cell; a case's random
    numbers depend on the seed and on the case alone.
    """

    sanitizer: NoisySanitizer
    cases: Cases
    runs: int
    seed: int
    paired: bool = True

    def __len__(self) -> int:
        return len(self.cases.values)

    def pairs(self, place: int) -> list[Pairs]:
        """Return runs × sensitive values with and without the record, with common noise."""
        counts, value = self.cases.counts[place], int(self.cases.values[place])
        without = counts - np.eye(len(counts), dtype=np.int64)[value]
        rng = self._rng(PAIRED, place)
        match self.sanitizer:
            case NoisyTable(kind=kind, scale=scale):
                shape = (self.runs, len(counts))
                noises = noise.draw(kind, scale, shape, rng)
                return [Pairs(_smooth(counts + noises), _smooth(without + noises))]
            case RandomizedResponse():
                others = self._answers(self.sanitizer, without, rng)
                own = self._answers(self.sanitizer, np.eye(len(counts), dtype=int)[value], rng)
                return [Pairs(_smooth(others + own), _smooth(others))]
        raise InternalError(f"no runs for {type(self.sanitizer).__name__}")

    def repeated(self, place: int, record: int) -> Floats:
        """Return as many runs with the record, from other random numbers."""
        counts, rng = self.cases.counts[place], self._rng(REPEATED, place)
        match self.sanitizer:
            case NoisyTable(kind=kind, scale=scale):
                shape = (self.runs, len(counts))
                return _smooth(counts + noise.draw(kind, scale, shape, rng))
            case RandomizedResponse():
                return _smooth(self._answers(self.sanitizer, counts, rng))
        raise InternalError(f"no runs for {type(self.sanitizer).__name__}")

    def _rng(self, purpose: int, place: int) -> Generator:
        key = (purpose, int(self.cases.first[place]))
        return np.random.default_rng(SeedSequence(self.seed, spawn_key=key))

    def _answers(
        self, response: RandomizedResponse, counts: NDArray[np.int64], rng: Generator
    ) -> Floats:
        """Return how many of the records report each value, runs × values."""
        number = len(counts)
        keep = response.keep(number)
        total = np.zeros((self.runs, number))
        for value, count in enumerate(counts):
            chances = np.full(number, (1 - keep) / (number - 1))
            chances[value] = keep
            total += rng.multinomial(int(count), chances, self.runs)
        return total


def _smooth(counts: NDArray[np.float64]) -> Floats:
    clipped = 1 + np.maximum(counts, 0)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))

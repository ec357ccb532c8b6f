"""How often claims are refuted: broken mechanisms, correct ones, and how near the bound comes.

    python -m benchmarks.claims broken|correct|observed|membership [REPETITIONS]

Prints the Markdown tables of docs/claims.md. The broken mechanisms are called, 2,000 times each on
1,000 records. The correct ones are drawn, cell by cell and many at once, and go through the same
choice and count: 200 repetitions of 2,000 calls each would take days.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from tests.differential.claim import gallery
from tests.differential.claim.test_events import gaussian_epsilon
from tests.differential.claim.test_membership import copied, counted, silent, truth

from indiff.differential.claim.bound import epsilon_lower
from indiff.differential.claim.claim import Rounds, observe, test_claim
from indiff.differential.claim.events import choose_event
from indiff.differential.claim.membership import membership_rates
from indiff.differential.people import People, each_record
from indiff.sanitizers.noise.draws import vetted_counts

Floats = NDArray[np.float64]
CELLS = (1, 3, 5, 20)
CALLS = 2000


def broken(seed: int = 1) -> None:
    people = gallery.people()
    print("| mistake | claimed ε | observed ε, at least | told by | refuted |")
    print("|---|---:|---:|---|---|")
    found = 0
    for one in gallery.BROKEN:
        result = test_claim(
            people, one.function, epsilon=one.epsilon, delta=one.delta, calls=CALLS, jobs=1,
            seed=seed,
        )  # fmt: skip
        by = result.observed[0].event.statistic if result.observed else "nothing"
        found += result.refuted
        claim = f"{one.epsilon:g}" + (f" (δ = {one.delta:g})" if one.delta else "")
        verdict = "yes" if result.refuted else "**no**"
        print(f"| {one.name} | {claim} | {result.epsilon:.2f} | {by} | {verdict} |", flush=True)
    print(f"\n{found} of {len(gallery.BROKEN)} refuted")


Noise = Callable[[Generator, Floats], Floats]


def geometric(epsilon: float) -> Noise:
    stop = 1 - math.exp(-epsilon)
    return lambda rng, n: n + rng.geometric(stop, n.shape) - rng.geometric(stop, n.shape)


def laplace(epsilon: float) -> Noise:
    return lambda rng, n: n + gallery.laplace(rng, 1 / epsilon, n.shape)


def opendp(kind: str, scale: float) -> Noise:
    return lambda rng, n: vetted_counts(kind, scale, n.astype(np.int64)).reshape(n.shape)  # type: ignore[arg-type]


def normal(sigma: float) -> Noise:
    return lambda rng, n: n + gallery.snapped(rng.normal(0, sigma, n.shape))


def suppressed(rng: Generator, n: Floats) -> Floats:
    noisy = laplace(1)(rng, n)
    return np.where(noisy < 3, 0.0, noisy)


def rounded_after(rng: Generator, n: Floats) -> Floats:
    return 5 * np.round(laplace(1)(rng, n) / 5)


def in_two_tables(rng: Generator, n: Floats) -> Floats:
    return (laplace(0.5)(rng, n) + laplace(0.5)(rng, n)) / 2


def resampled(rng: Generator, n: Floats) -> Floats:
    return rng.poisson(np.maximum(laplace(1)(rng, n), 0)).astype(np.float64)


CORRECT: dict[str, tuple[Noise, float, float]] = {
    **{f"Laplace, ε = {e:g}": (laplace(e), e, 0.0) for e in (0.1, 0.5, 1, 2, 4)},
    **{f"geometric, ε = {e:g}": (geometric(e), e, 0.0) for e in (0.1, 0.5, 1, 2, 4)},
    "OpenDP: Laplace, ε = 1": (opendp("laplace", 1.0), 1, 0.0),
    "OpenDP: geometric, ε = 1": (opendp("geometric", 1.0), 1, 0.0),
    "OpenDP: Gaussian, σ = 1, δ = 0.01": (opendp("gaussian", 1.0), gaussian_epsilon(1, 0.01), 0.01),
    **{
        f"Gaussian, σ = {s:g}, δ = {d:g}": (normal(s), gaussian_epsilon(s, d), d)
        for s, d in ((0.5, 0.05), (1, 0.01), (2, 0.05))
    },
    "Laplace, small noisy counts suppressed, ε = 1": (suppressed, 1, 0.0),
    "Laplace, rounded afterwards, ε = 1": (rounded_after, 1, 0.0),
    "Laplace in two tables of ε/2 each, ε = 1": (in_two_tables, 1, 0.0),
    "Poisson rows from noisy counts, ε = 1": (resampled, 1, 0.0),
}


@dataclass
class Drawn:
    """Runs of a mechanism on counts: each record's cell, and the other values of its cell."""

    noise: Noise
    rng: Generator
    names: tuple[str, ...] = field(default=("cell", "others", "share", "total"))

    def _statistics(self, own: Floats, others: Floats) -> Floats:
        first, second = (np.maximum(self.noise(self.rng, n), 0) for n in (own, others))
        return np.stack([first, second, first / (1 + first + second), first + second], axis=-1)

    def look(
        self, people: People, stage: str, present: range, absent: Mapping[int, range]
    ) -> tuple[Floats, dict[int, Floats]]:
        sizes = np.array(CELLS, np.float64)
        shape = (len(CELLS), len(present))
        whole = self._statistics(np.broadcast_to(sizes[:, None], shape), np.full(shape, 7.0))
        apart = {
            person: self._statistics(np.full(len(runs), sizes[person] - 1), np.full(len(runs), 7.0))
            for person, runs in absent.items()
        }
        return whole, apart


def correct(repetitions: int = 200) -> None:
    print("| mechanism | claimed ε | refuted | largest bound / ε |")
    print("|---|---:|---:|---:|")
    people, rounds = each_record(np.arange(len(CELLS))), Rounds.of(CALLS, len(CELLS), False, 1)
    for number, (name, (noise, epsilon, delta)) in enumerate(CORRECT.items()):
        found = []
        for repetition in range(repetitions):
            rng = np.random.default_rng([number, repetition])
            observed, _ = observe(Drawn(noise, rng), people, rounds, delta=delta)
            found.append(max((one.epsilon for one in observed), default=0.0))
        bounds = np.array(found)
        share = 100 * float((bounds > epsilon).mean())
        print(
            f"| {name} | {epsilon:.3g} | {share:.1f} % | {bounds.max() / epsilon:.2f} |", flush=True
        )


def observed(repetitions: int = 10, runs: int = 100_000) -> None:
    print("| noise | ε | observed / ε, least | median | largest |")
    print("|---|---:|---:|---:|---:|")
    for number, (name, (noise, epsilon, delta)) in enumerate(CORRECT.items()):
        if "suppressed" in name or "rounded" in name or "tables" in name or "Poisson" in name:
            continue
        if "OpenDP" in name and repetitions > 3:
            continue
        shares = []
        for repetition in range(repetitions):
            rng, half = np.random.default_rng([7, number, repetition]), runs // 2
            sides = [noise(rng, np.full(runs, float(n)))[:, None] for n in (5, 4)]
            event = choose_event(("count",), sides[0][:half], sides[1][:half], delta=delta)
            assert event is not None
            count = event.count(sides[0][half:], sides[1][half:])
            shares.append(epsilon_lower(count, delta=delta, split=event.split) / epsilon)
        low, middle, high = np.quantile(shares, [0, 0.5, 1])
        print(f"| {name} | {epsilon:.3g} | {low:.2f} | {middle:.2f} | {high:.2f} |", flush=True)


def membership(repetitions: int = 200, runs: int = 200) -> None:
    print("| generator | advantage | its intervals that hold | of rates at 1 % | at 0.1 % |")
    print("|---|---:|---:|---:|---:|")
    for draw in (copied, counted, silent):
        advantage, at = truth(draw)
        held = np.zeros((repetitions, 6))
        for repetition in range(repetitions):
            rng = np.random.default_rng([3, repetition])
            sides = [draw(rng, runs, present)[:, :, None] for present in (True, False)]
            overall, each, _ = membership_rates(("belief",), *sides, error=0.05)
            for place, rates in enumerate((overall["belief"], each[0]["belief"])):
                wanted = [(rates.advantage, advantage)]
                wanted += [(rates.true_positives_at[rate], at[rate]) for rate in (0.01, 0.001)]
                held[repetition, 3 * place : 3 * place + 3] = [
                    one.lower - 2e-3 <= value <= one.upper + 2e-3 for one, value in wanted
                ]
        shares = 100 * held.mean(axis=0)
        cells = [f"{shares[k]:.1f} %, one record {shares[k + 3]:.1f} %" for k in range(3)]
        print(f"| {draw.__name__} | {advantage:.3f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parts = {"broken": broken, "correct": correct, "observed": observed, "membership": membership}
    arguments = [int(text) for text in sys.argv[2:]]
    parts[sys.argv[1]](*arguments)

"""Mechanisms that claim differential privacy: broken ones, and correct ones.

Each is a function of a frame and a generator that returns a frame, as a stranger's would be. The
table has 1,000 made-up people in 2 × 8 × 6 cells with 4 sensitive values; what may occur is
declared here, as a careful publisher would declare it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table, read_table

Counts = NDArray[np.float64]
Function = Callable[[pa.Table, Generator], pa.Table]

SIZES = {"sex": 2, "region": 8, "job": 6, "ill": 4}
DOMAIN = {name: [f"{name[0]}{value}" for value in range(size)] for name, size in SIZES.items()}
SHAPE = tuple(SIZES.values())


def people(records: int = 1000, seed: int = 4) -> Table:
    """Return made-up people; the last job is held by one of them."""
    rng = np.random.default_rng(seed)
    shares: dict[str, Any] = {
        "sex": [0.5, 0.5],
        "region": 0.75 ** np.arange(8),
        "job": 0.55 ** np.arange(5),
    }
    shares["ill"] = np.array([0.6, 0.25, 0.1, 0.05])
    frame = {}
    for name, share in shares.items():
        drawn = rng.choice(len(share), records, p=np.asarray(share) / np.sum(share))
        frame[name] = np.array(DOMAIN[name])[drawn]
    frame["job"][records // 3] = DOMAIN["job"][-1]
    return read_table(pa.table(frame), quasi=["sex", "region", "job"], sensitive="ill")


def counts_of(frame: pa.Table) -> Counts:
    """Count the records of every cell of the domain."""
    codes = [pc.index_in(frame[name], pa.array(DOMAIN[name])).to_numpy() for name in DOMAIN]
    flat = np.ravel_multi_index(codes, SHAPE)
    return np.bincount(flat, minlength=int(np.prod(SHAPE))).reshape(SHAPE).astype(np.float64)


def published(counts: Counts, keep: NDArray[np.bool_] | None = None) -> pa.Table:
    """Return a table of counts, those below 0 as 0; only some of its cells, if so asked."""
    places = np.indices(SHAPE).reshape(4, -1)
    frame: dict[str, Any] = {
        name: np.array(DOMAIN[name])[place] for name, place in zip(DOMAIN, places, strict=True)
    }
    frame["weight"] = np.maximum(counts.ravel(), 0)
    made = pa.table(frame)
    return made if keep is None else made.filter(pa.array(keep.ravel()))


def rows_of(counts: Counts, number: int, rng: Generator) -> pa.Table:
    """Draw synthetic records from counts."""
    shares = np.maximum(counts.ravel(), 0) + 1e-9
    drawn = rng.choice(shares.size, number, p=shares / shares.sum())
    places = np.unravel_index(drawn, SHAPE)
    return pa.table({
        name: np.array(DOMAIN[name])[place] for name, place in zip(DOMAIN, places, strict=True)
    })  # fmt: skip


def snapped(noise: Counts) -> Counts:
    """Round noise to a grid: what is added to whole numbers then has no digits that tell them."""
    return np.round(noise * 1024) / 1024


def laplace(rng: Generator, scale: float, shape: tuple[int, ...] | int) -> Counts:
    """Draw Laplace noise on a grid."""
    return snapped(rng.laplace(0, scale, shape))


def noisy(frame: pa.Table, rng: Generator, scale: float = 1.0, times: float = 1.0) -> pa.Table:
    """Add Laplace noise to every count; a person counts so many times."""
    return published(times * counts_of(frame) + laplace(rng, scale, SHAPE))


def marginals(frame: pa.Table, rng: Generator, scale: float) -> pa.Table:
    """Publish a table of each quasi-identifier with the sensitive value, others as ``*``."""
    counts, parts = counts_of(frame), []
    for axis, name in enumerate(("sex", "region", "job")):
        others = tuple(other for other in range(3) if other != axis)
        table = counts.sum(axis=others) + laplace(rng, scale, (SIZES[name], 4))
        first, second = np.indices(table.shape).reshape(2, -1)
        part = {other: np.full(table.size, "*") for other in ("sex", "region", "job")}
        part |= {name: np.array(DOMAIN[name])[first], "ill": np.array(DOMAIN["ill"])[second]}
        parts.append(pa.table({**part, "weight": np.maximum(table.ravel(), 0)}))
    return pa.concat_tables(parts)


_drawn: dict[str, Any] = {}


def reused_noise(frame: pa.Table, rng: Generator) -> pa.Table:
    """Draw the noise once, and add it to whatever comes."""
    noise = _drawn.setdefault("noise", laplace(rng, 10, SHAPE))
    return published(counts_of(frame) + noise)


def seeded_by_data(frame: pa.Table, rng: Generator) -> pa.Table:
    """Take the seed of the noise from the data."""
    counts = counts_of(frame)
    seed = int(np.abs(counts * np.arange(counts.size).reshape(SHAPE)).sum())
    return published(counts + laplace(np.random.default_rng(seed), 2, SHAPE))


def empty_stay_empty(frame: pa.Table, rng: Generator) -> pa.Table:
    """Add noise only where somebody is."""
    counts = counts_of(frame)
    return published(np.where(counts > 0, counts + laplace(rng, 0.5, SHAPE), 0))


def suppressed_by_truth(frame: pa.Table, rng: Generator) -> pa.Table:
    """Leave out the cells whose true count is below 5."""
    counts = counts_of(frame)
    return published(counts + laplace(rng, 1, SHAPE), counts >= 5)


def rounded_before(frame: pa.Table, rng: Generator) -> pa.Table:
    """Round counts to fives, then add noise for a change by 1."""
    return published(5 * np.round(counts_of(frame) / 5) + laplace(rng, 1, SHAPE))


def porous(frame: pa.Table, rng: Generator) -> pa.Table:
    """Draw Laplace noise by the inverse of its distribution, in floating point (Mironov 2012)."""
    noise = np.log(rng.random(SHAPE)) * np.where(rng.random(SHAPE) < 0.5, 1.0, -1.0)
    return published(counts_of(frame) + noise)


def exact_total(frame: pa.Table, rng: Generator) -> pa.Table:
    """Draw exactly as many synthetic records as there are people."""
    return rows_of(counts_of(frame) + laplace(rng, 10, SHAPE), frame.num_rows, rng)


def copies_one(frame: pa.Table, rng: Generator) -> pa.Table:
    """Draw 1,000 records from noisy counts; one of them is a person's who is like nobody else."""
    counts = counts_of(frame)
    alone = np.flatnonzero(counts.ravel() == 1)
    own = np.zeros(counts.size)
    own[alone[len(alone) // 2]] = 1
    drawn = rows_of(counts + laplace(rng, 0.25, SHAPE), 999, rng)
    copied = rows_of(1e12 * own.reshape(SHAPE), 1, rng)
    return pa.concat_tables([drawn, copied])


def truncated(frame: pa.Table, rng: Generator) -> pa.Table:
    """Cut the noise off at twice its scale."""
    noise = laplace(rng, 1, SHAPE)
    while (far := np.abs(noise) > 2).any():
        noise[far] = laplace(rng, 1, int(far.sum()))
    return published(counts_of(frame) + noise)


def uniform(frame: pa.Table, rng: Generator) -> pa.Table:
    """Add uniform noise between −1/ε and 1/ε."""
    return published(counts_of(frame) + snapped(rng.uniform(-1, 1, SHAPE)))


def scaled_by_count(frame: pa.Table, rng: Generator) -> pa.Table:
    """Add noise in proportion to the count, so that small counts have hardly any."""
    counts = counts_of(frame)
    return published(counts + laplace(rng, 1, SHAPE) * counts / 5)


def known_values(frame: pa.Table, rng: Generator) -> pa.Table:
    """Publish only the jobs that somebody has."""
    counts = counts_of(frame)
    there = np.broadcast_to((counts.sum(axis=(0, 1, 3)) > 0)[None, None, :, None], SHAPE)
    return published(counts + laplace(rng, 2, SHAPE), there)


def tenth_as_it_is(frame: pa.Table, rng: Generator) -> pa.Table:
    """Publish a random tenth of the records without noise."""
    return frame.filter(pa.array(rng.random(frame.num_rows) < 0.1))


def bootstrap(frame: pa.Table, rng: Generator) -> pa.Table:
    """Call 1,000 records drawn with replacement a synthetic table."""
    return frame.take(pa.array(rng.integers(frame.num_rows, size=1000)))


def shared_noise(frame: pa.Table, rng: Generator) -> pa.Table:
    """Add one and the same noise to all counts."""
    return published(counts_of(frame) + 20 + laplace(rng, 1, ()))


def few_seeds(frame: pa.Table, rng: Generator) -> pa.Table:
    """Seed the noise by one of sixteen numbers."""
    seeded = np.random.default_rng(int(rng.integers(16)))
    return published(counts_of(frame) + laplace(seeded, 1, SHAPE))


def one_sided(frame: pa.Table, rng: Generator) -> pa.Table:
    """Make all noise positive, so that no count is negative."""
    return published(counts_of(frame) + np.abs(laplace(rng, 1, SHAPE)))


def geometric(frame: pa.Table, rng: Generator, epsilon: float = 1.0) -> pa.Table:
    """Add two-sided geometric noise."""
    stop = 1 - np.exp(-epsilon)
    noise = rng.geometric(stop, SHAPE) - rng.geometric(stop, SHAPE)
    return published(counts_of(frame) + noise)


def gaussian(frame: pa.Table, rng: Generator, sigma: float = 1.0) -> pa.Table:
    """Add normal noise."""
    return published(counts_of(frame) + snapped(rng.normal(0, sigma, SHAPE)))


@dataclass(frozen=True)
class Claimed:
    """A mechanism with what it claims."""

    name: str
    function: Function
    epsilon: float
    delta: float = 0.0


def named(function: Callable[..., Any], **settings: Any) -> Function:
    """Return a function with some of its parameters set."""
    made: Any = partial(function, **settings)
    made.__name__ = function.__name__
    return made


BROKEN = (
    Claimed("scale halved", named(noisy, scale=0.5), 1),
    Claimed("scale halved", named(noisy, scale=0.125), 4),
    Claimed("ε taken for the scale", named(noisy, scale=0.5), 0.5),
    Claimed("wrong sensitivity: a person counts three times", named(noisy, times=3.0), 1),
    Claimed("budget not split over three tables", named(marginals, scale=1.0), 1),
    Claimed("noise drawn once and reused", reused_noise, 0.1),
    Claimed("seed from the data", seeded_by_data, 0.5),
    Claimed("one of sixteen seeds", few_seeds, 1),
    Claimed("empty cells clamped to 0", empty_stay_empty, 2),
    Claimed("small counts suppressed by true counts", suppressed_by_truth, 1),
    Claimed("rounding before the noise", rounded_before, 1),
    Claimed("floating-point Laplace", porous, 1),
    Claimed("exact total", exact_total, 0.1),
    Claimed("generator that copies one record in 1,000", copies_one, 4),
    Claimed("noise cut off at its double scale", truncated, 1),
    Claimed("uniform noise", uniform, 1),
    Claimed("noise in proportion to the count", scaled_by_count, 1),
    Claimed("only values that occur", known_values, 0.5),
    Claimed("a tenth of the records as they are", tenth_as_it_is, 0.1),
    Claimed("the same noise on all counts", shared_noise, 1),
    Claimed("noise of one sign", one_sided, 1),
    Claimed("normal noise, too little of it", named(gaussian, sigma=0.5), 1, 1e-5),
    Claimed("geometric noise of 2ε", named(geometric, epsilon=4.0), 2),
    Claimed("records drawn with replacement", bootstrap, 2),
)

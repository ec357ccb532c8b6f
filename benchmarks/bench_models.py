"""The differential test with a decision tree against sanitizing anew for every target.

python benchmarks/bench_models.py                 1,000 targets; a minute or two
python benchmarks/bench_models.py --targets 200   fewer

Needs ``INDIFF_DATA``, the folder with Adult and ``hierarchies/adult``. Everything runs on one
thread, and both sides of a ratio are processor time of the same run. The rival in numpy is timed
on some of the targets and extrapolated. Ends with 1 if a claim falls short.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(  # before the libraries load, which read it then
    {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
)

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import indiff
from rival_mondrian import NumpyBruteForce, Partition

K = 5
LEAST_AGAINST_REFIT = 3
LEAST_AGAINST_NUMPY = 10
NUMPY_TARGETS = 8
TOLERANCE = 1e-9


class NumpyTree(NumpyBruteForce):
    """Mondrian in numpy and scikit-learn's tree on the materialised TF encoding."""

    def belief(self, partition: Partition, target: int) -> NDArray[np.float64]:
        """Fit the tree on all released records and ask it about the target."""
        wanted = self.codes[:, target]
        covers = (partition.low <= wanted[:, None]) & (wanted[:, None] <= partition.high)
        group = np.repeat(np.arange(len(partition.sizes)), partition.sizes)
        for a in self.sets:
            covers[a] = False
            covers[a, group[partition.codes[a] == wanted[a]]] = True
        features = covers[:, group].T.astype(np.float64)
        model = DecisionTreeClassifier(random_state=0)
        model.fit(features, self.classes[partition.order])
        belief = np.zeros(self.class_count)
        belief[model.classes_] = model.predict_proba(np.ones((1, len(wanted))))[0]
        return belief


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a call, and what it returned."""
    start = time.process_time()
    returned = call()
    return time.process_time() - start, returned


def adult(records: int | None, *, hierarchies: bool) -> indiff.Table:
    folder = Path(os.environ["INDIFF_DATA"]) / "hierarchies" / "adult"
    names = ("education", "marital-status", "native-country")
    trees = {name: folder / f"{name.replace('-', '_')}.csv" for name in names}
    return indiff.datasets.adult(records, hierarchies=trees if hierarchies else None)


def compare(name: str, table: indiff.Table, count: int) -> bool:
    """Measure one table; return whether what is promised holds."""
    sanitizer = indiff.Mondrian(k=K)
    targets = table.records[np.random.default_rng(0).choice(len(table), count, replace=False)]

    def test(method: Any, some: Any) -> indiff.DifferentialResult:
        result: indiff.DifferentialResult = indiff.differential_test(
            table, sanitizer, model="tree", targets=some, method=method, jobs=1
        )
        return result

    for method in ("auto", "refit"):  # imports and compiled code
        test(method, targets[:3])
    ours, result = timed(lambda: test("auto", targets))
    refit, slow = timed(lambda: test("refit", targets))
    if not np.allclose(result.distances, slow.distances, rtol=0, atol=TOLERANCE):
        sys.exit(f"{name}: the two methods do not agree")
    rival = NumpyTree(table, K)
    rows = np.searchsorted(table.records, result.records[:NUMPY_TARGETS]).tolist()
    seconds, distances = timed(lambda: [rival.distance(row) for row in rows])
    if not np.allclose(distances, result.distances[: len(rows)], rtol=0, atol=TOLERANCE):
        sys.exit(f"{name}: the rival in numpy does not agree")
    numpy_seconds = seconds / len(rows) * count
    print(
        f"Adult, {len(table):,} records, {name}, {count:,} targets, decision tree, k = {K}, "
        f"delta {result.delta:.4f}\n"
        f"  ours ({result.method}) {ours:.2f} s, refit with the compiled Mondrian {refit:.2f} s, "
        f"numpy Mondrian {numpy_seconds:.0f} s (extrapolated from {len(rows)} targets); distances "
        f"equal to {TOLERANCE:g}"
    )
    met = True
    for rival_name, taken, least in (
        ("refit with the compiled Mondrian", refit, LEAST_AGAINST_REFIT),
        ("numpy Mondrian and scikit-learn", numpy_seconds, LEAST_AGAINST_NUMPY),
    ):
        ratio = taken / ours
        met = met and ratio >= least
        print(
            f"  ≥ {least}× faster than {rival_name}: measured {ratio:.1f}×: "
            f"{'ok' if ratio >= least else 'FALLS SHORT'}",
            flush=True,
        )
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--targets", type=int, default=1_000, help="how many records are tested")
    parser.add_argument("--quick", action="store_true", help="only all of Adult, with hierarchies")
    options = parser.parse_args()
    if "INDIFF_DATA" not in os.environ:
        parser.error("set INDIFF_DATA to the folder with adult.data and hierarchies/adult")
    met = [
        compare(name, adult(records, hierarchies=name == "hierarchies"), options.targets)
        for records in (None, 10_000)
        for name in ("hierarchies", "ordered sets")
        if not options.quick or (records is None and name == "hierarchies")
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

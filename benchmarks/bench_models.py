"""The differential test with a decision tree against sanitizing anew, and the default against one.

python benchmarks/bench_models.py                 1,000 targets; a minute or two
python benchmarks/bench_models.py --targets 200   fewer
python benchmarks/bench_models.py --default       only all three models of the default beside one
python benchmarks/bench_models.py --default --full   the same, up to a million records

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
MOST_BESIDE_ONE = 2.5
CALLS = 9


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


def beside_one(name: str, table: indiff.Table, calls: int, *, promised: bool) -> bool:
    """Measure the three models of the default beside naive Bayes alone; tell whether it holds."""
    sanitizer = indiff.Mondrian(k=K)
    asked: tuple[Any, ...] = ("naive-bayes", ["naive-bayes", "frequency", "tree"])
    best = [float("inf")] * 2
    for call in range(calls + 1):
        for place, model in enumerate(asked):
            seconds, _ = timed(
                lambda model=model: indiff.differential_test(table, sanitizer, model=model, jobs=1)
            )
            best[place] = min(best[place], seconds) if call else best[place]  # the first is warm-up
    ratio = best[1] / best[0]
    told = "not promised"
    if promised:
        told = "ok" if ratio <= MOST_BESIDE_ONE else "FALLS SHORT"
    print(
        f"{name}, {len(table):,} records, all of them: naive Bayes {best[0] * 1e3:.1f} ms, with "
        f"frequency and tree {best[1] * 1e3:.1f} ms (best of {calls}); "
        f"at most {MOST_BESIDE_ONE}×: measured {ratio:.2f}×: {told}",
        flush=True,
    )
    return ratio <= MOST_BESIDE_ONE or not promised


def default(*, full: bool) -> list[bool]:
    """Measure the default on Adult, on a million of its records, and where many values differ."""
    from bench_leave_one_out import ADULT_SENSITIVE, bootstrapped_adult, drawn_adult

    met = [
        beside_one(f"Adult, {name}", adult(10_000, hierarchies=name == "hierarchies"), CALLS,
                   promised=True)
        for name in ("hierarchies", "ordered sets")
    ]  # fmt: skip
    for records in (10_000, 100_000) if full else (10_000,):
        table = bootstrapped_adult(records)
        calls = CALLS if records < 50_000 else 2
        met.append(beside_one("Adult, every age and weight apart", table, calls, promised=False))
    if full:
        frame = drawn_adult(1_000_000, np.random.default_rng(0))
        table = indiff.read_table(frame, quasi=frame.column_names[:-1], sensitive=ADULT_SENSITIVE)
        met.append(beside_one("Adult, drawn with replacement", table, 2, promised=True))
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--targets", type=int, default=1_000, help="how many records are tested")
    parser.add_argument("--quick", action="store_true", help="only all of Adult, with hierarchies")
    parser.add_argument("--default", action="store_true", help="only the default beside one model")
    parser.add_argument("--full", action="store_true", help="the default also of a million records")
    options = parser.parse_args()
    if "INDIFF_DATA" not in os.environ:
        parser.error("set INDIFF_DATA to the folder with adult.data and hierarchies/adult")
    met = default(full=options.full)
    if options.default:
        return 0 if all(met) else 1
    met += [
        compare(name, adult(records, hierarchies=name == "hierarchies"), options.targets)
        for records in (None, 10_000)
        for name in ("hierarchies", "ordered sets")
        if not options.quick or (records is None and name == "hierarchies")
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())

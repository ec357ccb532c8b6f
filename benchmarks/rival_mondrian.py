"""Three rivals of the exact leave-one-out test: all partition D⁻ⁱ anew for every target.

``NumpyBruteForce`` is what a careful data scientist writes: Mondrian by the rules of
``indiff.Mondrian``, vectorised with numpy, and scikit-learn's ``BernoulliNB`` fitted on the
materialised TF encoding. It shares no code with indiff, only the integer codes of the table.

``TextbookNumpy`` is the same without the tuning.

``CompiledBruteForce`` is indiff's own compiled partition, run once per target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB

from indiff import Mondrian, NaiveBayes, Table
from indiff.data.hierarchy import Hierarchy
from indiff.data.schema import Kind
from indiff.differential.mondrian.counts import cover_one
from indiff.kernels import kernel
from indiff.sanitizers.mondrian.layout import END, START, Tree, relative_to, total_extremes
from indiff.sanitizers.mondrian.mondrian import grow_parts, missing_parts

Ints = NDArray[np.int32]


class Numbers:
    """How a number or an ordered set is cut: at the median, into two."""

    def __init__(self, points: NDArray[np.float64]) -> None:
        self.points = points.tolist()

    def measure(self, low: int, high: int) -> None:
        """Remember the extent of the table being sanitized."""
        self.span = self.points[high] - self.points[low]

    def width(self, low: int, high: int) -> float:
        return (self.points[high] - self.points[low]) / self.span if self.span > 0 else 0.0

    def cut(self, codes: Ints, low: int, high: int, k: int) -> list[NDArray[np.bool_]] | None:
        size = len(codes)
        rank = max(1, size // 2) - 1
        left = codes <= np.partition(codes, rank)[rank]
        held = np.count_nonzero(left)
        if held < k or size - held < k:
            return None
        return [left, ~left]

    def widen(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        return low, high


class Places:
    """How a hierarchy is cut: into the children of the lowest node above all values."""

    def __init__(self, tree: Hierarchy) -> None:
        paths = [self._path(tree, int(node)) for node in tree.value_node]
        size = len(paths)
        deepest = max(map(len, paths))
        steps = np.array([path + [path[-1]] * (deepest - len(path)) for path in paths])
        self.first = np.zeros((size, size), np.int32)
        self.last = np.zeros((size, size), np.int32)
        depth = np.zeros((size, size), np.int32)
        for low in range(size):
            for high in range(low, size):
                shared = int((steps[low] == steps[high]).cumprod().sum()) - 1
                below = np.flatnonzero(steps[:, shared] == steps[low, shared])
                self.first[low, high], self.last[low, high] = below[0], below[-1]
                depth[low, high] = shared
        self.widths = ((self.last - self.first + 1) / size).tolist()
        self.depth = depth.tolist()
        # The child below a node of each depth, as small numbers that ascend with the values.
        self.child = [
            np.unique(steps[:, level], return_inverse=True)[1] for level in range(deepest)
        ]

    @staticmethod
    def _path(tree: Hierarchy, node: int) -> list[int]:
        path = [node]
        while tree.parent[path[0]] >= 0:
            path.insert(0, int(tree.parent[path[0]]))
        if tree.last[node] > tree.first[node]:  # a value that is an inner node as well
            path.append(-1 - node)
        return path

    def measure(self, low: int, high: int) -> None:
        """Widths are relative to the whole tree, whatever the table holds."""

    def width(self, low: int, high: int) -> float:
        return float(self.widths[low][high])

    def cut(self, codes: Ints, low: int, high: int, k: int) -> list[NDArray[np.bool_]] | None:
        parts = self.child[self.depth[low][high] + 1][codes]
        sizes = np.bincount(parts)
        present = np.flatnonzero(sizes)
        if sizes[present].min() < k:
            return None
        return [parts == part for part in present]

    def widen(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        return self.first[low, high], self.last[low, high]


@dataclass(frozen=True)
class Partition:
    """Groups one behind the other in ``order``, and the codes that each one's region covers."""

    order: NDArray[np.intp]
    codes: Ints
    sizes: NDArray[np.intp]
    low: Ints
    high: Ints

    def groups(self, size: int) -> NDArray[np.intp]:
        """Return each record's group, −1 for a record that is not there."""
        groups = np.full(size, -1)
        groups[self.order] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return groups


class NumpyBruteForce:
    """Re-sanitize and refit, one target at a time, with numpy and scikit-learn."""

    def __init__(self, table: Table, k: int) -> None:
        # scikit-learn's checks of its input would only slow the rival down.
        sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
        attributes = table.attributes
        self.k = k
        self.codes = np.stack([a.codes for a in attributes])
        self.classes = table.sensitive.codes.copy()
        self.class_count = len(table.sensitive.values)
        self.cutters: list[Numbers | Places] = [
            Places(a.hierarchy) if a.hierarchy is not None else Numbers(a.points)
            for a in attributes
        ]
        self.sets = [
            place
            for place, a in enumerate(attributes)
            if a.kind == Kind.CATEGORICAL and a.hierarchy is None
        ]
        self.rows = np.arange(len(table))
        self.whole = self.partition(self.rows)

    def partition(self, rows: NDArray[np.intp]) -> Partition:
        """Cut the records until no cut is allowed."""
        k, cutters = self.k, self.cutters
        places = range(len(cutters))
        codes = self.codes[:, rows]
        low, high = codes.min(axis=1).tolist(), codes.max(axis=1).tolist()
        for cutter, smallest, largest in zip(cutters, low, high, strict=True):
            cutter.measure(smallest, largest)
        stack = [(rows, codes)]
        final: list[tuple[NDArray[np.intp], Ints]] = []
        while stack:
            rows, codes = stack.pop()
            parts = None
            if len(rows) >= 2 * k:  # or no cut can leave two parts of k
                low, high = codes.min(axis=1).tolist(), codes.max(axis=1).tolist()
                widths = [cutters[a].width(low[a], high[a]) for a in places]
                for a in sorted(places, key=widths.__getitem__, reverse=True):
                    if low[a] < high[a]:
                        parts = cutters[a].cut(codes[a], low[a], high[a], k)
                        if parts is not None:
                            break
            if parts is None:
                final.append((rows, codes))
            else:
                stack += [(rows[part], codes[:, part]) for part in parts]
        sizes = np.array([len(rows) for rows, _ in final])
        codes = np.concatenate([codes for _, codes in final], axis=1)
        starts = np.cumsum(sizes) - sizes
        lows = np.minimum.reduceat(codes, starts, axis=1)
        highs = np.maximum.reduceat(codes, starts, axis=1)
        for a, cutter in enumerate(cutters):
            lows[a], highs[a] = cutter.widen(lows[a], highs[a])
        return Partition(np.concatenate([rows for rows, _ in final]), codes, sizes, lows, highs)

    def belief(self, partition: Partition, target: int) -> NDArray[np.float64]:
        """Fit naive Bayes on the TF encoding of a release and ask it about the target."""
        wanted = self.codes[:, target]
        covers = (partition.low <= wanted[:, None]) & (wanted[:, None] <= partition.high)
        group = np.repeat(np.arange(len(partition.sizes)), partition.sizes)
        for a in self.sets:  # the region of a set is its values, not all between them
            covers[a] = False
            covers[a, group[partition.codes[a] == wanted[a]]] = True
        features = covers[:, group].T.astype(np.float64)
        model = BernoulliNB(binarize=None).fit(features, self.classes[partition.order])
        belief = np.zeros(self.class_count)
        belief[model.classes_] = model.predict_proba(np.ones((1, len(wanted))))[0]
        return belief

    def without(self, target: int) -> Partition:
        """Partition D⁻ⁱ."""
        return self.partition(np.delete(self.rows, target))

    def distance(self, target: int) -> float:
        """Return the distance between the beliefs with and without the target's record."""
        believed = self.belief(self.whole, target)
        return float(np.abs(believed - self.belief(self.without(target), target)).sum())


class TextbookNumpy(NumpyBruteForce):
    """The same, written down plainly: one attribute at a time, sorted, masked; no tuning.

    This is how Mondrian is usually written with numpy, and scikit-learn as it is installed.
    """

    def partition(self, rows: NDArray[np.intp]) -> Partition:
        """Cut the records until no cut is allowed."""
        attributes = range(len(self.cutters))
        for a in attributes:
            codes = self.codes[a][rows]
            self.cutters[a].measure(int(codes.min()), int(codes.max()))
        stack, groups = [rows], []
        while stack:
            rows = stack.pop()
            columns = [self.codes[a][rows] for a in attributes]
            low = [int(np.min(column)) for column in columns]
            high = [int(np.max(column)) for column in columns]
            widths = [self.cutters[a].width(low[a], high[a]) for a in attributes]
            for a in sorted(attributes, key=lambda a: -widths[a]):
                parts = self._parts(a, columns[a], low[a], high[a])
                if len(parts) > 1 and min(np.sum(part) for part in parts) >= self.k:
                    stack.extend(rows[part] for part in parts)
                    break
            else:
                groups.append(rows)
        lows = np.stack([[self.codes[a][g].min() for g in groups] for a in attributes])
        highs = np.stack([[self.codes[a][g].max() for g in groups] for a in attributes])
        for a in attributes:
            lows[a], highs[a] = self.cutters[a].widen(lows[a], highs[a])
        order = np.concatenate(groups)
        sizes = np.array([len(group) for group in groups])
        return Partition(order, self.codes[:, order], sizes, lows, highs)

    def _parts(self, a: int, codes: Ints, low: int, high: int) -> list[NDArray[np.bool_]]:
        cutter = self.cutters[a]
        if low == high:
            return []
        if isinstance(cutter, Places):
            below = cutter.child[cutter.depth[low][high] + 1][codes]
            return [below == part for part in np.unique(below)]
        left = codes <= np.sort(codes)[max(1, len(codes) // 2) - 1]
        return [left, ~left] if not left.all() else []

    def belief(self, partition: Partition, target: int) -> NDArray[np.float64]:
        """Fit naive Bayes with scikit-learn's own checks."""
        with sklearn.config_context(assume_finite=False, skip_parameter_validation=False):
            return super().belief(partition, target)


@kernel
def cover(problem: Any, tree: Any, target: Any, counts: Any, nobody: Any) -> Any:
    """Count the records of a release whose regions cover a target's values."""
    cover_one(problem, tree, tree.leaves, np.int64(1), target, counts, nobody)


class CompiledBruteForce:
    """Partition D⁻ⁱ with indiff's compiled code and count for the one target."""

    def __init__(self, table: Table, k: int, believed: NDArray[np.float64]) -> None:
        sanitizer = Mondrian(k=k)
        self.table = table
        self.problem = sanitizer.problem(table)
        self.believed = believed  # with the record: one release for all targets
        self.rows = missing_parts(table)[0]
        self.totals = table.sensitive.counts.astype(np.float64)
        self.ranked = [np.sort(a.codes) for a in table.attributes]

    def without(self, target: int) -> Tree:
        """Partition D⁻ⁱ."""
        low, high = total_extremes(self.table)
        for a, ranked in enumerate(self.ranked):
            code = self.problem.codes[a, target]
            low[a] = ranked[1] if code == ranked[0] else ranked[0]
            high[a] = ranked[-2] if code == ranked[-1] else ranked[-1]
        problem = relative_to(self.problem, low, high)
        return grow_parts(self.table, problem, [np.delete(self.rows, target)])

    def distance(self, target: int) -> float:
        """Return the distance between the beliefs with and without the target's record."""
        tree = self.without(target)
        counts = np.zeros((len(self.table.attributes), len(self.totals)), np.int64)
        nobody = np.zeros_like(self.totals)
        cover(self.problem, tree, target, counts, nobody)
        totals = self.totals.copy()
        totals[self.problem.classes[target]] -= 1
        belief = NaiveBayes().from_counts(totals, counts[None].astype(np.float64))[0]
        return float(np.abs(self.believed[target] - belief).sum())

    def groups(self, tree: Tree) -> NDArray[np.intp]:
        """Return each record's group, −1 for a record that is not there."""
        sizes = tree.nodes[tree.leaves, END] - tree.nodes[tree.leaves, START]
        groups = np.full(len(self.table), -1)
        groups[tree.order] = np.repeat(np.arange(len(sizes)), sizes)
        return groups


def same_groups(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Tell whether two numberings put the same records together."""
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    return pairs == len(np.unique(one)) == len(np.unique(other))

"""Three sanitizers that indiff does not know: each a function from frame to frame.

A global recoding and a microaggregation, written here from their textbook descriptions, and
ANJANA, whose releases of a table and of the table without each record are made in one process of
its own environment (``.rivals``) and handed out afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
ANJANA_PYTHON = ROOT / ".rivals" / "bin" / "python"

Levels = dict[str, list[list[Any]]]
Box = Callable[[pd.DataFrame], pd.DataFrame]


def levels_of_numbers(values: Iterable[int], widths: Sequence[int]) -> list[list[Any]]:
    """Return a number's levels: itself, one interval for each width, and ``*``."""
    numbers = sorted({int(value) for value in values})
    steps: list[list[Any]] = [numbers]
    for width in widths:
        lows = [number // width * width for number in numbers]
        steps.append([f"[{low}, {low + width - 1}]" for low in lows])
    return [*steps, ["*"] * len(numbers)]


def levels_of_lines(lines: Iterable[str]) -> list[list[Any]]:
    """Turn ``leaf;parent;…;*`` lines of any depth into equally deep levels."""
    cells = [[cell.strip() for cell in line.split(";")] for line in lines if line.strip()]
    paths = [[cell for cell in row if cell and cell != "*"] for row in cells]
    depth = max(map(len, paths)) + 1
    return [[path[level] if level < len(path) else "*" for path in paths] for level in range(depth)]


@dataclass(frozen=True)
class GlobalRecoding:
    """Recode every column to one level; suppress the records whose group is still too small.

    The levels rise in turn, column by column, until at most ``share`` of the records are in groups
    of fewer than ``k``; the quasi-identifiers of those become ``*``.
    """

    levels: Levels
    k: int = 5
    share: float = 0.1

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the recoded frame."""
        place = {
            name: pd.Index(steps[0]).get_indexer(pd.Index(frame[name]))
            for name, steps in self.levels.items()
        }
        for chosen in self._ladder():
            group = np.zeros(len(frame), np.int64)
            for name, level in chosen.items():
                codes = self._codes[name][level][place[name]]
                group = group * (int(codes.max()) + 1) + codes
            group = np.unique(group, return_inverse=True)[1]
            small = np.bincount(group)[group] < self.k
            if small.mean() <= self.share:
                break
        released = frame.copy()
        for name, level in chosen.items():
            cells = np.asarray(self.levels[name][level], dtype=object)[place[name]]
            released[name] = np.where(small, "*", cells.astype(str))
        return released

    @cached_property
    def _codes(self) -> dict[str, list[NDArray[np.intp]]]:
        return {
            name: [np.unique(np.asarray(step, dtype=str), return_inverse=True)[1] for step in steps]
            for name, steps in self.levels.items()
        }

    def _ladder(self) -> Iterable[dict[str, int]]:
        chosen = dict.fromkeys(self.levels, 0)
        yield chosen
        for _ in range(max(map(len, self.levels.values())) - 1):
            for name, steps in self.levels.items():
                if chosen[name] < len(steps) - 1:
                    chosen = {**chosen, name: chosen[name] + 1}
                    yield chosen


@dataclass(frozen=True)
class Microaggregation:
    """MDAV (Domingo-Ferrer and Torra 2005): groups of ``k`` near records, each shown as its centre.

    Numbers are standardised and text is 0/1; the centre is the median and the most frequent text.
    """

    numbers: Sequence[str]
    texts: Sequence[str]
    k: int = 5

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with every group's quasi-identifiers replaced by its centre."""
        columns = {name: frame[name].to_numpy(copy=True) for name in self.numbers}
        labels = {name: np.unique(frame[name], return_inverse=True) for name in self.texts}
        columns.update({name: codes.copy() for name, (_, codes) in labels.items()})
        points = np.stack([_standard(columns[name]) for name in self.numbers], axis=1)
        codes = np.stack([columns[name] for name in self.texts], axis=1)
        for members in self._groups(points, codes):
            for name in self.numbers:
                ordered = np.sort(columns[name][members])
                columns[name][members] = ordered[(len(ordered) - 1) // 2]
            for name in self.texts:
                columns[name][members] = np.bincount(columns[name][members]).argmax()
        released = frame.copy()
        for name, cells in columns.items():
            released[name] = labels[name][0][cells] if name in labels else cells
        return released

    def _groups(
        self, points: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> Iterable[NDArray[np.intp]]:
        """Take the record farthest from the mean and its nearest, then those opposite to it."""
        left = np.arange(len(points))
        while len(left) >= 2 * self.k:
            apart = _from_mean(points, codes)
            for _ in range(2 if len(left) >= 3 * self.k else 1):
                start = apart.argmax()
                apart = ((points - points[start]) ** 2).sum(axis=1)
                apart += (codes != codes[start]).sum(axis=1)
                near = np.argsort(apart, kind="stable")[: self.k]
                yield left[near]
                kept = np.ones(len(left), bool)
                kept[near] = False
                left, points, codes, apart = left[kept], points[kept], codes[kept], apart[kept]
        if len(left):
            yield left


def _standard(column: NDArray[Any]) -> NDArray[np.float64]:
    numbers = column.astype(np.float64)
    return np.asarray((numbers - numbers.mean()) / (numbers.std() or 1.0))


def _from_mean(points: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return squared distances from the mean; text counts as 0/1 columns, times √½."""
    apart = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    for column in codes.T:
        shares = np.bincount(column) / len(column)
        apart += (1 - 2 * shares[column] + (shares**2).sum()) / 2
    return np.asarray(apart)


class Anjana:
    """ANJANA's k-anonymity: all releases are made in one process, before the first is asked for.

    The frame needs a column ``record`` that numbers the rows of the full table from 0; which one
    is missing says which release is asked for.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        levels: Levels,
        *,
        k: int = 5,
        suppression: float = 5,
        kept: Path | None = None,
    ) -> None:
        """Make f(D) and every f(D without a record), or read them from where they are kept."""
        self.size = len(frame)
        with tempfile.TemporaryDirectory(prefix="black-box-") as name:
            made = Path(name) / "releases.csv" if kept is None else kept
            if not made.exists():
                frame.to_csv(Path(name) / "table.csv", index=False)
                arguments = {"levels": levels, "k": k, "suppression": suppression}
                (Path(name) / "arguments.json").write_text(json.dumps(arguments), encoding="utf-8")
                self._make(Path(name))
                (Path(name) / "releases.csv").replace(made)
            releases = pd.read_csv(made, dtype=str, keep_default_na=False)
        self.groups = dict(list(releases.groupby("without")))

    @staticmethod
    def _make(folder: Path) -> None:
        done = subprocess.run(
            [str(ANJANA_PYTHON), str(ROOT / "benchmarks" / "anjana_releases.py"), str(folder)],
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the release of this frame."""
        absent = np.setdiff1d(np.arange(self.size), frame["record"].to_numpy())
        found = self.groups[str(absent[0]) if len(absent) else "-1"]
        return found.drop(columns="without").reset_index(drop=True)

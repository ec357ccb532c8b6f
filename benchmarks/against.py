"""This tree beside an earlier commit, each in an environment of its own: ``against.py COMMIT``.

python benchmarks/against.py HEAD~20
python benchmarks/against.py v0.2 --only demo --runs 5
python benchmarks/against.py HEAD~20 --fresh     installs both anew, as a user would

Both trees are built in a temporary folder: the earlier one as ``git archive`` has it, this one as
it lies here, each with a cache of its own for bytecode and kernels, so that neither finds what the
other compiled. Libraries are those of this Python; with ``--fresh`` each tree gets an environment
into which pip installs it, which takes minutes. Every piece of work is a process; the two take
turns, and what counts is the best of several runs: processor time, clock and peak memory, old, new
and old:new. The first run of each, in which kernels are compiled, stands on a line of its own. Ends
with 1 where this tree takes more than 1.1 times the processor time of the other. Needs INDIFF_DATA
for Adult.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_start import HERE, ROLES, write_adult

MOST = 1.1
START = "import indiff.cli as c; from indiff.cli.main import main; getattr(c, 'start', main)()"
AUDIT = ["audit", "demo/plan.toml", "--out", "demo/again"]


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    processor: float
    clock: float
    megabytes: float

    def best(self, other: Cost) -> Cost:
        """Return the smaller of each."""
        return Cost(
            min(self.processor, other.processor),
            min(self.clock, other.clock),
            min(self.megabytes, other.megabytes),
        )


@dataclass(frozen=True)
class Tree:
    """A version of indiff, where it lies and what runs it."""

    name: str
    source: Path
    python: str
    place: Path

    def run(self, words: list[str], *, isolated: bool) -> Cost:
        """Run one command line in this tree's own folder."""
        where = dict(os.environ)
        where.pop("PYTHONDONTWRITEBYTECODE", None)
        where["XDG_CACHE_HOME"] = str(self.place / "cache")
        where["PYTHONPYCACHEPREFIX"] = str(self.place / "bytecode")
        where["PYTHONPATH"] = "" if isolated else str(self.source / "src")
        start = time.perf_counter()
        process = subprocess.Popen(
            [self.python, "-c", START, *words], cwd=self.place, env=where,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stderr is not None
        told = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):
            sys.exit(f"{self.name}: indiff {' '.join(words)}\n{told.decode()}")
        clock = time.perf_counter() - start
        return Cost(used.ru_utime + used.ru_stime, clock, used.ru_maxrss / 1024)


def build(folder: Path, commit: str, *, fresh: bool) -> list[Tree]:
    """Lay both trees side by side: the one that ``commit`` names, and this one."""
    trees = []
    for name, tree in ((commit, commit), ("here", None)):
        place = folder / ("old" if tree else "new")
        place.mkdir()
        source = HERE
        if tree is not None:
            packed = subprocess.run(
                ["git", "-C", str(HERE), "archive", tree], check=True, capture_output=True
            )
            source = place / "source"
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                archive.extractall(source, filter="data")
        python = sys.executable
        if fresh:
            venv.create(place / "environment", with_pip=True)
            python = str(place / "environment" / "bin" / "python")
            pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
            limits = ["--constraint", str(HERE / "requirements" / "constraints.txt")]
            subprocess.run([*pip, *limits, str(source)], check=True)
        trees.append(Tree(name, source, python, place))
    return trees


def works(folder: Path) -> dict[str, list[str]]:
    """Return what is timed, by name: command lines."""
    made = {"version": ["--version"], "demo": ["demo", "--out", "demo"], "audit the demo": AUDIT}
    if "INDIFF_DATA" in os.environ:
        adult, part = write_adult(folder)
        bayes = ["--model", "naive-bayes"]
        made |= {
            "risk, 1 MB of text": ["risk", str(part), *ROLES],
            "test Adult": ["test", str(adult), *ROLES],
            "test Adult, naive Bayes": ["test", str(adult), *ROLES, *bayes],
            "reproduce itpr:table-4": ["reproduce", "itpr:table-4", "--out", "pages"],
        }
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="what is called so, and the demo it needs")
    parser.add_argument("--fresh", action="store_true", help="pip installs both trees")
    asked = parser.parse_args()
    slower = []
    with tempfile.TemporaryDirectory() as name:
        old, new = build(Path(name), asked.commit, fresh=asked.fresh)
        print(f"{'':32}{'processor s':>26} {'clock s':>24} {'peak MB':>16}")
        print(f"{'':32}" + f"{'old':>9}{'new':>9}{'':8}" * 2 + f"{'old':>8}{'new':>8}")
        for label, words in works(Path(name)).items():
            if asked.only not in label and label != "demo":
                continue
            first = [tree.run(words, isolated=asked.fresh) for tree in (old, new)]
            show(f"{label}, first run", *first)
            best = [tree.run(words, isolated=asked.fresh) for tree in (old, new)]
            for _ in range(asked.runs - 1):
                again = [tree.run(words, isolated=asked.fresh) for tree in (old, new)]
                best = [one.best(other) for one, other in zip(best, again, strict=True)]
            show(label, *best)
            if best[1].processor > MOST * best[0].processor:
                slower.append(label)
    print(f"SLOWER than {asked.commit}: {', '.join(slower)}" if slower else "nothing is slower")
    return int(bool(slower))


def show(label: str, old: Cost, new: Cost) -> None:
    """Print one line of the table."""
    processor = f"{old.processor:9.2f}{new.processor:9.2f} {old.processor / new.processor:5.2f}× "
    clock = f"{old.clock:9.2f}{new.clock:9.2f} {old.clock / new.clock:5.2f}× "
    print(f"{label:<32}{processor}{clock}{old.megabytes:8.0f}{new.megabytes:8.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

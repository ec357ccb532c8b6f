"""Kernels as plain Python: the same bits as compiled, and no cache."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import numba
import numpy as np
import pytest
from numba.core.compiler import Flags
from numba.core.ir import Scope
from numba.core.targetconfig import TargetConfig

from indiff import Frequency, Mondrian, NaiveBayes
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.kernels import _Quickly, _values, inner, kernel
from tests.properties.random_tables import KINDS, make_sample

ROOT = Path(__file__).parents[1]
TABLES = 60
MODELS = (Frequency(), NaiveBayes(), NaiveBayes(alpha=1e-100), NaiveBayes(prior="uniform"))


def walk_small_tables() -> list[bytes]:
    """Return the beliefs about every record of random tables, and their releases, as bytes."""
    outcomes = []
    for seed in range(TABLES):
        dice = random.Random(seed)
        kinds = [dice.choice(KINDS) for _ in range(dice.randrange(1, 5))]
        ordered, gaps = dice.random() < 0.5, dice.random() < 0.3
        table = make_sample(
            seed, dice.randrange(2, 40), kinds, 5, ordered_sensitive=ordered, gaps=gaps
        ).table
        sanitizer = Mondrian(
            k=dice.choice([1, 2, 3, 5, 2**62]),  # twice the last is more than 64 bits hold
            l=dice.choice([None, 2]),
            distinct_l=dice.choice([None, None, 2]),
            entropy_l=dice.choice([None, None, 1.5]),
            recursive=dice.choice([None, None, (2.0, 2)]),
            t=dice.choice([None, None, 0.3]),
            regions=dice.choice(["tight", "cut"]),
            unmet="generalize",
        )
        found = leave_one_out(table, sanitizer, dice.choice(MODELS), np.arange(len(table)))
        arrays = found.with_record, found.without, found.uncovered, found.uncovered_without
        release = str(sanitizer.sanitize(table).to_arrow().to_pydict())
        outcomes.append(b"".join(array.tobytes() for array in arrays) + release.encode())
    return outcomes


def test_the_walk_uncompiled_gives_the_same_bits_and_writes_no_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    settings = {"NUMBA_DISABLE_JIT": "1", "XDG_CACHE_HOME": str(cache)}
    uncompiled = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.test_kernels"],
        env={**os.environ, **settings},
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert uncompiled.returncode == 0, uncompiled.stderr
    assert uncompiled.stdout.splitlines() == [one.hex() for one in walk_small_tables()]
    assert not list(cache.iterdir())


def test_another_installation_or_another_source_has_kernels_of_its_own(tmp_path: Path) -> None:
    from indiff.kernels import _fingerprint

    found: list[str] = []
    for place, text in (("here", "@kernel\n"), ("there", "@kernel\n"), ("here", "@kernel\n\n")):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "walk.py").write_text(text)
        (tmp_path / place / "other.py").write_text(f"{len(found)} has no kernel")
        found.append(_fingerprint(tmp_path / place))
    assert len(set(found)) == 3
    (tmp_path / "here" / "other.py").write_text("something else")
    assert _fingerprint(tmp_path / "here") == found[-1]


KEPT = """
import sys
from indiff.kernels import kernel

@kernel
def doubled(x):
    return 2 * x

@kernel
def quadrupled(x):
    return doubled(doubled(x))

assert doubled(21) == 42
print(sum(doubled.stats.cache_hits.values()), "numba.np.linalg" in sys.modules)
if sys.argv[1:]:
    assert quadrupled(21) == 84
    print(sum(quadrupled.stats.cache_hits.values()))
"""


def test_a_kept_kernel_is_loaded_without_a_compiler_and_can_be_called_by_a_new_one(
    tmp_path: Path,
) -> None:
    place, said = tmp_path / "kept.py", []
    place.write_text(KEPT)
    for asked in ([], [], ["both"], ["both"]):
        run = subprocess.run(
            [sys.executable, str(place), *asked],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True,
            check=False,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        said.append(run.stdout.split())
    # Compiled; loaded; loaded, and linked into its caller, which is compiled; both loaded.
    assert said == [["0", "True"], ["1", "False"], ["1", "False", "0"], ["1", "False", "1"]]


def test_nothing_is_left_to_compile_where_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from indiff import kernels

    monkeypatch.setattr(kernels, "_KERNELS", tmp_path / "kernels")
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    assert not kernels.is_warm()
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert kernels.is_warm()
    kernels.mark_warm()
    assert not (tmp_path / "kernels").exists()
    monkeypatch.setattr("numba.config.DISABLE_JIT", 0)
    kernels.mark_warm()
    assert kernels.is_warm()


if __name__ == "__main__":
    from indiff.differential.mondrian.walk import walk
    from indiff.kernels import is_warm, mark_warm

    assert isinstance(walk, FunctionType)  # what a debugger can stop in
    assert is_warm()
    mark_warm()
    for one in walk_small_tables():
        print(one.hex())


def test_numba_is_as_it_was_once_the_outermost_kernel_is_compiled() -> None:
    before, looks, values = gc.get_threshold(), _Quickly(), TargetConfig.values
    for compiling in (1, 2, 1, 0):
        (looks.on_start if compiling > looks._compiling else looks.on_end)(None)
        assert (gc.get_threshold() == before) is (compiling == 0)
        assert (TargetConfig.values is values) is (compiling == 0)
        assert ("__deepcopy__" in vars(Scope)) is (compiling > 0)


def test_options_of_numba_are_the_same_in_less_time() -> None:
    options = Flags()
    options.nrt = True
    assert _values(options) == options.values()
    assert len(_values(options)) > 10


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_function_is_compiled_once_for_all_whole_numbers_and_has_no_code_of_its_own() -> None:
    @inner
    def double(number):  # type: ignore[no-untyped-def]
        return 2 * number

    @kernel
    def double_both(number):  # type: ignore[no-untyped-def]
        return double(0) + double(number)

    assert double_both(21) == 42
    (compiled,) = double.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0

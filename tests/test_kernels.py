"""Kernels as plain Python: the same bits as compiled, and no cache."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.compiler import Flags
from numba.core.ir import Scope
from numba.core.runtime import _nrt_python, rtsys
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import TargetConfig

from indiff import Frequency, Mondrian, NaiveBayes
from indiff.compiler import Quickly, _Kept, _values
from indiff.differential.mondrian.leave_one_out import leave_one_out
from indiff.kernels import borrow, inline, inner, kernel
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


def run_kept(place: Path, *asked: str) -> list[str]:
    run = subprocess.run(
        [sys.executable, str(place), *asked],
        env={**os.environ, "XDG_CACHE_HOME": str(place.parent / "cache")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_a_kept_kernel_is_loaded_without_a_compiler_and_can_be_called_by_a_new_one(
    tmp_path: Path,
) -> None:
    place = tmp_path / "kept.py"
    place.write_text(KEPT)
    assert run_kept(place) == ["0", "True"]  # compiled
    assert run_kept(place) == ["1", "False"]
    assert run_kept(place, "both") == ["1", "False", "0"]  # loaded, and its caller compiled
    assert run_kept(place, "both") == ["1", "False", "1"]


def test_a_kept_kernel_brings_along_what_it_calls_also_where_that_is_kept_no_more(
    tmp_path: Path,
) -> None:
    place = tmp_path / "kept.py"
    place.write_text(KEPT.replace("assert doubled(21) == 42\n", ""))
    assert run_kept(place, "both") == ["0", "False", "0"]
    assert run_kept(place, "both") == ["0", "False", "1"]
    for kept in tmp_path.rglob("kept.doubled-*"):
        kept.unlink()
    assert run_kept(place, "both") == ["0", "False", "1"]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_kept_kernel_is_compiled_again_where_what_it_calls_has_another_name() -> None:
    @kernel
    def double(number):  # type: ignore[no-untyped-def]
        return 2 * number

    assert double(21) == 42
    cache, (kept,) = _Kept(double.py_func), double.overloads.values()
    place = (double.py_func.__module__, double.py_func.__qualname__, kept.signature.args)
    for callee in (("another", *place), (kept.fndesc.mangled_name, "sys", *place[1:])):
        payload: Any = (("caller", "object", (b"", [], [callee])),)
        assert cache.rebuild(kept.target_context, payload) is None


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
    before, looks, values = gc.get_threshold(), Quickly(), TargetConfig.values
    counters = NRTContext.get_meminfos
    for compiling in (1, 2, 1, 0):
        (looks.on_start if compiling > looks._compiling else looks.on_end)(None)
        assert (gc.get_threshold() == before) is (compiling == 0)
        assert (TargetConfig.values is values) is (compiling == 0)
        assert ("__deepcopy__" in vars(Scope)) is (compiling > 0)
        assert (NRTContext.get_meminfos is counters) is (compiling == 0)


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


class Pair(NamedTuple):
    """Two arrays, and a tuple of them."""

    one: Any
    two: Any
    both: Any


def test_parts_of_arguments_are_found_by_any_name_and_outlive_the_call() -> None:
    @inline
    def sum_of(pair):  # type: ignore[no-untyped-def]
        pair, total = borrow(pair), 0
        for place in range(pair.both[-1].shape[0]):
            total += pair.both[0][place] + pair.two[place]
        return total

    @kernel
    def mix(pair, which, more):  # type: ignore[no-untyped-def]
        one, two, three, pair = borrow(pair.one), pair.two, more, borrow(pair)
        if which > 0:
            two = more
        fresh = one[1:].copy()
        for place in range(fresh.shape[0]):
            fresh[place] += sum_of(pair)
        return Pair(three, two, (fresh, three[1:]))

    arrays = [np.arange(4) + 10 * place for place in range(3)]
    held = [sys.getrefcount(array) for array in arrays]
    pair = Pair(arrays[0], arrays[1], (arrays[0], arrays[1]))
    for which, second in ((0, arrays[1]), (1, arrays[2])):
        mixed = mix(pair, which, arrays[2])
        assert [mixed.one[0], *mixed.both[1]] == arrays[2].tolist()
        assert mixed.two.tolist() == second.tolist()
        assert mixed.both[0].tolist() == [place + 6 + 46 for place in (1, 2, 3)]
        del mixed
    del pair, second
    assert [sys.getrefcount(array) for array in arrays] == held


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_what_a_kernel_makes_is_let_go_of() -> None:
    @kernel
    def make(pair, size):  # type: ignore[no-untyped-def]
        first, again = np.ones(size), pair
        for _ in range(size):
            own = Pair(again.one, first, (first, again.two))
            first = own.both[0] + own.one[0]
            again = Pair(own.two, again.two, (own.one, again.two))
        return again.one[0] + first[0]

    make(Pair(np.ones(1), np.ones(1), (np.ones(1), np.ones(1))), 3)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    assert make(Pair(np.ones(1), np.ones(1), (np.ones(1), np.ones(1))), 50) > 50
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free

"""Compiles functions with numba, keeps the machine code on disk, and runs it in threads.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled: every kernel is the plain Python function that it
is written as, for a debugger and for coverage, and gives the same bits.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.event import register
from numpy.typing import NDArray

from indiff.compiler import (
    KernelCache,
    KernelCompiler,
    PartCompiler,
    Quickly,
    compiled_borrow,
    kernels,
)
from indiff.systems import user

_PACKAGE = Path(__file__).parent


def cache_directory() -> Path:
    """Return the folder below which indiff keeps what it can always make again."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "indiff"
    home = os.path.expanduser("~")
    return _cache_of_nobody() if home == "~" else Path(home) / ".cache" / "indiff"


@cache
def _cache_of_nobody() -> Path:
    """Return a folder for a user without a home: kept, unless somebody else could write to it."""
    place = Path(tempfile.gettempdir()) / f"indiff-{user()}"
    with suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == user() and not found.st_mode & 0o22:
            return place
    return Path(tempfile.mkdtemp(prefix="indiff-"))


def _fingerprint(package: Path = _PACKAGE) -> str:
    """Hash the sources: numba does not notice that a kernel called from another file changed.

    And the place where they are, by which numba finds what it compiled: another installation has
    kernels of its own to compile, and is not warm because this one is.
    """
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {package}".encode())
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if any(mark in text for mark in (b"@kernel", b"@inner", b"@inline")):
            digest.update(text)
    return digest.hexdigest()[:16]


_KERNELS = cache_directory() / f"kernels-{_fingerprint()}"
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(_KERNELS)

_numba_options = {"nopython": True, "nogil": True, "error_model": "numpy"}


if not numba.config.DISABLE_JIT:
    register("numba:compile", Quickly())


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` on first use; the machine code is kept in the user's cache directory.

    A cache that cannot be written is not an error: the kernel is then compiled in each process.
    Fast-math stays off: the exact paths compare floating-point numbers for equality. Uncompiled,
    whole numbers wrap around and numbers are divided by 0 without a warning, as in compiled code.

    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)
    options = {**_numba_options, "no_cfunc_wrapper": True}
    compiled = _of_one_type(numba.jit(pipeline_class=KernelCompiler, **options)(function))
    with suppress(RuntimeError):  # numba's way of saying that no cache folder is writable
        compiled._cache = KernelCache(function)
    kernels[function.__module__, function.__qualname__] = compiled
    return compiled


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that kernels call, and Python never does: without a way in from there.

    Taking named tuples of arrays apart, which that way in does, is most of what a function costs
    to compile. The kernels hold its machine code, and it has none of its own: a large one that
    two processes compile kernels with is better a :func:`kernel`, which is kept on disk.
    """
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)
    options = {**_numba_options, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return _of_one_type(numba.jit(pipeline_class=PartCompiler, **options)(function))


def _of_one_type(compiled: Any) -> Any:
    """Let kernels call a function with a number as with any other: numba compiles it for each 0."""
    call = compiled.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        return call(tuple(map(numba.types.unliteral, arguments)), keywords)

    compiled.get_call_template = get_call_template
    return compiled


def inline(function: Callable[..., Any]) -> Any:
    """Copy a function into whatever calls it: for one that is called in one place, or is tiny.

    It is typed and optimized there and nowhere else, and its arguments, of which a problem has
    ninety words, need not be handed over.
    """
    if numba.config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)
    return numba.jit(inline="always", **_numba_options)(function)


def borrow(value: Any) -> Any:
    """Return an array, or a tuple with arrays, that is not counted as a reference.

    Only for a function's own arguments, and never for one of an :func:`inline` function that its
    caller does not use afterwards: numba lets go of a variable after its last use. numba counts
    references with atomic operations whenever an array is sliced or handed on, which took half the
    time of kernels that run on ten records at a time. The caller holds a real reference until the
    call returns, so the borrowed one cannot outlive it, as long as it is not returned or stored.
    Uncompiled it is the value itself.
    """
    return value


if not numba.config.DISABLE_JIT:
    borrow = compiled_borrow


def is_warm() -> bool:
    """Tell whether nothing of this very version is left to compile."""
    return bool(numba.config.DISABLE_JIT) or (_KERNELS / "complete").exists()


def mark_warm() -> None:
    """Note that every kernel of this version is compiled."""
    if numba.config.DISABLE_JIT:
        return
    try:
        _KERNELS.mkdir(parents=True, exist_ok=True)
        (_KERNELS / "complete").touch()
    except OSError:
        pass  # an unwritable cache costs time, not correctness


# Smaller tables are done before a second thread would have started.
WORTH_THREADS = 50_000
LOOK_EVERY = 0.2


@dataclass(frozen=True)
class Shared:
    """How compiled work is shared out: threads at most, and whom to tell how far it is."""

    jobs: int
    progress: Callable[[int, int], object] | None
    total: int

    def threads(self, size: int) -> int:
        """Return how many threads a table of this size is worth."""
        if size < WORTH_THREADS or self.jobs == 1:
            return 1
        return self.jobs if self.jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.jobs)

    def run(
        self,
        work: Callable[[Any], None],
        parts: Sequence[Any],
        ticker: NDArray[np.int64],
    ) -> None:
        """Call ``work`` on every part; ``ticker`` is (finished so far, please stop).

        An interruption lets every thread stop at its next look at the ticker; what is finished
        stays.
        """
        if len(parts) == 1 and self.total < WORTH_THREADS:
            work(parts[0])
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            futures = [pool.submit(work, part) for part in parts]
            try:
                while wait(futures, LOOK_EVERY, FIRST_EXCEPTION).not_done:
                    if self.progress is not None:
                        self.progress(int(ticker[0]), self.total)
                    if any(future.done() and future.exception() for future in futures):
                        ticker[1] = 1
            except KeyboardInterrupt:
                ticker[1] = 1
            for future in futures:
                future.result()


@inner
def first_at_least(values: Any, start: Any, end: Any, bound: Any) -> Any:
    """The first place in the sorted ``values[start:end]`` that is not below ``bound``."""
    while start < end:
        middle = (start + end) // 2
        if values[middle] < bound:
            start = middle + 1
        else:
            end = middle
    return start

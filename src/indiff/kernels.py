"""Compiles functions with numba, keeps the machine code on disk, and runs it in threads.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled: every kernel is the plain Python function that it
is written as, for a debugger and for coverage, and gives the same bits.
"""

from __future__ import annotations

import gc
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
from llvmlite.binding import parse_bitcode  # type: ignore[import-untyped]
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.event import Event, Listener, register
from numba.core.ir import Scope
from numba.core.runtime import rtsys
from numba.core.targetconfig import TargetConfig
from numba.extending import intrinsic
from numpy.typing import NDArray

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
        if b"@kernel" in text or b"@inner" in text or b"@inline" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


_KERNELS = cache_directory() / f"kernels-{_fingerprint()}"
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(_KERNELS)

_OBJECTS_BETWEEN_LOOKS = 100_000
_numba_options = {"nopython": True, "nogil": True, "error_model": "numpy"}


def _same_scope(scope: Any, copied: Any) -> Any:
    """Stand in for the copy of a function's names that numba makes for each block it inlines."""
    return scope


@cache
def _defaults(options: Any) -> dict[str, Any]:
    return {name: option.default for name, option in options.options.items()}


def _values(options: Any) -> dict[str, Any]:
    """Return numba's options without a call for each: it compares them thousands of times."""
    kind: Any = type(options)
    return {**_defaults(kind), **options._values}


class _Quickly(Listener):
    """Makes numba compile in less time, and the same; afterwards all is as a process had it.

    Python looks for garbage rarely: numba makes millions of objects and keeps most of them, and
    looking through them again and again took a quarter of the time. What numba copies and compares
    for nothing took another tenth. numba compiles one function at a time, whoever asks.
    """

    def __init__(self) -> None:
        self._compiling = 0
        self._before = gc.get_threshold()
        self._values = TargetConfig.values

    def on_start(self, event: Event) -> None:
        if self._compiling == 0:
            self._before = gc.get_threshold()
            gc.set_threshold(max(_OBJECTS_BETWEEN_LOOKS, self._before[0]), *self._before[1:])
            Scope.__deepcopy__, TargetConfig.values = _same_scope, _values
        self._compiling += 1

    def on_end(self, event: Event) -> None:
        self._compiling -= 1
        if self._compiling == 0:
            gc.set_threshold(*self._before)
            del Scope.__deepcopy__
            TargetConfig.values = self._values


class _Part(JITCodeLibrary):
    """Code that kernels take in: each optimizes it and makes machine code of it, nobody else."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Set nothing: only code that goes back to Python has an environment."""


class _OfParts(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = _Part(codegen, name)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


if not numba.config.DISABLE_JIT:
    register("numba:compile", _Quickly())


class _KeptCode(JITCodeLibrary):
    """Machine code from disk, whose bitcode waits until a kernel that calls it is compiled."""

    _bitcode: bytes
    _shared_module: Any

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, tuple[bytes, bytes]]) -> Any:
        name, _, (machine_code, bitcode) = state
        code = cls(codegen, name)
        code.enable_object_caching()
        code._set_compiled_object(machine_code)
        code._bitcode = bitcode
        code._finalize_final_module()
        return code

    def get_pointer_to_function(self, name: str) -> int:
        return int(self._codegen._engine.get_function_address(name))  # Python calls every kernel

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


class _KeptKernel(FunctionCache):
    """Loads a kernel from disk without what is needed only to compile one.

    numba would load all that it can compile, and parse the bitcode of each kernel: that took
    longer than many a test. Where something is to be compiled after all, numba sees to it then.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        codegen = target_context.codegen()
        codegen._library_class = _KeptCode  # of this one alone: numba lets one thread in at a time
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        finally:
            del codegen._library_class


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
    compiled = _of_one_type(numba.jit(no_cfunc_wrapper=True, **_numba_options)(function))
    with suppress(RuntimeError):  # numba's way of saying that no cache folder is writable
        compiled._cache = _KeptKernel(function)
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
    return _of_one_type(numba.jit(pipeline_class=_OfParts, **options)(function))


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


def _borrow(typing_context: Any, value: Any) -> Any:
    """Build the compiled form of :func:`borrow`."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _borrowed(context, builder, signature.args[0], arguments[0])

    return value(value), build


def _borrowed(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, numba.types.BaseTuple):
        parts = [
            _borrowed(context, builder, part, builder.extract_value(value, place))
            for place, part in enumerate(kind.types)
        ]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, numba.types.Array):
        return value
    struct = context.make_array(kind)(context, builder, value)
    struct.meminfo = struct.meminfo.type(None)
    struct.parent = struct.parent.type(None)
    return struct._getvalue()


if not numba.config.DISABLE_JIT:
    borrow = intrinsic(_borrow)


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

"""Lets numba compile an ``@kernel`` in less time, refer to others' code, and keep its own on disk.

All of this holds on to names that are numba's own (``docs/decisions/compiled-kernels.md``).
"""

from __future__ import annotations

import gc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numba
from llvmlite.binding import parse_assembly  # type: ignore[import-untyped]
from numba.core import ir
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.event import Event, Listener
from numba.core.ir import Scope
from numba.core.lowering import Lower
from numba.core.runtime import rtsys
from numba.core.runtime.context import NRTContext
from numba.core.targetconfig import TargetConfig
from numba.core.typed_passes import BaseNativeLowering, NativeLowering
from numba.extending import intrinsic

_OBJECTS_BETWEEN_LOOKS = 100_000
kernels: dict[tuple[str, str], Any] = {}  # each by its module and name
_places: dict[str, tuple[str, str, Any]] = {}  # a code's name: module, name, types of arguments


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


@cache
def _is_counted(models: Any, kind: Any) -> bool:
    return bool(models[kind].contains_nrt_meminfo())


def _counters(runtime: Any, builder: Any, kind: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return numba's counters of references to a value and its parts, and take nothing else out."""
    models = runtime._context.data_model_manager
    counters = []
    if models[kind].has_nrt_meminfo():
        counters.append((kind, models[kind].get_nrt_meminfo(builder, value)))
    for part, take in models[kind].traverse(builder):
        if _is_counted(models, part):
            counters += _counters(runtime, builder, part, take(value))
    return counters


class Quickly(Listener):
    """Makes numba compile in less time, and the same; afterwards all is as a process had it.

    Python looks for garbage rarely: numba makes millions of objects and keeps most of them, and
    looking through them again and again took a quarter of the time. What numba copies and compares
    for nothing took another tenth. numba compiles one function at a time, whoever asks.
    """

    def __init__(self) -> None:
        self._compiling = 0
        self._before = gc.get_threshold()
        self._values, self._counters = TargetConfig.values, NRTContext.get_meminfos

    def on_start(self, event: Event) -> None:
        """Begin with the outermost function."""
        if self._compiling == 0:
            self._before = gc.get_threshold()
            gc.set_threshold(max(_OBJECTS_BETWEEN_LOOKS, self._before[0]), *self._before[1:])
            Scope.__deepcopy__, TargetConfig.values = _same_scope, _values
            NRTContext.get_meminfos = _counters
        self._compiling += 1

    def on_end(self, event: Event) -> None:
        """End with the outermost function."""
        self._compiling -= 1
        if self._compiling == 0:
            gc.set_threshold(*self._before)
            del Scope.__deepcopy__
            TargetConfig.values, NRTContext.get_meminfos = self._values, self._counters


@intrinsic
def compiled_borrow(typing_context: Any, value: Any) -> Any:
    """Build the compiled form of :func:`indiff.kernels.borrow`."""

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


class _Lower(Lower):
    """Writes nothing for what an argument, or a part of one, is called: it is there, and stays.

    numba would put a tuple of arrays into a place of its own for each name that it gets, also by
    an inlined function, and count a reference to each of the arrays: nine tenths of what LLVM had
    to read, and to throw away. Whoever calls a function holds its arguments until it returns.
    """

    def init(self) -> None:
        """Look at what each name is given, and by what it is used."""
        super().init()
        self._values: dict[str, list[Any]] = {}
        self._uses: dict[str, list[Any]] = {}
        self._places: dict[str, _Place | None] = {}
        for block in self.blocks.values():
            for one in block.body:
                if isinstance(one, ir.Assign):
                    self._values.setdefault(one.target.name, []).append(one.value)
                if isinstance(one, ir.Return):
                    self._places[one.value.name] = None  # it is handed over with its reference
                for used in () if isinstance(one, ir.Del) else one.list_vars():
                    self._uses.setdefault(used.name, []).append(one)

    def _place(self, name: str) -> _Place | None:
        """Return which part of which argument a name stands for, if nothing else."""
        if name not in self._places:
            self._places[name] = None  # also of a name that stands for itself
            values = self._values.get(name, ())
            found = self._place_of(values[0]) if len(values) == 1 else None
            if found is not None and found.kind == self.typeof(name):
                self._places[name] = found
        return self._places[name]

    def _place_of(self, value: Any) -> _Place | None:
        if isinstance(value, ir.Arg):
            kind = self.typeof(f"arg.{value.name}")
            given = not isinstance(kind, numba.types.Omitted)
            return _Place(kind, value.index, (), False) if given else None
        if isinstance(value, ir.Var):
            return self._place(value.name)
        if not isinstance(value, ir.Expr):
            return None
        if value.op == "call" and len(value.args) == 1:
            called, place = self._values.get(value.func.name, ()), self._place(value.args[0].name)
            borrows = len(called) == 1 and getattr(called[0], "value", None) is compiled_borrow
            return place._replace(borrowed=True) if borrows and place is not None else None
        if value.op != "getattr" and not (
            value.op == "static_getitem" and isinstance(value.index, int)
        ):
            return None
        whole = self._place(value.value.name)
        if whole is None:
            items = value.op == "static_getitem" and self._items(value.value.name)
            return self._place(items[value.index].name) if items else None
        if value.op == "getattr" and isinstance(whole.kind, numba.types.BaseNamedTuple):
            return whole.part(whole.kind.fields.index(value.attr))
        if value.op == "static_getitem" and isinstance(whole.kind, numba.types.BaseTuple):
            return whole.part(value.index % len(whole.kind))
        return None

    def _items(self, name: str) -> Any:
        """Return the names of which a tuple is made that is taken apart again."""
        values = self._values.get(name, ())
        if len(values) != 1 or not isinstance(values[0], ir.Expr):
            return None
        if values[0].op == "exhaust_iter":
            return self._items(values[0].value.name)
        return values[0].items if values[0].op == "build_tuple" else None

    def _is_nothing(self, name: str) -> bool:
        """Tell whether a name stands for a part of an argument, or a tuple only of such parts."""
        if self._place(name) is not None:
            return True
        return bool(self._items(name)) and all(
            isinstance(use, ir.Assign)
            and isinstance(use.value, ir.Expr)
            and use.value.op in ("exhaust_iter", "static_getitem")
            and self._is_nothing(use.target.name)
            for use in self._uses.get(name, ())
            if not (isinstance(use, ir.Assign) and use.target.name == name)
        )

    def pre_lower(self) -> None:
        """Write once what the arguments are without their references."""
        super().pre_lower()
        self._borrowed = [
            _borrowed(self.context, self.builder, kind, value)
            for kind, value in zip(self.fndesc.argtypes, self.fnargs, strict=True)
        ]

    def lower_inst(self, inst: Any) -> None:
        """Leave out what gives an argument a name, and takes it away."""
        name = inst.target.name if isinstance(inst, ir.Assign) else None
        if isinstance(inst, ir.Del):
            name = inst.value
        if name is None or not self._is_nothing(name):
            super().lower_inst(inst)

    def loadvar(self, name: str) -> Any:
        """Take a part out of its argument."""
        place = self._place(name)
        if place is None:
            return super().loadvar(name)
        value = (self._borrowed if place.borrowed else self.fnargs)[place.argument]
        return self.builder.extract_value(value, place.parts) if place.parts else value

    def _alloca_var(self, name: str, kind: Any) -> None:
        if not self._is_nothing(name):
            super()._alloca_var(name, kind)


class _Place(NamedTuple):
    """Where a value is among a function's arguments, and whether it is borrowed."""

    kind: Any
    argument: int
    parts: tuple[int, ...]
    borrowed: bool

    def part(self, index: int) -> _Place:
        return self._replace(kind=self.kind[index], parts=(*self.parts, index))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):
    _name = "lowering_of_kernels"
    lowering_class = _Lower


def _passes(state: Any) -> list[Any]:
    """Return what numba does to a function, but for how it writes it down for LLVM."""
    manager = DefaultPassBuilder.define_nopython_pipeline(state)
    manager.passes = [
        (_Lowering if which is NativeLowering else which, text) for which, text in manager.passes
    ]
    manager.finalize()
    return [manager]


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


class PartCompiler(CompilerBase):
    """Compiles what kernels take in."""

    def define_pipelines(self) -> list[Any]:
        """Compile into a part."""
        codegen, name = self.state.targetctx.codegen(), self.state.func_id.func_qualname
        self.state.library = _Part(codegen, name)
        return _passes(self.state)


class _Code(JITCodeLibrary):
    """A kernel's machine code, to which others refer by a name that is the same in each process."""

    _nothing: Any = None

    def _get_module_for_linking(self) -> Any:
        """Return an empty module: what calls this says no more than what it calls."""
        self._ensure_finalized()
        if self._nothing is None:
            self._nothing = parse_assembly(str(self._codegen._create_empty_module(self.name)))
        return self._nothing

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        self._ensure_finalized()
        functions = list(self._final_module.functions)
        defined = [one.name for one in functions if not one.is_declaration]
        others = [one.name for one in functions if one.is_declaration]
        needed = [(name, *_places[name]) for name in others if name in _places]
        return self.name, "object", (self._get_compiled_object(), defined, needed)

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, _, (machine_code, defined, _) = state
        code = cls(codegen, name)
        code.enable_object_caching()
        code._set_compiled_object(machine_code)
        code._finalize_final_module()
        codegen._engine._defined_symbols.update(defined)
        return code


@contextmanager
def _libraries(codegen: Any, kind: type) -> Iterator[None]:
    """Let numba make libraries of this kind: one thread at a time, as numba sees to."""
    before = vars(codegen).get("_library_class")
    codegen._library_class = kind
    try:
        yield
    finally:
        del codegen._library_class
        if before is not None:
            codegen._library_class = before


class KernelCompiler(CompilerBase):
    """Compiles a kernel; whatever of numba's own it calls is a part of it."""

    def define_pipelines(self) -> list[Any]:
        """Compile into code whose name is made of the source, in place of a count."""
        codegen, function = self.state.targetctx.codegen(), self.state.func_id
        place = f"{function.filename}:{function.firstlineno}".encode()
        function.unique_id = zlib.crc32(function.code.co_code, zlib.crc32(place))
        self.state.library = _Code(codegen, function.func_qualname)
        self.state.library.enable_object_caching()
        return _passes(self.state)

    def _compile_core(self) -> Any:
        context = self.state.targetctx
        rtsys.initialize(context)
        with _libraries(context.codegen(), _Part):
            compiled = super()._compile_core()
        _places[compiled.fndesc.mangled_name] = _place(compiled)
        return compiled


class _Kept(CompileResultCacheImpl):
    """Loads a kernel, and before it those that it refers to."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        _, _, (_, _, needed) = payload[0]
        for name, module, function, kinds in needed:
            import_module(module)
            callee = kernels.get((module, function))
            if callee is None:
                return None
            callee.compile(kinds)
            if callee.overloads[kinds].fndesc.mangled_name != name:
                return None
        with _libraries(target_context.codegen(), _Code):
            loaded = super().rebuild(target_context, payload)
        _places[loaded.fndesc.mangled_name] = _place(loaded)
        return loaded


class KernelCache(FunctionCache):
    """Loads a kernel from disk without what is needed only to compile one.

    numba would load all that it can compile, which took longer than many a test. Where something
    is to be compiled after all, numba sees to it then.
    """

    _impl_class = _Kept

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel with these types of arguments, if it is kept."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _place(compiled: Any) -> tuple[str, str, Any]:
    described = compiled.fndesc
    return described.modname, described.qualname, tuple(compiled.signature.args)

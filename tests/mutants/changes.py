"""Makes the mutants of a module: its source with one small change each."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "indiff"
LONGEST = 90  # signs of code in a name


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Its ``name`` has no line number, so that it outlives edits elsewhere. ``source`` is the text
    that is changed, by which a result is known to be about today's code.
    """

    name: str
    file: Path
    lines: range  # of the statement that is changed
    called: bool  # in a function: false for what runs once, when the module is imported
    source: str
    number: int = -1  # of the changes that can be made in the file
    replaced: tuple[str, str] = ("", "")

    @property
    def module(self) -> str:
        """The name by which the changed module is imported."""
        parts = self.file.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def code(self) -> CodeType:
        """Return the module's code with the change in it."""
        text = self.file.read_text(encoding="utf-8")
        tree = ast.parse(text.replace(*self.replaced) if self.replaced[0] else text)
        for number, point in enumerate(_points(tree) if self.number >= 0 else ()):
            if number == self.number:
                setattr(point.node, point.field, point.value)
                break
        return compile(ast.fix_missing_locations(tree), str(self.file), "exec")


def named(group: str, bugs: dict[str, dict[str, Any]]) -> list[Mutant]:
    """Return a group's bugs that somebody wrote down, each as a text and what it becomes."""
    found = []
    for name, bug in bugs.items():
        if bug["group"] != group:
            continue
        file = PACKAGE / bug["file"]
        text = file.read_text(encoding="utf-8")
        if (times := text.count(bug["is"])) != 1:
            raise SystemExit(f"planted.toml, {name}: its text is {times} times in {file}.")
        first = text[: text.index(bug["is"])].count("\n") + 1
        lines = range(first, first + bug["is"].count("\n") + 1)
        change = (bug["is"], bug["becomes"])
        found.append(
            Mutant(
                name,
                file,
                lines,
                not bug.get("at_import", False),
                " → ".join(change),
                replaced=change,
            )
        )
    return found


_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
_NAMES = {"min": "max", "any": "all", "minimum": "maximum", "sum": "len", "lower": "upper"}
_NAMES |= {changed: name for name, changed in _NAMES.items()}


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the fields of ``node`` that can be changed, with what they become."""
    if isinstance(node, ast.Compare):
        for changed in _OPERATORS.get(type(node.ops[0]), ()):
            yield "ops", [changed(), *node.ops[1:]]
    elif isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign):
        if isinstance(getattr(node, "left", None), ast.JoinedStr):
            return  # two parts of a sentence
        for changed in _OPERATORS.get(type(node.op), ()):
            yield "op", changed()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "op", ast.UAdd()  # +True is 1, which is true where True is
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "value", not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "value", node.value + 1
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        yield "id", _NAMES[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        yield "attr", _NAMES[node.attr]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "test", ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "ifs", []
    elif (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "attr", None) != "forget"  # only frees memory sooner
    ):
        # A method that has super() in it may exchange its code for such with __class__ alone.
        is_above = any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(node))
        yield "value", ast.Name("__class__", ast.Load()) if is_above else ast.Constant(None)


@dataclass(frozen=True)
class _Point:
    """A field of a node that can be changed, and where it stands."""

    node: ast.AST
    field: str
    value: Any
    function: str  # the qualified name, or "" outside of functions
    called: bool
    statement: ast.stmt | None
    outer: ast.AST  # the function, for what it says today
    around: ast.AST  # what names the change: a number alone would not say which one it is


# Words that nobody decides by, and what a type checker reads.
_SILENT = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr)
_COMPILED = {"kernel", "inner", "inline"}  # compared with plain Python, bit by bit
_LAYOUT = ("indent", "gap", "repr", "eq", "frozen", "strict")  # arguments that change no result


def _points(
    node: ast.AST,
    function: str = "",
    called: bool = False,
    statement: ast.stmt | None = None,
    outer: ast.AST | None = None,
    around: ast.AST | None = None,
) -> Iterator[_Point]:
    """Yield every change below ``node``, in source order."""
    if isinstance(node, _SILENT) or (isinstance(node, ast.keyword) and node.arg in _LAYOUT):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    outer = outer or node
    statement = node if isinstance(node, ast.stmt) else statement
    below: list[tuple[ast.AST, bool]] = [(one, called) for one in ast.iter_child_nodes(node)]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        marks = [ast.unparse(one) for one in node.decorator_list]
        if not _COMPILED.isdisjoint(marks) or node.name in ("__repr__", "_repr_html_"):
            return
        if not called:  # a function inside a function belongs to the outer one
            is_class = isinstance(node, ast.ClassDef)
            name = node.name + ("" if is_class else "()")
            function = f"{function}.{name}" if function else name
            outer = outer if is_class else node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        defaults = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        below = [(one, called) for one in defaults] + [(one, True) for one in node.body]
    elif isinstance(node, ast.AnnAssign):
        below = [(node.value, called)] if node.value else []
    is_word = isinstance(node, ast.Constant | ast.Name | ast.Attribute)
    by = around if is_word and around is not None else node
    for field, value in _changes(node):
        yield _Point(node, field, value, function, called, statement, outer, by)
    is_thin = isinstance(node, ast.Attribute | ast.UnaryOp | ast.keyword)
    around = around if is_thin and around is not None else node
    for child, runs in below:
        yield from _points(child, function, runs, statement, outer, around)


def mutants_of(file: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    found = []
    times: Counter[str] = Counter()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for number, point in enumerate(_points(tree)):
        before = _first_line(point.around), _first_line(point.node)
        kept = getattr(point.node, point.field)
        setattr(point.node, point.field, point.value)
        ast.fix_missing_locations(point.node)
        after = _first_line(point.around), _first_line(point.node)
        setattr(point.node, point.field, kept)
        key = f"{point.function}: {_described(*before, *after)}"
        times[key] += 1
        again = f" ({times[key]})" if times[key] > 1 else ""
        name = f"{file.relative_to(PACKAGE)} {key}{again}"
        source = hashlib.sha256(ast.dump(point.outer).encode()).hexdigest()[:16]
        found.append(Mutant(name, file, _lines(point.statement), point.called, source, number))
    return found


def _lines(statement: ast.stmt | None) -> range:
    """Return the lines of a statement, without those of the statements inside of it."""
    if statement is None:
        return range(0)
    inside = getattr(statement, "body", None)
    end = inside[0].lineno if inside else (statement.end_lineno or statement.lineno) + 1
    return range(statement.lineno, max(end, statement.lineno + 1))


def _described(around: str, before: str, changed: str, after: str) -> str:
    """Name a change by what it is part of; where that is long, by itself and what it is part of."""
    if around != changed and max(len(around), len(changed)) <= LONGEST:
        return f"{around} → {changed}"
    where = "" if around == before else f" in {_short(around)}"
    return f"{_short(before)} → {_short(after)}{where}"


def _first_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split("\n", 1)[0].split())


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else line[:44] + " … " + line[-43:]

"""Says which command takes which options, and reads their texts as they are declared."""

from __future__ import annotations

import operator
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from indiff.audit.plan import options, parsing
from indiff.audit.plan.options import Option
from indiff.errors import UserError

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

SECTIONS = {
    "data": options.Data,
    "release": options.Release,
    "adversary": options.Adversary,
    "limits": options.Limits,
    "report": options.Report,
    "run": options.Run,
    "": options.Shell,
}
REQUIRED: Any = ...
_SIGNS = {">=": (Ge, "ge"), ">": (Gt, "gt"), "<=": (Le, "le"), "<": (Lt, "lt")}
_HOLDS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@dataclass(frozen=True)
class Declared:
    """One option as it is declared: the shell's name, its place in a plan, and how it is read."""

    name: str
    section: str
    field: str
    type: Any
    default: Any
    range: tuple[tuple[str, float], ...]
    option: Option

    @property
    def typed(self) -> Any:
        """What the shell hands over: a number, a path, a text, or a list of texts."""
        if self.option.typed is not None:
            return self.option.typed
        return list[str] if get_origin(self.type) in (list, dict) else self.type

    @property
    def is_list(self) -> bool:
        """Whether the option may be given several times."""
        return get_origin(self.typed) is list

    @property
    def bounds(self) -> str:
        """The range in signs, or an empty text.

        >>> OPTIONS["worst"].bounds, OPTIONS["confidence"].bounds, OPTIONS["jobs"].bounds
        ('x>=0, x<=1000', 'x>0, x<1', '')
        """
        return ", ".join(f"x{sign}{number}" for sign, number in self.range)

    def read(self, raw: Any) -> Any:
        """Return the value that was typed, or the default; what is out of range is refused."""
        if raw is None or (self.is_list and not raw):
            return self.default
        if self.field in _READERS:
            return _READERS[self.field](raw)
        flag, kind = f"--{self.name}", get_origin(self.type)
        if kind is dict:
            inner = get_args(self.type)[1]
            read = {list[str]: parsing.lists, list[float]: parsing.numbers}.get(inner)
            what = str(self.option.metavar).partition("=")[2]
            return read(flag, raw) if read else parsing.pairs(flag, raw, what)
        if kind is list:
            return parsing.split_lists(raw)
        if not all(_HOLDS[sign](raw, number) for sign, number in self.range):
            numbers = [str(number) for _, number in self.range]
            words = (
                f"at least {numbers[0]}" if len(numbers) < 2 else f"between {' and '.join(numbers)}"
            )
            raise UserError(f"{flag} must be {words}", raw, field=self.name)
        return str(raw) if isinstance(raw, Path) and self.section else raw


def _jobs(value: int) -> int:
    if value < 1 and value != -1:
        raise UserError("--jobs must be -1 (all cores) or at least 1", value, field="jobs")
    return value


# Texts that are read in a way of their own; limits are read by the command that knows their names.
_READERS: dict[str, Any] = {
    "bins": parsing.bins,
    "missing_tokens": lambda texts: ["", *texts],
    "suppressed": list,
    "sheet": parsing.sheet,
    "date_format": parsing.date_format,
    "json": parsing.output,
    "targets": parsing.targets,
    "jobs": _jobs,
    "limits": list,
    "recommend": list,
}


def _declared() -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for section, holder in SECTIONS.items():
        for field, hint in get_type_hints(holder, include_extras=True).items():
            kind, metadata = _flat(hint)
            (option,) = (one for one in metadata if isinstance(one, Option))
            bounds = tuple(
                (sign, getattr(one, name))
                for one in metadata
                for sign, (kind_of, name) in _SIGNS.items()
                if isinstance(one, kind_of)
            )
            name = option.name or field.replace("_", "-")
            default = getattr(holder, field, REQUIRED)
            found[name] = Declared(name, section, field, kind, default, bounds, option)
    return found


def _flat(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Take marks off a type, and None out of a choice: what is left, and the marks."""
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        kind, more = _flat(inner)
        return kind, (*more, *marks)
    if get_origin(hint) in (Union, types.UnionType):
        parts = [one for one in get_args(hint) if one is not type(None)]
        return _flat(parts[0]) if len(parts) == 1 else (hint, ())
    return hint, ()


OPTIONS = _declared()

_TABLE = (
    "quasi", "sensitive", "joint", "identifier", "other", "hierarchy", "kind", "order", "bins",
    "missing", "missing-token", "decimal", "date-format", "header-row", "encoding", "sheet",
)  # fmt: skip
_ADVERSARY = ("model", "prior", "known", "distance")
_SAMPLING = ("runs", "confidence", "jobs", "seed")
COMMANDS = {
    "test": (
        "data", *_TABLE, "individual", "sanitizer", "release", "key", "rows-in-order",
        "release-encoding", "suppressed", *_ADVERSARY, "targets", "method", *_SAMPLING, "run",
        "time", "retries", "backend", "scheduler", "limit", "json", "records", "why",
        "show-values", "membership",
    ),
    "risk": (
        "data", *(name for name in _TABLE if name != "missing"), "individual",
        "combinations", "details", "limit", "engine", "master", "threads", "memory-limit",
        "show-values", "json", "records",
    ),
    "sanitize": ("data", *_TABLE, "sanitizer", "edges", "domain", "seed", "keep", "out"),
    "compare": (
        "data", *_TABLE, "sanitizer", "task", "utility", "recommend", *_ADVERSARY, *_SAMPLING,
        "json", "markdown", "chart",
    ),
    "audit": (
        "data", "init", *_TABLE, "individual", "sanitizer", "release", "key", "rows-in-order",
        "suppressed", *_ADVERSARY, "targets", "method", *_SAMPLING, "time", "limit", "parameter",
        "task", "fix", "budget", "worst", "min-cell", "show-values", "title", "out",
    ),
}  # fmt: skip
# Where an option of a command differs from its declaration.
_CHANGES: dict[tuple[str, str], dict[str, Any]] = {
    ("test", "order"): {
        "help": "An ordinal column's values in order: COLUMN=A,B,C. Of the targets: worst-first, "
        "random or given.",
        "metavar": "ORDER",
    },
    ("test", "limit"): {"help": "Fail (exit 1) above this: delta=0.1; repeatable."},
    ("test", "show-values"): {
        "help": "Show values of the table (with --why), and what a failing program said."
    },
    ("test", "membership"): {"default": False},
    ("risk", "data"): {
        "help": "A table or a release: a file, a folder or a pattern of text or Parquet files, or "
        "- (standard input).",
        "typed": str,
    },
    ("risk", "sensitive"): {
        "help": "Sensitive columns or expressions: their inference is measured.", "metavar": "S",
        "default": [],
    },
    ("risk", "individual"): {"help": "Rows that share it are one person."},
    ("risk", "limit"): {
        "help": "Fail (exit 1) beyond this: k=5 or l=2 (at least), t=0.2, marketer=0.1, "
        "reidentification.itpr=0.5, inference.itpr=0.5, inference.S.dr=0.1 (at most) …; "
        "repeatable.",
        "panel": options.METRICS,
    },
    ("risk", "show-values"): {"help": "Name the table's values, rare ones too, in all output."},
    ("sanitize", "seed"): {
        "help": "Of the order of rows; whoever knows it can undo the shuffle. Random by default.",
        "default": None,
    },
    ("sanitize", "out"): {
        "help": "Where the release goes (.csv, .tsv, .parquet).", "metavar": "FILE",
        "default": REQUIRED,
    },
    ("compare", "sanitizer"): {
        "help": "name:parameter=value,…, a parameter with several values: mondrian:k=2,5,10; "
        "repeatable.",
        "typed": list[str], "panel": options.COMPARISON, "default": REQUIRED,
    },
    ("compare", "task"): {"panel": options.COMPARISON},
    ("audit", "data"): {
        "help": "A plan (.toml), or a table as in every command.", "metavar": "DATA|PLAN",
    },
    ("audit", "sensitive"): {"default": []},
}  # fmt: skip


def options_of(command: str) -> list[Declared]:
    """Return the options of a command, as it takes them.

    >>> [one.name for one in options_of("sanitize")][-3:]
    ['seed', 'keep', 'out']
    """
    found = []
    for name in COMMANDS[command]:
        changes = dict(_CHANGES.get((command, name), {}))
        one = OPTIONS[name]
        one = replace(one, default=changes.pop("default", one.default))
        found.append(replace(one, option=replace(one.option, **changes)))
    return found


class Recipe:
    """What was given for one command, read as it is declared.

    >>> recipe = Recipe("risk", {"quasi": ["age,sex"], "seed": 7})
    >>> recipe["quasi"], recipe["combinations"], recipe.section("data")["quasi"]
    (['age', 'sex'], 0, ['age', 'sex'])
    """

    def __init__(self, command: str, raw: Mapping[str, Any], given: Iterable[str] = ()) -> None:
        self.raw, self.given = raw, frozenset(given)
        self._options = {one.name: one for one in options_of(command)}

    def __getitem__(self, name: str) -> Any:
        return self._options[name].read(self.raw.get(name))

    def section(self, section: str, instead: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return what a section of a plan holds, by its own names; some of it given instead."""
        given = instead or {}
        return dict(given) | {
            one.field: self[one.name]
            for one in self._options.values()
            if one.section == section and one.field not in given
        }

    @property
    def model(self) -> Any:
        """The one model, the list of several, or None where none was named."""
        models = self["model"]
        return models if len(models) > 1 else models[0] if models else None

    def plan(self, **sections: Any) -> Plan:
        """Return the plan, in which some sections' values can be given instead."""
        from indiff.audit.plan.plan import Plan

        filled = {
            name: self.section(name, sections.get(name))
            for name in SECTIONS
            if name not in ("", "limits")
        }
        if not filled["adversary"].get("models"):
            filled["adversary"].pop("models", None)
        try:
            return Plan(**filled, limits=sections.get("limits", {}))
        except UserError as error:
            # The shell's words name no place in a plan.
            raise error.__cause__ if isinstance(error.__cause__, UserError) else error from None

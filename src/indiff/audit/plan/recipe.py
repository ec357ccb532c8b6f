"""Reads what was typed for the options of a command, as they are declared."""

from __future__ import annotations

import math
import operator
import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from indiff.audit.plan.changes import CHANGES, COMMANDS
from indiff.audit.plan.option import MOST_WORKERS, REQUIRED, Bins, Option
from indiff.audit.plan.options import SECTIONS
from indiff.audit.plan.values.targets import read_targets
from indiff.errors import UserError, option, unknown

if TYPE_CHECKING:
    from indiff.audit.plan.plan import Plan

STANDARD_OUTPUT = Path("/dev/stdout")
_SIGNS: dict[Any, tuple[str, str, Callable[[Any, Any], bool]]] = {
    Ge: ("ge", ">=", operator.ge),
    Gt: ("gt", ">", operator.gt),
    Le: ("le", "<=", operator.le),
    Lt: ("lt", "<", operator.lt),
}


@dataclass(frozen=True)
class Declared:
    """One option as it is declared: the shell's name, its place in a plan, and how it is read."""

    name: str
    section: str
    field: str
    type: Any
    default: Any
    range: tuple[Any, ...]
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
    def _ends(self) -> list[tuple[str, float, Callable[[Any, Any], bool]]]:
        """The sign, the number and the test of each end of the range."""
        found = []
        for end in self.range:
            name, sign, holds = _SIGNS[type(end)]
            found.append((sign, getattr(end, name), holds))
        return found

    @property
    def bounds(self) -> str:
        """The range in signs, or an empty text.

        >>> OPTIONS["worst"].bounds, OPTIONS["confidence"].bounds, OPTIONS["jobs"].bounds
        ('x>=0, x<=1000', 'x>0, x<1', '')
        """
        return ", ".join(f"x{sign}{number}" for sign, number, _ in self._ends)

    def read(self, raw: Any) -> Any:
        """Return the value that was typed, or the default; what is out of range is refused."""
        if raw is None or (self.is_list and not raw):
            return self.default
        if self.field in _READERS:
            return _READERS[self.field](raw)
        flag, kind = f"--{self.name}", get_origin(self.type)
        if kind is dict:
            inner = get_args(self.type)[1]
            read = {list[str]: lists, list[float]: numbers}.get(inner)
            what = str(self.option.metavar).partition("=")[2]
            return read(flag, raw) if read else pairs(flag, raw, what)
        if kind is list:
            return [name for text in raw for name in split_list(text)]
        if not all(holds(raw, number) for _, number, holds in self._ends):
            ends = [str(number) for _, number, _ in self._ends]
            words = f"at least {ends[0]}" if len(ends) < 2 else f"between {' and '.join(ends)}"
            raise UserError(f"{flag} must be {words}", raw, field=self.name)
        return str(raw) if isinstance(raw, Path) and self.section else raw


def split_list(text: str) -> list[str]:
    """Split at commas, except inside double quotes and parentheses; no part may be empty.

    >>> split_list('age, sex,"street, number",coalesce(a, b) > 3')
    ['age', 'sex', 'street, number', 'coalesce(a, b) > 3']
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character == "(") - (character == ")")
        if character == "," and not quoted and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    names = [_unquoted(part.strip()) for part in parts]
    if not all(names):
        raise UserError("a list is written a,b,c with no empty part", f"{text!r}")
    return names


def _unquoted(text: str) -> str:
    whole = re.fullmatch(r'"([^"]*)"', text)
    return whole.group(1) if whole else text


def pairs(flag: str, texts: Iterable[str] | None, what: str) -> dict[str, str]:
    """Read ``column=value`` texts; a column with an equals sign is written in double quotes.

    >>> pairs("--kind", ["age=ordinal", '"a=b"=numeric'], "KIND")
    {'age': 'ordinal', 'a=b': 'numeric'}
    """
    read: dict[str, str] = {}
    for text in texts or ():
        match = re.fullmatch(r'\s*("[^"]*"|[^=]*?)\s*=\s*(.*?)\s*', text, re.DOTALL)
        column = _unquoted(match.group(1)) if match else ""
        if match is None or not column or not match.group(2):
            raise UserError(f"{flag} is written COLUMN={what}", f"{text!r}")
        if column in read:
            raise UserError(f"{flag} may name a column once", f"{column!r} twice")
        read[column] = match.group(2)
    return read


def lists(option: str, texts: Iterable[str] | None) -> dict[str, Sequence[str]]:
    """Read ``column=a,b,c`` texts."""
    return {column: split_list(values) for column, values in pairs(option, texts, "A,B,C").items()}


def numbers(option: str, texts: Iterable[str] | None) -> dict[str, Sequence[float]]:
    """Read ``column=1,2.5`` texts."""
    read: dict[str, Sequence[float]] = {}
    for column, text in pairs(option, texts, "X,Y").items():
        try:
            read[column] = [float(part) for part in text.split(",")]
        except ValueError:
            raise UserError(f"{option} is written {column}=X,Y with numbers", f"{text!r}") from None
    return read


def _for_all_or_each(flag: str, what: str, read: Callable[[str], Any], texts: Sequence[str]) -> Any:
    """Read what is said once for all columns, or once for each that is named."""
    if any("=" in text for text in texts):
        return {column: read(value) for column, value in pairs(flag, texts, what).items()}
    if len(texts) > 1:
        raise UserError(
            f"{flag} may be given once, or once per column as COLUMN=…", ", ".join(texts)
        )
    return read(texts[0])


def date_format(texts: Sequence[str]) -> str | dict[str, str]:
    """Read how dates are written: in all columns, or in each that is named."""
    read: str | dict[str, str] = _for_all_or_each(option("date_format"), "FORMAT", str, texts)
    return read


def _bins(text: str) -> Bins:
    """Read a number of quantiles, or a list of edges."""
    if re.fullmatch(r"\s*[0-9]{1,9}\s*", text):
        return int(text)
    try:
        edges = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        edges = []
    if not edges or not all(map(math.isfinite, edges)):
        raise UserError(
            "--bins is a number of quantiles (4) or a list of edges (18,65)", f"{text!r}"
        )
    return edges


def sheet(text: str | None) -> str | int | None:
    """Read a sheet: its name, or its position from 0 behind a hash.

    >>> sheet("2023"), sheet("#1")
    ('2023', 1)
    """
    return int(text[1:]) if text is not None and re.fullmatch(r"#[0-9]{1,9}", text) else text


def _release(given: Path | Sequence[str]) -> str:
    """Return the release, the last where several are given in their order."""
    return str(given if isinstance(given, Path) else given[-1])


def read_limits(
    texts: Iterable[str] | None, known: Iterable[str] = (), what: str = "limit"
) -> dict[str, float]:
    """Read ``name=number`` limits, of which only ``known`` ones may be named where there are any.

    >>> read_limits(["delta=0.1", "mean=0.01"], ["delta", "mean"])
    {'delta': 0.1, 'mean': 0.01}
    """
    read: dict[str, float] = {}
    for text in texts or ():
        name, _, value = (
            part.strip() for part in (text.rpartition("=") if "=" in text else (text, "", ""))
        )
        if known and name not in known:
            raise unknown(what, name, known, field=what)
        if name in read:
            raise UserError(f"a {what} may be given once", f"{name!r} twice", field=what)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not 0 <= number < math.inf:
            shown = name or "NAME"
            raise UserError(
                f"a {what} is written {shown}=NUMBER, of at least 0", f"{text!r}", field=what
            )
        read[name] = number
    return read


def _jobs(value: int) -> int:
    if value != -1 and not 1 <= value <= MOST_WORKERS:
        rule = f"--jobs must be -1 (all cores) or from 1 to {MOST_WORKERS:,}"
        raise UserError(rule, value, field="jobs")
    return value


def read_population(text: str) -> str | int:
    """Read a population: the number of its people, or the file that has them.

    >>> read_population("83_000_000"), read_population("register.parquet")
    (83000000, 'register.parquet')
    """
    return int(text) if re.fullmatch(r"[0-9][0-9_]{0,18}", text.strip()) else text


# Texts that are read in a way of their own; limits are read by the command that knows their names.
_READERS: dict[str, Callable[[Any], Any]] = {
    "bins": partial(_for_all_or_each, "--bins", "NUMBER or EDGES", _bins),
    "missing_tokens": lambda texts: ["", *texts],
    "suppressed": list,
    "before": list,
    "join": list,
    "also": list,
    "file": _release,
    "sheet": sheet,
    "source": read_population,
    "date_format": date_format,
    "json": lambda path: STANDARD_OUTPUT if str(path) == "-" else path,
    "targets": read_targets,
    "jobs": _jobs,
    "limits": list,
    "claim": lambda texts: read_limits(texts, ("epsilon", "delta"), "claim"),
    "recommend": list,
}


def _declared() -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for section, holder in SECTIONS.items():
        for field, hint in get_type_hints(holder, include_extras=True).items():
            kind, marks = _flat(hint)
            (said,) = (one for one in marks if isinstance(one, Option))
            bounds = tuple(one for one in marks if type(one) in _SIGNS)
            name = said.name or field.replace("_", "-")
            default = getattr(holder, field, REQUIRED)
            found[name] = Declared(name, section, field, kind, default, bounds, said)
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


def options_of(command: str) -> list[Declared]:
    """Return the options of a command, as it takes them.

    >>> [one.name for one in options_of("sanitize")][-3:]
    ['seed', 'keep', 'out']
    """
    found = []
    for name in COMMANDS[command]:
        changes = dict(CHANGES.get((command, name), {}))
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
        found = self._options[name].read(self.raw.get(name))
        if name != "sanitizer" or not self.raw.get("allow-remote") or not found:
            return found
        from indiff.sanitizers.oracles.http_service import with_remote

        return with_remote(found) if isinstance(found, str) else list(map(with_remote, found))

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

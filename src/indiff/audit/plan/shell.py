"""Words errors for the shell: options as they are typed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from indiff.audit.plan.recipe import OPTIONS
from indiff.errors import WITHHELD, Data, Message, Option, UserError, option

_FLAGS = {one.field: one.name for one in OPTIONS.values()} | {name: name for name in OPTIONS}


def for_shell(error: UserError, *, show_values: bool = False) -> str:
    """Word an error for the shell: its options, and the field that its rule begins with.

    What another program said may hold records: it is shown where values were asked for.

    >>> for_shell(UserError("memory_limit must be a size", "x", field="memory_limit"))
    '--memory-limit must be a size; got x.'
    """
    error, field = of_release(error), error.field or ""
    words = error.worded(in_shell, _shown(show_values))
    if field in _FLAGS and words.startswith(f"{field} must "):
        return f"--{_FLAGS[field]}{words.removeprefix(field)}"
    return words


def of_release(error: UserError) -> UserError:
    """Return an error about the encoding of a release with the name that this has in the shell."""
    if error.field != "release_encoding":
        return error
    return error.with_options(lambda part: option(f"release_{part.name}", part.value))


def for_plan(error: UserError) -> UserError:
    """Return an error with its options as the keys of a plan, which whoever wrote one looks for.

    >>> print(for_plan(UserError("ages are numbers", way_out=f"Give {option('missing', 'drop')}")))
    ages are numbers. Give missing = "drop" in [data] of the plan.
    """
    return of_release(error).with_options(_in_plan)


def _in_plan(part: Option) -> str:
    one = OPTIONS.get(_FLAGS.get(part.of or part.name, part.name.replace("_", "-")))
    if one is None or not one.section:
        return option(*part[:2], of=part.of)
    from indiff.audit.plan.plan_text import toml_value

    value = f"{part.name}={_typed(part.value)}" if part.of else part.value
    said = "" if value is None else f" = {toml_value(value)}"
    return f"{one.field}{said} in [{one.section}] of the plan"


def _shown(show_values: bool) -> Callable[[Data], str]:
    hint = WITHHELD.replace("they may hold values", "they may hold values; see --show-values")
    return lambda part: hint if part.said and not show_values else part.text


def worded_for_shell(note: str, *, show_values: bool = False) -> str:
    """Word a note or a failure for the shell, as :func:`for_shell` words an error."""
    return note.worded(in_shell, _shown(show_values)) if isinstance(note, Message) else note


def in_shell(part: Option) -> str:
    """Write an option of a message as it is typed.

    >>> in_shell(Option("missing", "drop")), in_shell(Option("joint", True))
    ('--missing drop', '--joint')
    >>> in_shell(Option("details", False))
    '--no-details'
    >>> in_shell(Option("hierarchies", {"zip": "zip.csv"})), in_shell(Option("bins", {"age": 5}))
    ('--hierarchy zip=zip.csv', '--bins age=5')
    >>> in_shell(Option("orders", {"size": ["small", "large"]})), in_shell(Option("quasi"))
    ('--order size=small,large', '--quasi')
    >>> in_shell(Option("missing_tokens", ["", "?", "NA"]))
    "--missing-token '?' --missing-token NA"
    >>> in_shell(Option("suppressed", ["", "NA"]))
    "--suppressed '' --suppressed NA"
    >>> in_shell(Option("unmet", "generalize", of="sanitizer"))
    'unmet=generalize in --sanitizer'
    """
    value = part.value
    if isinstance(value, Mapping):
        value = " ".join(f"{column}={_typed(inner)}" for column, inner in value.items())
    flag = f"--{_FLAGS.get(part.name, part.name.replace('_', '-'))}"
    if part.name in ("missing_tokens", "suppressed") and value:  # one by one
        always = part.name == "missing_tokens"  # the empty text always means missing
        return " ".join(f"{flag} {shlex.quote(one)}" for one in value if one or not always)
    if part.of is not None:
        return f"{part.name}={_typed(value)} in --{part.of}"
    if value is False and (one := OPTIONS.get(flag[2:])) and one.option.no:
        return f"--{one.option.no}"
    return flag if value is None or value is True else f"{flag} {_typed(value)}"


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

"""Makes Typer commands of the declared options, and words messages for the shell."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from indiff.audit.plan.recipe import OPTIONS, REQUIRED, Declared, Recipe, options_of
from indiff.errors import Message, Option, UserError

_FLAGS = {one.field: one.name for one in OPTIONS.values()} | {name: name for name in OPTIONS}


def add_command(app: typer.Typer, name: str, run: Callable[[Recipe], None]) -> None:
    """Give the program a command with the options that are declared for it."""

    def command(context: typer.Context, **values: Any) -> None:
        given = [
            name.replace("_", "-")
            for name in context.params
            if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        ]
        raw = {name.replace("_", "-"): value for name, value in values.items()}
        run(Recipe(context.info_name or "", raw, given))

    parameters = [_parameter(one) for one in options_of(name)]
    command.__doc__ = run.__doc__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_keyword("context", typer.Context), *parameters]
    )
    app.command(name)(command)


def _keyword(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _parameter(one: Declared) -> inspect.Parameter:
    """Return an option as Typer reads it; what it was not given stays None, but is shown."""
    option, required = one.option, one.default is REQUIRED
    shown = one.default if isinstance(one.default, int | float | str | Path) else None
    metavar = f"{option.metavar} [{one.bounds}]" if one.bounds else option.metavar
    name = one.name.replace("-", "_")
    if one.name == "data":
        argument = typer.Argument(metavar=option.metavar, help=option.help, show_default=False)
        return _keyword(name, Annotated[one.typed, argument])
    flag = f"--{one.name}" if option.no is None else f"--{one.name}/--{option.no}"
    made = typer.Option(
        flag, help=option.help, rich_help_panel=option.panel, metavar=metavar,
        show_default=shown not in (None, "") and one.typed is not bool,
    )  # fmt: skip
    if required:
        return _keyword(name, Annotated[one.typed, made])
    kind = one.typed if shown is not None else one.typed | None
    return _keyword(name, Annotated[kind, made], shown)


def for_shell(error: UserError) -> str:
    """Word an error for the shell: its options, and the field that its rule begins with.

    >>> for_shell(UserError("memory_limit must be a size", "x", field="memory_limit"))
    '--memory-limit must be a size; got x.'
    """
    words, field = error.worded(in_shell), error.field or ""
    if field in _FLAGS and words.startswith(f"{field} must "):
        return f"--{_FLAGS[field]}{words.removeprefix(field)}"
    return words


def worded_for_shell(note: str) -> str:
    """Word a note for the shell, where it names options."""
    return note.worded(in_shell) if isinstance(note, Message) else note


def in_shell(part: Option) -> str:
    """Write an option of a message as it is typed.

    >>> in_shell(Option("missing", "drop")), in_shell(Option("joint", True))
    ('--missing drop', '--joint')
    >>> in_shell(Option("hierarchies", {"zip": "zip.csv"})), in_shell(Option("bins", {"age": 5}))
    ('--hierarchy zip=zip.csv', '--bins age=5')
    >>> in_shell(Option("orders", {"size": ["small", "large"]})), in_shell(Option("quasi"))
    ('--order size=small,large', '--quasi')
    >>> in_shell(Option("missing_tokens", ["", "?", "NA"]))
    "--missing-token '?' --missing-token NA"
    >>> in_shell(Option("unmet", "generalize", of="sanitizer"))
    'unmet=generalize in --sanitizer'
    """
    value = part.value
    if isinstance(value, Mapping):
        value = " ".join(f"{column}={_typed(inner)}" for column, inner in value.items())
    flag = f"--{_FLAGS.get(part.name, part.name.replace('_', '-'))}"
    if part.name == "missing_tokens" and value:  # one by one; the empty text always means missing
        return " ".join(f"{flag} {shlex.quote(one)}" for one in value if one)
    if part.of is not None:
        return f"{part.name}={_typed(value)} in --{part.of}"
    return flag if value is None or value is True else f"{flag} {_typed(value)}"


def _typed(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text or "''"


def announce_compilation() -> None:
    """Compile what is missing, and say so on standard error."""
    from indiff.cli.warmup import announce

    announce(lambda line: typer.echo(line, err=True))

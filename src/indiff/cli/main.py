"""Runs the command line: every command with its options, its exit code, each error as one line."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from indiff import text as plain
from indiff.audit.plan.option import REQUIRED
from indiff.audit.plan.recipe import STANDARD_OUTPUT, Declared, Recipe, options_of
from indiff.audit.plan.shell import for_shell
from indiff.audit.verdict import Exit
from indiff.cli import audit, compare, demo, reproduce, risk, serve, test, verify
from indiff.cli.elsewhere import arx, r, sql
from indiff.cli.preparing import columns, hierarchy, sanitize
from indiff.errors import UserError, why_exhausted
from indiff.systems import ENDINGS
from indiff.temporary import sweep
from indiff.version import __version__

ARGUMENTS = ("data", "column", "measure")  # given by their place

app = typer.Typer(
    help="Pen-tests anonymized data: what does a release tell about one person that it could not "
    "tell without that person's record?",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Command(TyperCommand):
    """A command that refuses an option given twice, where the last would win in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words as usual, each option that takes one value at most once."""
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        for one in given:
            if not one.multiple and one.opts[0].startswith("-") and given.count(one) > 1:
                name = one.opts[0]
                raise UserError(
                    f"{name} may be given once", f"{given.count(one)} of them",
                    "Leave the others out", field=name.lstrip("-"),
                )  # fmt: skip
        return super().parse_args(ctx, args)


def add_command(
    name: str, run: Callable[[Any], None], options: Sequence[Declared] | None = None
) -> None:
    """Give the program a command with the options that are declared for it.

    It is called with its recipe, or with what was typed where ``options`` are no recipe's.
    """

    def command(context: typer.Context, **values: Any) -> None:
        raw = {name.rstrip("_").replace("_", "-"): value for name, value in values.items()}
        if options is not None:
            return run(raw)
        given = [
            name.replace("_", "-")
            for name in context.params
            if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        ]
        if raw.get("metadata") is not None:
            from indiff.cli.elsewhere.metadata import filled

            raw = filled(raw, context.info_name or "")
        recipe = Recipe(context.info_name or "", raw, given)
        to_pipe = "json" in raw and recipe["json"] == STANDARD_OUTPUT
        with redirect_stdout(sys.stderr) if to_pipe else nullcontext():  # the JSON stands alone
            return run(recipe)

    parameters = [_parameter(one) for one in options or options_of(name)]
    command.__doc__ = run.__doc__
    command.__annotations__ = {}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_keyword("context", typer.Context), *parameters]
    )
    app.command(name, cls=Command)(command)


def _keyword(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _parameter(one: Declared) -> inspect.Parameter:
    """Return an option as Typer reads it; what it was not given stays None, but is shown."""
    option, required = one.option, one.default is REQUIRED
    shown = one.default if isinstance(one.default, int | float | str | Path) else None
    metavar = f"{option.metavar} [{one.bounds}]" if one.bounds else option.metavar
    name = one.name.replace("-", "_") + "_" * iskeyword(one.name)
    if one.name in ARGUMENTS:
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


app.command("demo", cls=Command)(demo.command)
for _name, _module in {
    "audit": audit, "test": test, "risk": risk, "sanitize": sanitize, "compare": compare,
    "columns": columns,
}.items():  # fmt: skip
    add_command(_name, _module.command)
app.command("verify", cls=Command)(verify.command)
app.command("reproduce", cls=Command)(reproduce.command)
add_command("hierarchy", hierarchy.command, hierarchy.OPTIONS)
app.command("r", cls=Command)(r.command)
add_command("sql", sql.command, sql.OPTIONS)
add_command("import", arx.command, arx.OPTIONS)
add_command("serve", serve.command, serve.OPTIONS)

INTERRUPTED = "interrupted; nothing was kept."

# Typer has click inside or beside it, as its version goes; this is the class in both.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0].__bases__[0]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"indiff {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(Exit.BAD_INPUT)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the exit code says how it ended (see ``docs/index.md``)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # an old terminal may lack the letter δ
    with _interruptions() as came:
        sweep()
        code = _run(arguments, came)
        sweep()  # what other processes of this command left, which were ended with it
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        plain.forget_output(sys.stdout)
    except OSError as error:
        plain.forget_output(sys.stdout)
        code = code or _fail(_unwritten(error), Exit.BAD_INPUT)
    sys.exit(code)


@contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Let what ends a program interrupt it, as Ctrl-C does; yield the signals that came.

    Whoever ignores one of them, as nohup does, goes on ignoring it.
    """
    came: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in ENDINGS:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@cache
def _command() -> Any:
    """Build the command with all its options: a fifth of a short call, and always the same."""
    return typer.main.get_command(app)


def _run(arguments: Sequence[str] | None, came: Sequence[int]) -> int:
    if "_INDIFF_COMPLETE" in os.environ:  # the shell asks what could be typed next
        app(prog_name="indiff")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        command = _command()
        # Not command.main: it ends a broken pipe with 1, which here means an exceeded limit.
        with command.make_context("indiff", words) as context:
            command.invoke(context)
        return Exit.NOTHING_EXCEEDED
    except typer.Exit as ending:
        return ending.exit_code
    except UserError as error:
        shown = "--show-values" in words
        told = for_shell(error, show_values=shown)
        return _fail(told, Exit.INTERRUPTED if came else Exit.BAD_INPUT)
    except _UsageError as error:
        return _fail(_usage(error), Exit.BAD_INPUT)
    except BrokenPipeError:
        plain.forget_output(sys.stdout)
        return Exit.INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        return _fail(INTERRUPTED, Exit.INTERRUPTED)
    except MemoryError as error:  # nothing exceeded, and no bug
        return _fail(f"{why_exhausted(error)}; what was not written is lost.", Exit.INCOMPLETE)
    except Exception as error:  # noqa: BLE001 - the one place that turns a bug into exit code 70
        if came:  # DuckDB makes another error of it, and so does a terminal that is gone
            return _fail(INTERRUPTED, Exit.INTERRUPTED)
        if isinstance(error, OSError) and (why := why_exhausted(error)) is not None:
            told = f"{why}, for the output or for temporary files (their place: TMPDIR)."
            return _fail(told, Exit.BAD_INPUT)
        return _internal_error(error)


def _internal_error(error: Exception) -> int:
    traceback.print_exception(error)
    return _fail(
        f"internal error ({type(error).__name__}); please report it with the lines above, "
        "without any data.",
        Exit.INTERNAL_ERROR,
    )


def _unwritten(error: OSError) -> str:
    return f"the output cannot be written ({error.strerror}); see to the disk."


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "indiff"
    format_message = getattr(error, "format_message", lambda: str(error))
    return f"{format_message().rstrip('.')}; see '{path} --help'."


def _fail(message: str, code: int) -> int:
    try:
        sys.stderr.write(f"indiff: {plain.message(message)}\n")
        sys.stderr.flush()
    except OSError:  # a terminal that is gone, or a full disk
        plain.forget_output(sys.stderr)
    return code


if __name__ == "__main__":
    main()

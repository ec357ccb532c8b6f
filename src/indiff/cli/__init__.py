"""Starts the command line, and ends it."""

import atexit
import gc
import os
import sys
import threading

# A program's modules are objects that stay. Looking through them for garbage whenever 700 more
# were made took a tenth of a short run, 100,000 a twentieth, and freeing each at its end a fifth.
_OBJECTS_BETWEEN_LOOKS = 1_000_000


def start() -> None:
    """Run the program ``indiff``; whatever ends it before a command begins is a bug, never a 1."""
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, *gc.get_threshold()[1:])
    try:
        from indiff.cli.unasked import keep_out_unasked

        keep_out_unasked()
        from indiff.cli.main import main

        main()
    except SystemExit as ending:
        if isinstance(ending.code, int):
            _leave(ending.code)
        raise
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 - a library that is too old may raise anything
        import traceback

        traceback.print_exception(error)
        sys.stderr.write(
            f"indiff: it cannot start ({type(error).__name__}); install it anew with the versions "
            "of libraries that it asks for, and report it with the lines above if that does not "
            "help.\n"
        )
        sys.exit(70)


def _leave(code: int) -> None:
    """End the process without freeing its memory, unless other threads are to be waited for.

    What is to be done at the end is done first, as in the processes of Python's multiprocessing.
    """
    if threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):  # nobody reads, or it is closed: Python ends it in its own way
        return
    os._exit(code)

"""Starts the command line."""

import sys


def start() -> None:
    """Run the program ``indiff``; whatever ends it before a command begins is a bug, never a 1."""
    try:
        from indiff.cli.main import main

        main()
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

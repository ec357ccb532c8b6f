"""Asks for one target, again where the call fails, and keeps the answer or the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from indiff.errors import InternalError, Message, UserError, said
from indiff.sanitizers.oracles.function import OracleFailed

Ask = Callable[[int], Any]

LONGEST_FAILURE = 500
DIED = "the process that made the call died: it crashed, was killed or ran out of memory"


@dataclass(frozen=True)
class Answer:
    """What came of one target: a value, or why there is none; and after how many calls."""

    place: int
    value: Any
    failure: str | None = None
    tries: int = 1


def attempt(ask: Ask, place: int, retries: int) -> Answer:
    """Ask for one target, and again if it fails.

    What a user has to correct, and what is a bug of ours, is no failure of a call.

    >>> attempt(lambda place: 1 / place, 0, retries=1)
    Answer(place=0, value=None, failure='ZeroDivisionError: division by zero', tries=2)
    """
    told = Message("")
    for tries in range(1, retries + 2):
        try:
            return Answer(place, ask(place), None, tries)
        except OracleFailed as error:
            told = error.message
        except (UserError, InternalError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - strangers' code may raise anything
            told = Message(f"{type(error).__name__}: {said(str(error), str)}")
    return Answer(place, None, told.shortened(LONGEST_FAILURE), retries + 1)

"""Runs the steps of an audit: times them, and keeps what was measured when one ends early."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from indiff.errors import UserError, why_exhausted

Progress = Callable[[str, int, int], object]


@dataclass
class Clock:
    """How long each step took: the only part of a document that differs between two runs."""

    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    begin: float = field(default_factory=time.perf_counter)
    steps: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, seconds: float) -> None:
        """Add the time that something took to a step's."""
        self.steps[name] = self.steps.get(name, 0.0) + seconds

    def to_dict(self) -> dict[str, Any]:
        """Return the times as plain data."""
        seconds = round(time.perf_counter() - self.begin, 3)
        steps = {name: round(spent, 3) for name, spent in self.steps.items()}
        return {"started": self.started, "seconds": seconds, "steps": steps}


@dataclass(frozen=True)
class Staged:
    """The audit's progress as one test's, which may also tell each new distance."""

    say: Progress
    stage: str

    def __call__(self, done: int, total: int) -> None:
        """Tell how far the test is."""
        self.say(self.stage, done, total)

    def measured(self, distance: float) -> None:
        """Hand a record's distance to whoever wants it."""
        if hasattr(self.say, "measured"):
            self.say.measured(distance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Whether somebody asked to stop, and which steps failed and why.

    Memory or disk that runs out, and a bug, fail what was being measured and nothing else.
    """

    say: Progress
    clock: Clock
    stopped: list[bool] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    bugs: list[Exception] = field(default_factory=list)

    def failed(self, error: Exception) -> str:
        """Return why a measurement failed, in words that hold no value; keep a bug for later."""
        exhausted = why_exhausted(error)
        if exhausted is None:
            self.bugs.append(error)
        return exhausted or f"a bug in indiff ({type(error).__name__}); please report it"

    def attempt(self, name: str) -> Step:
        """Time a step; where it fails, ``lost`` has the reason."""
        return Step(self, name)

    def step(self, name: str) -> Step:
        """Time a step that an interruption ends, too: what was measured before it is kept."""
        return Step(self, name, interruptible=True)


@dataclass
class Step:
    """A block that may fail without taking along what was measured before it."""

    steps: Steps
    name: str
    interruptible: bool = False
    begin: float = field(default_factory=time.perf_counter)

    def __enter__(self) -> None:
        self.begin = time.perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.steps.clock.add(self.name, time.perf_counter() - self.begin)
        if isinstance(error, KeyboardInterrupt) and self.interruptible:
            self.steps.stopped.append(True)
            return True
        if not isinstance(error, Exception) or isinstance(error, UserError):
            return False
        self.steps.lost[self.name] = self.steps.failed(error)
        return True

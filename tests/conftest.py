"""Shared fixtures, and the rule that nothing is skipped where it must run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No test makes a key in the home of whoever runs it, and golden files are the same for all.
os.environ["INDIFF_KEY"] = str(Path(__file__).parent / "fingerprint.key")
if "PYTEST_XDIST_WORKER" in os.environ:  # the other cores run other tests
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],  # by the clock: a busy machine is no bug
)  # fmt: skip
settings.register_profile(
    "long", max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("long" if os.environ.get("INDIFF_LONG") else "quick")


def skip(reason: str) -> None:
    """Skip with a reason on a user's machine; fail where ``INDIFF_NO_SKIP`` says all must run."""
    if os.environ.get("INDIFF_NO_SKIP"):
        pytest.fail(f"must run here: {reason}")
    pytest.skip(reason)


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The engines that were opened since and not closed."""
    from indiff.engines.duckdb import DuckDBEngine

    found: list[object] = []
    opened, closed = DuckDBEngine.__init__, DuckDBEngine.close

    def open_one(self: DuckDBEngine, *given: Any, **named: Any) -> None:
        found.append(self)
        opened(self, *given, **named)

    def close_one(self: DuckDBEngine) -> None:
        closed(self)
        found.remove(self)

    monkeypatch.setattr(DuckDBEngine, "__init__", open_one)
    monkeypatch.setattr(DuckDBEngine, "close", close_one)
    return found


@pytest.fixture(scope="session")
def needs_data() -> Path:
    """The folder with the real data sets (``INDIFF_DATA``)."""
    folder = os.environ.get("INDIFF_DATA")
    if not folder or not (Path(folder) / "adult.data").exists():
        skip("set INDIFF_DATA to the folder with adult.data and internet.data")
    return Path(str(folder))

"""The ITPR paper's made-up tables are measured once in a test run."""

from __future__ import annotations

import pytest

from indiff.papers.run import Run


@pytest.fixture(scope="session")
def itpr_run() -> Run:
    return Run()

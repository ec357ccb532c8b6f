"""What a worker can be asked to do: one function per kind of job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indiff.web.jobs.audit import run
from indiff.web.jobs.estimating import estimate
from indiff.web.jobs.profiling import build_hierarchy, profile

# From the store, the job and its reporter to the answer to keep, and the document if there is one.
Job = Callable[[Any, dict[str, Any], Callable[..., None]], tuple[Any, str | None]]

JOBS: dict[str, Job] = {
    "profile": profile,
    "hierarchy": build_hierarchy,
    "estimate": estimate,
    "run": run,
}

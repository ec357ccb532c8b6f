"""indiff pen-tests anonymized data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from indiff.errors import InternalError, UserError
from indiff.version import __version__

if TYPE_CHECKING:
    from indiff import datasets, plot
    from indiff.audit.comparison import compare
    from indiff.audit.plan import Plan, read_plan
    from indiff.audit.remedy import fix
    from indiff.audit.result import AuditResult
    from indiff.audit.running import run_audit
    from indiff.differential import DifferentialResult, differential_test
    from indiff.differential.dropped_row import test_release
    from indiff.differential.linkage import Linkage
    from indiff.differential.membership import MembershipResult, membership_inference
    from indiff.differential.release_result import ReleaseResult
    from indiff.differential.strongest import StrongestResult
    from indiff.differential.why import explain
    from indiff.ground import Emd
    from indiff.hierarchy import Hierarchy
    from indiff.inference import Classifier, Encoding, Frequency, NaiveBayes
    from indiff.release import Release, read_release
    from indiff.risk import Risk, measure_risk
    from indiff.sanitizers.command import Command
    from indiff.sanitizers.mondrian import Mondrian
    from indiff.sanitizers.noisy import Gaussian, Geometric, Laplace, RandomizedResponse
    from indiff.sanitizers.oracle import Oracle
    from indiff.sanitizers.releases import Releases
    from indiff.sanitizers.trivial import Identity, Suppress
    from indiff.table import Table, read_table

# Loaded on first use, so that importing indiff costs nothing.
_HOMES = {
    "AuditResult": "indiff.audit.result",
    "Classifier": "indiff.inference",
    "Command": "indiff.sanitizers.command",
    "DifferentialResult": "indiff.differential",
    "Emd": "indiff.ground",
    "Encoding": "indiff.inference",
    "Frequency": "indiff.inference",
    "Gaussian": "indiff.sanitizers.noisy",
    "Geometric": "indiff.sanitizers.noisy",
    "Hierarchy": "indiff.hierarchy",
    "Identity": "indiff.sanitizers.trivial",
    "Laplace": "indiff.sanitizers.noisy",
    "Linkage": "indiff.differential.linkage",
    "MembershipResult": "indiff.differential.membership",
    "Mondrian": "indiff.sanitizers.mondrian",
    "NaiveBayes": "indiff.inference",
    "Oracle": "indiff.sanitizers.oracle",
    "Plan": "indiff.audit.plan",
    "RandomizedResponse": "indiff.sanitizers.noisy",
    "Release": "indiff.release",
    "ReleaseResult": "indiff.differential.release_result",
    "Releases": "indiff.sanitizers.releases",
    "Risk": "indiff.risk",
    "StrongestResult": "indiff.differential.strongest",
    "Suppress": "indiff.sanitizers.trivial",
    "Table": "indiff.table",
    "compare": "indiff.audit.comparison",
    "differential_test": "indiff.differential",
    "explain": "indiff.differential.why",
    "fix": "indiff.audit.remedy",
    "measure_risk": "indiff.risk",
    "membership_inference": "indiff.differential.membership",
    "read_plan": "indiff.audit.plan",
    "read_release": "indiff.release",
    "read_table": "indiff.table",
    "test_release": "indiff.differential.dropped_row",
    "run_audit": "indiff.audit.running",
}
_MODULES = ("datasets", "plot")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"indiff.{name}")
    raise AttributeError(f"module 'indiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AuditResult",
    "Classifier",
    "Command",
    "DifferentialResult",
    "Emd",
    "Encoding",
    "Frequency",
    "Gaussian",
    "Geometric",
    "Hierarchy",
    "Identity",
    "InternalError",
    "Laplace",
    "Linkage",
    "MembershipResult",
    "Mondrian",
    "NaiveBayes",
    "Oracle",
    "Plan",
    "RandomizedResponse",
    "Release",
    "ReleaseResult",
    "Releases",
    "Risk",
    "StrongestResult",
    "Suppress",
    "Table",
    "UserError",
    "__version__",
    "compare",
    "datasets",
    "differential_test",
    "explain",
    "fix",
    "measure_risk",
    "membership_inference",
    "plot",
    "read_plan",
    "read_release",
    "read_table",
    "run_audit",
    "test_release",
]

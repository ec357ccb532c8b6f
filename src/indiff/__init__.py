"""indiff pen-tests anonymized data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from indiff.errors import InternalError, UserError
from indiff.version import __version__

if TYPE_CHECKING:
    from indiff import datasets, plot
    from indiff.audit.compare import compare
    from indiff.audit.fix import fix
    from indiff.audit.plan.plan import Plan, read_plan
    from indiff.audit.result import AuditResult
    from indiff.audit.run import run_audit
    from indiff.data.hierarchy import Hierarchy
    from indiff.data.table import Table, read_table
    from indiff.differential import DifferentialResult, differential_test
    from indiff.differential.beside.dropped_row import test_release
    from indiff.differential.beside.linkage import Linkage
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.explain.membership import MembershipResult, membership_inference
    from indiff.differential.explain.why import explain
    from indiff.differential.strongest import StrongestResult
    from indiff.distances.functions import Emd
    from indiff.inference import Classifier, Encoding, Frequency, NaiveBayes
    from indiff.release.reading import read_release
    from indiff.release.release import Release
    from indiff.risk import Risk, measure_risk
    from indiff.sanitizers.mondrian.mondrian import Mondrian
    from indiff.sanitizers.noise.mechanisms import Gaussian, Geometric, Laplace, RandomizedResponse
    from indiff.sanitizers.oracles.command import Command
    from indiff.sanitizers.oracles.folder import Releases
    from indiff.sanitizers.oracles.function import Oracle
    from indiff.sanitizers.trivial import Identity, Suppress

# Loaded on first use, so that importing indiff costs nothing.
_HOMES = {
    "AuditResult": "indiff.audit.result",
    "Classifier": "indiff.inference",
    "Command": "indiff.sanitizers.oracles.command",
    "DifferentialResult": "indiff.differential",
    "Emd": "indiff.distances.functions",
    "Encoding": "indiff.inference",
    "Frequency": "indiff.inference",
    "Gaussian": "indiff.sanitizers.noise.mechanisms",
    "Geometric": "indiff.sanitizers.noise.mechanisms",
    "Hierarchy": "indiff.data.hierarchy",
    "Identity": "indiff.sanitizers.trivial",
    "Laplace": "indiff.sanitizers.noise.mechanisms",
    "Linkage": "indiff.differential.beside.linkage",
    "MembershipResult": "indiff.differential.explain.membership",
    "Mondrian": "indiff.sanitizers.mondrian.mondrian",
    "NaiveBayes": "indiff.inference",
    "Oracle": "indiff.sanitizers.oracles.function",
    "Plan": "indiff.audit.plan.plan",
    "RandomizedResponse": "indiff.sanitizers.noise.mechanisms",
    "Release": "indiff.release.release",
    "ReleaseResult": "indiff.differential.beside.result",
    "Releases": "indiff.sanitizers.oracles.folder",
    "Risk": "indiff.risk",
    "StrongestResult": "indiff.differential.strongest",
    "Suppress": "indiff.sanitizers.trivial",
    "Table": "indiff.data.table",
    "compare": "indiff.audit.compare",
    "differential_test": "indiff.differential",
    "explain": "indiff.differential.explain.why",
    "fix": "indiff.audit.fix",
    "measure_risk": "indiff.risk",
    "membership_inference": "indiff.differential.explain.membership",
    "read_plan": "indiff.audit.plan.plan",
    "read_release": "indiff.release.reading",
    "read_table": "indiff.data.table",
    "test_release": "indiff.differential.beside.dropped_row",
    "run_audit": "indiff.audit.run",
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

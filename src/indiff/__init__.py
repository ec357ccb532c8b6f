"""indiff pen-tests anonymized data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from indiff.errors import InternalError, UserError
from indiff.version import __version__

if TYPE_CHECKING:
    from indiff import datasets, plot
    from indiff.audit.compare import compare
    from indiff.audit.document import AuditResult
    from indiff.audit.fix import fix
    from indiff.audit.plan.plan import Plan, read_plan
    from indiff.audit.run import run_audit
    from indiff.data.built_hierarchy import BuiltHierarchy, build_hierarchy
    from indiff.data.hierarchy import Hierarchy
    from indiff.data.joining.joined import Joined, join_tables
    from indiff.data.table import Table, read_table
    from indiff.differential import DifferentialResult, differential_test
    from indiff.differential.beside.dropped_row import test_release
    from indiff.differential.beside.linkage import Linkage
    from indiff.differential.beside.result import ReleaseResult
    from indiff.differential.beside.several import test_releases
    from indiff.differential.beside.several_result import SeveralResult
    from indiff.differential.claim.claim import test_claim
    from indiff.differential.claim.membership import MembershipRuns, infer_membership
    from indiff.differential.claim.result import ClaimResult
    from indiff.differential.explain.membership import MembershipResult, membership_inference
    from indiff.differential.explain.why import explain
    from indiff.differential.strongest import StrongestResult
    from indiff.differential.synthetic.result import SyntheticResult
    from indiff.differential.synthetic.test import test_synthetic
    from indiff.distances.functions import Emd
    from indiff.inference import Classifier, Encoding, Frequency, NaiveBayes
    from indiff.release.reading import read_release
    from indiff.release.release import Release
    from indiff.risk import Risk, measure_risk
    from indiff.risk.identifying.after_join import UniqueAfterJoin, unique_after_join
    from indiff.risk.identifying.columns import IdentifyingColumns, identifying_columns
    from indiff.risk.identifying.special_uniques import SpecialUniques, special_uniques
    from indiff.sanitizers.mondrian.mondrian import Mondrian
    from indiff.sanitizers.noise.marginals import Marginals
    from indiff.sanitizers.noise.mechanisms import Gaussian, Geometric, Laplace, RandomizedResponse
    from indiff.sanitizers.oracles.command import Command
    from indiff.sanitizers.oracles.folder import Releases
    from indiff.sanitizers.oracles.function import Oracle
    from indiff.sanitizers.oracles.http_service import Http
    from indiff.sanitizers.perturbation.mdav import Mdav
    from indiff.sanitizers.perturbation.noisy_values import AdditiveNoise, MultiplicativeNoise
    from indiff.sanitizers.perturbation.pram import Pram
    from indiff.sanitizers.perturbation.rank_swap import RankSwap
    from indiff.sanitizers.recoding.recoding import Recoding
    from indiff.sanitizers.sanitizer import Identity, Suppress

# Loaded on first use, so that importing indiff costs nothing.
_HOMES = {
    "indiff.audit.compare": "compare",
    "indiff.audit.fix": "fix",
    "indiff.audit.plan.plan": "Plan read_plan",
    "indiff.audit.document": "AuditResult",
    "indiff.audit.run": "run_audit",
    "indiff.data.built_hierarchy": "BuiltHierarchy build_hierarchy",
    "indiff.data.hierarchy": "Hierarchy",
    "indiff.data.joining.joined": "Joined join_tables",
    "indiff.data.table": "Table read_table",
    "indiff.differential": "DifferentialResult differential_test",
    "indiff.differential.beside.dropped_row": "test_release",
    "indiff.differential.beside.linkage": "Linkage",
    "indiff.differential.beside.result": "ReleaseResult",
    "indiff.differential.beside.several": "test_releases",
    "indiff.differential.beside.several_result": "SeveralResult",
    "indiff.differential.claim.claim": "test_claim",
    "indiff.differential.claim.membership": "MembershipRuns infer_membership",
    "indiff.differential.claim.result": "ClaimResult",
    "indiff.differential.explain.membership": "MembershipResult membership_inference",
    "indiff.differential.explain.why": "explain",
    "indiff.differential.strongest": "StrongestResult",
    "indiff.differential.synthetic.result": "SyntheticResult",
    "indiff.differential.synthetic.test": "test_synthetic",
    "indiff.distances.functions": "Emd",
    "indiff.inference": "Classifier Encoding Frequency NaiveBayes",
    "indiff.release.reading": "read_release",
    "indiff.release.release": "Release",
    "indiff.risk": "Risk measure_risk",
    "indiff.risk.identifying.after_join": "UniqueAfterJoin unique_after_join",
    "indiff.risk.identifying.columns": "IdentifyingColumns identifying_columns",
    "indiff.risk.identifying.special_uniques": "SpecialUniques special_uniques",
    "indiff.sanitizers.mondrian.mondrian": "Mondrian",
    "indiff.sanitizers.noise.marginals": "Marginals",
    "indiff.sanitizers.noise.mechanisms": "Gaussian Geometric Laplace RandomizedResponse",
    "indiff.sanitizers.oracles.command": "Command",
    "indiff.sanitizers.oracles.folder": "Releases",
    "indiff.sanitizers.oracles.function": "Oracle",
    "indiff.sanitizers.oracles.http_service": "Http",
    "indiff.sanitizers.perturbation.mdav": "Mdav",
    "indiff.sanitizers.perturbation.noisy_values": "AdditiveNoise MultiplicativeNoise",
    "indiff.sanitizers.perturbation.pram": "Pram",
    "indiff.sanitizers.perturbation.rank_swap": "RankSwap",
    "indiff.sanitizers.recoding.recoding": "Recoding",
    "indiff.sanitizers.sanitizer": "Identity Suppress",
}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "plot"):
        return importlib.import_module(f"indiff.{name}")
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'indiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AdditiveNoise", "AuditResult", "BuiltHierarchy", "ClaimResult", "Classifier", "Command",
    "DifferentialResult", "Emd", "Encoding", "Frequency", "Gaussian", "Geometric", "Hierarchy",
    "Http", "IdentifyingColumns", "Identity", "InternalError", "Joined", "Laplace", "Linkage",
    "Marginals", "Mdav", "MembershipResult", "MembershipRuns", "Mondrian",
    "MultiplicativeNoise", "NaiveBayes", "Oracle", "Plan", "Pram", "RandomizedResponse",
    "RankSwap", "Recoding", "Release", "ReleaseResult", "Releases", "Risk", "SeveralResult",
    "SpecialUniques", "StrongestResult", "Suppress", "SyntheticResult", "Table",
    "UniqueAfterJoin", "UserError", "__version__", "build_hierarchy", "compare", "datasets",
    "differential_test", "explain", "fix", "identifying_columns", "infer_membership",
    "join_tables", "measure_risk", "membership_inference", "plot", "read_plan", "read_release",
    "read_table", "run_audit", "special_uniques", "test_claim", "test_release", "test_releases",
    "test_synthetic", "unique_after_join",
]  # fmt: skip

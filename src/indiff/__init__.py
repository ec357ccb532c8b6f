"""indiff pen-tests anonymized data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from indiff.errors import InternalError, UserError
from indiff.version import __version__

if TYPE_CHECKING:
    from indiff import datasets
    from indiff.differential import DifferentialResult, differential_test
    from indiff.hierarchy import Hierarchy
    from indiff.inference import Frequency, NaiveBayes
    from indiff.release import Release, read_release
    from indiff.risk import Risk, measure_risk
    from indiff.sanitizers.mondrian import Mondrian
    from indiff.sanitizers.noisy import Gaussian, Geometric, Laplace, RandomizedResponse
    from indiff.sanitizers.trivial import Identity, Suppress
    from indiff.table import Table, read_table

# Loaded on first use, so that importing indiff costs nothing.
_HOMES = {
    "DifferentialResult": "indiff.differential",
    "Frequency": "indiff.inference",
    "Gaussian": "indiff.sanitizers.noisy",
    "Geometric": "indiff.sanitizers.noisy",
    "Hierarchy": "indiff.hierarchy",
    "Identity": "indiff.sanitizers.trivial",
    "Laplace": "indiff.sanitizers.noisy",
    "Mondrian": "indiff.sanitizers.mondrian",
    "NaiveBayes": "indiff.inference",
    "RandomizedResponse": "indiff.sanitizers.noisy",
    "Release": "indiff.release",
    "Risk": "indiff.risk",
    "Suppress": "indiff.sanitizers.trivial",
    "Table": "indiff.table",
    "differential_test": "indiff.differential",
    "measure_risk": "indiff.risk",
    "read_release": "indiff.release",
    "read_table": "indiff.table",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "datasets":
        return importlib.import_module("indiff.datasets")
    raise AttributeError(f"module 'indiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "DifferentialResult",
    "Frequency",
    "Gaussian",
    "Geometric",
    "Hierarchy",
    "Identity",
    "InternalError",
    "Laplace",
    "Mondrian",
    "NaiveBayes",
    "RandomizedResponse",
    "Release",
    "Risk",
    "Suppress",
    "Table",
    "UserError",
    "__version__",
    "datasets",
    "differential_test",
    "measure_risk",
    "read_release",
    "read_table",
]

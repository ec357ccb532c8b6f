"""The differential test: leave each record out, re-sanitize, compare what an adversary believes."""

from indiff.differential.result import DifferentialResult
from indiff.differential.test import differential_test

__all__ = ["DifferentialResult", "differential_test"]

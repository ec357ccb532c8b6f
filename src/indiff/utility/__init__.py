"""Utility: what a release loses, and what an analyst can still do with it."""

from indiff.utility.accuracy import Analyst
from indiff.utility.measure import Utility, measure

__all__ = ["Analyst", "Utility", "measure"]

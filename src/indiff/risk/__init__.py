"""Risk: how far published columns narrow down who a record is, and what its values are."""

from indiff.risk.measure import measure_risk
from indiff.risk.result import Risk

__all__ = ["Risk", "measure_risk"]

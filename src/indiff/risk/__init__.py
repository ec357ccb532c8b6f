"""Risk: how far published columns narrow down who a record is, and what its values are."""

from indiff.risk.measure import Risk, measure_risk

__all__ = ["Risk", "measure_risk"]

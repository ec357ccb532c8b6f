"""Every metric is tested on every engine."""

from tests.risk.sessions import engine, spark

__all__ = ["engine", "spark"]

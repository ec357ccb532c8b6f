"""The one Spark session of a run, for the tests of what is read."""

from tests.risk.sessions import spark

__all__ = ["spark"]

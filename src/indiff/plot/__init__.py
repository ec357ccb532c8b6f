"""Results, or the parts of an audit's document, as Altair charts.

Each function takes the Python result or the part of the document that was made from it and
returns an Altair chart, to be shown in a notebook, combined or saved. Text of the table (names of
columns, settings) is only ever data of a chart: never a field's name, an expression or markup.
"""

from __future__ import annotations

from indiff.plot.charts import cdf, columns, parameter, risk, worst
from indiff.plot.tradeoff import tradeoff

__all__ = ["cdf", "columns", "parameter", "risk", "tradeoff", "worst"]

"""The differential test of the raw table, which the papers call k = 1 and ℓ = 1, in one pass.

Without sanitizing, leaving a record out lowers one count for each attribute and the count of its
class by one. So the beliefs without every record come from one set of count tables. It gives what
``differential_test(table, Identity())`` gives by fitting a model for every record.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table

Floats = NDArray[np.float64]


def raw_beliefs(table: Table, alpha: float = 1.0) -> tuple[Floats, Floats]:
    """Return naive Bayes' beliefs about every record, with it and without it (DIT v2, 4.5.1).

    Records × sensitive values. A class whose only member is left out has probability 0. This is
    the raw table's exposure to one model, and no limit for another.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [1, 1, 2], "ill": ["n", "y", "n"]}), sensitive="ill")
    >>> beliefs, without = raw_beliefs(table)
    >>> beliefs[0].round(3), without[0].round(3)
    (array([0.6, 0.4]), array([0.333, 0.667]))
    """
    classes, size = table.sensitive.codes, len(table.sensitive.values)
    own = np.zeros((len(table), size))
    own[np.arange(len(table)), classes] = 1.0
    totals = np.bincount(classes, minlength=size).astype(np.float64)
    with_record, without = _log(np.tile(totals, (len(table), 1))), _log(totals - own)
    for attribute in table.attributes:
        cells = attribute.codes.astype(np.int64) * size + classes
        counts = np.bincount(cells, minlength=len(attribute.values) * size).reshape(-1, size)
        held = counts[attribute.codes].astype(np.float64)
        with_record += np.log((held + alpha) / (totals + 2 * alpha))
        without += np.log((held - own + alpha) / (totals - own + 2 * alpha))
    return _normal(with_record), _normal(without)


def _log(counts: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # an empty class: minus infinity, probability 0
        logs: Floats = np.log(counts)
    return logs


def _normal(scores: Floats) -> Floats:
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    normal: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normal

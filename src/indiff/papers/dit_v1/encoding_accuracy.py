"""Counts how often naive Bayes guesses right with each of the 24 encodings, for all records.

Bernoulli naive Bayes adds one term for each feature, and every feature belongs to one column. So
each column has a table of terms, value × class, for each way to encode it: a target's score is the
sum of the prior and one row of each column's table, whether a column is relative to the target
(``TF``) or not. The 24 encodings share these tables, and no model is fitted twice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.inference import ENCODINGS, Encoding
from indiff.inference.features import Block
from indiff.release.release import Release, ReleasedColumn

Floats = NDArray[np.float64]
ALPHA = 1.0
TIES = 1e-12


def accuracies(
    table: Table, release: Release, encodings: tuple[str, ...] = ENCODINGS
) -> dict[str, tuple[float, int]]:
    """Return for each encoding the share of records guessed right, and its number of features.

    Equal to training scikit-learn's ``BernoulliNB`` for every record on the encoded release and
    asking it about the record (DIT v1, Appendix A.2). It says how well people in the table are
    guessed, not how much their records reveal.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [21, 25, 30, 38, 52, 64], "sex": list("mfmfmf"),
    ...                              "ill": list("yynnyn")}), sensitive="ill")
    >>> accuracies(table, Mondrian(k=2).sanitize(table), ("TF-TF",))
    {'TF-TF': (0.6666666666666666, 2)}
    """
    size = len(release.sensitive_values)
    totals = np.bincount(release.classes, minlength=size).astype(np.float64)
    with np.errstate(divide="ignore"):
        prior = np.log(totals)
    terms: dict[tuple[int, str], tuple[Floats, int]] = {}
    found = {}
    for name in encodings:
        encoding = Encoding.named(name)
        scores = np.tile(prior, (len(table), 1))
        width = 0
        for place, (column, block) in enumerate(
            zip(release.columns, encoding.of(release).blocks, strict=True)
        ):
            part = encoding.numeric if column.attribute.kind == "numeric" else encoding.categorical
            key = place, part
            if key not in terms:
                terms[key] = _terms(column, block, release.classes, totals)
            scores += terms[key][0][table.attribute(column.attribute.name).codes]
            width += terms[key][1]
        best = scores.max(axis=1, keepdims=True)
        guessed = np.argmax(scores >= best - TIES, axis=1)
        found[name] = float((guessed == table.sensitive.codes).mean()), width
    return found


def _terms(
    column: ReleasedColumn, block: Block | None, classes: NDArray[np.int32], totals: Floats
) -> tuple[Floats, int]:
    """Return the term of every value for every class, and how many features it is of."""
    size = len(totals)
    if block is None:  # the target covers itself, so it is all ones
        counts = column.cover_counts(classes, size, None)
        return np.log((counts + ALPHA) / (totals + 2 * ALPHA)), 1
    held = np.zeros((column.count, size))
    np.add.at(held, (column.index, classes), 1)
    ones = (block.regions > 0).T.astype(np.float64) @ held  # BernoulliNB takes x > 0 as 1
    chance = (ones + ALPHA) / (totals + 2 * ALPHA)
    values = (block.values > 0).astype(np.float64)
    return values @ np.log(chance) + (1 - values) @ np.log(1 - chance), block.width

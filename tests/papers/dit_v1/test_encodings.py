"""Accuracies from counts are those of models trained one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from indiff import Classifier, Identity, Mondrian, datasets
from indiff.inference import ENCODINGS
from indiff.papers.dit_v1.encodings import accuracies
from indiff.sanitizers.noise.quantiles_before import quantiles_before


def test_equal_to_scikit_learn(needs_data: Path) -> None:
    table = datasets.adult(40, folder=needs_data)
    for sanitizer in (Mondrian(k=4), Identity()):
        for early in (False, True):
            rows = quantiles_before(table, 5) if early else table
            release = sanitizer.sanitize(rows)
            names = tuple(e for e in ENCODINGS if e.startswith("QuantilesB") == early)[::4]
            for name, (accuracy, width) in accuracies(rows, release, names).items():
                model = Classifier("naive-bayes", encoding=name)
                beliefs = model.beliefs(release, rows)
                top = beliefs >= beliefs.max(axis=1, keepdims=True) - 1e-12
                expected = (np.argmax(top, axis=1) == rows.sensitive.codes).mean()
                assert accuracy == expected, name
                assert width == model._encoding.of(release).width

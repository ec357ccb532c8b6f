"""Compares the encodings of DIT v1, Appendix A.2 (Figures 8 to 10).

python -m indiff.papers.dit_v1.comparison                  both tables
python -m indiff.papers.dit_v1.comparison adult --targets 1000 --model tree

Needs the folder ``INDIFF_DATA`` with Adult and Internet Usage, and for ``--hierarchies`` with
``hierarchies/``. The paper does not say how it generalizes. That Binary-HotA needs the most
features holds for ordered sets, of which a release shows many; along hierarchies it shows fewer
generalizations than the table has values, and Binary-Hot needs more.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from indiff.data.table import Table
from indiff.errors import UserError
from indiff.inference import ENCODINGS, Classifier, Encoding
from indiff.papers.run import Run
from indiff.release.release import Release
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.noise.quantiles_before import quantiles_before
from indiff.sanitizers.sanitizer import Sanitizer

TABLES = {"adult": "adult", "internet": "internet-v1"}


@dataclass(frozen=True)
class EncodingScore:
    """One encoding: how well the model guesses with it, and what that takes.

    ``accuracy`` is the share of targets whose true value is the most probable, ``features`` how
    many numbers describe a released record, ``models`` how many were trained for all targets, and
    ``seconds`` how long encoding, training and asking took together, without sanitizing.
    """

    encoding: str
    accuracy: float
    features: int
    targets: int
    models: int
    seconds: float


def compare_encodings(
    table: Table,
    sanitizer: Sanitizer | None = None,
    targets: int = 200,
    seed: int = 0,
    *,
    model: Any = "naive-bayes",
    encodings: Sequence[str] = ENCODINGS,
) -> tuple[EncodingScore, ...]:
    """Compare encodings on the release of the full table (DIT v1, Appendix A.2).

    The release is Mondrian's with k = 5 unless another sanitizer is given. ``targets`` records are
    drawn by ``seed``, the same for every encoding; ``model`` is the name of a classifier or an
    object of scikit-learn. ``QuantilesB`` cuts numbers before sanitizing, so it has a release of
    its own. The accuracy is that of guessing people who are in the table: neither how much their
    records reveal, which is what the differential test measures, nor how well others are guessed.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(pa.table({"age": [21, 25, 30, 38, 52, 64], "sex": list("mfmfmf"),
    ...                              "ill": list("yynnyn")}), sensitive="ill")
    >>> for score in compare_encodings(table, Mondrian(k=2), encodings=["Binary-HotA", "TF-TF"]):
    ...     print(score.encoding, score.features, score.models)
    Binary-HotA 7 1
    TF-TF 2 6
    """
    if isinstance(targets, bool) or not isinstance(targets, int) or targets < 1:
        raise UserError(
            "targets must be a number of records of at least 1", repr(targets), field="targets"
        )
    sanitizer = Mondrian(k=5) if sanitizer is None else sanitizer
    rows = np.sort(np.random.default_rng(seed).permutation(len(table))[:targets])
    released: dict[bool, tuple[Table, Release]] = {}
    scores = []
    for name in encodings:
        encoding = Encoding.named(name)
        early = encoding.numeric == "QuantilesB"
        if early not in released:
            original = quantiles_before(table, encoding.quantiles) if early else table
            released[early] = _released(original, sanitizer, model)
        scores.append(_score(*released[early], rows, model, encoding, seed))
    return tuple(scores)


def _released(table: Table, sanitizer: Sanitizer, model: Any) -> tuple[Table, Release]:
    release = sanitizer.sanitize(table)
    Classifier(model).beliefs(release, table.take([0]))  # libraries are loaded before time counts
    return table, release


def _score(
    table: Table, release: Release, rows: Any, model: Any, encoding: Encoding, seed: int
) -> EncodingScore:
    asked = table.take(rows)
    classifier = Classifier(model, encoding=encoding, seed=seed)
    start = time.perf_counter()
    beliefs = classifier.beliefs(release, asked)
    seconds = time.perf_counter() - start
    encoded = encoding.of(release)
    codes = np.stack([asked.attribute(c.attribute.name).codes for c in release.columns], axis=1)
    guessed = np.argmax(beliefs >= beliefs.max(axis=1, keepdims=True) - 1e-12, axis=1)
    return EncodingScore(
        encoding=str(encoding),
        accuracy=float((guessed == asked.sensitive.codes).mean()),
        features=encoded.width,
        targets=len(rows),
        models=len(encoded.sharing(np.unique(codes, axis=0))),
        seconds=seconds,
    )


def as_text(scores: Sequence[EncodingScore]) -> str:
    """Write the scores as a table, one line for each encoding in the appendix's order."""
    header = f"{'encoding':<18}{'accuracy':>10}{'features':>10}{'models':>8}{'ms/target':>11}"
    lines = [f"{header}{'ms/model':>10}"]
    lines += [
        f"{score.encoding:<18}{100 * score.accuracy:>8.2f} %{score.features:>10,}"
        f"{score.models:>8,}{1000 * score.seconds / score.targets:>11.3f}"
        f"{1000 * score.seconds / score.models:>10.2f}"
        for score in scores
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison; 0, or 2 where an input does not fit."""
    parser = argparse.ArgumentParser(description="Compare the 24 encodings of DIT v1, Appendix A.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help="adult, internet; or both")
    parser.add_argument("--targets", type=int, default=200, help="records to guess (200)")
    parser.add_argument("--k", type=int, default=5, help="of Mondrian (5)")
    parser.add_argument("--hierarchies", action="store_true", help="generalize along hierarchies")
    parser.add_argument("--model", default="naive-bayes", help="a classifier's name (naive-bayes)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (0)")
    given = parser.parse_args(arguments)
    strays = [name for name in given.tables if name not in TABLES]
    folder = os.environ.get("INDIFF_DATA")
    if strays:
        parser.error(f"a table is one of {', '.join(TABLES)}; got {strays[0]!r}")
    if not folder:
        parser.error("set INDIFF_DATA to the folder with adult.data, internet.data and hierarchies")
    try:
        for name in given.tables or TABLES:
            table = Run(Path(folder)).table(TABLES[name], trees=given.hierarchies)
            scores = compare_encodings(
                table, Mondrian(k=given.k), given.targets, given.seed, model=given.model
            )
            regions = "hierarchies" if given.hierarchies else "ordered sets"
            sys.stdout.write(
                f"{name}: {len(table):,} records, Mondrian k = {given.k} on {regions}, "
                f"{given.model}, {scores[0].targets:,} targets\n{as_text(scores)}\n\n"
            )
    except UserError as error:
        sys.stderr.write(f"indiff: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The comparison of encodings, DIT v1, Appendix A.2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indiff import Classifier, Mondrian, UserError, datasets
from indiff.inference import ENCODINGS
from indiff.papers.dit_v1.comparison import as_text, compare_encodings, main
from indiff.papers.run import Run


def test_features_are_as_the_appendix_says(needs_data: Path) -> None:
    scores = compare_encodings(datasets.adult(500, folder=needs_data), targets=5)
    assert [score.encoding for score in scores] == list(ENCODINGS)
    features = {score.encoding: score.features for score in scores}
    assert [name for name, count in features.items() if count == 5] == [
        "Scaling-TF", "QuantilesB-TF", "TF-TF",
    ]  # fmt: skip
    assert min(features.values()) == 5
    assert features["Bounds-TF"] == 7
    assert max(features, key=lambda name: features[name]) == "Binary-HotA"


def test_internet_usage_has_one_feature_per_attribute(needs_data: Path) -> None:
    table = datasets.internet_usage("v1", folder=needs_data).take(range(0, 9799, 20))
    scores = compare_encodings(table, targets=3, encodings=["Binary-HotA", "Bounds-TF", "TF-TF"])
    assert [score.features for score in scores][1:] == [7, 6]
    assert scores[0].features > 50


def test_accuracy_and_models_by_hand(needs_data: Path) -> None:
    table = datasets.adult(300, folder=needs_data)
    (score,) = compare_encodings(
        table, Mondrian(k=3), targets=300, model="tree", encodings=["Bounds-HotA"]
    )
    beliefs = Classifier("tree", encoding="Bounds-HotA").beliefs(
        Mondrian(k=3).sanitize(table), table
    )
    hits = [np.flatnonzero(row == row.max())[0] == true
            for row, true in zip(beliefs, table.sensitive.codes, strict=True)]  # fmt: skip
    assert score.accuracy == pytest.approx(np.mean(hits))
    assert (score.models, score.targets) == (1, 300)


def test_one_command(
    needs_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDIFF_DATA", str(needs_data))
    small = datasets.adult(300, folder=needs_data)
    monkeypatch.setattr(Run, "table", lambda run, name, trees: small)
    assert main(["adult", "--targets", "5"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("adult: 300 records, Mondrian k = 5 on ordered sets, naive-bayes")
    assert [line.split()[0] for line in printed[2:26]] == list(ENCODINGS)
    assert main(["adult", "--model", "nothing"]) == 2
    assert "no classifier 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["census"])
    assert "a table is one of adult, internet; got 'census'" in capsys.readouterr().err


def test_bad_input(needs_data: Path) -> None:
    with pytest.raises(UserError, match="targets must be a number of records of at least 1; got 0"):
        compare_encodings(datasets.adult(50, folder=needs_data), targets=0)
    assert as_text([]).split() == ["encoding", "accuracy", "features", "models", "ms/target",
                                   "ms/model"]  # fmt: skip

"""Every paper that a number comes from is listed in full."""

from __future__ import annotations

import re

import pytest

from indiff.audit.metrics import METRICS
from indiff.report.references import PAPERS, references
from tests.report.documents import usual


@pytest.mark.parametrize("name", list(METRICS))
def test_every_source_of_a_metric_is_listed(name: str) -> None:
    source = METRICS[name].source
    for part in source.split(";"):
        if re.search(r"\b(19|20)\d\d\b|DIT|ITPR", part):
            assert any(short in part for short in PAPERS), part


def test_only_what_the_report_names_is_listed_and_its_policy_first() -> None:
    made = usual()
    found = [short for short, _ in references(made)]
    assert found[0] == "guide"
    assert {"ITPR paper", "DIT v2", "WP29 opinion 05/2014"} <= {*found}
    assert "Xu et al. 2006" not in found
    made["policy"] = None
    assert "guide" not in dict(references(made))

"""The glossary explains every number, adversary, sanitizer and distance that a report can name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from indiff.audit.metrics import METRICS
from indiff.distances.functions import DISTANCES
from indiff.inference.models import MODELS
from indiff.report.glossary import glossary
from indiff.report.markdown import render as markdown
from indiff.report.page.html import render
from tests.report.documents import usual
from tests.report.test_parts import whole


def with_finding(metric: str) -> dict[str, Any]:
    made = usual()
    made["findings"] = [{**made["findings"][0], "metric": metric, "id": metric}]
    made["tried"] = None
    return made


def terms(document: dict[str, Any]) -> set[str]:
    return {one.term for one in glossary(document)}


NOTHING = terms(with_finding("no metric"))


@pytest.mark.parametrize("metric", list(METRICS))
def test_every_metric_has_a_term_of_its_own(metric: str) -> None:
    added = terms(with_finding(metric)) - NOTHING
    assert added
    # The short name in a title's brackets is what a reader looks up.
    for short in re.findall(r"\((ITPR|DR|k|t|β)\)", METRICS[metric].title):
        assert any(short in re.split(r"\W+", one) for one in added), short


@pytest.mark.parametrize("name", list(MODELS))
def test_every_adversary_has_a_term(name: str) -> None:
    made = with_finding("no metric")
    made["plan"]["adversary"] = {"models": [name]}
    assert terms(made) - NOTHING


@pytest.mark.parametrize("name", [*DISTANCES, "emd:hierarchy"])
def test_every_distance_has_a_term(name: str) -> None:
    made = with_finding("no metric")
    made["plan"]["adversary"] = {"distance": name}
    assert terms(made) - NOTHING


@pytest.mark.parametrize(
    "name",
    ["mondrian:k=5", "laplace:epsilon=1", "geometric:epsilon=1", "gaussian:sigma=1",
     "randomized-response:epsilon=1", "identity", "suppress", "command:./a", "releases:folder",
     "http://127.0.0.1/x", "pram:p=0.8", "rank-swap:percent=5", "mdav:k=5",
     "additive-noise:scale=0.1", "multiplicative-noise:scale=0.1", "dp-marginals:epsilon=1"],
)  # fmt: skip
def test_every_sanitizer_has_a_term(name: str) -> None:
    made = with_finding("no metric")
    made["release"]["sanitizer"] = "made.csv"
    before = terms(made)
    made["release"]["sanitizer"] = name
    assert terms(made) - before


def test_only_what_is_used_is_explained_in_order() -> None:
    listed = [one.term for one in glossary(usual())]
    assert listed == sorted(listed, key=str.casefold)
    assert len(listed) == len(set(listed))
    assert any(one.startswith("ITPR") for one in listed)
    assert not any(one.startswith("NCP") for one in listed)
    page = render(usual())
    assert all(one in page for one in listed)


# What an officer looked for, and what it is called in a report.
LOOKED_UP = {
    "strongest adversary": "strongest adversary",
    "false alarm": "false alarm",
    "its constraint": "constraint",
    "naive-bayes": "naive Bayes",
    "frequency": "conditional frequency",
    "tree": "tree",
    "forest": "forest",
    "logistic": "logistic",
    "gradient-boosting": "gradient boosting",
    "mlp": "mlp",
    "knn": "knn",
    "ITPR": "ITPR, information-theoretic privacy risk",
    "DR": "DR, disclosure risk on average",
    "δ": "δ (delta)",
    "cells that show nothing (suppressed)": "suppressed cell",
    "typical cell": "typical cell",
    "TF-TF": "TF-TF",
    "encoding": "encoding",
    "policy": "policy",
    "fingerprint": "fingerprint",
    "quasi-identifiers": "column roles",
    "Incomplete": "pass, fail, incomplete",
    "SHA-256": "SHA-256",
    "interval": "interval",
    "wasserstein": "wasserstein",
}


def test_every_term_that_was_looked_up_is_explained() -> None:
    made = whole(usual())
    made["findings"] += [
        {**made["findings"][0], "metric": name, "id": name, "means": one.means, "title": one.title}
        for name, one in METRICS.items()
    ]
    made["findings"][0]["title"] = "δ by the strongest adversary"
    made["plan"]["adversary"] = {"distance": "wasserstein"}
    made["tried"] |= {
        "models": ["naive-bayes"],
        "other_models": list(MODELS),
        "encodings": ["TF-TF"],
    }
    text = markdown(made)
    for used, term in LOOKED_UP.items():
        assert used in text, used
        assert f"- {term}: " in text, term

"""What can be chosen on the way to a release and an adversary, with one sentence each."""

from __future__ import annotations

from typing import Any

SANITIZERS: list[dict[str, Any]] = [
    {
        "name": "mondrian",
        "default": "mondrian:k=5",
        "sentence": "Groups records until each group has at least k of them, and shows ranges.",
        "parameters": [
            {"name": "k", "default": 5, "sentence": "The least number of records in a group."},
            {"name": "l", "default": 3, "sentence": "No value holds more than 1/ℓ of a group."},
            {"name": "t", "default": 0.2, "sentence": "How far a group may be from the table."},
        ],
    },
    {
        "name": "laplace",
        "default": "laplace:epsilon=0.5",
        "sentence": "Publishes counts with Laplace noise: differential privacy with budget ε.",
        "parameters": [{"name": "epsilon", "default": 0.5, "sentence": "Smaller is noisier."}],
    },
    {
        "name": "geometric",
        "default": "geometric:epsilon=0.5",
        "sentence": "Publishes whole-number counts with geometric noise.",
        "parameters": [{"name": "epsilon", "default": 0.5, "sentence": "Smaller is noisier."}],
    },
    {
        "name": "gaussian",
        "default": "gaussian:sigma=2",
        "sentence": "Publishes counts with Gaussian noise of standard deviation σ.",
        "parameters": [{"name": "sigma", "default": 2, "sentence": "Larger is noisier."}],
    },
    {
        "name": "randomized-response",
        "default": "randomized-response:epsilon=1",
        "sentence": "Replaces each sensitive value at random before it is published.",
        "parameters": [{"name": "epsilon", "default": 1, "sentence": "Smaller is noisier."}],
    },
    {
        "name": "identity",
        "default": "identity",
        "sentence": "Publishes the records as they are: the worst case to compare with.",
        "parameters": [],
    },
    {
        "name": "suppress",
        "default": "suppress",
        "sentence": "Hides every quasi-identifier: the best case to compare with.",
        "parameters": [],
    },
]

MODELS = {
    "auto": "The usual one for the release: naive Bayes, or frequency for noisy counts.",
    "naive-bayes": "Weighs each column by itself; the papers' adversary, exact and fast.",
    "frequency": "Looks only at released records that fit the person on every column.",
    "tree": "A decision tree; slower, since it learns again for each record.",
    "forest": "Many decision trees; slow.",
    "logistic": "Logistic regression; slower.",
    "gradient-boosting": "Boosted trees; the slowest and often the strongest.",
    "mlp": "A small neural network; slow.",
    "knn": "Asks the most similar released records.",
}

DISTANCES = {
    "wasserstein": "The papers' distance, from 0 (nothing learned) to 2 (certain, and opposite).",
    "tv": "Total variation between the two beliefs, from 0 to 1.",
    "emd": "Earth mover's distance with all values equally far apart, from 0 to 1.",
    "emd:hierarchy": "Earth mover's distance along the sensitive column's hierarchy.",
    "emd:numeric": "Earth mover's distance in the sensitive number's own unit.",
    "coordinate-tv": "How many of the probabilities move at all.",
    "kl": "Kullback-Leibler divergence; infinite where a possibility disappears.",
    "js": "Jensen-Shannon divergence, from 0 to 1.",
    "hellinger": "Hellinger distance, from 0 to 1.",
    "max-divergence": "The largest ratio of probabilities, as differential privacy has it.",
}


def listed(names: dict[str, str]) -> list[dict[str, str]]:
    """Return names with their sentences.

    >>> listed({"a": "An a."})
    [{'name': 'a', 'sentence': 'An a.'}]
    """
    return [{"name": name, "sentence": sentence} for name, sentence in names.items()]


def limits() -> list[dict[str, str]]:
    """Return every limit that can be set, with its direction and what it is on."""
    from indiff.audit.metrics import METRICS
    from indiff.audit.plan.limits import BOTH, limit_names

    both = dict.fromkeys(BOTH, "of re-identification and of inference")
    return [
        {
            "name": name,
            "rule": METRICS[name].rule if name in METRICS else "at most",
            "sentence": METRICS[name].title if name in METRICS else f"{name.upper()} {both[name]}",
        }
        for name in limit_names()
    ]

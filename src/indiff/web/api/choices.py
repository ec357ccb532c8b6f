"""Lists what can be chosen on the way to a release and an adversary, with one sentence each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from indiff.audit.metrics import METRICS
from indiff.audit.plan.limits import BOTH, limit_names
from indiff.audit.plan.policies import preset_names, read_policy
from indiff.report.adversaries import WORKS
from indiff.report.plain_words import SANITIZERS


@dataclass(frozen=True)
class Preset:
    """One way to sanitize; ``start`` and a value make the sanitizer's text."""

    group: str
    name: str
    title: str
    sentence: str
    start: str
    sign: str = ""
    default: str = ""

    @property
    def sanitizer(self) -> str:
        """The sanitizer's own name."""
        return self.start.partition(":")[0]

    @property
    def parameter(self) -> str:
        """The parameter whose value is asked for, or nothing."""
        return re.split("[:,]", self.start)[-1].removesuffix("=") if self.sign else ""


PRESETS = (
    Preset("groups", "k", "Groups of at least k records",
           "k-anonymity (Mondrian): quasi-identifiers become ranges that k records or more share.",
           "mondrian:k=", "k", "5"),
    Preset("groups", "l", "Groups with varied sensitive values",
           "ℓ-diversity: in no group does one sensitive value hold more than 1/ℓ of the records.",
           "mondrian:l=", "ℓ", "3"),
    Preset("groups", "t", "Groups that resemble the whole table",
           "t-closeness: each group's sensitive values lie within t of the table's, k at least 5.",
           "mondrian:k=5,t=", "t", "0.2"),
    Preset("groups", "recoding", "Whole columns made coarser",
           "k-anonymity (full-domain recoding): one level of each column's hierarchy for all "
           "records; the few that still stand out, at most 2 %, are hidden.",
           "recoding:suppression=0.02,k=", "k", "5"),
    Preset("noise", "laplace", "Noisy counts (Laplace)",
           "Differential privacy: publishes counts with noise; a smaller ε is noisier.",
           "laplace:epsilon=", "ε", "0.5"),
    Preset("noise", "geometric", "Noisy whole counts (geometric)",
           "Differential privacy with counts that stay whole numbers; a smaller ε is noisier.",
           "geometric:epsilon=", "ε", "0.5"),
    Preset("noise", "gaussian", "Noisy counts (Gaussian)",
           "Counts with noise of standard deviation σ; a larger σ is noisier.",
           "gaussian:sigma=", "σ", "2"),
    Preset("noise", "response", "Randomized response",
           "Replaces each sensitive value at random before anything is published.",
           "randomized-response:epsilon=", "ε", "1"),
    Preset("ends", "identity", "The records as they are",
           "Changes nothing: the worst case to compare with.", "identity"),
    Preset("ends", "suppress", "Every quasi-identifier hidden",
           "Leaves only the sensitive column: the safest case to compare with.", "suppress"),
)  # fmt: skip
GROUPS = {
    "groups": "Hide people in groups",
    "noise": "Add noise",
    "ends": "The two ends, to compare with",
}
# Commands run only by the names that the server was started with, never from a request.
BUILT_IN = tuple(dict.fromkeys(preset.sanitizer for preset in PRESETS))

# What each adversary is called on a page beside how it works, and one sentence.
_ADVERSARIES = {
    "naive-bayes": ("naive Bayes", "The papers' adversary, exact and fast."),
    "frequency": ("frequency", "Counts only released records that fit the person on every column."),
    "tree": ("decision tree", "Slower than these two on large tables."),
    "forest": ("random forest", "Slow."),
    "logistic": ("logistic regression", "Slower."),
    "gradient-boosting": ("gradient boosting", "The slowest and often the strongest."),
    "mlp": ("mlp", "Slow."),
    "knn": ("nearest neighbours", "Those of the release that are nearest to the person."),
}
# Everything with its plain name first, then its own; and one sentence.
MODELS = {
    "auto": ("The strongest of the usual ones (auto)",
             "Naive Bayes, frequency and, where it is fast, a decision tree; for noisy counts "
             "frequency."),
} | {
    name: (f"{WORKS[name].capitalize()} ({called})", told)
    for name, (called, told) in _ADVERSARIES.items()
}  # fmt: skip
DISTANCES = {
    "wasserstein": ("All shifts of a belief together (wasserstein)",
                    "The papers' distance, from 0 (nothing learned) to 2 (certain, and opposite)."),
    "tv": ("The share of a belief that moves (total variation)", "From 0 to 1."),
    "emd": ("The work of moving a belief (earth mover's)",
            "All values equally far apart, from 0 to 1."),
    "emd:hierarchy": ("The work of moving a belief along the hierarchy (earth mover's)",
                      "Along the sensitive column's own hierarchy."),
    "emd:numeric": ("The work of moving a belief along numbers (earth mover's)",
                    "In the sensitive number's own unit."),
    "coordinate-tv": ("How many probabilities move at all (coordinate-tv)",
                      "Whatever the size of the shift."),
    "kl": ("The surprise at a new belief (Kullback-Leibler)",
           "Infinite where a possibility disappears."),
    "js": ("The surprise from the middle (Jensen-Shannon)", "From 0 to 1."),
    "hellinger": ("The angle between two beliefs (Hellinger)", "From 0 to 1."),
    "max-divergence": ("The largest ratio of probabilities (max-divergence)",
                       "As differential privacy has it."),
}  # fmt: skip


def method(name: str) -> str:
    """Say what a model or a distance does before its name; any other name is as it is.

    >>> method("naive-bayes"), method("tree:encoding=TF"), method("emd:numeric")[:13]
    ('weighs each column by itself (naive-bayes)', 'asks one question after the other \
(tree:encoding=TF)', 'the work of m')
    """
    known = MODELS | DISTANCES
    title, _ = known.get(name) or known.get(name.partition(":")[0], ("", ""))
    plain = title.partition(" (")[0]
    return f"{plain[0].lower()}{plain[1:]} ({name})" if plain else name


PLAIN = SANITIZERS
FIXED = ", fix for δ ≤ "  # what the name of a run says after its sanitizer


def plainly(title: str) -> str:
    """Say what a release is before its sanitizer's text; any other name is as it is.

    >>> plainly("mondrian:k=5"), plainly("theirs.csv")
    ('groups of similar people (mondrian:k=5)', 'theirs.csv')
    >>> plainly(f"mondrian:k=5{FIXED}0.2")
    'groups of similar people (mondrian:k=5), fix for δ ≤ 0.2'
    """
    made, sign, limit = title.partition(FIXED)
    plain = PLAIN.get(made.partition(":")[0].strip())
    return title if plain is None else f"{plain} ({made}){sign}{limit}"


def sanitizers() -> list[dict[str, Any]]:
    """Return every built-in sanitizer, with the parameters that the page asks for."""
    found: dict[str, dict[str, Any]] = {}
    for one in PRESETS:
        about = {"name": one.sanitizer, "default": one.start + one.default, "parameters": []}
        known = found.setdefault(one.sanitizer, {**about, "sentence": one.sentence})
        if one.parameter:
            default = json.loads(one.default)
            known["parameters"].append(
                {"name": one.parameter, "default": default, "sentence": one.sentence}
            )
    return list(found.values())


def listed(names: Mapping[str, tuple[str, str]]) -> list[dict[str, str]]:
    """Return names with their titles and sentences."""
    return [
        {"name": name, "title": title, "sentence": sentence}
        for name, (title, sentence) in names.items()
    ]


def policies() -> list[dict[str, Any]]:
    """Return every policy that comes with indiff, its source, and what people can vouch for.

    A point that is a ``scan`` can be vouched for where the scan leaves it open.
    """
    names = sorted(preset_names(), key=lambda name: (name.partition("-")[0], len(name), name))
    return [
        {
            "name": one.name,
            "title": one.title,
            "sentence": one.source,
            "points": [
                {"name": point.confirm or point.scan, "item": point.item, "scan": bool(point.scan)}
                for point in one.checklist
                if point.confirm or point.scan
            ],
        }
        for one in map(read_policy, names)
    ]


def limits() -> list[dict[str, str]]:
    """Return every limit that can be set, with its direction and what it is on."""
    both = {name: f"{name.upper()} of re-identification and of inference" for name in BOTH}
    return [
        {
            "name": name,
            "rule": METRICS[name].rule if name in METRICS else "at most",
            "sentence": METRICS[name].title if name in METRICS else both[name],
        }
        for name in limit_names()
    ]


def sanitizers_of(names: Iterable[str], given: Mapping[str, str]) -> list[str]:
    """Return the sanitizers of the presets that were picked, one for each value given.

    >>> sanitizers_of(["t", "k"], {"k": "2, 5,10", "t": "0,1; 0.2"})
    ['mondrian:k=2', 'mondrian:k=5', 'mondrian:k=10', 'mondrian:k=5,t=0.1', 'mondrian:k=5,t=0.2']
    """
    found = []
    for preset in PRESETS:
        whole = preset.parameter in ("k", "l")
        apart = r"[,;\s]+" if whole else r"[;\s]+|,\s+"
        values = [one.replace(",", ".") for one in re.split(apart, given.get(preset.name, ""))]
        if preset.name in names:
            found += [preset.start + value for value in filter(None, values)] or [
                preset.start + preset.default
            ]
    return found


def sorted_out(sanitizers: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return what each preset was given, and the texts that no preset makes.

    >>> sorted_out(["mondrian:k=2", "mondrian:k=5", "mondrian:k=5,l=3"])
    ({'k': '2, 5'}, ['mondrian:k=5,l=3'])
    """
    values: dict[str, str] = {}
    others = list(sanitizers)
    for preset in PRESETS:
        made = re.compile(f"{re.escape(preset.start)}({'[0-9.]+' if preset.sign else ''})")
        found = {text: match[1] for text in others if (match := made.fullmatch(text))}
        if found:
            values[preset.name] = ", ".join(found.values())
        others = [text for text in others if text not in found]
    return values, others

"""Sanitizers as a person picks them: a sentence, and one number or several to compare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """One way to sanitize; ``start`` and a value make the sanitizer's text."""

    name: str
    title: str
    sentence: str
    start: str
    sign: str = ""
    default: str = ""
    whole: bool = False
    group: str = "groups"


PRESETS = (
    Preset(
        "k", "Groups of at least k records",
        "k-anonymity: quasi-identifiers become ranges that at least k records share.",
        "mondrian:k=", "k", "5", whole=True,
    ),
    Preset(
        "l", "Groups with varied sensitive values",
        "ℓ-diversity: in no group does one sensitive value hold more than 1/ℓ of the records.",
        "mondrian:l=", "ℓ", "3", whole=True,
    ),
    Preset(
        "t", "Groups that resemble the whole table",
        "t-closeness: each group's sensitive values lie within t of the table's, k at least 5.",
        "mondrian:k=5,t=", "t", "0.2",
    ),
    Preset(
        "laplace", "Noisy counts (Laplace)",
        "Differential privacy: publishes counts with noise; a smaller ε is noisier.",
        "laplace:epsilon=", "ε", "0.5", group="noise",
    ),
    Preset(
        "geometric", "Noisy whole counts (geometric)",
        "Differential privacy with counts that stay whole numbers.",
        "geometric:epsilon=", "ε", "0.5", group="noise",
    ),
    Preset(
        "gaussian", "Noisy counts (Gaussian)",
        "Counts with noise of standard deviation σ; a larger σ is noisier.",
        "gaussian:sigma=", "σ", "2", group="noise",
    ),
    Preset(
        "response", "Randomized response",
        "Replaces each sensitive value at random before anything is published.",
        "randomized-response:epsilon=", "ε", "1", group="noise",
    ),
    Preset(
        "identity", "The records as they are",
        "Changes nothing: the worst case to compare with.", "identity", group="ends",
    ),
    Preset(
        "suppress", "Every quasi-identifier hidden",
        "Leaves only the sensitive column: the safest case to compare with.", "suppress",
        group="ends",
    ),
)  # fmt: skip
GROUPS = {
    "groups": "Hide people in groups",
    "noise": "Add noise",
    "ends": "The two ends, to compare with",
}


def written(preset: Preset, given: str) -> list[str]:
    """Return a sanitizer's text for each value given.

    >>> written(PRESETS[0], "2, 5,10")
    ['mondrian:k=2', 'mondrian:k=5', 'mondrian:k=10']
    >>> written(PRESETS[2], "0,1; 0.2")
    ['mondrian:k=5,t=0.1', 'mondrian:k=5,t=0.2']
    """
    if not preset.sign:
        return [preset.start]
    apart = r"[,;\s]+" if preset.whole else r"[;\s]+|,\s+"
    values = [value.replace(",", ".") for value in re.split(apart, given) if value]
    return [preset.start + value for value in values or [preset.default]]


def sorted_out(sanitizers: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return what each preset was given, and the texts that no preset makes.

    >>> sorted_out(["mondrian:k=2", "mondrian:k=5", "mondrian:k=5,l=3"])
    ({'k': '2, 5'}, ['mondrian:k=5,l=3'])
    """
    values: dict[str, list[str]] = {}
    others = []
    for text in sanitizers:
        for preset in PRESETS:
            value = text.removeprefix(preset.start)
            number = re.fullmatch(r"[0-9.]+", value) if preset.sign else not value
            if text.startswith(preset.start) and number:
                values.setdefault(preset.name, []).append(value)
                break
        else:
            others.append(text)
    return {name: ", ".join(found) for name, found in values.items()}, others


def picked(names: Iterable[str], given: Mapping[str, str]) -> list[str]:
    """Return the sanitizers of the presets that were picked, in the order of the page."""
    chosen = set(names)
    return [
        text
        for preset in PRESETS
        if preset.name in chosen
        for text in written(preset, given.get(preset.name, ""))
    ]

"""Says in plain words what a sanitizer or an option does, and what a comparison recommends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from indiff.report.finding import MEASURES, against, encoded
from indiff.text import message

# What a sanitizer does, for those who do not know its name.
SANITIZERS = {
    "mondrian": "groups of similar people", "recoding": "whole columns made coarser",
    "laplace": "noisy counts", "geometric": "noisy whole counts", "gaussian": "noisy counts",
    "randomized-response": "sensitive values at random", "identity": "the records as they are",
    "suppress": "every quasi-identifier hidden", "pram": "values changed at random",
    "rank-swap": "similar values traded", "mdav": "averages of similar people",
    "additive-noise": "noisy numbers", "multiplicative-noise": "noisy numbers",
    "dp-marginals": "synthetic rows from noisy counts",
}  # fmt: skip
_SETTING = re.compile(rf"(?<![\w(])(?:{'|'.join(SANITIZERS)}):\w+=[\w.]*\w(?:,\w+=[\w.]*\w)*")
_OPTIONS = (
    (re.compile(r"(?<!\()--fix( delta=\S+)?"), "a fix (--fix)"),
    (re.compile(r"(?<!\()--budget"), "a larger budget (--budget)"),
)


def sanitized(setting: str) -> str:
    """Say what a release is before its sanitizer's text; any other name is as it is.

    >>> sanitized("mondrian:k=5"), sanitized("theirs.csv")
    ('groups of similar people (mondrian:k=5)', 'theirs.csv')
    """
    plain = SANITIZERS.get(setting.partition(":")[0])
    return setting if plain is None else f"{plain} ({setting})"


def step_words(sentence: str) -> str:
    """Say a proposal for readers who know neither a sanitizer's text nor an option.

    >>> step_words("Ask for mondrian:k=50, and remove 1 record of 90: --fix delta=0.4 finds it.")
    'Ask for groups of similar people (mondrian:k=50), and remove 1 record of 90: a fix (--fix) \
finds it.'
    """
    for option, plain in _OPTIONS:
        sentence = option.sub(plain, sentence)
    return _SETTING.sub(lambda found: sanitized(found[0]), sentence)


def sentence(text: str) -> str:
    """Return a text as a sentence: a capital first, unless a name is, and a stop at the end.

    >>> sentence("every limit is kept"), sentence("mondrian:k=5 is not met."), sentence("δ is 2")
    ('Every limit is kept.', 'mondrian:k=5 is not met.', 'δ is 2.')
    """
    text = text.strip()
    first = text.partition(" ")[0]
    if re.fullmatch(r"(a|[a-z]{2,})[,:;]?", first):
        text = f"{text[0].upper()}{text[1:]}"
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def recommendation(document: Mapping[str, Any]) -> str:
    """Say in a sentence which setting a comparison recommends, or that it recommends none."""
    limits = ", ".join(
        f"{name} {'at least' if name in ('k', 'l') else 'at most'} {value:g}"
        for name, value in document["limits"].items()
    )
    if document["recommended"] is None:
        return f"no setting keeps {limits}: try stronger ones"
    best = document["recommended"]
    row = next(row for row in document["rows"] if row["setting"] == best)
    models = row["models"]
    alike = row["k"] is not None and row["k"] >= document["records"]
    warning = "; BUT all its records look alike: nothing can be learned from its columns"
    return (
        f"{message(best)} keeps {limits}{against(models)}{encoded(models)}, and of those "
        f"that do it keeps most by {MEASURES[document['utility']]}{warning if alike else ''}"
    )

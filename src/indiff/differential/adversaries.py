"""Chooses the adversaries: those asked for, or by default the strongest that are exact and fast."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from indiff.data.table import Table
from indiff.errors import Message, option
from indiff.inference import Classifier, Frequency, Model, NaiveBayes, as_model
from indiff.sanitizers.mondrian.mondrian import Mondrian, missing_parts
from indiff.sanitizers.noise.mechanisms import NoisySanitizer
from indiff.sanitizers.protocol import Sanitizer
from indiff.text import describe

# A tree is asked by default up to so much work: targets × (records + patterns × values), where the
# patterns are 2 to the number of quasi-identifiers. It is up to about 10 s of one core: all
# 10,000 records of Adult take 7 s, and 60,000 would take two and a half minutes.
MOST_WORK = 12 * 10**7


@dataclass(frozen=True)
class Adversaries:
    """The models that are asked, and a note on one that was left out although it might see more."""

    models: tuple[Model, ...]
    left_out: str | None = None

    @property
    def named(self) -> dict[str, Model]:
        """The models by their names."""
        return {describe(model): model for model in self.models}


def choose_model(model: str | Model | None, sanitizer: Sanitizer) -> Model:
    """Return the one model asked for; by default the one that the papers pair with the sanitizer.

    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> str(choose_model(None, Laplace(0.5))), str(choose_model("auto", Mondrian(k=2)))
    ('frequency', 'naive-bayes')
    """
    if is_auto(model):
        return Frequency() if isinstance(sanitizer, NoisySanitizer) else NaiveBayes()
    assert model is not None
    return as_model(model)


def choose_models(
    model: str | Model | Sequence[str | Model | None] | None,
    sanitizer: Sanitizer,
    table: Table | None = None,
    *,
    targets: Iterable[int] | int | None = None,
    individual: str | None = None,
    method: str = "auto",
    share: int = 1,
) -> Adversaries:
    """Return the models asked for; where that is None or ``auto``, the strongest that are fast.

    These are naive Bayes and conditional frequency, which are exact wherever the sanitizer is not
    random, and a tree where Mondrian's exact walk feeds it from counts and the work is small
    (:data:`MOST_WORK`; ``share`` is how many tests the work is for). Of a noisy table it is
    frequency, for which alone there is a closed form. Without a table no tree is chosen.

    >>> from indiff.sanitizers.noise.mechanisms import Laplace
    >>> [list(choose_models("auto", one).named) for one in (Laplace(0.5), Mondrian(k=2))]
    [['frequency'], ['naive-bayes', 'frequency']]
    >>> list(choose_models(["auto", "knn"], Mondrian(k=2)).named)
    ['naive-bayes', 'frequency', 'knn']
    """
    asked = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    given = [as_model(one) for one in asked if one is not None and not is_auto(one)]
    if len(given) == len(asked):
        return Adversaries(tuple(given))
    usual: list[Model] = [NaiveBayes(), Frequency()]
    left_out = None
    if isinstance(sanitizer, NoisySanitizer):
        usual = [Frequency()]
    elif table is not None:
        why = _against_tree(sanitizer, table, targets, individual, method, share)
        if why is None:
            usual.append(Classifier("tree"))
        else:
            left_out = Message(f"no tree was tried: {why}; ask for it by {option('model', 'tree')}")
    taken = {describe(one) for one in given}
    added = [one for one in usual if describe(one) not in taken]
    return Adversaries((*added, *given), None if "tree" in taken else left_out)


def possible_models(model: Any, sanitizer: Sanitizer) -> dict[str, Model]:
    """Return every model that may have been chosen, by its name."""
    found = choose_models(model, sanitizer).named
    asked = model if isinstance(model, Sequence) and not isinstance(model, str) else [model]
    return found | {"tree": Classifier("tree")} if any(map(is_auto, asked)) else found


def is_auto(model: Any) -> bool:
    """Tell whether the choice was left to us."""
    return model is None or (isinstance(model, str) and model == "auto")


def _against_tree(
    sanitizer: Sanitizer,
    table: Table,
    targets: Iterable[int] | int | None,
    individual: str | None,
    method: str,
    share: int,
) -> str | None:
    """Say why a tree is not asked unless the user wants it; None where it costs little."""
    if not isinstance(sanitizer, Mondrian) or method not in ("auto", "leave-one-out"):
        return "it would learn again from a whole release for each record"
    columns, values = len(table.attributes), len(table.sensitive.values)
    if not Classifier("tree").learns_from_tally(columns):
        return f"with {columns} quasi-identifiers it would learn again for each record"
    if sanitizer.t is not None:
        return "with t-closeness the table is sanitized again for each record"
    if individual is not None:
        return "without all records of a person the table is sanitized again"
    if sanitizer.obstacle(table, sanitizer.problem(table), missing_parts(table)) is not None:
        return "the constraint is not met"
    count = len(table) if targets is None else targets
    count = count if isinstance(count, int) else len(list(count))
    work = share * min(count, len(table)) * (len(table) + 2**columns * values)
    if work > MOST_WORK:
        times = "once" if share == 1 else f"{share} times"
        return f"testing {count:,} of {len(table):,} records {times} would take it long"
    return None

"""Says of each adversary how it works and whom it exposes, and lays their numbers side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from indiff import text as plain
from indiff.report import finding as words
from indiff.text import number, percent

Found = Mapping[str, Any]
WORKS = {
    "naive-bayes": "weighs each column by itself",
    "frequency": "looks at the person's group alone",
    "tree": "asks one question after the other",
    "forest": "asks many random trees",
    "logistic": "adds up what each column says",
    "gradient-boosting": "adds up trees that correct each other",
    "mlp": "learns with a small neural network",
    "knn": "looks at the people most alike",
}
STRONGEST = "the strongest of them"
_HEADS = {
    "delta": "largest shift (δ)",
    "mean": "shift on average",
    "quantile": "99% shift at most",
    "changed_predictions": "best guesses changed",
    "advantage": "advantage",
    "told_by_the_crowd": "right without the person's record",
}


def who(name: str) -> str:
    """Say how an adversary works before its name; of one's own only the name is known.

    >>> who("naive-bayes"), who("tree:encoding=Scaling-Hot"), who("mine.Model")
    ('one who weighs each column by itself (naive-bayes)', \
'one who asks one question after the other (tree:encoding=Scaling-Hot)', 'mine.Model')
    """
    works = WORKS.get(name.partition(":")[0])
    return plain.name(name) if works is None else f"one who {works} ({plain.name(name)})"


def listed(names: Iterable[str]) -> str:
    """Name adversaries one after the other, each by how it works."""
    return ", ".join(map(who, names))


class Cell(NamedTuple):
    """One adversary's number: its text, and the finding with its place in the report."""

    text: str
    look: str
    place: int | None


class Row(NamedTuple):
    """One adversary: its name, how it works, the attribute, its numbers, how exact they are."""

    name: str
    works: str
    about: str
    above: str
    cells: tuple[Cell, ...]
    exactness: str


class SideBySide(NamedTuple):
    """The numbers of several adversaries, a column for each kind of number, and in sentences."""

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    sentences: tuple[tuple[str, str], ...]
    has_above: bool


def is_by_adversary(finding: Found) -> bool:
    """Tell whether a finding is one adversary's number, which stands beside the others'."""
    return finding["metric"] in _HEADS and finding["status"] == "measured" and bool(_name(finding))


def _name(finding: Found) -> str:
    if str(finding["id"]).endswith(":strongest"):
        return STRONGEST
    return str(finding["parameters"].get("model") or "")


def side_by_side(findings: Sequence[Found]) -> SideBySide:
    """Return the numbers of adversaries, each with its place; no row where there are none."""
    own = [one for one in findings if is_by_adversary(one)]
    metrics = [name for name in _HEADS if any(one["metric"] == name for one in own)]
    rows: dict[tuple[Any, str], dict[str, Found]] = {}
    for one in own:
        rows.setdefault((one["about"], _name(one)), {})[one["metric"]] = one
    tested = max((one["parameters"].get("records_tested") or 0 for one in own), default=0)
    several = len({about for about, _ in rows}) > 1
    shown = tuple(
        Row(
            plain.name(name),
            WORKS.get(name.partition(":")[0], ""),
            plain.name(str(about)) if several else "",
            _above(found.get("delta"), tested),
            tuple(_cell(found.get(metric)) for metric in metrics),
            ", ".join(dict.fromkeys(map(words.sureness, found.values()))),
        )
        for (about, name), found in rows.items()
    )
    worst = [max((one for one in own if one["metric"] == name), key=_order) for name in metrics]
    return SideBySide(
        tuple(_head(metric, one) for metric, one in zip(metrics, worst, strict=True)),
        shown,
        tuple(
            (f"{_HEADS[one['metric']]}, {plain.name(_name(one))}", first_sentence(one["means"]))
            for one in worst
        ),
        any(row.above for row in shown),
    )


def _order(finding: Found) -> tuple[float, bool]:
    return float(finding["value"]), _name(finding) == STRONGEST


def _head(metric: str, finding: Found) -> str:
    ends = finding["range"]
    if ends is None or ends[1] is None or metric == "changed_predictions":
        return _HEADS[metric]
    return f"{_HEADS[metric]}, {number(ends[0])} to {number(ends[1])}"


def _cell(finding: Found | None) -> Cell:
    if finding is None:
        return Cell("not computed", "plain", None)
    unit = "%" if finding["metric"] == "changed_predictions" else ""
    text = words.measured(finding) + unit + words.between(finding, unit)
    return Cell(text, words.badge(finding)[1], finding.get("place"))


def _above(delta: Found | None, most: int) -> str:
    """Say how many of the records that an adversary was asked about are above the limit on δ.

    The strongest of several was asked about as many as any of them, at ``most``.
    """
    if delta is None or delta["parameters"].get("above_limit") is None:
        return ""
    above, tested = delta["parameters"]["above_limit"], delta["parameters"].get("records_tested")
    tested = tested or most
    return f"{number(above)} of {number(tested)}" if tested else number(above)


def exposes(findings: Iterable[Found]) -> str:
    """Say of each adversary how many people it exposes; nothing where only one was asked.

    >>> def delta(model, above):
    ...     return {"id": f"delta:ill:{model}", "metric": "delta", "status": "measured",
    ...             "parameters": {"model": model, "above_limit": above, "records_tested": 50}}
    >>> exposes([delta("naive-bayes", 0), delta("tree", 1)])
    'One who weighs each column by itself (naive-bayes) exposes nobody, one who asks one question \
after the other (tree) 1 (2%).'
    """
    told: list[str] = []
    for one in findings:
        if not is_by_adversary(one) or one["metric"] != "delta" or _name(one) == STRONGEST:
            continue
        above, tested = (one["parameters"].get(x) for x in ("above_limit", "records_tested"))
        if above is not None and tested:
            how_many = f"{number(above)} ({percent(above / tested)})" if above else "nobody"
            told.append(f"{who(_name(one))}{'' if told else ' exposes'} {how_many}")
    text = ", ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if len(told) > 1 else ""


def first_sentence(text: str) -> str:
    """Return the first of several sentences.

    >>> first_sentence("k is 5.2 here. It protects nobody.")
    'k is 5.2 here.'
    """
    head, stop, _ = text.partition(". ")
    return head + (stop.strip() or "")

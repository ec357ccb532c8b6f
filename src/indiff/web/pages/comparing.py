"""Puts several finished runs into one table: each finding beside itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from indiff.report.finding import QUESTIONS, badge
from indiff.web.api.results import side_by_side
from indiff.web.jobs.audit import largest_delta
from indiff.web.refusals import FIELDS, VALUES, limit_label
from indiff.web.written import written

Document = Mapping[str, Any]
Named = Sequence[tuple[str, Document]]


def beside(documents: Sequence[Document]) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of all runs by question; each row has a cell for every run.

    >>> one = {"id": "k", "title": "k", "question": "singling-out", "better": "high", "value": 5,
    ...        "status": "measured", "limit": None, "exceeded": None}
    >>> rows = beside([{"findings": [one]}, {"findings": [{**one, "value": 9}]}])
    >>> [cell["best"] for cell in rows["singling-out"][0]["cells"]]
    [False, True]
    """
    rows = side_by_side(documents)
    for row in rows:
        row["cells"] = [one and _cell(one) for one in row["findings"]]
        _mark_best(row)
    return {
        question: found
        for question in QUESTIONS
        if (found := [row for row in rows if row["question"] == question])
    }


def _cell(finding: Mapping[str, Any]) -> dict[str, Any]:
    word, look, _ = badge(finding)
    measured = finding["status"] == "measured"
    return {"value": finding["value"], "measured": measured, "word": word, "look": look}


def _mark_best(row: dict[str, Any]) -> None:
    """Mark the best value, where the runs differ and better has a meaning."""
    cells = [cell for cell in row["cells"] if cell is not None and cell["value"] is not None]
    values = [float(cell["value"]) for cell in cells]
    differ = row["better"] is not None and len(set(values)) > 1 and not any(map(math.isnan, values))
    best = (min if row["better"] == "low" else max)(values, default=math.nan)
    for cell, value in zip(cells, values, strict=True):
        cell["best"] = differ and value == best
    if len(row["cells"]) == 2 == len(cells):
        change = values[1] - values[0]
        row["change"] = change if math.isfinite(change) else None


def _value(document: Document, metric: str) -> Any:
    for finding in document["findings"]:
        if finding["metric"] == metric and finding["status"] == "measured":
            return finding["value"]
    return None


def trade_rows(runs: Named) -> list[dict[str, Any]]:
    """Return δ and the utility of every run, and whether its release meets its own constraint."""
    return [
        {
            "setting": title,
            "delta": largest_delta(dict(document)),
            "ncp": _value(document, "ncp"),
            "accuracy": _value(document, "accuracy"),
            "constraint_met": document["release"].get("constraint_met", True),
        }
        for title, document in runs
    ]


def risk_rows(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return each risk metric before sanitizing and after each run."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for place, document in enumerate(documents):
        for one in document["charts"].get("risk") or []:
            same = {name: one[name] for name in ("metric", "about", "before")}
            known = {**same, "after": [None] * len(documents)}
            row = rows.setdefault((one["metric"], one["about"]), known)
            row["after"][place] = one["after"]
    return list(rows.values())


def settings_apart(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return each setting in which the plans of the runs are not all alike, as the pages call it.

    >>> plans = [{"run": {"seed": 1, "jobs": 1}}, {"run": {"seed": 2, "jobs": 1}}]
    >>> settings_apart([{"plan": plan} for plan in plans])
    [{'label': 'Seed of everything random', 'values': ['1', '2']}]
    """
    flat = [
        {
            (section, name): value
            for section, values in document["plan"].items()
            for name, value in (values or {}).items()
            if (section, name) != ("report", "title")
        }
        for document in documents
    ]
    rows = []
    for place in dict.fromkeys(place for one in flat for place in one):
        values = [one.get(place) for one in flat]
        if any(value != values[0] for value in values):
            section, name = place
            label = FIELDS[name].label if name in FIELDS else name.replace("_", " ")
            if section == "limits":
                label = f"Limit on {limit_label(name)}"
            rows.append({"label": label, "values": [_said(name, value) for value in values]})
    return rows


def _said(name: str, value: Any) -> str:
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return VALUES.get(name, {}).get(written(value), written(value))


def removed_apart(fixes: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return how many records were removed before each run, where any were asked to be.

    >>> removed_apart([None, {"holds": True, "removed": 12}, {"holds": False, "removed": 3}])
    [{'label': 'Outliers removed before', 'values': ['none', '12', 'none: not fixed']}]
    """
    said = [
        "none" if one is None else f"{one['removed']:,}" if one["holds"] else "none: not fixed"
        for one in fixes
    ]
    return [{"label": "Outliers removed before", "values": said}] if any(fixes) else []


def _is_fixed(documents: Sequence[Document]) -> bool:
    """Tell whether all are of one file, of which some lack the outliers."""
    files = {
        tuple(one["fingerprint"] for one in document.get("files", {}).get("input", ()))
        for document in documents
    }
    removed = any((document.get("fix") or {}).get("removed") for document in documents)
    return removed and len(files) == 1


def what_differs(documents: Sequence[Document]) -> list[str]:
    """Say what makes the runs' numbers hard to compare.

    >>> one = {"table": {"fingerprint": "a"}, "plan": {"adversary": {"distance": "tv"}}}
    >>> two = {"table": {"fingerprint": "a"}, "plan": {"adversary": {"distance": "kl"}}}
    >>> what_differs([one, two])
    ['The runs measure with different distances (tv, kl): their δ cannot be compared.']
    """
    found = []
    if len({document["table"]["fingerprint"] for document in documents}) > 1:
        found.append(
            "The runs are not about the same records: outliers were removed before some of them, "
            "and what those say holds for the people who are left."
            if _is_fixed(documents)
            else "The runs are of different tables or roles: compare with care."
        )
    distances = list(dict.fromkeys(one["plan"]["adversary"]["distance"] for one in documents))
    if len(distances) > 1:
        found.append(
            f"The runs measure with different distances ({', '.join(distances)}): their δ cannot "
            "be compared."
        )
    return found

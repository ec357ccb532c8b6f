"""Several finished runs as one table: each finding beside itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from indiff.report.words import QUESTIONS, badge
from indiff.web.jobs.audit import largest_delta

Document = Mapping[str, Any]
Named = Sequence[tuple[str, Document]]


def beside(runs: Named) -> dict[str, list[dict[str, Any]]]:
    """Return the findings of all runs by question; each row has a cell for every run.

    >>> one = {"id": "k", "title": "k", "question": "singling-out", "better": "high", "value": 5,
    ...        "status": "measured", "limit": None, "exceeded": None}
    >>> rows = beside([("a", {"findings": [one]}), ("b", {"findings": [{**one, "value": 9}]})])
    >>> [cell["best"] for cell in rows["singling-out"][0]["cells"]]
    [False, True]
    """
    rows: dict[str, dict[str, Any]] = {}
    for place, (_, document) in enumerate(runs):
        for finding in document["findings"]:
            row = rows.setdefault(
                finding["id"],
                {
                    "title": finding["title"],
                    "question": finding["question"],
                    "better": finding["better"],
                    "cells": [None] * len(runs),
                },
            )
            word, look, _ = badge(finding)
            row["cells"][place] = {
                "value": finding["value"],
                "measured": finding["status"] == "measured",
                "word": word,
                "look": look,
                "best": False,
            }
    for row in rows.values():
        _mark_best(row)
    return {
        question: found
        for question in QUESTIONS
        if (found := [row for row in rows.values() if row["question"] == question])
    }


def _mark_best(row: dict[str, Any]) -> None:
    """Mark the best value, where the runs differ and better has a meaning."""
    cells = [cell for cell in row["cells"] if cell is not None and cell["value"] is not None]
    values = [float(cell["value"]) for cell in cells]
    if row["better"] is None or len(set(values)) < 2 or any(map(math.isnan, values)):
        return
    best = min(values) if row["better"] == "low" else max(values)
    for cell, value in zip(cells, values, strict=True):
        cell["best"] = value == best


def _value(document: Document, metric: str) -> Any:
    for finding in document["findings"]:
        if finding["metric"] == metric and finding["status"] == "measured":
            return finding["value"]
    return None


def trade_rows(runs: Named) -> list[dict[str, Any]]:
    """Return δ and the utility of every run."""
    return [
        {
            "setting": title,
            "delta": largest_delta(dict(document)),
            "ncp": _value(document, "ncp"),
            "accuracy": _value(document, "accuracy"),
        }
        for title, document in runs
    ]


def risk_rows(runs: Named) -> list[dict[str, Any]]:
    """Return each risk metric before sanitizing and after each run."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for place, (_, document) in enumerate(runs):
        for one in document["charts"].get("risk") or []:
            row = rows.setdefault(
                (one["metric"], one["about"]),
                {
                    "metric": one["metric"],
                    "about": one["about"],
                    "before": one["before"],
                    "after": [None] * len(runs),
                },
            )
            row["after"][place] = one["after"]
    return list(rows.values())


def what_differs(documents: Sequence[Document]) -> list[str]:
    """Say what makes the runs' numbers hard to compare.

    >>> one = {"table": {"fingerprint": "a"}, "plan": {"adversary": {"distance": "tv"}}}
    >>> two = {"table": {"fingerprint": "a"}, "plan": {"adversary": {"distance": "kl"}}}
    >>> what_differs([one, two])
    ['The runs measure with different distances (tv, kl): their δ cannot be compared.']
    """
    found = []
    if len({document["table"]["fingerprint"] for document in documents}) > 1:
        found.append("The runs are of different tables or roles: compare with care.")
    distances = list(dict.fromkeys(one["plan"]["adversary"]["distance"] for one in documents))
    if len(distances) > 1:
        found.append(
            f"The runs measure with different distances ({', '.join(distances)}): their δ cannot "
            "be compared."
        )
    return found

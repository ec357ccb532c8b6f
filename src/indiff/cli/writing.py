"""What tests write: one document for one or several sensitive attributes, one row per record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from indiff.cli.verdict import Verdict
from indiff.text import json_text


def together(documents: Sequence[dict[str, Any]], kind: str, *, several: bool) -> dict[str, Any]:
    """Return one result as it is; where several were asked for, below their attributes' names.

    >>> together([{"format": 1, "sensitive": "ill"}], "tests", several=False)
    {'format': 1, 'sensitive': 'ill'}
    >>> together([{"format": 1, "sensitive": "ill"}], "tests", several=True)["results"]
    {'ill': {'format': 1, 'sensitive': 'ill'}}
    """
    if not several:
        return documents[0]
    return {
        "format": documents[0]["format"],
        "kind": kind,
        "results": {one["sensitive"]: one for one in documents},
    }


def judged(document: dict[str, Any], verdict: Verdict) -> str:
    """Return a document as JSON, with every limit and the verdict beside what was measured."""
    document["limits"] = [
        {
            "sensitive": check.sensitive,
            "name": check.name,
            "value": check.value,
            "limit": check.limit,
            "exceeded": check.exceeded,
        }
        for check in verdict.checks
    ]
    document["verdict"] = {"exit_code": verdict.code, "reasons": list(verdict.reasons)}
    return json_text(document)

"""Writes an audit as a short Markdown summary, for the page of a pipeline's run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indiff.report import finding as words
from indiff.report.exposed import above_limit
from indiff.report.limits import headline, limit_rows
from indiff.report.markdown import escaped, sentence

_MOST_STEPS = 3


def render(document: Mapping[str, Any]) -> str:
    """Return the verdict, its reasons, every limit and the next steps as Markdown.

    It holds no value of the table that the document lacks, and says so where that has some.
    """
    verdict = document["verdict"]
    said = words.VERDICTS[verdict["status"]]
    title, told = escaped(document["title"]), sentence(headline(document))
    lines = [f"## {said.sign} {title}: {said.word}", "", f"**{sentence(said.line)}** ({told})", ""]
    if verdict["status"] != "pass" or verdict["reasons"]:
        reasons = [*above_limit(document), *verdict["reasons"]]
        lines += [*(f"- {sentence(reason)}" for reason in reasons), ""]
    rows = limit_rows(document)
    if rows:
        lines += ["| limit | allowed | measured | outcome |", "|---|---|---|---|"]
        lines += [
            "| " + " | ".join(map(escaped, (row.name, row.limit, row.measured, row.outcome))) + " |"
            for row in rows
        ]
        lines.append("")
    if document["next_steps"]:
        steps = document["next_steps"][:_MOST_STEPS]
        lines += ["What to do next:", "", *(f"- {sentence(one['text'])}" for one in steps), ""]
    if document["show_values"]:
        lines += ["**The report names values of the table: it is as confidential.**", ""]
    lines += [
        f"{document['table']['records']:,} records, {escaped(document['release']['sanitizer'])}; "
        f"indiff {escaped(document['versions']['indiff'])}. A pass is a statement about these "
        "limits and these adversaries, and no proof of safety.",
        "",
    ]
    return "\n".join(lines)

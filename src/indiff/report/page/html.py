"""Writes the report as one HTML file that needs no network and runs only its own charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from indiff import text as plain
from indiff.report.finding import MIN_CELL
from indiff.report.page.bundle import chart_bundle, script_json, source_hash, starter, stylesheet
from indiff.report.page.figures import by_distance, figures
from indiff.report.words import PROMISE, QUESTIONS, VERDICTS, badge, flat, glance, headline
from indiff.text import apart, duration, moment, number, percent

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_COLUMNS = 500
MOST_RECORDS = 200
LONGEST_HEADING = 160


def render(document: Mapping[str, Any]) -> str:
    """Return an audit's document as a self-contained HTML page of less than 2 MB.

    The page is made from the document alone, so it can be made again from its JSON, and equal
    documents give equal pages. Whatever comes from the table is escaped: it is text, never markup.

    >>> page = render({
    ...     "format": 1, "kind": "audit", "title": "a < b", "findings": [], "charts": {},
    ...     "verdict": {"status": "no-limits", "exit_code": 0, "reasons": []},
    ...     "table": {"source": "t.csv", "records": 0, "dropped": 0, "fingerprint": "", "notes": [],
    ...               "columns": []},
    ...     "release": {"sanitizer": "identity", "records": 0, "constraint_met": True,
    ...                 "groups": None, "notes": []},
    ...     "plan": {}, "min_cell": 10, "show_values": False, "seed": 0, "command": "",
    ...     "versions": {"indiff": "1"}, "timing": {"started": "", "seconds": 0, "steps": {}},
    ... })
    >>> "<h1>a &lt; b</h1>" in page
    True
    """
    drawn = figures(document)
    scripts = [chart_bundle() if drawn else "", starter()]
    plan = document.get("plan") or {}
    template = environment().get_template("report.html.j2")
    return template.render(
        document=document,
        verdict=VERDICTS[document["verdict"]["status"]],
        headline=headline(document),
        released_elsewhere=bool((plan.get("release") or {}).get("file")),
        glance=glance(document["findings"]),
        questions=QUESTIONS,
        findings=by_question(document["findings"]),
        figures={
            question: [one for one in drawn if one.question == question]
            for question in ("singling-out", "linkability", "inference", "utility", "worst")
        },
        drawn=drawn,
        worst=by_distance(document["charts"].get("worst") or []),
        plan=flat(plan),
        scripts=scripts,
        styles=stylesheet(),
        policy=_policy(scripts, stylesheet()),
        most_columns=MOST_COLUMNS,
        most_records=MOST_RECORDS,
    )


def by_question(
    findings: Iterable[Mapping[str, Any]],
) -> dict[str, dict[str | None, list[Mapping[str, Any]]]]:
    """Findings by question, then by private, public or neither; what exceeds its limit first."""
    found: dict[str, dict[str | None, list[Mapping[str, Any]]]] = {}
    for place, one in enumerate(findings):
        kinds = found.setdefault(one["question"], {"private": [], "public": [], None: []})
        kinds[one.get("inference")].append({**one, "place": place})
    for kinds in found.values():
        for listed in kinds.values():
            listed.sort(key=lambda one: badge(one)[2])
    return found


def _policy(scripts: Sequence[str], styles: str) -> str:
    """The content security policy: only these scripts and styles, and nothing from anywhere."""
    allowed = " ".join(source_hash(script) for script in scripts if script)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {source_hash(styles)}; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def environment() -> Environment:
    """Return what renders the report's templates; the web application adds its own to it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """What a template may print: control characters as escapes, the longest texts cut."""
        if isinstance(value, str) and not isinstance(value, Markup):
            return plain.message(value)
        return value

    def raw(text: str) -> Markup:
        """Mark our own scripts and styles, and JSON that is already escaped, as markup."""
        return Markup(text)

    environment = Environment(
        loader=PackageLoader("indiff.report", "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"flat": flat, "usual_cell": MIN_CELL}
    environment.filters |= {
        "promise": PROMISE.__getitem__,
        "apart": apart,
        "badge": badge,
        "duration": duration,
        "json_data": lambda value: raw(script_json(value)),
        "moment": moment,
        "name": lambda text: plain.name(str(text)),
        "number": number,
        "percent": percent,
        "raw": raw,
        "short": lambda text: plain.shortened(plain.escaped(str(text)), LONGEST_HEADING),
    }
    return environment

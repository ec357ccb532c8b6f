"""Writes the report as one HTML file that needs no network and runs only its own charts."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indiff import text as plain
from indiff.errors import InternalError, UserError
from indiff.files import write_text
from indiff.report.finding import MIN_CELL
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


@cache
def chart_bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; it needs neither network nor eval.

    Putting it together takes seconds, so it is kept beside the compiled kernels, by version.
    """
    from indiff.kernels import cache_directory

    kept = cache_directory() / f"charts-{version('vl-convert-python')}.js"
    if kept.exists():
        return kept.read_text(encoding="utf-8")
    import vl_convert

    make: Any = vl_convert.javascript_bundle  # its stub wants an argument that it does not need
    script: str = make()
    if "</script" in script.lower() or "<!--" in script:
        raise InternalError("the chart bundle would end the element that holds it.")
    _keep(script, kept)
    return script


def _keep(script: str, place: Path) -> None:
    """Write a file at once or not at all: a cache that cannot be written is not an error."""
    with contextlib.suppress(OSError, UserError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(place, script)


@cache
def starter() -> str:
    """Return the script that draws every ``[data-chart]`` of a page from the data beside it."""
    return _resource("charts.js")


@cache
def stylesheet() -> str:
    """Return the report's styles; the charts take their colours from its variables."""
    return _resource("report.css")


def _resource(name: str) -> str:
    return (files("indiff.report") / "templates" / name).read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """Write data for a ``<script type="application/json">``: nothing in it can end the element.

    >>> script_json("</script><!--&")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--\\\\u0026"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def source_hash(script: str) -> str:
    """Return the source expression of a content security policy that allows just this text.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"

"""Writes the report as one HTML file that needs no network, and short tables for notebooks."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from indiff import text as plain
from indiff.errors import InternalError, UserError
from indiff.files import write_text
from indiff.report import finding as words
from indiff.report import sheet
from indiff.report.limits import headline
from indiff.report.page.figures import figures
from indiff.report.parts import ASKED, parameter_name, parts
from indiff.text import apart, moment, number, percent

if TYPE_CHECKING:
    from jinja2 import Environment


MOST_COLUMNS = 500
MOST_RECORDS = 200
LONGEST_HEADING = 160
LONGEST_RUNNING = 70


def render(document: Mapping[str, Any]) -> str:
    """Return an audit's document as a self-contained HTML page of less than 2 MB.

    The page is made from the document alone, so it can be made again from its JSON, and equal
    documents give equal pages. Whatever comes from the table is escaped: it is text, never markup.
    """
    drawn = figures(document)
    scripts = [chart_bundle() if drawn else "", resource("charts.js")]
    styles = resource("report.css") + _running(document)
    template = environment().get_template("report.html.j2")
    return template.render(
        **parts(document),
        headline=headline(document),
        released_elsewhere=bool(((document.get("plan") or {}).get("release") or {}).get("file")),
        glance=words.glance(document["findings"]),
        figures={
            question: [one for one in drawn if one.question == question]
            for question in (*ASKED, "worst")
        },
        drawn=drawn,
        scripts=scripts,
        styles=styles,
        content_policy=_policy(scripts, styles),
        most_columns=MOST_COLUMNS,
        most_records=MOST_RECORDS,
    )


def _running(document: Mapping[str, Any]) -> str:
    """Return what stands in the margins of every printed page."""
    files = (document.get("files") or {}).get("release") or []
    title = plain.shortened(plain.escaped(document["title"]), LONGEST_RUNNING)
    verdict = words.VERDICTS[document["verdict"]["status"]].word
    parts = {
        "top-left": title,
        "top-right": f"{verdict}, {sheet.day(document)}",
        "bottom-left": plain.shortened(plain.escaped(sheet.marking(document)), LONGEST_RUNNING),
        "bottom-center": f"release SHA-256 {files[0]['sha256'][:16]}…" if files else "",
    }
    boxes = " ".join(
        f'@{place} {{ content: "{css_text(text)}"; }}' for place, text in parts.items()
    )
    return f"@media print {{ @page {{ {boxes} }} }}\n"


def css_text(text: str) -> str:
    """Write a text for a string of a style sheet: whatever is no plain letter as an escape.

    >>> print(css_text('a"}</style>'))
    a\\000022\\00007d\\00003c\\00002fstyle\\00003e
    """
    return "".join(one if one.isascii() and one.isalnum() else f"\\{ord(one):06x}" for one in text)


def _policy(scripts: Sequence[str], styles: str) -> str:
    """The content security policy: only these scripts and styles, and nothing from anywhere."""
    allowed = " ".join(source_hash(script) for script in scripts if script)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {source_hash(styles)}; "
        "base-uri 'none'; form-action 'none'"
    )


def templates(finalize: Callable[[Any], Any], **filters: Callable[..., Any]) -> Environment:
    """Return what renders the templates of reports: every text goes through ``finalize``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("indiff.report", "templates"),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"flat": partial(words.flat, digits=4), "usual_cell": words.MIN_CELL}
    environment.filters |= {"promise": words.PROMISE.__getitem__, "number": number, **filters}
    return environment


@cache
def environment() -> Environment:
    """Return what renders the report's templates; the web application adds its own to it."""
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """What a template may print: control characters as escapes, the longest texts cut."""
        if isinstance(value, str) and not isinstance(value, Markup):
            return plain.message(value)
        return value

    return templates(
        shown,
        apart=apart,
        badge=words.badge,
        between=words.between,
        sureness=words.sureness,
        breakable=_breakable,
        json_data=lambda value: Markup(script_json(value)),
        moment=moment,
        name=lambda text: plain.name(str(text)),
        parameter=parameter_name,
        percent=percent,
        raw=Markup,  # for our own scripts and styles alone
        short=lambda text: plain.shortened(plain.escaped(str(text)), LONGEST_HEADING),
    )


def _breakable(text: Any) -> Any:
    """Return a parameter's name that may go on in the next line after a dot or an underscore.

    >>> print(_breakable("data.missing_tokens"))
    data.<wbr>missing_<wbr>tokens
    """
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([._])", r"\1<wbr>", str(escape(plain.message(str(text))))))


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
    with contextlib.suppress(OSError, UserError):  # a cache that cannot be written is no error
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(kept, script)
    return script


@cache
def resource(name: str) -> str:
    """Return a file of the report as text.

    ``charts.js`` draws every ``[data-chart]`` of a page from the data beside it; the charts take
    their colours from the variables of ``report.css``.
    """
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


def summary(document: Mapping[str, Any]) -> str:
    """Return a short HTML summary; everything that comes from the table is escaped."""
    verdict = document["verdict"]
    reasons = "".join(f"<li>{plain.html(reason)}</li>" for reason in verdict["reasons"])
    mark = "<p><strong>This shows values of the table.</strong></p>"
    rows = [
        (
            one["title"],
            words.measured(one) + (" ✕" if one["exceeded"] else ""),
            number(one["before"]),
            words.limited(one) + (": exceeded" if one["exceeded"] else ""),
        )
        for one in document["findings"]
        if one["question"] != "table"
    ]
    return (
        f"<div><h3>{plain.html(document['title'])}: {plain.html(verdict['status'])}</h3>"
        f"{mark if document['show_values'] else ''}<ul>{reasons}</ul>"
        f"{plain.html_table(('finding', 'value', 'in the original', 'limit'), rows)}</div>"
    )


def compared(document: Mapping[str, Any]) -> str:
    """Return a comparison's settings, risk against utility; those on the front are marked."""
    about = f"{len(document['rows']):,} settings about {document['sensitive']}"
    columns = words.RISK_COLUMNS | words.MEASURES
    rows = []
    for row in document["rows"]:
        last = "on the front" if row["on_front"] else ""
        if row["status"] == "failed":
            last = f"failed: {row['reason']}"
        elif row["constraint_met"] is False:
            last = "does not meet its own constraint"
        rows.append((row["setting"], *(number(row[name]) for name in columns), last))
    table = plain.html_table(("setting", *columns.values(), ""), rows)
    return f"<div><h3>{plain.html(about)}</h3>{table}</div>"

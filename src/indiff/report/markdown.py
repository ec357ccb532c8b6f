"""Writes an audit and a comparison as Markdown: the same text for the same document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from indiff import text as plain
from indiff.report import finding as words
from indiff.report.page.html import templates
from indiff.report.parts import parameter_name, parts
from indiff.report.plain_words import recommendation
from indiff.text import number

if TYPE_CHECKING:
    from jinja2 import Environment

# What Markdown or HTML inside it would read as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+|~!<>&$@:^=-])")


def render(document: Mapping[str, Any]) -> str:
    """Return an audit's document as Markdown, with every section that the page has.

    Equal documents give equal text. It holds no value of the table that the document lacks.
    """
    return _environment().get_template("report.md.j2").render(**parts(document)).rstrip() + "\n"


def render_comparison(document: Mapping[str, Any]) -> str:
    """Return a comparison as Markdown: one table, then what failed and what is recommended."""
    template = _environment().get_template("comparison.md.j2")
    text = template.render(
        document=document,
        columns=words.RISK_COLUMNS | words.UTILITY_COLUMNS,
        measure=words.MEASURES[document["utility"]],
        recommendation=recommendation(document),
    )
    return text + "\n"


@cache
def _environment() -> Environment:
    """Return what renders the templates: whatever no filter has escaped is a sentence."""
    from markupsafe import Markup

    return templates(
        lambda value: value if isinstance(value, Markup) else Markup(sentence(value)),
        beside=_beside,
        compared_number=words.compared_number,
        escaped=lambda text: Markup(escaped(text)),
        limit=words.limited,
        name=lambda text: Markup(escaped(plain.name(str(text)))),
        outcome=_outcome,
        parameter=parameter_name,
        raw=Markup,  # for our own numbers alone
        setting_note=words.setting_note,
        sureness=words.sureness,
        short=lambda text: plain.name(str(text)),
        value=_value,
    )


def escaped(text: Any) -> str:
    r"""Return text that no Markdown reader takes for markup, on one line.

    >>> print(escaped("<script>a|b</script>"))
    \<script\>a\|b\</script\>
    >>> print(escaped("=HYPERLINK(x)\n"))
    \=HYPERLINK\(x\)\\n
    """
    return _MARKUP.sub(r"\\\1", plain.message(str(text)))


def sentence(text: Any) -> str:
    """Return a sentence: only what could start markup in running text is escaped.

    >>> sentence("a_b is 0.5 (at most 2): <b>")
    'a\\\\_b is 0.5 (at most 2): \\\\<b\\\\>'
    """
    return re.sub(r"([\\`*_\[\]|~<>&$])", r"\\\1", plain.message(str(text)))


def _outcome(finding: Mapping[str, Any]) -> str:
    if finding["exceeded"] is None and finding["status"] == "measured":
        return f"not decided ({str(finding['exactness']).replace('-', ' ')})"
    if finding["exceeded"] is None:
        return f"not measured ({finding['status']})"
    return "exceeded" if finding["exceeded"] else "kept"


def _value(one: Mapping[str, Any]) -> str:
    known = one["status"] == "measured"
    return words.measured(one) + (words.between(one) if known else "")


def _beside(one: Mapping[str, Any]) -> str:
    """Say what else is known of a number: before, its range, how exact it is."""
    told = []
    if one["before"] is not None:
        told.append(f"in the original {number(one['before'])}")
    if one["range"] is not None and one["range"][1] is not None:
        told.append(f"from {number(one['range'][0])} to {number(one['range'][1])}")
    if one["better"] is not None:
        good = "better" if one["question"] == "utility" else "safer"
        told.append(f"{'lower' if one['better'] == 'low' else 'higher'} is {good}")
    if one["exactness"] is not None:
        told.append(str(one["exactness"]).replace("-", " "))
    if one["limit"] is not None:
        told.append(f"limit: {words.limited(one)}, {_outcome(one)}")
    return f" ({'; '.join(told)})" if told else ""

"""Typesets formulas as MathML when the site is built: no script, no font server, no network."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx how a formula is written."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _inline(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    self.body.append(convert(node.astext()))
    raise SkipNode


def _block(self: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    formula = convert(node.astext(), display="block")
    self.body.append(f'<div class="formula">{formula}</div>\n')
    raise SkipNode

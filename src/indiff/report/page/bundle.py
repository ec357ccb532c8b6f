"""Provides the script that draws charts in a browser, and puts their data safely beside it."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from indiff.errors import InternalError, UserError
from indiff.files import write_text


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

"""How the server says no: one sentence, as JSON to a program and as a page to a person."""

from __future__ import annotations

import html
import json
from collections.abc import MutableMapping
from typing import Any

from starlette.responses import Response

API = "/api/"


def problem(status: int, sentence: str) -> Response:
    """Return a refusal as JSON."""
    # Plain ASCII: a name with a broken surrogate could not be written otherwise.
    return Response(json.dumps({"error": sentence}).encode(), status, media_type="application/json")


def refusal(scope: MutableMapping[str, Any], status: int, sentence: str) -> Response:
    """Return a refusal as JSON below ``/api/`` and as a page elsewhere."""
    if str(scope.get("path", "")).startswith(API):
        return problem(status, sentence)
    shown = html.escape(sentence.encode("utf-8", "replace").decode())
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>indiff</title>'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="/static/indiff.css"></head>'
        f'<body><main><h1>indiff</h1><p role="alert">{shown}</p>'
        '<p><a href="/">Back to the start</a></p></main></body></html>'
    )
    return Response(page, status, media_type="text/html")

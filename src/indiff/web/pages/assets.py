"""Serves the report's own styles and chart bundle as files: a page has nothing inline."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from indiff.report.page.html import chart_bundle, starter, stylesheet

router = APIRouter(prefix="/static", include_in_schema=False)
SCRIPT = "text/javascript; charset=utf-8"


@router.get("/report.css")
def styles() -> Response:
    """Return the report's styles, which the pages share."""
    return Response(stylesheet(), media_type="text/css; charset=utf-8")


@router.get("/charts.js")
def charts() -> Response:
    """Return the script that draws every chart of a page."""
    return Response(starter(), media_type=SCRIPT)


@router.get("/vega.js")
def vega() -> Response:
    """Return the chart bundle; its address carries the version, so that it can be kept."""
    kept = {"cache-control": "private, max-age=86400"}
    return Response(chart_bundle(), media_type=SCRIPT, headers=kept)

"""The report on paper: short before its appendix, numbered, private; without a browser, a word."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from indiff.errors import UserError
from indiff.report.page import pdf
from indiff.report.page.html import render
from tests.command_line import call
from tests.conftest import skip
from tests.report.documents import hostile, usual

MOST_PAGES = 8


def pages(page: str, path: Path) -> int:
    """Print a page and count its sheets."""
    try:
        pdf.find_browser()
    except UserError:
        skip("no Chromium on this machine")
    pdf.print_pdf(page, path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    return content.count(b"/Type /Page\n")


def without_appendix(page: str) -> str:
    return re.sub(r'<div id="appendix">.*</main>', "</main>", page, flags=re.DOTALL)


def test_at_most_eight_pages_before_the_appendix(tmp_path: Path) -> None:
    page, path = render(usual()), tmp_path / "report.pdf"
    first = pages(without_appendix(page), path)
    assert 2 <= first <= MOST_PAGES
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert first < pages(page, path) <= 25


@pytest.mark.system
def test_the_demo_has_at_most_eight_pages_before_its_appendix(tmp_path: Path) -> None:
    assert call("demo", "--out", tmp_path / "demo").code == 0
    document = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    page = render(document)
    assert 3 <= pages(without_appendix(page), tmp_path / "first.pdf") <= MOST_PAGES
    pages(page, tmp_path / "whole.pdf")
    assert b"/Outlines" in (tmp_path / "whole.pdf").read_bytes()  # the sections, as bookmarks


@pytest.mark.system
def test_hostile_text_is_printed(tmp_path: Path) -> None:
    assert pages(render(hostile()), tmp_path / "report.pdf") > 2


def test_without_a_browser_it_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pdf, "NAMES", ("no-such-browser",))
    monkeypatch.setattr(pdf, "_PLACES", ())
    with pytest.raises(UserError, match=r"a PDF needs Chromium or Chrome .* print report\.html"):
        pdf.print_pdf("<p>", tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", ["exit 3", "exit 0"])
def test_a_browser_that_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\n{script}\n")
    browser.chmod(0o700)
    monkeypatch.setattr(pdf, "NAMES", (str(browser),))
    with pytest.raises(UserError, match="browser could not print the report"):
        pdf.print_pdf("<p>", tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == [browser]


def test_the_browser_is_kept_from_the_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/said\n'
        'for one in "$@"; do\n'
        'case "$one" in --print-to-pdf=*) echo %PDF > "${one#*=}";; esac\ndone\n'
    )
    browser.chmod(0o700)
    monkeypatch.setattr(pdf, "NAMES", (str(browser),))
    pdf.print_pdf("<p>", tmp_path / "report.pdf")
    said = (tmp_path / "said").read_text()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in said
    assert "--disable-background-networking" in said
    assert (tmp_path / "report.pdf").read_text() == "%PDF\n"
    assert not Path(re.findall(r"file://(\S+)", said)[0]).exists()

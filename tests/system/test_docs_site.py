"""The documentation's site in a real browser: built without a warning, whole, quiet, accessible."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

import pytest

from tests.system.browser import DESKTOP, PHONE, chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.system
DOCS = Path(__file__).parents[2] / "docs"
# One of each kind: lists, drawings, a notebook, formulas, wide tables, docstrings, charts.
SEEN = (
    "index", "start", "concepts", "tutorials/hospital", "closed-form", "options", "commands", "api",
    "coming-from", "papers/dit-v2-figure-1", "decisions/house", "tutorials/epsilon",
    "papers/itpr-table-7", "search",
)  # fmt: skip
# What somebody looks for, and the page that has the answer.
ASKED = {
    "exit code": "commands",
    "household": "risk",
    "suppressed cells": "releases",
    "hierarchy intervals": "hierarchies",  # found only if the script and the index cut words alike
    "docker": "start",
    "resume": "faq",
    "epsilon claim": "tutorials/epsilon",
    "Anonymeter": "coming-from",
    "private inference": "concepts",
    "dask cluster": "long-runs",
    "verify report": "report",
    "excel": "inputs",
    "membership": "adversaries",
}


class _Page(HTMLParser):
    """The addresses that a page names, and the places in it that can be named."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name == "href" and value and tag == "a":
                self.links.append(value)
            elif name in ("href", "src") and value:
                self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "html"
    words = ["-m", "sphinx", "-E", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(out)]
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_every_link_resolves_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 100
    broken = []
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            if link.startswith(("http://", "https://", "mailto:", "data:")):
                if link in page.loads:
                    broken.append(f"{path.relative_to(site)} loads {link}")
                continue
            file, _, place = unquote(unescape(link)).partition("#")
            target = (path.parent / file.partition("?")[0]).resolve() if file else path
            if not target.is_file():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif place and target in pages and place not in pages[target].places:
                broken.append(f"{path.relative_to(site)}: {link} (no such place)")
    assert broken == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_pages_are_quiet_fit_and_accessible(
    site: Path, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    for name in SEEN:
        with opened(browser, site / f"{name}.html", width=width, scheme=scheme) as watched:
            assert watched.complaints == [], name
            assert all(one.startswith(("file:", "data:")) for one in watched.requests), name
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert watched.axe() == [], name


def test_answers_are_found_by_the_search(site: Path, browser: Browser) -> None:
    for words, page in ASKED.items():
        address = f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}"
        with opened(browser, address) as watched:
            watched.page.wait_for_selector("#search-results li a")
            watched.page.wait_for_function(
                "/found|matching/.test(document.querySelector('#search-results').innerText)"
            )
            found = watched.page.eval_on_selector_all(
                "#search-results li a", "links => links.slice(0, 8).map(one => one.href)"
            )
            assert any(re.search(rf"/{page}\.html", one) for one in found), (words, found)
            assert watched.complaints == [], words


def test_what_a_command_prints_is_shown_as_it_was_printed(site: Path) -> None:
    text = (site / "tutorials" / "hospital.html").read_text(encoding="utf-8")
    shown = re.sub(r"<[^>]*>", "", unescape(text))
    assert re.search(r"^sex +quasi +2 +0 +0 +0\.1% +49\.9%$", shown, re.MULTILINE)
    assert "yours to decide\nnext        indiff audit --init admissions.csv writes" in shown


def test_formulas_are_typeset_without_a_script(site: Path) -> None:
    page = (site / "closed-form.html").read_text(encoding="utf-8")
    assert page.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"') > 10
    assert not re.search(r"<script[^>]*mathjax", page, re.IGNORECASE)


def test_the_paper_is_built_from_its_numbers() -> None:
    typst = pytest.importorskip("typst")
    pages = typst.compile(str(DOCS / "paper" / "note.typ"), root=str(DOCS), format="png")
    assert 4 <= len(pages) <= 6

"""The report in a real browser: it draws, stays silent, stays inside, and is accessible."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pytest

import indiff
from indiff.report.page.html import render
from tests.report.documents import HOSTILE, bare, hostile, usual
from tests.system.browser import DESKTOP, PHONE, Watched, chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Scheme = Literal["light", "dark"]
CHARTS = ["risk", "columns", "cdf", "parameter", "worst"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    shown = copy.deepcopy(usual())
    shown["show_values"] = True
    made = {"usual": usual(), "hostile": hostile(), "bare": bare(), "values": shown}
    paths = {}
    for name, document in made.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(render(document), encoding="utf-8")
    return paths


def wait_for_charts(watched: Watched) -> None:
    watched.page.wait_for_function("document.documentElement.dataset.charts === 'drawn'")


def drawn(watched: Watched) -> dict[str, float]:
    """Each chart's name and the area of its drawing that marks cover."""
    found: dict[str, float] = watched.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('[data-chart]')].map((place) => {
          const box = place.querySelector('svg').getBoundingClientRect();
          const marks = place.querySelectorAll('svg path, svg line').length;
          return [place.dataset.chart.replace('data-', ''), marks ? box.width * box.height : 0];
        }))"""
    )
    return found


def test_report_opens(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(usual()), encoding="utf-8")
    with opened(browser, path) as watched:
        wait_for_charts(watched)
        assert list(drawn(watched)) == CHARTS
        assert watched.complaints == []
        assert watched.left == []


@pytest.mark.system
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", ["usual", "hostile", "bare", "values"])
def test_report_everywhere(
    browser: Browser, pages: dict[str, Path], name: str, width: int, scheme: Scheme
) -> None:
    with opened(browser, pages[name], width=width, scheme=scheme) as watched:
        wait_for_charts(watched)
        areas = drawn(watched)
        assert list(areas) == ([] if name == "bare" else CHARTS)
        assert all(area > 10_000 for area in areas.values()), areas
        assert watched.overflow() == []
        watched.page.evaluate(
            "document.querySelectorAll('details').forEach(d => { d.open = true })"
        )
        assert watched.overflow() == []
        assert watched.axe() == []
        assert watched.complaints == []
        assert watched.left == []
        assert watched.page.evaluate("window.pwned") is None


@pytest.mark.system
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_words_are_whole(browser: Browser, pages: dict[str, Path], width: int) -> None:
    """No label of a chart leaves its drawing, and no cell of the columns' table breaks a word."""
    with opened(browser, pages["usual"], width=width) as watched:
        wait_for_charts(watched)
        outside = watched.page.evaluate(
            """() => [...document.querySelectorAll('.drawing svg text')].filter((text) => {
              const box = text.getBoundingClientRect(), edge = text.ownerSVGElement.parentElement
                .getBoundingClientRect();
              return box.width && (box.left < edge.left - 1 || box.right > edge.right + 1);
            }).map((text) => text.textContent)"""
        )
        assert outside == []
        heights = watched.page.evaluate(
            """() => [...document.querySelectorAll('#table tbody tr')].map((row) =>
              [...row.children].slice(0, 3).map((cell) => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return range.getClientRects().length;
              })).flat()"""
        )
        assert heights
        assert set(heights) == {1}


@pytest.mark.system
def test_audit_of_a_hostile_table(browser: Browser, tmp_path: Path) -> None:
    """A real audit of a table whose names and values are all hostile ends in a sound page."""
    usable = [text for text in HOSTILE if text and "\ud800" not in text]
    values = [usable[place % len(usable)] for place in range(4 * len(usable))]
    frame = pa.table(
        {
            usable[0]: values,
            usable[7]: [str(place % 3) for place in range(len(values))],
            usable[5]: values[1:] + values[:1],
        }
    )
    plan = indiff.Plan(
        data={"quasi": [usable[0], usable[7]], "sensitive": usable[5]},
        release={"sanitizer": "mondrian:k=2"},
        limits={"delta": 0.1},
        report={"title": usable[1], "show_values": True},
    )
    path = tmp_path / "report.html"
    path.write_text(indiff.run_audit(plan, frame, source=usable[2]).to_html(), encoding="utf-8")
    with opened(browser, path, width=PHONE, scheme="dark") as watched:
        wait_for_charts(watched)
        assert {"risk", "columns", "cdf", "worst"} <= set(drawn(watched))
        assert watched.overflow() == []
        assert watched.axe() == []
        assert watched.complaints == []
        assert watched.left == []
        assert watched.page.evaluate("window.pwned") is None


@pytest.mark.system
def test_charts_follow_the_colour_scheme(browser: Browser, pages: dict[str, Path]) -> None:
    colour = """getComputedStyle(document.querySelector(
      '#figure-cdf svg .mark-line path')).stroke"""
    with opened(browser, pages["usual"], scheme="light") as watched:
        wait_for_charts(watched)
        light = watched.page.evaluate(colour)
        watched.page.emulate_media(color_scheme="dark")
        dark = watched.page.evaluate(colour)
        watched.page.emulate_media(color_scheme="dark", media="print")
        paper = watched.page.evaluate(colour)
    assert light == paper == "rgb(29, 95, 166)"
    assert dark == "rgb(116, 176, 255)"


@pytest.mark.system
def test_prints_charts_sources_and_nothing_cut(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["usual"], scheme="dark") as watched:
        wait_for_charts(watched)
        pdf = watched.page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert 3 <= pdf.count(b"/Type /Page\n") <= 20
        watched.page.set_viewport_size({"width": 690, "height": 980})  # A4 without its margins
        watched.page.emulate_media(media="print")
        watched.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert watched.overflow() == []
        assert all(area > 10_000 for area in drawn(watched).values())
        # Four fifths of the paper: a little more, and the body takes a ninth page.
        narrow = """[...document.querySelectorAll('[data-chart]')].filter((place) =>
          place.querySelector('svg').getBoundingClientRect().width < 0.79 * place.clientWidth)"""
        assert watched.page.evaluate(f"{narrow}.length") == 0
        assert watched.page.locator("text=DIT v2").first.is_visible()
        assert not watched.page.locator("nav.overlook").is_visible()
        assert watched.page.locator("nav.contents").is_visible()
        white = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert white == "rgb(255, 255, 255)"
        assert watched.complaints == []


@pytest.mark.system
def test_keyboard_reaches_everything_and_shows_where_it_is(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["usual"]) as watched:
        wait_for_charts(watched)
        page = watched.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        wanted = page.evaluate("document.querySelectorAll('main a, main summary').length")
        reached = set()
        for _ in range(wanted + 20):
            page.keyboard.press("Tab")
            where = page.evaluate(
                """() => {
                  const at = document.activeElement;
                  const all = [...document.querySelectorAll('main a, main summary')];
                  const outline = parseFloat(getComputedStyle(at).outlineWidth);
                  return [all.indexOf(at), outline];
                }"""
            )
            if where[0] >= 0:
                assert where[1] >= 2
                reached.add(where[0])
        assert len(reached) == wanted


@pytest.mark.system
def test_tooltip_is_text(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["hostile"]) as watched:
        wait_for_charts(watched)
        points = watched.page.locator("#figure-columns svg .mark-symbol path")
        for place in range(min(6, points.count())):
            points.nth(place).hover(force=True)
            tip = watched.page.locator("#vg-tooltip-element")
            tip.wait_for(state="visible")
            assert tip.locator("script, img").count() == 0
        assert watched.page.evaluate("window.pwned") is None
        assert watched.complaints == []


@pytest.mark.system
def test_reads_without_scripts(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["usual"], java_script_enabled=False) as watched:
        assert watched.page.locator("h2:has-text('Failed')").is_visible()
        assert watched.page.locator("noscript p").is_visible()
        assert watched.page.locator("#summary-cdf").is_visible()


@pytest.mark.system
def test_policy_stops_what_is_not_ours(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    page = pages["usual"].read_text(encoding="utf-8")
    evil = tmp_path / "evil.html"
    added = "<script>window.pwned = 1</script><img src='https://evil.example/x.png'>"
    evil.write_text(page.replace("</main>", f"{added}</main>"), encoding="utf-8")
    with opened(browser, evil) as watched:
        wait_for_charts(watched)
        assert watched.page.evaluate("window.pwned") is None
        assert any("Content Security Policy" in said for said in watched.complaints)
        # A task of the page itself: what a debugger evaluates is exempt from the policy.
        watched.page.evaluate(
            """setTimeout(() => {
              try { window.answer = new Function('return "ran"')(); }
              catch (error) { window.answer = error.name; }
            })"""
        )
        watched.page.wait_for_function("'answer' in window")
        assert watched.page.evaluate("window.answer") == "EvalError"

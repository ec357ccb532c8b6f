"""Tasks as an officer does them, in a real browser: the demo, a fix, two tabs, coming back."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indiff.web.access.sessions import IDLE_SECONDS
from tests.system.browser import chromium
from tests.system.test_web_browser import WAIT, is_good, role, saved, server_page
from tests.web.site import people

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.system
LONG = 10 * WAIT  # of a run on a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_the_demo_comes_to_a_verdict_in_five_clicks(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=LONG)
    with server_page(browser, tmp_path) as (_, seen):
        page = seen.page
        page.set_default_timeout(LONG)
        is_good(seen)
        press(page, "Try it with made-up patients")
        press(page, "Go on to the release")
        press(page, "Go on to the adversary")
        expect(page.locator("#estimate")).to_contain_text("It will take between")
        press(page, "Start the audit")
        page.get_by_role("link", name=re.compile("^See the results")).click()
        expect(page.locator(".verdict")).to_contain_text("Failed")
        page.wait_for_selector("[data-charts=drawn]")
        expect(page.locator("#next li").first).to_be_visible()
        is_good(seen)


def test_a_failed_audit_is_fixed_to_a_pass(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=LONG)
    table = tmp_path / "people.csv"
    table.write_bytes(people(200))
    with server_page(browser, tmp_path) as (server, seen):
        page = seen.page
        page.set_default_timeout(LONG)
        page.set_input_files("#file", table)
        press(page, "Open it")
        press(page, "Go on to the release")
        press(page, "Go on to the adversary")
        page.check("input[name=models][value=naive-bayes]")
        page.uncheck("input[name=models][value=auto]")
        page.fill("#limit-delta", "0.25")
        press(page, "Start the audit")
        page.get_by_role("link", name=re.compile("^See the results")).click()
        expect(page.locator(".verdict")).to_contain_text("Failed")
        failed = page.url
        if not page.locator("#fix-delta").is_visible():
            page.click("#fix summary")
        assert page.input_value("#fix-delta") == "0.25"
        page.fill("#fix-budget", "120")
        press(page, "Remove outliers and audit again")
        page.get_by_role("link", name=re.compile("^See the results")).click()
        expect(page.locator(".verdict")).to_contain_text("Passed")
        expect(page.locator(".verdict")).to_contain_text("of 200 records were removed as outliers")
        page.wait_for_selector("[data-charts=drawn]")
        is_good(seen)
        packed = saved(page, "text=as one zip file", tmp_path)
        with zipfile.ZipFile(packed) as archive:
            assert {"plan.toml", "report.html", "release.csv"} < set(archive.namelist())
        runs = [address.rsplit("/", 1)[1] for address in (failed, page.url)]
        page.goto(f"{server.address}/compare?run={runs[0]}&run={runs[1]}")
        page.wait_for_selector("[data-charts=drawn]")
        expect(page.locator("section:has(#h-apart)")).to_contain_text("Outliers removed before")
        expect(page.locator("section:has(#h-findings)")).to_contain_text("better")
        is_good(seen)

        page.goto(f"{server.address}/history")
        line = page.locator(".runs > li").filter(has_text="fix for δ")
        line.locator("summary").click()
        line.get_by_label(re.compile("^Name in the history")).fill("The one to publish")
        line.get_by_label("Note").fill("agreed on Monday")
        line.get_by_role("button", name="Keep name and note").click()
        named = page.locator(".runs > li").filter(has_text="The one to publish")
        expect(named).to_contain_text("agreed on Monday")
        expected = named.locator("time").evaluate(
            "time => new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'short'})"
            ".format(new Date(time.dateTime))"
        )
        expect(named.locator("time")).to_have_text(expected)
        page.fill("#find", "monday")
        press(page, "Find")
        expect(page.locator(".runs > li")).to_have_count(1)
        is_good(seen)
        named.locator("summary").click()
        named.get_by_role("button", name=re.compile("^Change the settings first")).click()
        page.wait_for_url("**/adversary")
        assert page.input_value("#limit-delta") == "0.25"
        assert page.is_checked("input[name=models][value=naive-bayes]")


def test_two_tabs(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    table = tmp_path / "people.csv"
    table.write_bytes(people(200))
    with server_page(browser, tmp_path) as (server, seen):
        page = seen.page
        page.set_input_files("#file", table)
        press(page, "Open it")
        page.wait_for_selector("#roles", timeout=WAIT)
        place = page.url
        other = page.context.new_page()
        other.goto(place)
        role(page, "zip", "other").check()
        expect(page.locator("#kept")).to_have_text("Saved.")
        role(other, "sex", "other").check()
        expect(other.locator("#kept")).to_contain_text("changed in another tab")
        other.goto(f"{place}/adversary")
        page.goto(f"{place}/release")
        page.fill("#value-k", "8")
        press(page, "Go on to the adversary")
        page.wait_for_url("**/adversary*")
        other.fill("#limit-delta", "0.77")
        press(other, "Start the audit")
        expect(other.locator("[role=alert]")).to_contain_text("changed in another tab")
        expect(other.locator(".subject")).to_contain_text("mondrian:k=8")
        assert other.input_value("#limit-delta") == "0.77"
        for box in other.locator("input[name=models]").all():
            box.uncheck()
        press(other, "Start the audit")
        expect(other.locator("[role=alert]")).to_contain_text("At least one model must be ticked")
        other.get_by_role("alert").get_by_role("link").click()
        assert other.url.endswith("#h-models")
        assert other.input_value("#limit-delta") == "0.77"
        other.close()
        seen.complaints.clear()  # the browser notes what was refused

        (cookie,) = page.context.cookies()
        assert cookie["expires"] - time.time() > IDLE_SECONDS - 600  # it outlives the window
        press(page, "End the session")
        page.wait_for_url("**/ended")
        expect(page.locator("h1")).to_have_text("The session has ended")
        is_good(seen)
        assert page.context.cookies() == []
        page.goto(f"{server.address}/data")
        expect(page.locator("[role=alert]")).to_contain_text("Press Enter in the terminal")
        seen.complaints.clear()

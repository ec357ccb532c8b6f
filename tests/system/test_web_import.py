"""Files as people have them, in a real browser: each way ends at the adversary, none at a wall."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.system.browser import PHONE, chromium
from tests.system.test_web_browser import WAIT, is_good, role, server_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.system
RECORDS = 200
ILLNESSES = ["flu", "cancer", "asthma"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def days(rng: np.random.Generator) -> list[datetime.date]:
    first = datetime.date(1940, 1, 1)
    return [first + datetime.timedelta(days=int(day)) for day in rng.integers(0, 25_000, RECORDS)]


def upload(page: Page, file: Path, button: str = "Open it") -> None:
    page.set_input_files("input[type=file]#file", file)
    page.get_by_role("button", name=button, exact=True).click()


def go_on(page: Page) -> None:
    page.click("text=Go on to the release")
    page.wait_for_url("**/release")
    page.click("text=Go on to the adversary")
    page.wait_for_url("**/adversary*")
    assert page.locator("[role=alert]:visible").count() == 0


def test_a_german_file_of_windows(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    rng = np.random.default_rng(1)
    lines = ["Name;Geschlecht;geboren;Größe;Diagnose"]
    for number, day in enumerate(days(rng)):
        height = "" if number % 50 == 7 else f"1,{50 + number % 49}"
        sex, ill = ("männlich", "weiblich")[number % 2], ILLNESSES[number % 3]
        lines.append(f"Müller {number};{sex};{day:%d.%m.%Y};{height};{ill}")
    (tmp_path / "patienten.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    with server_page(browser, tmp_path, width=PHONE) as (_, seen):
        page = seen.page
        upload(page, tmp_path / "patienten.csv")
        expect(page.locator("#said")).to_contain_text("Windows, Western (cp1252)")
        expect(page.locator("#as-it-is")).to_contain_text("Größe")
        is_good(seen)
        page.select_option("#encoding", "cp1252")
        expect(page.locator("#read")).to_contain_text("200 records, 5 columns")
        expect(page.locator("#h-blanks")).to_be_visible()
        kinds = page.locator("#read .preview thead .soft").all_inner_texts()
        assert kinds == ["categorical", "categorical", "date", "numeric", "categorical"]
        is_good(seen)
        page.click("text=Go on to the release")
        expect(page.locator("#said")).to_contain_text("Records with a blank")
        seen.complaints.clear()  # the browser notes that a form was refused
        page.get_by_role("radio", name="Keep them apart").check()
        expect(page.locator("#kept-blanks")).to_have_text("Saved.")
        page.get_by_role("button", name="Build months, years of geboren").click()
        expect(page.locator(".levels summary")).to_contain_text("6 levels")
        go_on(page)


def test_a_workbook_with_titles_and_two_sheets(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    openpyxl = pytest.importorskip("openpyxl")
    expect.set_options(timeout=WAIT)
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["Made in 2024"])
    sheet = book.create_sheet("Data")
    for row in (["Survey of 2024"], [], ["age", "sex", "diagnosis"]):
        sheet.append(row)
    for number in range(RECORDS):
        sheet.append([18 + number % 60, "FM"[number % 2], ILLNESSES[number % 3]])
    book.save(tmp_path / "survey.xlsx")
    with server_page(browser, tmp_path) as (_, seen):
        page = seen.page
        upload(page, tmp_path / "survey.xlsx")
        expect(page.locator("#said")).to_contain_text("at least one record")
        page.select_option("#sheet", "Data")
        expect(page.locator("#said")).to_contain_text("If row 3 names the columns")
        page.get_by_role("button", name="Header is row 3").click()
        expect(page.locator("#read")).to_contain_text("200 records, 3 columns")
        assert (page.input_value("#header_row"), page.input_value("#sheet")) == ("3", "Data")
        role(page, "sex", "other").check()
        expect(page.locator("#kept")).to_have_text("Saved.")
        page.fill("#missing_tokens", "flu")
        page.keyboard.press("Tab")
        expect(page.locator("#read")).to_contain_text(
            "'diagnosis' has 67 missing values (before: 0)"
        )
        assert role(page, "sex", "other").is_checked()
        page.fill("#date_format", "day, month")
        page.keyboard.press("Tab")
        expect(page.locator("#said")).to_contain_text("How dates are written must have DD")
        assert page.input_value("#date_format") == "day, month"
        page.fill("#date_format", "")
        page.keyboard.press("Tab")
        expect(page.locator("#said [role=alert]")).to_have_count(0)
        is_good(seen)
        go_on(page)


def test_a_release_made_elsewhere_with_years_for_dates(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    rng = np.random.default_rng(2)
    born, ages = days(rng), rng.integers(18, 80, RECORDS)
    tens = [f"{age // 10}0-{age // 10}9" for age in ages]
    files: dict[str, list[tuple[object, object]]] = {
        "table.csv": [(f"{day:%d.%m.%Y}", age) for day, age in zip(born, ages, strict=True)],
        "theirs.csv": [(day.year, "NA" if n % 20 == 0 else tens[n]) for n, day in enumerate(born)],
    }
    for name, cells in files.items():
        with (tmp_path / name).open("w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["born", "age", "diagnosis"])
            rows.writerows([*cells[n], ILLNESSES[n % 3]] for n in range(RECORDS))
    with server_page(browser, tmp_path) as (_, seen):
        page = seen.page
        upload(page, tmp_path / "table.csv")
        expect(page.locator("#roles")).to_be_visible()
        page.click("text=Go on to the release")
        page.wait_for_url("**/release")
        upload(page, tmp_path / "theirs.csv", "Add it")
        expect(page.locator(".made .problem")).to_contain_text(
            "Texts of it that mean “suppressed”: NA"
        )
        is_good(seen)
        page.get_by_label("Texts of it that mean “suppressed”").fill("NA")
        page.get_by_role("button", name="Look at it again").click()
        expect(page.locator(".recognised")).to_contain_text("200 × period")
        expect(page.locator(".recognised")).to_contain_text("10 × suppressed")
        expect(page.locator("#made .notice")).to_contain_text(
            "200 of these rows cover their record"
        )
        is_good(seen)
        page.get_by_label("Its rows are in the order of the table").check()
        page.click("text=Go on to the adversary")
        page.wait_for_url("**/adversary*")
        page.click("text=Start the audit")
        expect(page.locator(".live .button").first).to_be_visible()

"""The pages in a real browser, from a file to a filed report: by mouse, by keyboard, on a phone."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import indiff
from tests.system.browser import DESKTOP, NARROW, PHONE, Watched, chromium, opened
from tests.system.web_server import Running
from tests.web.pages.test_data import wide_table
from tests.web.site import people

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.system

NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip
KEPT = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex")
RECORDS = 1000
WAIT = 120_000  # milliseconds that a run may take on a busy machine


class Entered(Running):
    """A server whose one-time link is for the browser."""

    def enter(self, token: str) -> None:
        self.link = f"{self.address}/open?token={token}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@contextmanager
def server_page(
    browser: Browser, place: Path, *words: str, **look: Any
) -> Iterator[tuple[Entered, Watched]]:
    """A server, and a browser that its link let in; whatever happens, both stay quiet."""
    with Entered(place / "data", *words) as server, opened(browser, "about:blank", **look) as seen:
        _follow(seen.page, server.link)
        yield server, seen
        assert seen.complaints == []
        own = (server.address, "data:", "blob:", "about:")
        assert [one for one in seen.requests if not one.startswith(own)] == []


def _follow(page: Page, link: str) -> None:
    from playwright.sync_api import Error

    for _ in range(300):
        try:
            page.goto(link)
            return
        except Error as error:  # it is not listening yet
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def is_good(seen: Watched) -> None:
    """What every page must be: quiet, legible for everybody, no wider than a phone."""
    seen.page.wait_for_load_state()
    assert seen.complaints == []
    size = seen.page.viewport_size
    assert size is not None
    for scheme in ("dark", "light"):
        seen.page.emulate_media(color_scheme=scheme)
        for width in (NARROW, PHONE):
            seen.page.set_viewport_size({"width": width, "height": 844})
            assert _settled(seen) == []
        seen.page.set_viewport_size(size)
        assert seen.axe() == []
        # axe itself writes styles into the page, which the page's policy refuses.
        seen.complaints.clear()


def _settled(seen: Watched) -> list[str]:
    """What still sticks out once the charts have followed the window's new width."""
    for _ in range(100):
        found = seen.overflow()
        if not found:
            break
        seen.page.wait_for_timeout(100)
    return found


def adult(place: Path, data: Path) -> Path:
    with (data / "adult.data").open(encoding="utf-8") as lines:
        rows = [[cell.strip() for cell in line.split(",")] for line in lines if "," in line]
    kept = [NAMES.index(name) for name in KEPT]
    with (place / "adult.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")  # as the page will send it, byte by byte
        writer.writerow(KEPT)
        writer.writerows([row[at] for at in kept] for row in rows[:RECORDS])
    return place / "adult.csv"


def drop(page: Page, file: Path) -> None:
    """Let a file fall on the page, as from a folder's window."""
    dropped = page.evaluate_handle(
        """([name, text]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], name, {type: "text/csv"}));
          return carried;
        }""",
        [file.name, file.read_text(encoding="utf-8")],
    )
    page.dispatch_event("[data-upload]", "drop", {"dataTransfer": dropped})


def role(page: Page, column: str, word: str) -> Locator:
    group = page.get_by_role("radiogroup", name=f"Role of {column}", exact=True)
    return group.get_by_role("radio", name=word, exact=True)


def saved(page: Page, selector: str, place: Path) -> Path:
    with page.expect_download() as waiting:
        page.click(selector)
    path = place / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_from_a_file_to_a_filed_report(browser: Browser, needs_data: Path, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    with server_page(browser, tmp_path) as (server, seen):
        page = seen.page
        is_good(seen)
        drop(page, adult(tmp_path, needs_data))
        page.wait_for_selector("#roles", timeout=WAIT)
        expect(page.locator("main")).to_contain_text("1,000 records")
        for column, word in (("race", "quasi"), ("occupation", "sensitive")):
            role(page, column, word).check()
            expect(page.locator("#kept")).to_have_text("Saved.")
        page.reload()
        assert role(page, "occupation", "sensitive").is_checked()
        is_good(seen)
        page.get_by_role("button", name="Build intervals for age").click()
        expect(page.locator(".tree .badge")).to_have_text("attached")
        page.get_by_role("button", name="Take off the hierarchy of age").click()
        expect(page.locator(".tree .badge")).to_have_count(0)
        page.click("text=Go on to the release")

        expect(page.locator("input[name=preset][value=k]")).to_be_checked()
        page.check("input[name=preset][value=l]")
        is_good(seen)
        page.click("text=Go on to the adversary")
        page.wait_for_url("**/adversary*")
        page.check("input[name=models][value=naive-bayes]")  # one adversary, whose page is followed
        page.uncheck("input[name=models][value=auto]")
        expect(page.locator("#estimate")).to_contain_text("for 2 runs on 1,000", timeout=WAIT)
        assert page.input_value("#limit-delta") == "0.1"
        page.click("summary:has-text('For the report')")
        page.get_by_label("What the release is for").fill("a test in a browser")
        page.get_by_label("Policy whose limits must hold").select_option(
            label="cell-5: Minimum group size of 5"
        )
        is_good(seen)
        page.click("text=Start the audit")
        expect(page.locator(".live")).to_have_count(2)
        is_good(seen)

        page.goto("about:blank")  # the tab is closed, and the person comes back
        page.goto(f"{server.address}/history")
        is_good(seen)
        page.get_by_role("link", name="mondrian:k=5").click()
        expect(page.locator(".live .button, .verdict").first).to_be_visible(timeout=WAIT)
        page.goto(f"{server.address}/history")
        page.get_by_role("link", name="mondrian:l=3").click()
        expect(page.locator("#together .button, .verdict").first).to_be_visible(timeout=WAIT)
        page.goto(f"{server.address}/history")
        page.get_by_role("link", name="mondrian:k=5").click()
        page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
        expect(page.locator("main")).to_contain_text(
            "released as groups of similar people (mondrian:k=5)"
        )
        is_good(seen)

        _counts_people_above(page, tmp_path)
        _explains_a_record(page, tmp_path)
        _is_the_same_in_a_terminal(page, tmp_path)
        report = saved(page, "text=report.html", tmp_path)
        page.click("text=Side by side >> nth=-1")
        page.wait_for_url("**/compare?*")
        page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
        expect(page.locator("thead >> text=mondrian:l=3").first).to_be_visible()
        is_good(seen)
    with opened(browser, report) as filed:
        filed.page.wait_for_selector("[data-charts=drawn]")
        assert filed.left == []
        assert filed.complaints == []


def _counts_people_above(page: Page, place: Path) -> None:
    """The slider's count is that of the largest distance that any adversary sees of a record."""
    from playwright.sync_api import expect

    with saved(page, "text=records.csv", place).open(encoding="utf-8") as handle:
        largest: dict[str, float] = {}
        for row in csv.DictReader(handle):
            seen = largest.get(row["record"], 0.0)
            largest[row["record"]] = max(seen, float(row["distance"]))
    distances = list(largest.values())
    assert len(distances) == RECORDS
    before = page.inner_text("#counted")
    slide = page.locator("#slide")
    for place_of_slide in (0, 700, 1000):
        slide.fill(str(place_of_slide))
        threshold = float(page.input_value("#threshold"))
        above = sum(distance > threshold for distance in distances)
        expect(page.locator("#counted")).to_contain_text(f"{above:,} of {RECORDS:,} records")
        assert slide.get_attribute("aria-valuetext") == page.input_value("#threshold")
    expect(page.locator("#counted")).not_to_have_text(before)


def _explains_a_record(page: Page, place: Path) -> None:
    from playwright.sync_api import expect

    document = json.loads(saved(page, "text=report.json", place).read_text(encoding="utf-8"))
    worst = sorted(document["charts"]["worst"], key=lambda one: -one["distance"])
    third = worst[2]
    page.click(f"#picked >> text=Record {third['record']}")
    expect(page.locator(".why h3").first).to_contain_text(f"Record {third['record']}")
    expect(page.locator(".why")).to_contain_text(third["why"])


def _is_the_same_in_a_terminal(page: Page, place: Path) -> None:
    """The downloaded plan, run by the command that the page shows, gives the same document."""
    shown = page.inner_text(".command")
    assert shown == "indiff audit plan.toml"
    saved(page, "text=plan.toml >> nth=0", place)
    words = shown.split()[1:]
    ended = subprocess.run(
        [sys.executable, "-m", "indiff.cli.main", *words],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 1, ended.stderr  # δ is above its limit
    by_page = json.loads((place / "report.json").read_text(encoding="utf-8"))
    by_command = json.loads((place / "indiff-audit" / "report.json").read_text(encoding="utf-8"))
    assert by_page.pop("timing").keys() == by_command.pop("timing").keys()
    assert by_command["files"]["input"].pop()["part"] == "plan"  # which the page keeps itself
    assert by_page == by_command


def tab_to(page: Page, target: Locator) -> None:
    """Press the tabulator key until something has the focus, as a person without a mouse does."""
    for _ in range(200):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way by keyboard to {target}")


def test_by_keyboard_alone_on_a_phone_in_the_dark(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    table = tmp_path / "people.csv"
    table.write_bytes(people(200))
    with server_page(browser, tmp_path, width=PHONE, scheme="dark") as (_, seen):
        page = seen.page

        def press(name: str, key: str = "Enter") -> None:
            tab_to(page, page.get_by_role("button", name=name, exact=True))
            page.keyboard.press(key)

        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab_to(page, page.locator("#file"))
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(table)
        press("Open it")
        page.wait_for_selector("#roles", timeout=WAIT)
        expect(page.locator(".notice")).to_contain_text("identifier")
        tab_to(page, role(page, "zip", "quasi"))
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(role(page, "zip", "other")).to_be_checked()
        expect(role(page, "diagnosis", "sensitive")).to_be_checked()
        press("Go on to the release")
        page.wait_for_selector("#choose")
        tab_to(page, page.locator("#value-k"))
        page.keyboard.press("Control+A")
        page.keyboard.type("10")
        press("Go on to the adversary")
        expect(page.locator("#estimate")).to_contain_text("It will take")
        tab_to(page, page.locator("#limit-delta"))
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        press("Start the audit")
        page.wait_for_selector(".live .button", timeout=WAIT)
        tab_to(page, page.locator(".live .button"))
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
        expect(page.locator(".verdict")).to_contain_text("Passed")  # only k was limited
        assert seen.overflow() == []
        tab_to(page, page.locator("#slide"))
        before = page.inner_text("#counted")
        page.keyboard.press("Home")
        expect(page.locator("#counted")).not_to_have_text(before)
        second = page.locator("#record-1")
        tab_to(page, second)
        page.keyboard.press("Enter")
        expect(second).to_have_attribute("aria-current", "true")
        tab_to(page, page.get_by_role("link", name="plan.toml"))
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert "mondrian:k=10" in Path(waiting.value.path()).read_text(encoding="utf-8")


def test_the_queue_cancelling_and_deleting(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "people.csv").write_bytes(people(300))
    words = ("--folder", str(folder), "--workers", "1", "--command", "ours=cp {input} {output}")
    with server_page(browser, tmp_path, *words) as (server, seen):
        page = seen.page
        page.click("text=Take this file")
        page.click("text=Go on to the release")
        expect(page.get_by_role("checkbox", name="ours")).to_have_count(1)
        page.fill("#value-k", "2, 5, 10")
        page.click("text=Go on to the adversary")
        page.fill("#limit-delta", "a tenth")
        page.click("text=Start the audit")
        expect(page.locator("[role=alert]")).to_contain_text("A limit on δ must be a number")
        seen.complaints.clear()  # the browser notes that the form was refused
        page.fill("#limit-delta", "0.5")
        page.click("text=Start the audit")
        last = page.locator(".live").filter(has_text="mondrian:k=10")
        expect(last).to_contain_text(re.compile("number [123] in the queue"))
        last.get_by_role("button", name="Cancel").click()
        expect(last).to_contain_text("cancelled")
        page.click("#together .button", timeout=WAIT)
        page.wait_for_url("**/compare?*")
        page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
        expect(page.locator(".verdicts li")).to_have_count(2)

        runs = server.data_dir / "runs"
        page.goto(f"{server.address}/history")
        line = page.locator(".runs li").filter(has_text="mondrian:k=5")
        address = line.get_by_role("link").get_attribute("href")
        assert address is not None
        of_run = runs / address.removeprefix("/runs/")
        assert (of_run / "report.html").is_file()
        line.locator("summary").click()
        line.get_by_role("button", name=re.compile("^Delete")).click()
        expect(page.locator(".runs li").filter(has_text="mondrian:k=5")).to_have_count(0)
        page.get_by_role("button", name=re.compile("^Undo the deletion")).click()
        expect(line).to_have_count(1)
        page.wait_for_load_state()  # a page that is still being drawn folds what was unfolded
        line.locator("summary").click()
        line.get_by_role("button", name=re.compile("^Delete")).click()
        page.get_by_role("button", name=re.compile("^Remove it now")).click()
        expect(page.locator(".deleted")).to_have_count(0)
        assert not of_run.exists()
        page.goto(f"{server.address}/data")
        page.locator(".remove summary").click()
        page.get_by_role("button", name=re.compile("Yes, delete")).click()
        expect(page.get_by_text("No table yet.")).to_be_visible()
        assert not [one for one in runs.rglob("*") if one.is_file()]
        assert (folder / "people.csv").is_file()


COPY = "import shutil, sys, time; time.sleep(0.05); shutil.copy(sys.argv[1], sys.argv[2])"
COPIED = 40


def released_elsewhere(table: Path) -> Path:
    """What another tool made of people: ages in tens, masked codes, rows in the same order."""
    place = table.with_name("theirs.csv")
    with table.open(encoding="utf-8") as source, place.open("w", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["age", "sex", "zip", "diagnosis"])
        for row in csv.DictReader(source):
            low = int(row["age"]) // 10 * 10
            writer.writerow([f"{low}-{low + 9}", "*", f"{row['zip'][:3]}**", row["diagnosis"]])
    return place


def test_a_release_made_elsewhere_and_a_named_command(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    table = tmp_path / "people.csv"
    table.write_bytes(people(COPIED))
    theirs = released_elsewhere(table)
    script = tmp_path / "copy.py"
    script.write_text(COPY, encoding="utf-8")
    words = ("--command", f"ours={sys.executable} {script} {{input}} {{output}}", "--workers", "2")
    with server_page(browser, tmp_path, *words) as (server, seen):
        page = seen.page
        page.set_input_files("#file", table)
        page.get_by_role("button", name="Open it").click()
        page.wait_for_selector("#roles", timeout=WAIT)
        kinds = page.get_by_role("radiogroup", name="Kind of zip", exact=True)
        kinds.get_by_role("radio", name="categorical", exact=True).check()
        page.get_by_role("button", name="Go on to the release").click()
        page.wait_for_url("**/release")
        page.set_input_files("#file", theirs)
        page.get_by_role("button", name="Add it").click()
        uploaded = page.get_by_role("checkbox", name=re.compile("^theirs.csv"))
        expect(uploaded).to_be_checked()
        page.get_by_role("checkbox", name=re.compile("^Its rows are in the order")).check()
        page.get_by_role("checkbox", name="ours", exact=True).check()
        page.uncheck("input[name=preset][value=k]")
        is_good(seen)
        page.get_by_role("button", name="Go on to the adversary").click()
        page.wait_for_url("**/adversary*")
        expect(page.locator(".subject")).to_contain_text("theirs.csv, ours")
        page.fill("#limit-k", "2")
        page.get_by_role("button", name="Start the audit").click()
        page.wait_for_url("**/batches/*")
        _draws_distances_as_they_come(page)
        is_good(seen)
        expect(page.locator("#heading")).to_have_text("The audit has ended")
        expect(page.locator(".live .badge")).to_have_text(["failed"] * 2)
        is_good(seen)

        _is_what_the_library_measures(page, server, table, theirs)
        page.goto(f"{server.address}/history")
        page.get_by_role("link", name="theirs.csv").click()
        page.wait_for_url("**/runs/*")
        page.get_by_role("link", name="Release", exact=True).click()
        page.wait_for_url("**/release")
        expect(uploaded).to_be_checked()
        page.locator(".remove summary").click()
        page.get_by_role("button", name="Yes, delete theirs.csv for good").click()
        expect(uploaded).to_have_count(0)
        assert list(server.data_dir.rglob("theirs.csv")) == []


def _draws_distances_as_they_come(page: Page) -> None:
    """While the command is asked record by record, the chart has the distances so far."""
    from playwright.sync_api import expect

    running = page.locator(".live:has(.badge:text-is('running'))").filter(has_text="ours")
    drawn = "[data-curve][data-drawn]:not([data-empty])"
    expect(running.locator(drawn)).to_be_visible()
    expect(running.locator(".note")).to_contain_text(f"of {2 * COPIED} distances measured")
    # The chart stays when the run ends, so that this looks at what was drawn, whenever that was.
    curve = page.locator(drawn).evaluate("place => place.view.data('curve')")
    assert len(curve) >= 2
    shares = [point["share"] for point in curve]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1
    assert page.locator(f"{drawn} svg path[d*=L]").count() > 0


def _is_what_the_library_measures(page: Page, server: Entered, table: Path, theirs: Path) -> None:
    """A command that copies is the identity; a release made elsewhere loses one row at a time."""
    from playwright.sync_api import expect

    original = indiff.read_table(
        table,
        quasi=["age", "sex", "zip"],
        sensitive="diagnosis",
        identifier="person_id",
        kinds={"zip": "categorical"},
    )
    copied = indiff.differential_test(original, indiff.Identity())
    beside = max(
        indiff.test_release(original, theirs, rows_in_order=True, model=model).test.delta
        for model in ("naive-bayes", "frequency")
    )
    with theirs.open(encoding="utf-8") as handle:
        smallest = min(Counter(row["age"] for row in csv.DictReader(handle)).values())
    for title, delta, k, said in (
        ("ours", copied.delta, 1, "released as ours"),
        ("theirs.csv", beside, smallest, "released elsewhere as theirs.csv"),
    ):
        page.goto(f"{server.address}/history")
        page.get_by_role("link", name=f"people.csv: {title}", exact=True).click()
        page.wait_for_url("**/runs/*")
        page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
        expect(page.locator(".subject")).to_contain_text(said)
        document = json.loads(saved(page, "text=report.json", table.parent).read_text("utf-8"))
        found = [(one["metric"], one["value"]) for one in document["findings"]]
        assert dict(found)["k"] == k
        assert max(value for name, value in found if name == "delta") == pytest.approx(delta)


def test_a_wide_table_some_columns_at_a_time(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    table = tmp_path / "wide.csv"
    table.write_bytes(wide_table(450))
    with server_page(browser, tmp_path) as (_, seen):
        page = seen.page
        page.set_input_files("#file", table)
        page.get_by_role("button", name="Open it").click()
        page.wait_for_selector("#roles", timeout=WAIT)
        expect(page.locator(".parts").first).to_contain_text("1 to 200 of 450")
        is_good(seen)
        page.get_by_role("link", name="Next 200").first.click()
        page.wait_for_url("**part=2*")
        expect(page.locator(".parts").first).to_contain_text("201 to 400 of 450")
        page.get_by_label("Role of answer 250", exact=True).select_option("other")
        expect(page.locator("#kept")).to_have_text("Saved.")
        page.fill("#find", "answer 25")
        page.get_by_role("button", name="Find", exact=True).click()
        page.wait_for_url("**find=*")
        expect(page.locator(".parts").first).to_contain_text("1 to 11 of 11")
        expect(role(page, "answer 250", "other")).to_be_checked()
        role(page, "answer 251", "other").check()
        expect(page.locator("#kept")).to_have_text("Saved.")
        is_good(seen)
        page.get_by_role("radio", name="Leave them out").check()
        expect(page.locator("#kept-blanks")).to_have_text("Saved.")
        with page.expect_request("**/roles") as sent:
            page.get_by_role("button", name="Go on to the release").click()
        assert "edit=2" in str(sent.value.post_data)  # newer than the change, which was the first
        page.wait_for_url("**/release")


def test_without_scripts_forms_do_the_same(browser: Browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=WAIT)
    table = tmp_path / "people.csv"
    table.write_bytes(people(200))
    with server_page(browser, tmp_path, java_script_enabled=False, width=DESKTOP) as (_, seen):
        page = seen.page
        page.set_input_files("#file", table)
        page.click("text=Open it")
        page.wait_for_selector("#roles", timeout=WAIT)
        page.click("text=Go on to the release")
        page.click("text=Go on to the adversary")
        page.click("text=Start the audit")
        page.click("text=See the results", timeout=WAIT)
        page.fill("#threshold", "0.01")
        page.get_by_role("button", name="Count", exact=True).click()
        expect(page.locator("#counted")).to_contain_text("lie above 0.01")
        expect(page.locator("#picked a")).to_have_count(10)

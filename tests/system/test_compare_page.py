"""The page of a comparison: one file that needs no network."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv
import pytest

import indiff
from tests.command_line import call
from tests.system.browser import DESKTOP, chromium, opened

pytestmark = pytest.mark.system


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(indiff.datasets.demo(records=200), tmp_path / "patients.csv")
    place = tmp_path / "c.html"
    ended = call(
        "compare", tmp_path / "patients.csv", "--quasi", "age,sex", "--sensitive", "diagnosis",
        "--sanitizer", "mondrian:k=2,40", "--chart", place,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    page = place.read_text(encoding="utf-8")
    assert "mondrian:k=40" in page
    assert 'src="http' not in page
    with chromium() as browser, opened(browser, place, width=DESKTOP) as watched:
        watched.page.wait_for_selector("svg, canvas")
        assert watched.complaints == []
        assert watched.left == []

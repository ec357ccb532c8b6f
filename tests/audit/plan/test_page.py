"""The page of options: it is what the declarations say."""

from __future__ import annotations

from pathlib import Path

from indiff.audit.plan.page import options_page

PAGE = Path(__file__).parents[3] / "docs" / "options.md"


def test_the_page_is_made_from_the_declarations() -> None:
    assert PAGE.read_text(encoding="utf-8") == options_page()

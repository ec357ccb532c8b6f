"""The chart bundle: kept once made, the same from the cache, no error where nothing can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from indiff.errors import InternalError
from indiff.report.page import bundle


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    bundle.chart_bundle.cache_clear()
    yield
    bundle.chart_bundle.cache_clear()


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_is_kept_for_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "window.made = 'ünï';"

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    first = bundle.chart_bundle()
    bundle.chart_bundle.cache_clear()
    assert bundle.chart_bundle() == first == "window.made = 'ünï';"
    assert len(made) == 1
    (kept,) = (tmp_path / "indiff").iterdir()
    assert kept.name == f"charts-{version('vl-convert-python')}.js"
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_without_a_place_to_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    (tmp_path / "indiff").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "1;")
    assert bundle.chart_bundle() == "1;"


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_that_would_end_its_element_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "'</SCRIPT>'")
    with pytest.raises(InternalError, match="would end the element"):
        bundle.chart_bundle()

"""Make the README's picture of a report: ``python docs/images/make.py`` (needs Chromium)."""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

from tests.system.browser import chromium, opened  # noqa: E402

import indiff  # noqa: E402
from indiff.datasets import demo_table  # noqa: E402
from indiff.datasets.patients import IDENTIFIER, QUASI, SENSITIVE  # noqa: E402

PICTURE = FOLDER / "report.png"
MOST_BYTES = 300_000


def demo_report() -> str:
    """Audit the built-in table as ``indiff demo`` does."""
    plan = indiff.Plan(
        data={"identifier": IDENTIFIER, "quasi": list(QUASI), "sensitive": SENSITIVE},
        release={"sanitizer": "mondrian:k=5"},
        limits={"k": 5, "delta": 0.5},
        report={"title": "5,000 made-up patients", "parameter": "mondrian:k=2,5,10,20,50"},
    )
    return indiff.run_audit(plan, demo_table(), source="demo").to_html()


def main() -> None:
    """Photograph the report on a desk and on a phone, and put the two side by side."""
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        report = Path(place) / "report.html"
        report.write_text(demo_report(), encoding="utf-8")
        shots = []
        for width, scheme, height, part in (
            (1060, "light", 1010, "main"),
            (1060, "light", 1010, "#figure-cdf"),
            (390, "dark", 1010, "main"),
        ):
            with opened(browser, report, width=width, scheme=scheme) as watched:
                page = watched.page
                page.wait_for_function("document.documentElement.dataset.charts === 'drawn'")
                top = page.evaluate(f"document.querySelector({part!r}).getBoundingClientRect().top")
                start = 0 if part == "main" else top - 20
                clip = {"x": 0, "y": start, "width": width, "height": height}
                shots.append(page.screenshot(full_page=True, clip=clip))
        images = "".join(
            f'<img src="data:image/png;base64,{base64.b64encode(shot).decode()}">' for shot in shots
        )
        album = Path(place) / "album.html"
        album.write_text(
            "<style>body{margin:0;padding:24px;display:flex;gap:24px;background:#cfd6df}"
            "img{height:520px;border-radius:10px;box-shadow:0 6px 24px #0004}</style>" + images
        )
        with opened(browser, album, width=1388) as watched:
            watched.page.set_viewport_size({"width": 1388, "height": 568})
            watched.page.screenshot(path=PICTURE)
    size = PICTURE.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{PICTURE.name} has {size:,} bytes; at most {MOST_BYTES:,} are wanted.")


if __name__ == "__main__":
    main()

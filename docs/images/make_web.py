"""Make the README's pictures of ``indiff serve``: ``python docs/images/make_web.py``.

Needs Chromium. The table is the built-in one of made-up patients.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))

import pyarrow.csv as pv  # noqa: E402
from tests.system.browser import chromium  # noqa: E402
from tests.system.test_web_browser import WAIT, server_page  # noqa: E402

from indiff.datasets import demo  # noqa: E402

MOST_BYTES = 200_000


def main() -> None:
    """Walk from the table to its result and photograph three steps."""
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        table = Path(place) / "patients.csv"
        pv.write_csv(demo(records=2000), table)
        with server_page(browser, Path(place)) as (server, seen):
            page = seen.page
            page.set_viewport_size({"width": 1120, "height": 820})

            def photograph(name: str, height: int, start: str | None = None) -> None:
                top = 0.0
                if start is not None:
                    box = page.locator(start).bounding_box()
                    assert box is not None
                    top = box["y"] + page.evaluate("window.scrollY") - 24
                clip = {"x": 0, "y": top, "width": 1120, "height": height}
                picture = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
                if len(picture) > MOST_BYTES:
                    raise SystemExit(f"{name} has {len(picture):,} bytes; make it smaller")
                (FOLDER / name).write_bytes(picture)

            page.set_input_files("#file", table)
            page.click("text=Open it")
            page.wait_for_selector("#roles", timeout=WAIT)
            photograph("serve-data.png", 1150)
            page.click("text=Go on to the release")
            page.fill("#value-k", "5, 20, 50")
            page.check("input[name=preset][value=l]")
            page.click("text=Go on to the adversary")
            page.wait_for_selector("text=It will take", timeout=WAIT)
            page.fill("#limit-delta", "0.5")
            page.click("text=Start the audit")
            page.wait_for_selector("text=The audit has ended", timeout=WAIT)
            page.click(".live .button >> nth=0")
            page.wait_for_url("**/runs/*")
            page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
            photograph("serve-result.png", 1500)
            page.goto(f"{server.address}/history")
            for box in page.locator("input[name=run]").all():
                box.check()
            page.click("text=Put the ticked")
            page.wait_for_url("**/compare?*")
            page.wait_for_selector("[data-charts=drawn]", timeout=WAIT)
            photograph("serve-compare.png", 1000)


if __name__ == "__main__":
    main()

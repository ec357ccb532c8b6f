"""A headless Chromium for tests: what a page says, asks of the network, and shows."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tests.conftest import skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).parents[2] / ".axe" / "node_modules" / "axe-core" / "axe.min.js"
DESKTOP, PHONE, NARROW = 1280, 390, 320


@dataclass
class Watched:
    """A page and all that it said and asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def left(self) -> list[str]:
        """The requests beyond the page itself (a data or blob address stays inside)."""
        inside = ("data:", "blob:", "about:")
        return [one for one in self.requests[1:] if not one.startswith(inside)]

    def overflow(self) -> list[str]:
        """Return what sticks out of the page's width, outside of boxes that scroll on their own."""
        found: list[str] = self.page.evaluate(_OVERFLOW)
        return found

    def axe(self) -> list[str]:
        """Return the issues that axe-core finds, however small."""
        if not AXE.exists():
            skip("axe-core is not installed: run `make .axe/.installed` (needs npm)")
        # Evaluated by the browser's own debugger, which the page's policy does not concern.
        self.page.evaluate(AXE.read_text(encoding="utf-8") + ";undefined")
        result: dict[str, Any] = self.page.evaluate(
            "axe.run(document, {resultTypes: ['violations']})"
        )
        return [
            f"{issue['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for issue in result["violations"]
            for node in issue["nodes"]
        ]


# A box that cuts or scrolls what it holds may hold more than fits.
_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  const inside = (element) => {
    for (let box = element.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible") return true;
    return false;
  };
  const out = [...document.body.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1) && !inside(element)
      && getComputedStyle(element).clipPath === "none";
  }).map((element) => element.outerHTML.slice(0, 160));
  const needed = document.documentElement.scrollWidth;
  if (needed > width) out.push(`the page is ${needed} wide and has ${width}`);
  return out;
}"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser, or skip where there is none."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        skip("no Chromium on this machine")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip("playwright is not installed: pip install 'indiff[dev]'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    address: str | Path,
    *,
    width: int = DESKTOP,
    scheme: Literal["light", "dark"] = "light",
    **more: Any,
) -> Iterator[Watched]:
    """Open a file or an address in a fresh context and watch it from its first request."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, **more
    )
    try:
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is no failure
        watched = Watched(page)
        page.on("console", lambda said: _note(watched, said.type, said.text))
        page.on("pageerror", lambda error: watched.complaints.append(f"uncaught: {error}"))
        page.on("dialog", lambda dialog: _refuse(watched, dialog))
        page.on("request", lambda request: watched.requests.append(request.url))
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        yield watched
    finally:
        context.close()


def _note(watched: Watched, kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        watched.complaints.append(f"{kind}: {text}")


def _refuse(watched: Watched, dialog: Any) -> None:
    watched.complaints.append(f"dialog: {dialog.message}")
    dialog.dismiss()

"""Prints a report to PDF by a headless Chromium, where one is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from indiff.errors import UserError
from indiff.files import open_private
from indiff.temporary import temporary_prefix

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
_LONGEST = 180  # seconds
_DRAWING = 30_000  # milliseconds of the page's own clock, in which its charts are drawn
# Nothing is asked of the network, not even by the browser itself.
_FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
)  # fmt: skip


def find_browser() -> str:
    """Return the browser that prints, or say that there is none."""
    found = [shutil.which(name) for name in NAMES]
    found += [place for place in _PLACES if os.access(place, os.X_OK)]
    for path in found:
        if path is not None:
            return path
    raise UserError(
        "a PDF needs Chromium or Chrome on this machine; there is none",
        way_out="Install one, or print report.html from any browser",
        field="pdf",
    )


def print_pdf(page: str, path: str | Path) -> None:
    """Write a page of HTML as PDF, for its owner only."""
    browser = find_browser()
    with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as folder:  # its owner's
        source, made = Path(folder) / "report.html", Path(folder) / "report.pdf"
        source.write_text(page, encoding="utf-8")
        flags = [*_FLAGS, f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:  # Chromium has no sandbox for root
            flags.append("--no-sandbox")
        try:
            subprocess.run(
                [browser, *flags, f"--virtual-time-budget={_DRAWING}", f"--print-to-pdf={made}",
                 source.as_uri()],
                check=True, capture_output=True, timeout=_LONGEST,
            )  # fmt: skip
            content = made.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise UserError(
                f"{Path(browser).name} could not print the report ({type(error).__name__})",
                way_out="Print report.html from a browser",
                field="pdf",
            ) from None
        with open_private(path) as handle:
            handle.write(content)

"""Checksums of the files: which is which, and that none stands unexplained."""

from __future__ import annotations

from indiff.report.fingerprints import CHECK, file_rows
from indiff.report.markdown import render as markdown
from indiff.report.page.html import render
from tests.report.documents import bare, usual


def test_the_release_comes_first_and_has_a_plain_checksum() -> None:
    rows = file_rows(usual())
    assert rows[0][0] == "the release that was judged"
    assert rows[0][3].startswith("SHA-256 ")
    assert all(digest.startswith("fingerprint ") for *_, digest in rows[1:])
    assert file_rows(bare()) == []


def test_both_kinds_are_explained_beside_the_files() -> None:
    told = " ".join(CHECK)
    for word in ("secret key", "first 8 characters", "64 characters", "appendix", "not signed"):
        assert word in told
    made = usual()
    made["charts"] = dict.fromkeys(made["charts"]) | {"worst": []}
    body, _, _ = render(made).partition('id="appendix"')
    for one in CHECK:
        assert one.replace("'", "&#39;") in body
        assert one in markdown(made)

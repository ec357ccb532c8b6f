from __future__ import annotations

from pathlib import Path

import pytest

from tests.web.site import Site, open_site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A server whose jobs wait until the test does them, with a folder of its own."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return open_site(tmp_path, folder=folder, commands={"ours": "cp {input} {output}"})

"""Where the papers' hierarchies come from."""

from __future__ import annotations

import http.server
import threading
from functools import partial
from pathlib import Path

import pytest

from indiff import UserError
from indiff.papers.run import TREES, Run, hierarchy_files


def test_the_data_folder_has_them(needs_data: Path) -> None:
    files = hierarchy_files("adult", folder=needs_data)
    assert sorted(files) == sorted(TREES["adult"])
    assert files["marital-status"] == needs_data / "hierarchies/adult/marital_status.csv"
    assert set(hierarchy_files("internet", folder=needs_data)) == set(TREES["internet-v1"])
    names = [a.name for a in Run(folder=needs_data).table("internet-v2").attributes if a.hierarchy]
    assert sorted(names) == sorted(TREES["internet-v2"])


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "hierarchies" / "adult"
    folder.mkdir(parents=True)
    (folder / "education.csv").write_text("Bachelors;*\n")
    with pytest.raises(UserError, match=r"is not the published education\.csv"):
        hierarchy_files("adult", folder=tmp_path)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


def test_they_are_fetched_on_request(
    needs_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("INDIFF_DATA", raising=False)
    with pytest.raises(UserError, match=r"adult_education\.txt has no local copy"):
        hierarchy_files("adult")
    served = tmp_path / "served"
    served.mkdir()
    for path in (needs_data / "hierarchies/adult").glob("*.csv"):
        (served / f"adult_{path.stem}.txt").write_bytes(path.read_bytes())
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(served))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_address[1]}"
            files = hierarchy_files("adult", download=True, base_url=address)
        finally:
            server.shutdown()
            thread.join()
    assert files["education"] == tmp_path / "cache/indiff/datasets/adult_education.txt"
    assert hierarchy_files("adult") == files  # from the cache

"""What the server keeps and tells of rare values: uploads and profile by design, results never."""

from __future__ import annotations

import logging
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.tokens import files_below, spelled_numbers, told, write_tokens
from tests.web.site import V1, open_site

# Where the server keeps tables and what it shows of them, so that roles can be checked.
BY_DESIGN = ("indiff.sqlite", "indiff.sqlite-wal", "release.csv")


def test_results_logs_and_run_folders_tell_no_rare_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    values = spelled_numbers(write_tokens(tmp_path / "table.csv"))
    caplog.set_level(logging.DEBUG)
    site = open_site(tmp_path)
    dataset = site.upload((tmp_path / "table.csv").read_bytes())["id"]
    columns = [
        {"name": name, "role": role}
        for name, role in {
            "who": "identifier", "age": "quasi", "street": "quasi", "pay": "quasi",
            "stage": "quasi", "ill": "sensitive", "remark": "other",
        }.items()
    ]  # fmt: skip
    answer = site.client.put(f"{V1}/datasets/{dataset}/roles", json={"columns": columns})
    assert answer.status_code == 200, answer.text
    answer = site.client.post(
        f"{V1}/datasets/{dataset}/runs",
        json={"releases": [{"sanitizer": "mondrian:k=5"}], "limits": {"delta": 0.1, "k": 3}},
    )
    assert answer.status_code == 202, answer.text
    (run,) = (one["id"] for one in answer.json())
    site.work()
    found = site.client.get(f"{V1}/runs/{run}").json()
    assert found["state"] == "done", found
    for part in ("document", "worst", "above?threshold=0.1"):
        answer = site.client.get(f"{V1}/runs/{run}/{part}")
        assert answer.status_code == 200
        assert told(answer.content, values) == [], part
    assert told(site.client.get(f"/runs/{run}").content, values) == []
    with zipfile.ZipFile(BytesIO(site.client.get(f"{V1}/runs/{run}/archive").content)) as archive:
        assert {"plan.toml", "report.html", "report.json", "report.md"} < {*archive.namelist()}
        for name in archive.namelist():
            if name not in BY_DESIGN:
                assert told(archive.read(name), values) == [], name
    assert told(caplog.text, values) == []
    folder = site.server.settings.run_folder(run)
    seen = []
    for path, raw in files_below(folder):
        seen.append(path.name)
        if path.name not in BY_DESIGN:
            assert told(raw, values) == [], path
    assert "report.json" in seen
    assert [*(tmp_path / "tmp").iterdir()] == []


def test_a_bug_with_values_in_its_message_is_logged_without_them(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a worker, in a request, and in what both answer."""
    values = write_tokens(tmp_path / "table.csv")
    caplog.set_level(logging.DEBUG)

    def broken(*given: Any, **named: Any) -> Any:
        raise ValueError(f"cannot do {values[:20]}") from KeyError(values[20])

    site = open_site(tmp_path)
    monkeypatch.setattr("indiff.web.jobs.tables.profile", broken)
    found = site.upload((tmp_path / "table.csv").read_bytes())
    assert found["state"] == "failed"
    assert "internal error (ValueError at " in found["problem"]
    assert told(str(found), values) == []
    monkeypatch.setattr(type(site.server.store), "datasets", broken)
    answer = site.client.get(f"{V1}/datasets")
    assert answer.status_code == 500
    assert told(answer.content, values) == []
    said = capsys.readouterr()
    assert "indiff: internal error (ValueError) at " in said.err
    assert told(said.out + said.err + caplog.text, values) == []

"""Files that come in: where they go, how large they may be, what they may unpack to."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv as pv
import pyarrow.feather as feather
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.errors import UserError
from indiff.web.access.uploads import (
    LARGEST_UNPACKED,
    check_packed,
    find_in_folder,
    list_folder,
    safe_name,
)
from tests.web.site import V1, Site, open_site, people


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_an_upload_is_for_its_owner_only(site: Site) -> None:
    site.upload(people())
    data = site.server.settings.data_dir
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    for path in files_below(data):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    (kept,) = files_below(data / "datasets")
    assert kept.read_bytes() == people()


def test_a_name_with_folders_stays_in_the_dataset(site: Site) -> None:
    folder = site.server.settings.data_dir / "datasets"
    for name in ("../../../escape.csv", "/etc/escape.csv", "..\\..\\escape.csv"):
        answer = site.client.post(f"{V1}/datasets", params={"name": name}, content=people())
        found = answer.json()
        assert found["name"] == "escape.csv"
        assert (folder / found["id"] / "escape.csv").is_file()
    assert len(files_below(folder)) == 3


@given(st.text(max_size=400))
def test_every_name_is_a_plain_file_name_or_refused(name: str) -> None:
    try:
        safe = safe_name(name + ".csv")
    except UserError:
        return
    assert safe == os.path.basename(safe)
    assert safe not in (".", "..")
    assert len(safe.encode()) <= 200
    assert "\x00" not in safe


def test_an_ending_must_tell_the_format(site: Site) -> None:
    for name in ("table.exe", "table", ".csv", "..", "table.zip"):
        answer = site.client.post(f"{V1}/datasets", params={"name": name}, content=b"a\n1\n")
        assert answer.status_code == 422
        assert "ending must tell its format" in answer.json()["error"]


def test_a_declared_size_above_the_limit_is_refused_before_a_byte_is_read(tmp_path: Path) -> None:
    site = open_site(tmp_path, max_upload=1000)

    class Unread:
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("nothing may be read")

    answer = site.client.post(
        f"{V1}/datasets",
        params={"name": "a.csv"},
        content=Unread(),
        headers={"content-length": "2000000000"},
    )
    assert answer.status_code == 413
    assert "at most 1,000 bytes" in answer.json()["error"]
    assert files_below(site.server.settings.data_dir / "datasets") == []


def test_a_size_that_is_not_declared_is_counted_on_the_way(tmp_path: Path) -> None:
    site = open_site(tmp_path, max_upload=1000)
    answer = site.client.post(
        f"{V1}/datasets", params={"name": "a.csv"}, content=(b"x" * 100 for _ in range(20))
    )
    assert answer.status_code == 413
    assert files_below(site.server.settings.data_dir / "datasets") == []
    assert list((site.server.settings.data_dir / "datasets").iterdir()) == []


def test_an_empty_file_is_refused(site: Site) -> None:
    answer = site.client.post(f"{V1}/datasets", params={"name": "a.csv"}, content=b"")
    assert answer.status_code == 422
    assert "is empty" in answer.json()["error"]
    assert site.server.store.datasets() == []


def bomb(members: int = 1, size: int = 300_000_000) -> bytes:
    """A workbook of zeros: a few hundred kilobytes that unpack to hundreds of megabytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(members):
            with archive.open(f"xl/worksheets/sheet{number}.xml", "w") as part:
                for _ in range(size // 1_000_000):
                    part.write(bytes(1_000_000))
    return out.getvalue()


def test_a_zip_bomb_is_refused_before_it_is_read(site: Site) -> None:
    body = bomb()
    assert len(body) < 3_000_000
    answer = site.client.post(f"{V1}/datasets", params={"name": "bomb.xlsx"}, content=body)
    assert answer.status_code == 422
    assert "declares 300,000,000" in answer.json()["error"]
    assert files_below(site.server.settings.data_dir / "datasets") == []


def test_a_large_declared_size_is_refused_whatever_the_ratio(tmp_path: Path) -> None:
    path = tmp_path / "large.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"x")
    # The directory at the end of the file says how much the member unpacks to.
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02") + 24
    content[place : place + 4] = (LARGEST_UNPACKED + 1).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"at most 4,000,000,000 bytes and 200 times"):
        check_packed(path)


def test_a_bomb_that_lies_about_its_size_is_refused(site: Site) -> None:
    """The directory declares 5,000 bytes; a reader would unpack sixty million."""
    size = 60_000_000
    body = bomb(size=size).replace(size.to_bytes(4, "little"), (5000).to_bytes(4, "little"))
    answer = site.client.post(f"{V1}/datasets", params={"name": "lie.xlsx"}, content=body)
    assert answer.status_code == 422
    assert "must declare what it unpacks to" in answer.json()["error"]
    assert files_below(site.server.settings.data_dir / "datasets") == []


def test_a_full_disk_is_said_and_nothing_is_left(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("indiff.web.access.uploads.os.fsync", full)
    answer = site.client.post(f"{V1}/datasets", params={"name": "a.csv"}, content=people())
    assert answer.status_code == 507
    assert "disk that holds the data folder is full" in answer.json()["error"]
    assert list((site.server.settings.data_dir / "datasets").iterdir()) == []
    assert capsys.readouterr().err == ""


def test_a_file_for_a_dataset_deleted_meanwhile_is_not_kept(site: Site) -> None:
    dataset = site.upload(people())["id"]

    def parts() -> Iterator[bytes]:
        yield b"age;"
        site.server.store.delete_dataset(dataset)
        yield b"*\n"

    for address in (f"{V1}/datasets/{dataset}/releases?name=a.csv",):
        answer = site.client.post(address, content=parts())
        assert answer.status_code in (404, 422)
        assert "deleted" in answer.json()["error"]
    assert files_below(site.server.settings.data_dir / "datasets") == []


def test_a_folder_as_large_as_a_disk_is_not_walked_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "a.csv").write_text("a,b\n1,2\n")
    assert len(list_folder(tmp_path)) == 5
    monkeypatch.setattr("indiff.web.access.uploads.MOST_SEEN", 7)
    assert [one.path for one in list_folder(tmp_path)] == ["0/a.csv", "1/a.csv"]


def test_a_list_of_millions_of_parts_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "parts.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"x")
    honest = path.read_bytes()
    check_packed(path)
    end = honest.rindex(b"PK\x05\x06")
    declared = (400_000_000).to_bytes(4, "little")
    path.write_bytes(honest[: end + 12] + declared + honest[end + 16 :])
    with pytest.raises(UserError, match="declares millions of them"):
        check_packed(path)
    path.write_bytes(honest[:end] + b"PK\x06\x07" + bytes(16) + honest[end:])
    with pytest.raises(UserError, match="declares millions of them"):
        check_packed(path)


def test_an_archive_with_the_ending_of_a_table_is_refused(site: Site) -> None:
    answer = site.client.post(f"{V1}/datasets", params={"name": "a.csv"}, content=bomb(size=10**6))
    assert answer.status_code == 422
    assert "is an archive" in answer.json()["error"]


def test_an_honest_workbook_is_taken(site: Site) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [("age", "ill"), *((20 + n % 40, "no" if n % 3 else "yes") for n in range(500))]:
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    found = site.upload(out.getvalue(), "people.xlsx")
    assert found["state"] == "done"
    assert found["profile"]["records"] == 500


def test_what_the_command_line_reads_is_taken(site: Site) -> None:
    frame = pv.read_csv(io.BytesIO(people(30)))
    arrow = io.BytesIO()
    feather.write_feather(frame, arrow)
    lines = "".join(f"{json.dumps(row)}\n" for row in frame.to_pylist()).encode()
    for name, body in (("people.feather", arrow.getvalue()), ("people.jsonl", lines)):
        found = site.upload(body, name)
        assert found["state"] == "done", found["problem"]
        assert found["profile"]["records"] == 30


def test_only_files_below_the_folder_can_be_chosen(site: Site, tmp_path: Path) -> None:
    folder = site.server.settings.folder
    assert folder is not None
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "fine.csv").write_text("a,b\n1,2\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)
    (folder / "inside.csv").symlink_to(folder / "sub" / "fine.csv")
    (folder / "circle.csv").symlink_to(folder / "circle.csv")
    listed = [one["path"] for one in site.client.get(f"{V1}/folder").json()]
    assert listed == ["inside.csv", "sub/fine.csv"]
    for path in (
        "../secret.csv", "/etc/passwd", str(tmp_path / "secret.csv"), "link.csv", "up/secret.csv",
        "sub/../../secret.csv", "circle.csv", "sub", ".", "a\x00b.csv", "x" * 3000 + ".csv",
    ):  # fmt: skip
        answer = site.client.post(f"{V1}/datasets/from-folder", json={"path": path})
        assert answer.status_code == 422, path
        assert "below the server's folder" in answer.json()["error"], path
    assert site.server.store.datasets() == []
    for path in ("sub/fine.csv", "inside.csv"):
        answer = site.client.post(f"{V1}/datasets/from-folder", json={"path": path})
        assert answer.status_code == 201


def test_without_a_folder_nothing_can_be_chosen(tmp_path: Path) -> None:
    assert list_folder(None) == []
    with pytest.raises(UserError, match="started without a folder"):
        find_in_folder(None, "a.csv")


def form(site: Site, *parts: tuple[str, str | None, bytes], path: str = "/data/upload") -> int:
    """Send a multipart form with its parts in this order."""
    body = b""
    for name, filename, content in parts:
        more = f'; filename="{filename}"' if filename is not None else ""
        body += f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode()
        body += content + b"\r\n"
    answer = site.client.post(
        path,
        content=body + b"--x--\r\n",
        headers={"content-type": "multipart/form-data; boundary=x"},
    )
    return answer.status_code


def test_a_form_with_a_file_needs_the_token(site: Site) -> None:
    token = site.csrf.encode()
    del site.client.headers["x-csrf-token"]
    file = ("file", "a.csv", people())
    assert form(site, file) == 403
    assert form(site, ("csrf", None, b"wrong"), file) == 403
    assert form(site, ("other", None, b"x")) == 403
    assert form(site, file, ("csrf", None, token[:-1])) == 403
    assert site.server.store.datasets() == []
    assert files_below(site.server.settings.data_dir / "datasets") == []
    assert form(site, ("csrf", None, token), file) == 303
    assert len(site.server.store.datasets()) == 1


def test_a_form_is_counted_on_the_way_too(tmp_path: Path) -> None:
    site = open_site(tmp_path, max_upload=1000)
    assert form(site, ("csrf", None, site.csrf.encode()), ("file", "a.csv", b"x" * 5000)) == 413
    assert files_below(site.server.settings.data_dir / "datasets") == []


def test_a_broken_form_is_bad_input(site: Site) -> None:
    headers = {"content-type": "multipart/form-data; boundary=x"}
    for body in (b"nothing of the kind", b"--x\r\n", b"--x--\r\n", b""):
        answer = site.client.post("/data/upload", content=body, headers=headers)
        assert answer.status_code in (403, 422), body
    answer = site.client.post("/data/upload", content=b"x", headers={"content-type": "text/plain"})
    assert answer.status_code == 422

"""The store: up to date, private, all or nothing, and nothing left of what was deleted."""

from __future__ import annotations

import errno
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from indiff.errors import UserError
from indiff.web.jobs.queue import Queue, Worker, choose, lock_data_dir
from indiff.web.refusals import NotFoundError, is_disk_full
from indiff.web.store.database import MIGRATIONS, Database
from indiff.web.store.settings import Settings, as_bytes, as_commands, default_data_dir
from indiff.web.store.store import Store, new_id


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(Settings(data_dir=tmp_path / "data"))


def add_dataset(store: Store, name: str = "people.csv") -> str:
    dataset = new_id()
    path = store.settings.dataset_folder(dataset) / name
    path.parent.mkdir()
    path.write_text("age,ill\n30,yes\n")
    store.add_dataset(id=dataset, name=name, path=path, origin="upload", reading={})
    return dataset


def test_the_file_is_private_and_in_write_ahead_mode(store: Store) -> None:
    path = store.settings.database
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    connection.close()


def test_opening_twice_changes_nothing(store: Store) -> None:
    dataset = add_dataset(store)
    assert Store.open(store.settings).dataset(dataset)["name"] == "people.csv"


def test_a_file_of_a_newer_version_is_refused(store: Store) -> None:
    with sqlite3.connect(store.settings.database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UserError, match=r"written by a newer indiff \(format 99"):
        Database(store.settings.database).prepare()


def test_a_transaction_is_all_or_nothing(store: Store) -> None:
    add_dataset(store)

    def fail_half_way() -> None:
        with store.database.writing() as connection:
            connection.execute("DELETE FROM datasets")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert len(store.datasets()) == 1


def test_what_is_deleted_is_on_no_disk(store: Store) -> None:
    """The bytes are gone from the SQLite file and its log, and the folders from the disk."""
    secret = "a-very-rare-diagnosis"
    dataset = add_dataset(store)
    store.set_profile(dataset, {"preview": [[secret]]}, [])
    (run,) = store.add_jobs("run", dataset, [("mondrian", {})])
    store.settings.run_folder(run).mkdir()
    (store.settings.run_folder(run) / "report.html").write_text(secret)
    attempt = store.begin(run)
    assert attempt is not None
    store.finish(run, attempt, document=f'{{"why": "{secret}"}}')

    def holds_secret() -> bool:
        files = [path for path in store.settings.data_dir.rglob("*") if path.is_file()]
        return any(secret.encode() in path.read_bytes() for path in files)

    assert holds_secret()
    store.delete_run(run)
    assert not store.settings.run_folder(run).exists()
    with pytest.raises(NotFoundError):
        store.document(run)
    assert holds_secret()  # in the dataset's preview
    store.delete_dataset(dataset)
    assert not store.settings.dataset_folder(dataset).exists()
    assert not holds_secret()


def test_no_byte_of_what_is_deleted_stays_between_what_is_kept(store: Store) -> None:
    """Rows and documents of many sizes, updated and deleted in between, leave nothing behind."""
    kept, gone = add_dataset(store), add_dataset(store)
    runs: dict[str, list[str]] = {kept: [], gone: []}
    for size in (1, 40, 300, 3000):
        for dataset, word in ((kept, "kept-value"), (gone, "gone-value")):
            (run,) = store.add_jobs("run", dataset, [(f"{word} {size}", {"of": word * size})])
            attempt = store.begin(run)
            assert attempt is not None
            for step in range(5):
                store.report(run, attempt, step=f"{word} {step}", running_cdf={"x": word * step})
            store.finish(run, attempt, document=f'{{"why": "{word * size}"}}')
            runs[dataset].append(run)
        store.set_profile(gone, {"preview": ["gone-value" * size]}, [])
    store.set_profile(gone, {"preview": []}, [])
    for run in runs[gone][:2]:
        store.delete_run(run)
    store.delete_dataset(gone)
    files = [path for path in store.settings.data_dir.rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    assert b"gone-value" not in held
    assert held.count(b"kept-value") > 6000
    for run in runs[kept]:
        assert "kept-value" in store.document(run)["why"]


def test_rows_are_deleted_though_the_disk_is_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no room to write the deletion down until the files are gone."""
    dataset = add_dataset(store)
    folder = store.settings.dataset_folder(dataset)
    writing = Database.writing

    @contextmanager
    def full(database: Database) -> Iterator[sqlite3.Connection]:
        with writing(database) as connection:
            if folder.exists():
                connection.execute("PRAGMA max_page_count = 1")
                connection.execute("CREATE TABLE more (x)")
                connection.execute("INSERT INTO more VALUES (zeroblob(100000000))")
            yield connection

    monkeypatch.setattr(Database, "writing", full)
    with pytest.raises(sqlite3.OperationalError) as caught:
        store.set_draft(dataset, {})
    assert is_disk_full(caught.value)
    store.delete_dataset(dataset)
    assert not folder.exists()
    assert store.datasets() == []


def test_the_queue_goes_on_after_a_full_disk(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = add_dataset(store)
    (run,) = store.add_jobs("run", dataset, [("mondrian", {})])
    queue, begin, tries = Queue(store), Store.begin, []

    def failing(self: Store, job: str) -> int | None:
        tries.append(job)
        if len(tries) < 3:
            raise sqlite3.OperationalError("database or disk is full")
        return begin(self, job)

    def no_process(job: object, attempt: int) -> Worker:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(Store, "begin", failing)
    monkeypatch.setattr("indiff.web.jobs.queue.TRY_AGAIN", 0.01)
    monkeypatch.setattr(queue, "_spawn", no_process)
    queue.start()
    end = time.monotonic() + 20
    while store.job(run)["state"] != "failed":
        assert time.monotonic() < end
        time.sleep(0.01)
    queue.stop()
    assert "could not start a worker process" in str(store.job(run)["problem"])
    assert capsys.readouterr().err.count("internal error (OperationalError)") == 1


def test_a_job_whose_worker_never_started_does_not_run_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No process could be started, and there was no room to write that down."""
    store.add_jobs("run", add_dataset(store), [("mondrian", {})])
    queue, end = Queue(store), Store.end
    tries: list[str] = []

    def no_process(job: object, attempt: int) -> Worker:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    def failing(self: Store, job: str, state: str, problem: UserError | None = None) -> bool:
        tries.append(job)
        if len(tries) == 1:
            raise MemoryError
        return end(self, job, state, problem)

    monkeypatch.setattr(Store, "end", failing)
    monkeypatch.setattr("indiff.web.jobs.queue.TRY_AGAIN", 0.01)
    monkeypatch.setattr(queue, "_spawn", no_process)
    queue.start()
    limit = time.monotonic() + 20
    while store.unfinished():
        assert time.monotonic() < limit
        time.sleep(0.01)
    queue.stop()
    assert len(tries) == 3  # the profile's twice, and the run's
    assert "could not start a worker process" in str(store.job(tries[0])["problem"])
    assert capsys.readouterr().err.count("MemoryError") == 1


def test_what_a_kill_cut_off_is_swept_away(store: Store) -> None:
    dataset = add_dataset(store)
    (run,) = store.add_jobs("run", dataset, [("mondrian", {})])
    store.settings.run_folder(run).mkdir()
    stray = store.settings.dataset_folder(new_id())
    stray.mkdir()
    (stray / "half-an-upload.csv").write_text("age,ill\n30")
    assert store.sweep() == 1
    assert not stray.exists()
    assert store.settings.dataset_folder(dataset).exists()
    assert store.settings.run_folder(run).exists()


def test_a_worker_whose_attempt_is_over_changes_nothing(store: Store) -> None:
    dataset = add_dataset(store)
    (run,) = store.add_jobs("run", dataset, [("mondrian", {})])
    first = store.begin(run)
    assert first == 1
    store.queue_again()
    second = store.begin(run)
    assert second == 2
    store.report(run, first, step="of the past")
    assert not store.finish(run, first, document="{}")
    found = store.job(run)
    assert (found["state"], found["step"]) == ("running", None)
    assert store.finish(run, second, answer={"verdict": {}}, document="{}")
    assert [event["text"] for event in store.events(run)] == [
        "queued", "started", "the server ended: queued again", "started again", "done",
    ]  # fmt: skip


def test_a_cancelled_job_stays_cancelled(store: Store) -> None:
    dataset = add_dataset(store)
    (run,) = store.add_jobs("run", dataset, [("mondrian", {})])
    attempt = store.begin(run)
    assert attempt is not None
    assert store.end(run, "cancelled")
    assert not store.finish(run, attempt, document="{}")
    assert not store.end(run, "failed", UserError("too late"))
    assert store.job(run)["state"] == "cancelled"
    assert store.begin(run) is None


def test_a_dataset_that_is_gone_gets_no_jobs(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no such dataset"):
        store.add_jobs("run", new_id(), [("mondrian", {})])


def waiting(*batches: str, kind: str = "run") -> list[dict[str, str]]:
    return [{"id": str(n), "batch": b, "kind": kind} for n, b in enumerate(batches)]


running = waiting


def test_cores_are_shared_between_batches() -> None:
    """A batch of many runs does not hold up one that came later."""
    chosen = choose(waiting("a", "a", "a", "b"), running("a"), 2)
    assert chosen is not None
    assert chosen["batch"] == "b"
    chosen = choose(waiting("a", "b"), running("a", "b"), 3)
    assert chosen is not None
    assert chosen["batch"] == "a"  # equal shares: whoever waits longest
    assert choose(waiting("a", "b"), running("a", "b"), 2) is None


def test_a_profile_does_not_wait_for_runs() -> None:
    profile = {"id": "9", "batch": "p", "kind": "profile"}
    assert choose([*waiting("a"), profile], running("a", "b"), 2) == profile
    assert choose([profile], running("q", kind="profile"), 2) is None


def test_two_servers_cannot_share_a_folder(store: Store) -> None:
    place = store.settings.data_dir
    with lock_data_dir(place), pytest.raises(UserError, match="another server uses"):
        lock_data_dir(place)
    lock_data_dir(place).close()


def test_settings_are_read_from_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert as_bytes("2.5GB", "--max-upload") == 2_500_000_000
    for text in ("much", "-1GB", "0", "1XB"):
        with pytest.raises(UserError, match="--max-upload"):
            as_bytes(text, "--max-upload")
    for text in ("=x", "name", "a b=c", "a="):
        with pytest.raises(UserError, match="NAME=command"):
            as_commands([text])
    with pytest.raises(UserError, match="'a' twice"):
        as_commands(["a=x", "a=y"])
    with pytest.raises(UserError, match="--folder must be a folder that exists"):
        Settings(data_dir=tmp_path, folder=tmp_path / "none")
    with pytest.raises(UserError, match=r"from 0 .* to 65535; got 70000"):
        Settings(data_dir=tmp_path, port=70_000)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_data_dir() == tmp_path / "indiff"

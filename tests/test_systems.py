"""Every module can be imported, and the quick paths run, where the modules of POSIX are hidden."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from indiff import systems
from indiff.errors import UserError
from tests.command_line import announce, write_people

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "indiff"
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog")
NAMES = {
    "os": "getuid geteuid getgid killpg getpgid setsid fork forkpty nice sysconf statvfs mkfifo "
    "fchown chown getloadavg sched_getaffinity pathconf",
    "signal": "SIGKILL SIGHUP SIGALRM SIGTTIN setitimer alarm pthread_sigmask ITIMER_REAL",
    "select": "poll epoll",
}
# What only the server and its workers do, which `indiff serve` refuses elsewhere.
SERVER = ("web/jobs/worker.py", "web/jobs/queue.py", "web/jobs/estimating.py",
          "web/server/serving.py")  # fmt: skip

# Refuses POSIX's modules to our own code; libraries go on using them.
HIDING = f"""
import sys

class Hidden:
    def find_spec(self, name, path, target=None):
        if name in {MODULES!r}:
            frame = sys._getframe(1)
            while frame.f_globals.get("__name__", "").startswith("importlib"):
                frame = frame.f_back
            if frame.f_globals.get("__name__", "").startswith("indiff"):
                raise ModuleNotFoundError("there is no " + name + " here", name=name)

sys.meta_path.insert(0, Hidden())
for name in {MODULES!r}:
    sys.modules.pop(name, None) if name != "posix" else None
import asyncio, getpass, joblib, multiprocessing, os, subprocess, types, typer, uvicorn
msvcrt = types.ModuleType("msvcrt")  # locks a byte, as the one of Windows does
msvcrt.LK_NBLCK = 2
def locking(file, mode, count):
    os.lockf(file, os.F_TLOCK, count)
msvcrt.locking = locking
sys.modules["msvcrt"] = msvcrt
from indiff import systems
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDING + textwrap.dedent(code)],
        capture_output=True,
        check=False,
        cwd=folder,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def test_every_module_can_be_imported_without_the_modules_of_posix(tmp_path: Path) -> None:
    done = run(
        f"""
        import importlib, pathlib
        names = [
            ".".join(path.relative_to({str(SOURCE.parent)!r}).with_suffix("").parts)
            for path in sorted(pathlib.Path({str(SOURCE)!r}).rglob("*.py"))
        ]
        for name in names:
            importlib.import_module(name.removesuffix(".__init__"))
        print(len(names))
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_quick_paths_run_without_the_modules_of_posix(tmp_path: Path) -> None:
    announce()
    people = write_people(tmp_path)
    roles = ["--quasi", "age,town", "--sensitive", "ill", "--identifier", "id"]
    roles += ["--other", "wage,smokes"]
    program = ["--sanitizer", f"command:{sys.executable} -c pass {{input}} {{output}}"]
    calls = [
        ["risk", people.name, *roles, "--json", "risk.json"],
        ["sanitize", people.name, *roles, "--out", "release.csv"],
        ["test", people.name, *roles, "--model", "frequency", "--targets", "0-2", "--run", "kept",
         "--method", "refit", "--jobs", "1"],
        ["audit", people.name, *roles, "--model", "frequency", "--limit", "k=5", "--out", "r"],
        ["test", people.name, *roles, *program, "--targets", "0-1", "--jobs", "1"],
    ]  # fmt: skip
    done = run(
        f"""
        from indiff.cli.main import main
        ended = []
        for words in {calls!r}:
            try:
                main(words)
            except SystemExit as ending:
                ended.append(int(ending.code))
        print("ended", ended)
        """,
        tmp_path,
    )
    assert "ended [0, 0, 0, 0, 2]" in done.stdout, done.stderr  # the program writes no release
    assert "Traceback" not in done.stderr
    assert (tmp_path / "r" / "report.html").exists()


def test_names_of_posix_stand_in_one_module_alone() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place == "systems.py" or place in SERVER:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.attr in NAMES.get(node.value.id, "").split():
                    found.append((place, f"{node.value.id}.{node.attr}"))
            elif isinstance(node, ast.Import):
                found += [(place, one.name) for one in node.names if one.name in MODULES]
            elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
                found.append((place, str(node.module)))
    guarded = {
        ("report/page/pdf.py", "os.geteuid"),  # where there is one
        ("sanitizers/oracles/child_process.py", "select.poll"),  # where there is one
    }
    assert set(found) == guarded


@pytest.mark.parametrize("hidden", [False, True])
def test_one_lock_keeps_the_other_out(tmp_path: Path, hidden: bool) -> None:
    code = """
        import os, subprocess
        place = os.open("lock", os.O_RDWR | os.O_CREAT)
        os.write(place, b"kept")
        print(systems.lock(place), os.lseek(place, 0, os.SEEK_CUR))
        child = os.fork()
        if child == 0:
            other = os.open("lock", os.O_RDWR)
            print(systems.lock(other), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        os.close(place)
        again = os.open("lock", os.O_RDWR)
        print(systems.lock(again, wait=True))
    """
    text = textwrap.dedent(code)
    if hidden:
        done = run("sys.stdout.reconfigure(line_buffering=True)\n" + text, tmp_path)
    else:
        done = subprocess.run(
            [sys.executable, "-u", "-c", "from indiff import systems\n" + text],
            capture_output=True, check=False, cwd=tmp_path, encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
    assert done.stdout.split() == ["True", "4", "False", "True"], done.stderr


def test_what_needs_posix_says_so_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    systems.require_posix("indiff serve")
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(UserError, match="indiff serve needs Linux or macOS; on Windows"):
        systems.require_posix("indiff serve")


def test_a_process_is_there_until_it_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert systems.is_there(process.pid)
    systems.end_group(process) if os.getpgid(process.pid) == process.pid else process.kill()
    process.communicate()
    assert not systems.is_there(process.pid)

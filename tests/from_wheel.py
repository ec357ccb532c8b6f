"""Tries an installed indiff as a stranger would: ``python tests/from_wheel.py``.

The demo, the README's examples, the plugin of pytest, JUnit and a project of ARX, in an empty
folder and with nothing of the checkout but its examples. `make wheel` and the release run it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as Xml

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
PLAN = """
[data]
path = "demo/patients.csv"
identifier = "patient_id"
quasi = ["age", "sex"]
sensitive = "diagnosis"
other = ["zip", "marital_status", "admitted"]
[release]
sanitizer = "mondrian:k=5"
[adversary]
models = ["naive-bayes"]
[limits]
"""
TEST = """
import pytest

@pytest.mark.parametrize("plan", ["kept.toml", "exceeded.toml"])
def test_release(indiff_audit, plan):
    assert indiff_audit(plan).passed
"""


def run(*words: str | Path, code: int = 0) -> str:
    """Run a command of this environment; another exit code than the expected one ends it all."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*map(str, words)], capture_output=True, check=False, encoding="utf-8",
        env={**os.environ, "PATH": path, "PYTHONPATH": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    if done.returncode != code:
        sys.exit(f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def example(language: str) -> str:
    """Return the README's one example in a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(found)


def write_project(path: Path) -> None:
    """Write a project as ARX does, by the function that its tests use."""
    sys.path.append(str(ROOT))
    from tests.audit.imports.test_arx import write_project

    write_project(path)


def main() -> None:
    """Try everything, in a folder that is gone afterwards."""
    indiff = BIN / "indiff"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        where = run(sys.executable, "-c", "import indiff; print(indiff.__file__)")
        assert not Path(where.strip()).is_relative_to(ROOT / "src"), where
        if os.name == "posix":
            run("bash", "-euc", example("sh"))  # its first line is the demo
        else:
            run(indiff, "demo", "--out", "demo")
        run(sys.executable, "-c", example("python"))

        for name, k in (("kept", 5), ("exceeded", 5000)):
            Path(f"{name}.toml").write_text(f"{PLAN}k = {k}\n", encoding="utf-8")
        Path("test_release.py").write_text(TEST, encoding="utf-8")
        said = run(sys.executable, "-m", "pytest", "-q", "test_release.py", code=1)
        assert "1 failed, 1 passed" in said, said

        run(indiff, "audit", "exceeded.toml", "--out", "audit", "--junit", "junit.xml", code=1)
        suite = Xml.parse("junit.xml").getroot().find("testsuite")
        assert suite is not None
        assert int(suite.attrib["failures"]) >= 1

        write_project(Path("project.deid"))
        run(indiff, "import", "project.deid", "--out", "imported")
        run(indiff, "audit", "imported/plan.toml", "--out", "arx")
        sys.stdout.write(f"{where.strip()}: all is well\n")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()

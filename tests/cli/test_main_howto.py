"""The pages about other tools do what they say: commands run, and files for them can be read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import indiff
from indiff.audit.plan.recipe import options_of
from indiff.cli import serve
from tests.audit.imports.test_arx import write_project
from tests.command_line import announce, write_people

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))
# What is typed is run by this environment, from this checkout.
TYPED = 'python() { "$PYTHON" "$@"; }\nindiff() { python -m indiff.cli.main "$@"; }\n'
PLAN = """
[data]
path = "people.csv"
quasi = ["age", "town"]
sensitive = "ill"
identifier = "id"
other = ["wage", "smokes"]
[adversary]
models = ["frequency"]
[limits]
k = 50
"""


@pytest.mark.system  # a process for every command
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    announce()
    write_people(tmp_path)
    write_project(tmp_path / "project.deid")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    done = subprocess.run(
        ["bash", "-euc", TYPED + "".join(blocks)],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
        env={**os.environ, "PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr
    assert "indiff: " not in done.stderr


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def options_in(text: str) -> set[str]:
    return set(re.findall(r"--([a-z-]+)", text))


def test_the_action_calls_the_audit_as_it_is() -> None:
    action = read("action.yml")
    assert action["runs"]["using"] == "composite"
    call = action["runs"]["steps"][-1]["run"]
    assert call.startswith("indiff audit ")
    assert options_in(call) <= {one.name for one in options_of("audit")}
    for step in action["runs"]["steps"]:  # an input is never part of a script
        assert "${{" not in step["run"]
        named = set(re.findall(r"INDIFF_[A-Z]+", step["run"]))
        assert named == set(step["env"])
    used = re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(used) == set(action["inputs"])


def test_the_hook_audits_one_plan() -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    assert {"id", "name", "entry", "language"} <= hook.keys()
    assert (hook["entry"], hook["language"]) == ("indiff audit", "python")
    assert hook["pass_filenames"] is False  # an audit takes one plan
    assert re.search(hook["files"], "data/plan.toml")


def test_the_container_runs_as_nobody_special_and_serves_as_it_can() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert [rest for word, rest in words if word == "USER"] == ["indiff"]
    (serving,) = (json.loads(rest) for word, rest in words if word == "CMD")
    assert serving[0] == "serve"
    known = {one.name for one in serve.OPTIONS} | {"no-browser"}
    assert options_in(" ".join(serving)) <= known
    for copied in (rest.split()[:-1] for word, rest in words if word == "COPY"):
        assert all((ROOT / name).exists() for name in copied)


@pytest.mark.system
def test_the_container_is_built_and_runs() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        # Debian's packages cannot start a daemon inside of a container, where CI runs.
        pytest.skip("Docker is not there, or its daemon does not run")
    tag = "indiff-test"
    subprocess.run([str(docker), "build", "--quiet", "--tag", tag, str(ROOT)], check=True)
    words = [str(docker), "run", "--rm", "--network", "none", tag]
    said = subprocess.run([*words, "--version"], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == f"indiff {indiff.__version__}"
    alone = [*words[:-1], "--entrypoint", "id", tag, "-u"]
    assert subprocess.run(alone, check=True, capture_output=True, text=True).stdout.strip() != "0"


def test_a_release_is_built_tried_and_published_in_this_order() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]
    assert (jobs["test"]["needs"], jobs["publish"]["needs"]) == ("build", "test")
    assert jobs["publish"]["if"] == "vars.PUBLISH == 'true'"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    cited = read("CITATION.cff")
    assert cited["version"] == indiff.__version__

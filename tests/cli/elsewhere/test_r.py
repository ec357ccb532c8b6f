"""The functions for R: run by R where it is installed, on data frames."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.command_line import call, write_people
from tests.conftest import skip

USE = """
source("indiff.R")
people <- read.csv("people.csv")
people$town[1:3] <- NA
found <- indiff_risk(people, c("age", "town"), "ill", limits = "k=5", command = "./indiff")
release <- people
release$town <- NA
tested <- indiff_test_release(people, release, "town", "ill", command = "./indiff")
cat(jsonlite::toJSON(list(code = found$exit_code, k = found$groups$k, kind = tested$kind),
                     auto_unbox = TRUE))
"""


def test_the_script_is_printed_whole() -> None:
    ended = call("r")
    assert ended.code == 0
    for one, other in ("()", "[]", "{}"):
        assert ended.out.count(one) == ended.out.count(other)
    assert "indiff_risk <- function(data, quasi" in ended.out


def test_every_option_that_the_script_gives_is_one(tmp_path: Path) -> None:
    people = write_people(tmp_path)
    roles = ["--quasi", '"age","town"', "--sensitive", '"ill"']
    out = ["--json", str(tmp_path / "r.json")]
    ended = call("risk", people, *roles, "--weight", "wage", "--limit", "k=1", *out)
    assert ended.code == 0, ended.err
    release = tmp_path / "release.csv"
    release.write_text("age,town,ill\n" + ",,secret-a\n" * 60)
    beside = ["--release", str(release), *roles, "--suppressed", "", "--limit", "delta=2", *out]
    assert call("test", people, *beside).code in (0, 1, 3)


def test_r_hands_over_data_frames(tmp_path: Path) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        skip("R is not installed")
    asked = [str(rscript), "-e", "quit(status = !requireNamespace('jsonlite', quietly = TRUE))"]
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        skip("R has no package jsonlite")
    write_people(tmp_path)
    (tmp_path / "indiff.R").write_text(call("r").out, encoding="utf-8")
    (tmp_path / "indiff").write_text(f'#!/bin/sh\nexec {sys.executable} -m indiff.cli.main "$@"\n')
    (tmp_path / "indiff").chmod(0o700)
    done = subprocess.run(
        [str(rscript), "-e", USE], capture_output=True, check=True, cwd=tmp_path, text=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["code"], found["k"]) == (1, 1)

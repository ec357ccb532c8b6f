"""The pages do what they say: every command and every example runs, and every name is listed."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import indiff
from indiff.differential.noise.closed_form import distances
from tests.command_line import call, write_people

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}

# Commands that need another machine, or that are another test's: with whose.
NOT_RUN = {
    "black-boxes.md": [
        "indiff test patients.csv --sensitive diagnosis --sanitizer http"
    ],  # test_http
    "long-runs.md": ["dask scheduler", "indiff test patients.csv …"],  # test_dask_cluster.py
    "risk.md": ["indiff risk 'hdfs://"],  # test_spark_cluster.py
    "serve.md": ["pip install", "indiff serve", "import httpx"],  # test_web_tasks.py
    "start.md": ["python3 -m venv", "env/bin/pip", "source env"],  # make wheel
    "how-to.md": ["indiff serve"],
}
RECORDS = 100
SMALLER = {  # the same call, in seconds, and on this table
    "range(200)": "range(2)",
    "runs=50": "runs=2",
    "Classifier(20)": "Classifier(2)",
    "runs=200": "runs=8",
    "targets=50, order": "targets=2, order",
    "calls 2000": "calls 40",
    "calls=2000": "calls=40",
    "canaries 400": "canaries 40",
    "budget 400": "budget 40",
    "budget=400": "budget=40",
    '{"Flu": 0.9, "Cancer": 0.1}': "every_value_alike",
}
# What makes a program random: the title, and about half of the rows.
HALF = """| awk -v seed="${3:-1}" 'BEGIN { srand(seed) } NR == 1 || rand() < 0.5'"""
# What a page's Python has been told before.
TOLD = """
import indiff
from indiff.differential.noise.closed_form import distances
table = indiff.read_table("patients.csv", identifier="patient_id", quasi=["age", "sex", "zip"],
                          sensitive="diagnosis", hierarchies={"diagnosis": "icd.csv"})
result = indiff.differential_test(table, indiff.Mondrian(k=5), model="naive-bayes")
shares = [1 / len(result.sensitive_values)] * len(result.sensitive_values)
every_value_alike = dict(zip(result.sensitive_values, shares, strict=True))
def my_function(frame): return frame.drop(["patient_id"])
"""
TOLD_BY_PAGE = {
    "claims.md": """
def synthesize(frame, rng):
    drawn = rng.integers(frame.num_rows, size=frame.num_rows)
    return frame.drop(["patient_id"]).take(drawn)
""",
    "several-releases.md": """
table = indiff.read_table("data.csv", identifier="id", quasi=["age"], sensitive="ill")
now = last_year = indiff.read_table("patients.csv", identifier="patient_id", quasi=["age"],
                                    sensitive="diagnosis")
f = g = indiff.Mondrian(k=5)
""",
    "randomized.md": """
result = indiff.differential_test(table, indiff.Laplace(0.5), method="sampled", runs=4)
""",
    "targets.md": """
distances = result.distances[:100]
release, model = indiff.Mondrian(k=5).sanitize(table), indiff.NaiveBayes()
""",
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every file that a page speaks of, small."""
    folder = tmp_path_factory.mktemp("stage")
    patients = indiff.datasets.demo(records=RECORDS).drop(["marital_status", "admitted"])
    _write(patients, folder / "patients.csv")
    pyarrow.parquet.write_table(patients, folder / "patients.parquet")
    for name in ("arx", "sdcmicro", "release", "synthetic"):
        _write(patients.drop(["patient_id"]), folder / f"{name}.csv")
    _write(patients, folder / "out.csv")
    _write(indiff.datasets.demo(records=RECORDS, seed=1).select(patients.column_names),
           folder / "held.csv")  # fmt: skip
    (folder / "demo").mkdir()
    _write(indiff.datasets.demo(records=RECORDS), folder / "demo" / "patients.csv")
    for script, drawn in (("anonymize", ""), ("synthesize", HALF), ("train_for_a_day", HALF)):
        program = folder / f"{script}.sh"
        program.write_text(f'#!/bin/sh\ncut -d, -f2- "$1" {drawn} > "$2"\n')
        program.chmod(0o700)
    (folder / "bin").mkdir()
    shutil.copy(folder / "anonymize.sh", folder / "bin" / "Rscript")
    (folder / "made").mkdir()
    released = patients.drop(["patient_id"])
    _write(released, folder / "made" / "release.csv")
    for left in range(50):
        kept = [record for record in range(RECORDS) if record != left]
        _write(released.take(kept), folder / "made" / f"without-{left}.csv")
    ill = sorted(set(patients["diagnosis"].to_pylist()))
    lines = [f"{one};{'common' if at % 2 else 'rare'};*" for at, one in enumerate(ill)]
    (folder / "icd.csv").write_text("\n".join(lines) + "\n")
    (folder / "places.csv").write_text(_distances(ill))
    shares = [f"{one},{1 / len(ill)}" for one in ill]
    (folder / "prior.csv").write_text("\n".join(["value,probability", *shares]) + "\n")
    call("hierarchy", "age", "--from", folder / "patients.csv", "--intervals", "5,10,20,40",
         "--out", folder / "age.csv")  # fmt: skip
    _write_others(folder, patients)
    return folder


def _write_others(folder: Path, patients: pa.Table) -> None:
    rng = np.random.default_rng(0)
    sample = patients.select(["age", "zip"])
    _write(sample, folder / "sample.csv")
    pyarrow.parquet.write_table(pa.concat_tables([sample] * 3), folder / "register.parquet")
    survey = patients.select(["age", "sex", "zip"])
    survey = survey.append_column("w", pa.array(rng.integers(5, 50, RECORDS)))
    _write(survey.append_column("hid", pa.array(np.arange(RECORDS) // 3)), folder / "survey.csv")
    job = pa.array(rng.choice(["nurse", "clerk", "none"], RECORDS))
    _write(patients.drop(["patient_id"]).append_column("job", job), folder / "data.csv")
    write_people(folder)
    subprocess.run(["gzip", "-kf", "patients.csv"], cwd=folder, check=True)
    (folder / "patients.csv.gz").rename(folder / "visits.csv.gz")


def _write(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(table, path)


def _distances(values: list[str]) -> str:
    rows = [",".join(["", *values])]
    rows += [",".join([a, *("0" if a == b else "1" for b in values)]) for a in values]
    return "\n".join(rows) + "\n"


def steps(name: str) -> list[tuple[str, str]]:
    """The commands and examples of a page, in its order: ('sh' or 'python', text)."""
    text, found = PAGES[name], []
    for language, body in re.findall(
        r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        if language == "python":
            found.append(("python", body))
        else:
            lines = body.replace("\\\n", " ").splitlines()
            found += [("sh", line) for line in lines if line.strip()]
    if name == "how-to.md":
        found += [
            ("sh", command.replace("\\|", "|"))
            for command in re.findall(r"^\|[^|]*\| `((?:[^`])+)` \|", text, re.MULTILINE)
        ]
    return found


def _is_run(name: str, text: str) -> bool:
    return not text.lstrip().startswith(tuple(NOT_RUN.get(name, [])))


@pytest.mark.system
@pytest.mark.parametrize("name", [name for name in PAGES if steps(name)])
def test_commands_and_examples_run(
    name: str, stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "page"
    shutil.copytree(stage, folder)
    _dress(name, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    known: dict[str, Any] = {}
    for language, body in steps(name):
        text = body
        if not _is_run(name, text):
            continue
        for large, small in SMALLER.items():
            text = text.replace(large, small)
        if language == "python":
            if not known:
                exec(TOLD + TOLD_BY_PAGE.get(name, ""), known)
            exec(compile(text, f"{name}: {text[:40]}", "exec"), known)
        else:
            _run(text)


def _dress(name: str, folder: Path) -> None:
    """Bring the files that mean something else on this page."""
    if name == "several-releases.md":
        lines = (folder / "people.csv").read_text().splitlines()
        rows = [line.split(",") for line in lines]
        (folder / "data.csv").write_text("\n".join(f"{r[0]},{r[1]},{r[4]}" for r in rows) + "\n")
        for year in ("2024", "2025"):
            shutil.copy(folder / "data.csv", folder / f"{year}.csv")
    if name == "several-tables.md":
        people = [
            "patient_id,birth_year,sex",
            *(f"p{i},{1950 + i % 9},{'fm'[i % 2]}" for i in range(40)),
        ]
        visits = ["patient_id,visit_id,ward,day,diagnosis"]
        visits += [f"p{i % 40},v{i},w{i % 3},{i % 7},{'xyz'[i % 3]}" for i in range(60)]
        drugs = ["visit_id,drug", *(f"v{i},d{i % 4}" for i in range(60))]
        for file, lines in (("people", people), ("visits", visits), ("prescriptions", drugs)):
            (folder / f"{file}.csv").write_text("\n".join(lines) + "\n")
    if name == "report.md":
        call("demo", "--out", folder / "indiff-demo")
        for made in ("report.json", "release.csv"):
            shutil.copy(folder / "indiff-demo" / made, folder / made)
        shutil.copy(folder / "indiff-demo" / "patients.csv", folder / "data.csv")


def _run(line: str) -> None:
    """Run a command here, or by a shell if it needs one; exceeded limits are no failure."""
    words = shlex.split(line, comments=True)
    if words[0] == "indiff" and not {"|", "||", "&&", ">"} & set(words):
        ended = call(*words[1:])
        assert ended.code in (0, 1, 3), f"{line}\n{ended.out}\n{ended.err}"
        return
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line], capture_output=True, check=False,
        encoding="utf-8", env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_what_is_not_run_is_on_the_page() -> None:
    for name, lines in NOT_RUN.items():
        for line in lines:
            assert any(text.lstrip().startswith(line) for _, text in steps(name)), (name, line)


def test_every_name_of_the_package_is_documented() -> None:
    listed = set(re.findall(r"^- `indiff\.([\w.]+)`$", PAGES["api.md"], re.MULTILINE))
    names = set(indiff.__all__) - {"__version__", "datasets", "plot"}
    names |= {f"plot.{one}" for one in indiff.plot.__all__}
    names |= {f"datasets.{one}" for one in indiff.datasets.__all__}
    assert listed == names


def test_every_block_of_code_says_its_language() -> None:
    for name, text in PAGES.items():
        fences = re.findall(r"^```(.*)$", text, re.MULTILINE)
        assert all(fences[::2]), name


@pytest.mark.system
def test_the_script_beside_a_tutorial_measures_a_table_of_any_size() -> None:
    measure = runpy.run_path(str(DOCS / "tutorials" / "billion_rows.py"))["measure"]
    found = measure(10_000)
    recorded = json.loads((DOCS / "tutorials" / "billion-rows.json").read_text(encoding="utf-8"))
    assert found["rows"] == 10_000
    assert found["processor_seconds"] > 0
    assert [found.keys()] * len(recorded) == [one.keys() for one in recorded]


def test_the_papers_numbers_come_out_again() -> None:
    recorded = json.loads((DOCS / "paper" / "experiments.json").read_text(encoding="utf-8"))
    for one in recorded["closed_form"]:
        exact = distances(indiff.Laplace(one["epsilon"]), [[5, 3, 0, 2]], [0])
        assert exact[0] == pytest.approx(one["exact"], rel=1e-12)
        sampled = one["means_of_estimates"]
        assert one["exact"] < sampled["10000"] < sampled["1000"] < sampled["100"]  # biased upward
    for one in recorded["walk"]:
        assert one["largest_difference"] < 1e-12
    table = indiff.read_table(
        indiff.datasets.demo(records=250), identifier="patient_id", quasi=["age", "sex", "zip"],
        sensitive="diagnosis", other=["marital_status", "admitted"],
    )  # fmt: skip
    walk = indiff.differential_test(table, indiff.Mondrian(k=5), model="naive-bayes")
    assert walk.delta == pytest.approx(recorded["walk"][0]["delta"], rel=1e-12)

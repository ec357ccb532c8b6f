"""The risk metrics on a real standalone cluster: a master and two workers on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from indiff.engines.spark import require_spark
from indiff.errors import UserError
from indiff.risk import Risk, measure_risk
from indiff.text import json_text
from tests.conftest import skip
from tests.risk.test_metrics_properties import flat
from tests.system.spark_cluster import Cluster, cluster

pytestmark = pytest.mark.system

QUESTION: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["ill", "wage"]}
# For small tables, compiling every statement costs more than it saves.
QUICKLY = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        require_spark()
    except UserError as error:
        skip(str(error))
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records in four files, so that both workers have something to read."""
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("people")
    for number in range(4):
        size = 5_000
        ages = rng.integers(0, 90, size).astype(object)
        ages[rng.random(size) < 0.01] = None
        part = pa.table(
            {
                "age": pa.array(ages, pa.int32()),
                "zip": [f"{i:03}" for i in rng.integers(0, 40, size)],
                "ill": rng.choice(["flu", "HIV", "", "O'Brien"], size),
                "wage": rng.integers(0, 30, size),
            }
        )
        pq.write_table(part, folder / f"{number}.parquet")
    return folder


def drive(
    running: Cluster,
    question: dict[str, Any],
    *tables: Path,
    settings: dict[str, str] = QUICKLY,
    when: str = "",
    kill: int = -1,
) -> list[dict[str, Any]]:
    """Run the driver; kill a worker when a stage begins; return its answers."""
    words = [running.url, json.dumps(question), json.dumps(settings), *map(str, tables)]
    log = running.folder / "driver.log"  # not a pipe: nobody would empty it
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.system.spark_driver", *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=running.environment,
            encoding="utf-8",
            cwd=Path(__file__).parents[2],
        )
    answers, killed = [], False
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                if "risk" in said:
                    answers.append(said)
                elif when and said["stage"].startswith(when) and not killed:
                    running.workers[kill].kill()
                    killed = True
            process.wait(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, log.read_text()
    assert killed == bool(when)
    return answers


def equals(found: dict[str, Any], expected: Risk) -> None:
    left, right = (flat(json.loads(json_text(one))) for one in (found, expected.to_dict()))
    skipped = "/method/engine", "/method/versions", "/policy"  # a policy is the command's
    assert found["method"]["fingerprint"] == expected.method.fingerprint
    assert [p for p in left if not p.startswith(skipped)] == [
        p for p in right if not p.startswith(skipped)
    ]
    for path, value in right.items():
        if path.startswith(skipped):
            continue
        if isinstance(value, float) and isinstance(left[path], float):
            assert left[path] == pytest.approx(value, rel=1e-12, abs=1e-12), path
        else:
            assert left[path] == value, path


def test_a_cluster_gives_the_same_answers(spark_cluster: Cluster, people: Path) -> None:
    question = {**QUESTION, "combinations": 2}
    (answer,) = drive(spark_cluster, question, people)
    assert answer["executors"] == 2
    assert answer["risk"]["method"]["engine"] == "spark"
    equals(answer["risk"], measure_risk(people, engine="in-process", **question))


def test_the_command_line_uses_a_cluster(
    spark_cluster: Cluster, people: Path, tmp_path: Path
) -> None:
    out = tmp_path / "risk.json"
    words = ["risk", str(people), "--quasi", "age,zip", "--sensitive", "ill,wage", "--no-details"]
    words += ["--master", spark_cluster.url, "--json", str(out), "--limit", "k=5"]
    done = subprocess.run(
        [sys.executable, "-m", "indiff.cli.main", *words],
        env=spark_cluster.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "Verdict: k is 1, below the limit 5" in done.stdout
    stored = json.loads(out.read_text())
    del stored["limits"], stored["verdict"]
    equals(stored, measure_risk(people, engine="in-process", details=False, **QUESTION))


def unique_combinations(path: Path, count: int) -> Path:
    """Write a table in which every record has a combination of its own."""
    with pq.ParquetWriter(
        path, pa.schema([("a", pa.int32()), ("b", pa.int32()), ("s", pa.int8())])
    ) as writer:
        for start in range(0, count, 1_000_000):
            rows = np.arange(start, min(count, start + 1_000_000))
            a, b, s = rows // 4000, rows % 4000, rows % 7
            writer.write_table(
                pa.table({"a": a.astype(np.int32), "b": b.astype(np.int32), "s": s.astype(np.int8)})
            )
    return path


@pytest.mark.parametrize(("count", "sensitive"), [(5_000_000, None), (500_000, "s")])
def test_the_driver_does_not_grow_with_the_groups(
    spark_cluster: Cluster, tmp_path: Path, count: int, sensitive: str | None
) -> None:
    """A thousand times as many groups: less than 32 MB more in either half of the driver.

    Eight bytes for each of the groups would be 40 MB, an object for each value of a group more.
    """
    few = count // 1000
    tables = [unique_combinations(tmp_path / f"{size}.parquet", size) for size in (few, count)]
    question = {"quasi": ["a", "b"], "sensitive": sensitive, "details": False}
    small, large = drive(spark_cluster, question, *tables, settings={})
    assert small["risk"]["groups"]["groups"] == few
    assert large["risk"]["groups"]["singled_out"] == count
    assert large["risk"]["reidentification"]["h"] == pytest.approx(np.log2(count), rel=1e-12)
    print({part: (small[part] >> 20, large[part] >> 20) for part in ("rss", "heap")}, "MB")
    for part in ("rss", "heap"):
        assert large[part] - small[part] < 32 * 2**20, part


def test_the_answer_survives_a_worker_that_is_killed(people: Path, tmp_path: Path) -> None:
    """The worker dies with its executor and with half of what was counted so far."""
    question = {**QUESTION, "details": False}
    with cluster(tmp_path / "cluster") as running:
        (answer,) = drive(running, question, people, when="all quasi-identifiers", kill=1)
    assert answer["executors"] == 1
    equals(answer["risk"], measure_risk(people, engine="in-process", **question))

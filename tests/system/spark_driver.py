"""A driver of its own process: measures risk on a cluster and says what it cost the driver.

Usage: spark_driver.py MASTER QUESTION SETTINGS DATA …, the question and Spark's settings as JSON.
Lines on standard output are
JSON: ``{"stage": …}`` as the work goes on, then ``{"risk": …, "rss": …, "heap": …}``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import indiff.engines.spark
from indiff.risk import measure_risk


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def peak_memory() -> int:
    """The most bytes that this process ever had in memory."""
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line
    )
    return int(line.split()[1]) * 1024


def live_heap(session: Any) -> int:
    """The bytes that the driver's JVM holds on to after collecting its garbage."""
    machine = session.sparkContext._jvm
    machine.java.lang.System.gc()
    runtime = machine.java.lang.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def main(master: str, question: str, settings: str, *tables: str) -> None:
    from pyspark.sql import SparkSession

    indiff.engines.spark.FEW_COUNTS = 0  # everything is reduced in the cluster
    builder = SparkSession.builder.master(master).appName("indiff cluster test")
    for name, value in json.loads(settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for table in tables:
        risk = measure_risk(
            table,
            engine="spark",
            master=master,
            progress=lambda stage: say(stage=stage),
            **json.loads(question),
        )
        executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
        say(
            risk=risk.to_dict(),
            rss=peak_memory(),
            heap=live_heap(session),
            executors=executors,
        )
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A real Spark cluster on this machine: a master and workers, each a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyspark

HOME = Path(pyspark.__path__[0])
START = 60.0


@dataclass
class Daemon:
    """A master or a worker; its executors are in its process group."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End the daemon and its executors at once, as a power cut would."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=30)

    def wait_for(self, pattern: str) -> str:
        """Return what the pattern's first group finds in the log, as soon as it is there."""
        deadline = time.monotonic() + START
        while time.monotonic() < deadline:
            found = re.search(pattern, self.log.read_text(errors="replace"))
            if found:
                return found.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"no {pattern!r} in the log:\n{self.log.read_text(errors='replace')}")


@dataclass
class Cluster:
    """The address of a master, and its workers."""

    url: str
    folder: Path
    workers: list[Daemon]
    environment: dict[str, str]


@contextmanager
def cluster(folder: Path, *, workers: int = 2) -> Iterator[Cluster]:
    """Start a master and workers of one core and 1 GB each; end all of them, whatever happens."""
    configuration = folder / "conf"
    configuration.mkdir(parents=True)
    (configuration / "spark-defaults.conf").write_text(
        "spark.driver.host 127.0.0.1\n"
        "spark.driver.bindAddress 127.0.0.1\n"
        "spark.driver.memory 512m\n"
        "spark.executor.memory 900m\n"
        "spark.executor.cores 1\n"
        "spark.ui.enabled false\n"
        "spark.sql.shuffle.partitions 4\n"
    )
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_CONF_DIR": str(configuration),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_NO_DAEMONIZE": "1",
    }
    started: list[Daemon] = []

    def start(name: str, *words: str) -> Daemon:
        log = folder / f"{name}.log"
        handle: IO[bytes]
        with log.open("wb") as handle:
            process = subprocess.Popen(
                [str(HOME / "bin" / "spark-class"), *words],
                stdout=handle,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        started.append(Daemon(process, log))
        return started[-1]

    package = "org.apache.spark.deploy"
    try:
        anywhere = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = start("master", f"{package}.master.Master", *anywhere)
        url = master.wait_for(r"Starting Spark master at (spark://\S+)")
        size = ("--cores", "1", "--memory", "1g")
        members = [
            start(
                f"worker-{number}",
                f"{package}.worker.Worker",
                *anywhere,
                *size,
                "--work-dir",
                str(folder / f"work-{number}"),
                url,
            )
            for number in range(workers)
        ]
        for member in members:
            member.wait_for(r"(Successfully registered with master)")
        yield Cluster(url, folder, members, environment)
    finally:
        for daemon in started:
            daemon.kill()

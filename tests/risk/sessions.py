"""One Spark session for all tests of a run, on two local cores.

Everything runs on Spark too, as part of ``make test-system``; ``make test`` has the few tests of
``tests/engines/test_spark.py``, in one group so that parallel runs start one JVM in all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from indiff.engines.spark import require_spark
from indiff.errors import UserError
from tests.conftest import skip

ON_SPARK = pytest.mark.xdist_group("spark")
ENGINES = (
    "in-process",
    "duckdb",
    pytest.param("spark", marks=[pytest.mark.system, ON_SPARK]),
)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on ``local[2]`` that the Spark engine finds and uses."""
    try:
        require_spark()
    except UserError as error:
        skip(str(error))
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # py4j's sockets live as long as the JVM
        session = (
            SparkSession.builder.master("local[2]")
            .appName("indiff tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.default.parallelism", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.codegen.wholeStage", "false")  # compiling costs more than it saves
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.driver.memory", "1g")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Every engine in turn."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return str(request.param)

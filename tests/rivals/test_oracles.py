"""Other people's sanitizers under the differential test: ANJANA and AnonyPy as black boxes."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import indiff
from indiff import Command, Table, differential_test, read_table
from indiff.sanitizers.oracles.function import Oracle, OracleFailed
from tests.conftest import skip
from tests.rivals.harness import PYTHON

SCRIPTS = Path(__file__).parent / "scripts"


def people(size: int = 40) -> Table:
    jobs = ["dancer", "writer", "lawyer", "clerk"]
    return read_table(
        pd.DataFrame(
            {
                "name": [f"person {i}" for i in range(size)],
                "job": [jobs[(i * i + i // 3) % 4] for i in range(size)],
                "age": [20 + (i * 7) % 20 if i % 20 else 50 + i // 4 for i in range(size)],
                "illness": [["flu", "cold", "mumps"][(i + i // 7) % 3] for i in range(size)],
            }
        ),
        quasi=["job", "age"],
        sensitive="illness",
        identifier="name",
        hierarchies={"job": trees()},
    )


def trees() -> indiff.Hierarchy:
    return indiff.Hierarchy.from_lines(
        ["dancer;artist;*", "writer;artist;*", "lawyer;office;*", "clerk;office;*"]
    )


def command(tool: str, *options: object) -> Command:
    if not PYTHON.exists():
        skip("the rivals' environment is missing: run `make .rivals/.installed`")
    script = SCRIPTS / f"release_with_{tool}.py"
    return Command([PYTHON, script, "{input}", "{output}", *options], timeout=120)


class InAnotherEnvironment:
    """A rival as a plain function of a pandas frame, called in its own Python."""

    def __init__(self, tool: str, *options: object) -> None:
        self.tool, self.options = tool, [str(option) for option in options]

    def __call__(self, frame: pd.DataFrame) -> pd.DataFrame:
        if not PYTHON.exists():
            skip("the rivals' environment is missing: run `make .rivals/.installed`")
        with tempfile.TemporaryDirectory() as name:
            given, made = Path(name, "in.csv"), Path(name, "out.csv")
            frame.to_csv(given, index=False)
            script = str(SCRIPTS / f"release_with_{self.tool}.py")
            words = [str(PYTHON), script, str(given), str(made), *self.options]
            subprocess.run(words, check=True, capture_output=True)
            return pd.read_csv(made)


@pytest.mark.system
@pytest.mark.parametrize(
    ("tool", "options"), [("anjana", (3, 0)), ("anonypy", (3,))], ids=["anjana", "anonypy"]
)
def test_a_rival_is_the_same_sanitizer_as_a_function_and_as_a_command(
    tool: str, options: tuple[Any, ...]
) -> None:
    table, targets = people(), [0, 17]
    as_command = differential_test(table, command(tool, *options), targets=targets,
                                   model="naive-bayes",
                                   method="refit", jobs=1)  # fmt: skip
    as_function = differential_test(table, InAnotherEnvironment(tool, *options), targets=targets,
                                    model="naive-bayes",
                                    method="refit", jobs=1)  # fmt: skip
    np.testing.assert_array_equal(as_command.distances, as_function.distances)
    assert as_command.records.tolist() == targets
    assert as_command.uncovered == 0
    assert (as_command.distances > 0).all()


@pytest.mark.parametrize(
    ("tool", "options", "size"),
    [("anjana", (3, 0), 40), ("anjana", (3, 20), 35), ("anonypy", (3,), 40)],
    ids=["anjana", "anjana-suppresses", "anonypy"],
)
def test_releases_of_rivals_are_read_and_keep_their_k(
    tool: str, options: tuple[Any, ...], size: int
) -> None:
    release = command(tool, *options).sanitize(people())
    assert len(release) == size
    frame = release.to_arrow().to_pandas()
    assert frame.groupby(["job", "age"]).size().min() >= 3
    assert frame.groupby(["job", "age"]).ngroups > 1
    assert set(frame) == {"job", "age", "illness"}


def test_a_goal_that_anjana_cannot_reach_is_a_failure_with_words() -> None:
    # It writes an empty frame and ends with code 0.
    with pytest.raises(OracleFailed, match=r"for 40 records"):
        command("anjana", 41, 0).sanitize(people())


def test_an_error_inside_a_rival_shows_the_end_of_its_complaint() -> None:
    with pytest.raises(
        OracleFailed, match=r"ended with code 1 on 40 records\. It said: .*ValueError"
    ):
        command("anonypy", "three").sanitize(people())
    with pytest.raises(OracleFailed, match=r"raised CalledProcessError: "):
        Oracle(InAnotherEnvironment("anonypy", "three")).sanitize(people())


def test_a_release_of_anjana_beside_its_original_is_linked_by_its_row_numbers() -> None:
    # Suppression publishes a column 'index' with the original's row numbers: a key for everybody.
    table = people()
    frame = table.frame().to_pandas().assign(index=range(40))
    keyed = read_table(frame, quasi=["job", "age"], sensitive="illness",
                       identifier=["name", "index"], hierarchies={"job": trees()})  # fmt: skip
    released = InAnotherEnvironment("anjana", 3, 20)(table.frame().to_pandas())
    assert "index" in released
    result = indiff.test_release(keyed, released, key="index")
    kept = len(released)
    assert any(
        f"{kept} of 40 records have a released row of their own; {kept} of these rows cover their "
        f"record, {kept} have its sensitive value" in note
        for note in result.notes
    )
    assert len(result.test.distances) == kept

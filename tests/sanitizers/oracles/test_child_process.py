"""Private folders: whatever was told to keep its files there ends with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from indiff import Command
from indiff.sanitizers.oracles.function import OracleFailed
from tests.conftest import skip
from tests.sanitizers.oracles.test_command import ended_soon, people, script, temporary

__all__ = ["temporary"]  # a fixture


@pytest.mark.parametrize("end", ['cp "$1" "$2"', "sleep 1000"])
def test_a_daemon_in_a_session_of_its_own_is_ended(
    end: str,
    temporary: Path,
    tmp_path: Path,
) -> None:
    if not Path("/proc/self/environ").exists():
        skip("daemons are found by what /proc says of them, which this system lacks")
    number = tmp_path / "number"
    tool = script(
        tmp_path,
        'setsid sh -c \'echo $$ > "$0"; sleep 1000\' "$3" &\n'
        f'while [ ! -s "$3" ]; do sleep 0.01; done; {end}',
    )
    command = Command([tool, "{input}", "{output}", number], timeout=1)
    if end.startswith("cp"):
        assert len(command.sanitize(people())) == 4
    else:
        with pytest.raises(OracleFailed, match="stopped after 1 seconds"):
            command.sanitize(people())
    assert ended_soon(int(number.read_text()))
    assert list(temporary.iterdir()) == []

"""Programs as sanitizers: their files, their ends, and nothing left behind."""

from __future__ import annotations

import datetime
import os
import pickle
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import Command, Table, UserError, differential_test, read_table
from indiff.differential.calls.identity import identity
from indiff.differential.test import describe
from indiff.sanitizers.oracles.child_process import KEPT, run_program
from indiff.sanitizers.oracles.function import OracleFailed
from indiff.sanitizers.sanitizer import as_sanitizer


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that all temporary files go to."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def people() -> Table:
    return read_table(
        pa.table(
            {
                "zip": ["01234", "01235", "99999", "01236"],
                "age": [28, 36, 47, 53],
                "ill": ["flu", "flu", "cancer", 'a "b", c'],
            }
        ),
        quasi=["zip", "age"],
        sensitive="ill",
    )


def script(folder: Path, text: str, *, name: str = "tool.sh") -> Path:
    place = folder / name
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def ended_soon(process: int) -> bool:
    for _ in range(200):
        if not alive(process):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("text", [
    "cp {input} {output}", "cp {input.csv} {output.csv}", "cp {input.parquet} {output.parquet}",
])  # fmt: skip
def test_a_program_that_copies_releases_the_table_itself(text: str, temporary: Path) -> None:
    release = Command(text).sanitize(people())
    assert release.to_arrow().to_pydict() == {
        "zip": ["01234", "01235", "99999", "01236"],
        "age": ["28", "36", "47", "53"],
        "ill": ["flu", "flu", "cancer", 'a "b", c'],
    }
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "cells",
    [
        ["1.0", "2.50", "3"], ["1e5", "2e3", "7"], ["+1", "2", "3"], ["true", "false", "True"],
        ["007", "7", "07"], ["2024-01-01", "2024-02-01", "x"], [" a", "a ", "b"],
        ["NA", "nan", "n"],
        ['a,"b"\nc', "{x}", "y~z"], ["a", None, "b"], [1.0, 2.5, 0.1], [2**53 + 1, 1, 2],
        [True, False, True], [datetime.date(2024, 1, 1), datetime.date(2024, 2, 2), None],
    ],
    ids=str,
)  # fmt: skip
def test_every_kind_of_value_survives_the_way_there_and_back(cells: list[Any], form: str) -> None:
    columns = {"q": cells, "s": ["x", "y", "x"]}
    table = read_table(pa.table(columns), quasi=["q"], sensitive="s", missing="split")
    release = Command("cp {input} {output}", format=form).sanitize(table)  # type: ignore[arg-type]
    [attribute] = table.attributes
    for row, code in enumerate(attribute.codes):
        alike = (attribute.codes == code).tolist()
        assert release.columns[0].covering(int(code)).tolist() == alike, row
    swapped = read_table(pa.table({"s": cells, "q": [1, 2, 3]}), quasi=["q"], sensitive="s")
    release = Command("cp {input} {output}", format=form).sanitize(swapped)  # type: ignore[arg-type]
    assert release.classes.tolist() == swapped.sensitive.codes.tolist()


def test_the_files_are_private_and_the_program_sees_no_shell(
    temporary: Path, tmp_path: Path
) -> None:
    tool = script(
        tmp_path,
        'stat -c %a "$(dirname "$1")" "$1" > "$3"; echo "$4" >> "$3"; echo "$TMPDIR" >> "$3"\n'
        'cp "$1" "$2"',
    )
    seen = tmp_path / "seen.txt"
    Command([tool, "{input}", "{output}", seen, "$(id); `id` > x"]).sanitize(people())
    folder, file, odd, room = seen.read_text().splitlines()
    assert (folder, file, odd) == ("700", "600", "$(id); `id` > x")
    assert Path(room).parent == temporary
    assert list(temporary.iterdir()) == []


def test_a_shell_is_asked_for_by_name(temporary: Path) -> None:
    text = "sed 's/cancer/flu/' < {input} | cat > {output}"
    release = as_sanitizer(f"shell:{text}").sanitize(people())
    assert release.sensitive.tolist() == ["flu", "flu", "flu", 'a "b", c']
    with pytest.raises(UserError, match="a shell reads one text, not a list"):
        Command(["cat", "{input}", "{output}"], shell=True)


def test_commas_colons_and_equal_signs_belong_to_the_command() -> None:
    text = "cp --preserve=mode,timestamps {input} {output}"
    command = as_sanitizer(f"command:{text}")
    assert isinstance(command, Command)
    assert command.command == text
    assert str(command) == f"command:{text}"
    limited = as_sanitizer(f"command(timeout=1.5,format=parquet):{text}")
    assert str(limited) == f"command(timeout=1.5,format=parquet):{text}"
    assert as_sanitizer(str(limited)) == limited


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("command:", r"a command needs \{input\} where the name of its input file goes"),
        ("command:cp {output}", r"needs \{input\}"),
        ("command:cp {input}", r"needs \{output\}"),
        ("command:cp {input.xlsx} {output}", r"with \.csv or \.parquet if need be; got '\{input"),
        ("command:cp '{input} {output}", "every quote must be closed"),
        ("command:no-such-tool {input} {output}", "no 'no-such-tool' in the folders of PATH"),
        ("command:./no-such-tool {input} {output}", "there is no './no-such-tool' in '/"),
        ("command(timeout=soon):cp {input} {output}", r"of seconds above 0; got 'soon'\."),
        ("command(timeout=nan,format=csv):cp {input} {output}", r"above 0; got 'nan'\."),
        ("command(timeout=0):cp {input} {output}", "timeout must be a number of seconds above 0"),
        ("command(k=5):cp {input} {output}", "takes timeout=SECONDS and format=csv or parquet"),
        ("command(format=xml):cp {input} {output}", "format must be 'csv' or 'parquet'"),
        ("comand:cp {input} {output}", "no sanitizer 'comand': did you mean 'command'"),
    ],
)
def test_a_command_that_cannot_work_is_refused_at_once(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        as_sanitizer(text)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tool.sh").write_text("true")
    with pytest.raises(UserError, match=r"cannot be executed\. Make it one with chmod \+x"):
        Command("./tool.sh {input} {output}", folder=str(tmp_path))
    (tmp_path / "tool.sh").chmod(0o755)  # but what it is, nobody knows
    broken = Command("./tool.sh {input} {output}", folder=str(tmp_path))
    (tmp_path / "tool.sh").write_bytes(b"\x7fELF\0")
    with pytest.raises(OracleFailed, match=r"can be started in .* cannot"):
        broken.sanitize(people())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 'no level for 7' >&2; exit 3", "ended with code 3 on 4 records. It said: «…no"),
        ("exit 1", "ended with code 1 on 4 records. It said nothing"),
        ("kill -9 $$", "ended by signal 9 on 4 records"),
        ("true", "ended with code 0 and wrote 0 of them for 4 records"),
        (': > "$2"', "ended with code 0 and wrote an empty one for 4 records"),
        ('head -n 1 "$1" > "$2"', "is none: "),
        ('echo "zip,age" > "$2"; echo "*,*" >> "$2"', "is none: no column 'ill'"),
        ('echo "zip,age,ill" > "$2"; echo "*,old,flu" >> "$2"', "column 'age', row 1"),
        ('head -c 100 /dev/urandom > "$2"', "is none: "),
        ('mkdir "$2"', "ended with code 0 and wrote 0 of them"),
    ],
    ids=[
        "code", "silent", "signal", "no-file", "empty", "header", "columns", "region", "noise",
        "folder",
    ],
)  # fmt: skip
def test_a_failing_program_is_reported_and_leaves_nothing(
    body: str, message: str, temporary: Path, tmp_path: Path
) -> None:
    tool = script(tmp_path, body)
    with pytest.raises(OracleFailed) as raised:
        Command([tool, "{input}", "{output}"]).sanitize(people())
    assert message in str(raised.value)
    assert str(temporary) not in str(raised.value)
    assert list(temporary.iterdir()) == []


def test_a_hanging_program_is_stopped_with_its_children(temporary: Path, tmp_path: Path) -> None:
    tool = script(tmp_path, 'echo waiting >&2; sleep 1000 & echo $! > "$3"; sleep 1000')
    number = tmp_path / "number"
    command = Command([tool, "{input}", "{output}", number], timeout=2)
    with pytest.raises(OracleFailed, match=r"stopped after 2 seconds on 4 records.*waiting"):
        command.sanitize(people())
    assert ended_soon(int(number.read_text()))
    assert list(temporary.iterdir()) == []


def test_what_a_program_leaves_running_is_ended(temporary: Path, tmp_path: Path) -> None:
    # The child holds the error stream open and goes on writing into it.
    tool = script(tmp_path, 'yes >&2 & echo $! > "$3"; cp "$1" "$2"')
    number = tmp_path / "number"
    release = Command([tool, "{input}", "{output}", number], timeout=60).sanitize(people())
    assert len(release) == 4
    assert ended_soon(int(number.read_text()))


def test_of_a_long_complaint_only_the_end_is_kept(temporary: Path, tmp_path: Path) -> None:
    lines = 'i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 4'
    tool = script(tmp_path, lines)
    with pytest.raises(OracleFailed) as raised:
        Command([tool, "{input}", "{output}"]).sanitize(people())
    assert str(raised.value).endswith("line 2998 line 2999»")
    assert len(str(raised.value)) < 1000
    ended = run_program([str(tool)], folder="/", environment=dict(os.environ), timeout=60)
    assert ended.code == 4
    assert len(ended.words) <= KEPT


def test_an_interruption_ends_the_program_and_removes_its_files(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = script(tmp_path, 'echo $$ > "$3"; sleep 1000')
    number = tmp_path / "number"
    look = os.waitid

    def interrupt(*arguments: int) -> object:
        if number.exists() and number.read_text().strip():
            raise KeyboardInterrupt
        return look(*arguments)

    monkeypatch.setattr(os, "waitid", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Command([tool, "{input}", "{output}", number]).sanitize(people())
    assert ended_soon(int(number.read_text()))
    assert list(temporary.iterdir()) == []


def test_a_file_made_unwritable_goes_too(temporary: Path, tmp_path: Path) -> None:
    tool = script(
        tmp_path, 'cp "$1" "$2"; mkdir "$TMPDIR/x"; : > "$TMPDIR/x/y"; chmod 500 "$TMPDIR/x"'
    )
    Command([tool, "{input}", "{output}"]).sanitize(people())
    assert list(temporary.iterdir()) == []


def test_a_command_travels_to_other_processes_and_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, 'cp "$1" "$2"')
    monkeypatch.chdir(tmp_path)
    command = pickle.loads(pickle.dumps(Command("./tool.sh {input} {output}")))
    monkeypatch.chdir("/")
    assert len(command.sanitize(people())) == 4


def test_a_seed_is_drawn_from_our_generator_and_makes_the_command_randomized(
    tmp_path: Path,
) -> None:
    tool = script(tmp_path, 'cp "$1" "$2"; echo "$3" >> "$4"')
    seeds = tmp_path / "seeds"
    command = Command([tool, "{input}", "{output}", "{seed}", seeds])
    assert command.randomized
    for _ in range(2):
        command.sanitize(people(), np.random.default_rng(7))
    first, second = seeds.read_text().split()
    assert first == second
    assert not Command("cp {input} {output}").randomized


def test_a_program_is_tested_like_the_sanitizer_inside_it(tmp_path: Path) -> None:
    # Hiding all ages by program or by function is the same sanitizer.
    tool = tmp_path / "hide.py"
    tool.write_text(
        "import csv, sys\n"
        "rows = list(csv.reader(open(sys.argv[1])))\n"
        "place = rows[0].index('age')\n"
        "for row in rows[1:]: row[place] = '*'\n"
        "csv.writer(open(sys.argv[2], 'w')).writerows(rows)\n"
    )

    def hide(frame: pa.Table) -> pa.Table:
        place = frame.column_names.index("age")
        return frame.set_column(place, "age", pa.array(["*"] * frame.num_rows))

    by_program = differential_test(
        people(),
        f"command:{sys.executable} -S {tool} {{input}} {{output}}",
        model="naive-bayes",
        jobs=1,
    )
    by_function = differential_test(people(), hide, model="naive-bayes", jobs=1)
    assert by_program.method == by_function.method == "refit"
    np.testing.assert_array_equal(by_program.distances, by_function.distances)
    assert by_function.delta > 0


def test_a_changed_script_is_another_sanitizer(tmp_path: Path) -> None:
    script(tmp_path, 'cp "$1" "$2"')
    command = Command("./tool.sh {input} {output}", folder=str(tmp_path))
    before, same = identity(command), identity(pickle.loads(pickle.dumps(command)))
    assert before == same
    script(tmp_path, 'sort "$1" > "$2"')
    assert identity(command) != before


def test_a_shell_command_is_named_with_its_signs() -> None:
    text = "shell:cat < {input} > {output}"
    assert describe(as_sanitizer(text)) == text
    assert describe(as_sanitizer(lambda frame: frame)) == "oracle"


@pytest.mark.system
def test_a_program_that_hangs_without_one_record_is_that_records_failure(
    temporary: Path, tmp_path: Path
) -> None:
    tool = script(tmp_path, 'grep -q 47 "$1" || sleep 1000; cp "$1" "$2"')
    command = Command([tool, "{input}", "{output}"], timeout=4)
    result = differential_test(
        people(), command, model="naive-bayes", method="refit", jobs=1, retries=0
    )
    assert result.records.tolist() == [0, 1, 3]
    [failure] = result.failures
    assert "was stopped after 4 seconds on 3 records" in failure
    assert list(temporary.iterdir()) == []

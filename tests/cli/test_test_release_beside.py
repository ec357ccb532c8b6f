"""``indiff test DATA --release FILE``: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call

DATA = "id,age,ill\na,28,no\nb,36,yes\nc,47,no\nd,55,no\n"
RELEASE = "id,age,ill\nb,<40,yes\na,<40,no\nd,>=40,no\nc,>=40,no\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, release = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text(DATA)
    release.write_text(RELEASE)
    return data, release


@pytest.fixture
def nameless(files: tuple[Path, Path]) -> tuple[Path, Path]:
    """The release without its identifier."""
    files[1].write_text("age,ill\n<40,yes\n<40,no\n>=40,no\n>=40,no\n")
    return files


def words(files: tuple[Path, Path], command: str = "test") -> list[str]:
    return [
        command, str(files[0]), "--quasi", "age", "--sensitive", "ill", "--identifier", "id",
        "--release", str(files[1]),
    ]  # fmt: skip


def test_by_key_all_three_parts_are_shown(files: tuple[Path, Path]) -> None:
    ended = call(*words(files), "--key", "id", "--model", "frequency")
    assert ended.code == 0
    assert "Linkage of records to rows of out.csv" in ended.out
    assert "certain          2 of 4 records (50.0 %) whose closest candidates all" in ended.out
    assert "Beliefs about ill against its shares" in ended.out
    assert "method         dropped-row; an approximation" in ended.out
    assert "DIT v2, Section" in ended.out
    # About a and b: 1/2, 1/2 → the other's value alone.
    assert "δ, the largest         1\n" in ended.out


def test_without_key_and_order_the_test_is_skipped_in_the_words_of_the_shell(
    nameless: tuple[Path, Path],
) -> None:
    ended = call(*words(nameless))
    assert ended.code == 0
    flat = " ".join(ended.out.split())
    assert "skipped no row of the release is known to be a given record's" in flat
    assert "with --key, or declare with --rows-in-order that the rows are in" in flat
    assert "dropped-row; an approximation" not in ended.out


def test_an_approximation_can_exceed_a_limit_but_never_keep_it(files: tuple[Path, Path]) -> None:
    above = call(*words(files), "--key", "id", "--limit", "delta=0.01")
    assert above.code == 1
    below = call(*words(files), "--key", "id", "--limit", "delta=2")
    assert below.code == 3
    assert "the dropped-row test is an approximation: no pass" in below.out


def test_a_skipped_test_keeps_no_limit(nameless: tuple[Path, Path]) -> None:
    skipped = call(*words(nameless), "--limit", "delta=2")
    assert skipped.code == 3
    assert "the dropped-row test was skipped, so no limit could be checked" in skipped.out


def test_files_hold_numbers_and_no_values(files: tuple[Path, Path], tmp_path: Path) -> None:
    out, records = tmp_path / "out.json", tmp_path / "records.csv"
    ended = call(*words(files), "--key", "id", "--json", out, "--records", records)
    assert ended.code == 0
    document = json.loads(out.read_text())
    assert document["test"]["method"] == "dropped-row"
    assert document["linkage"]["no_candidate"] == 0
    assert document["verdict"]["exit_code"] == 0
    assert "<40" not in out.read_text() + records.read_text() + ended.out
    assert records.read_text().splitlines()[0] == (
        '"record","candidates","groups","closest","posterior","share_among_candidates","belief",'
        '"distance_to_shares","distance","belief_without"'
    )
    assert len(records.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--key", "id", "--rows-in-order"], "by --key or by --rows-in-order, not by both"),
        (["--key", "idd"], "no column of the original for the key 'idd': did you mean 'id'"),
        (["--sanitizer", "mondrian:k=2"], "for which there is no --sanitizer. Leave it out."),
        (["--why", "2", "--method", "refit"], "for which there is no --method, --why."),
        (["--model", "tree,knn"], "for which there is no second --model."),
    ],
)
def test_what_does_not_go_together_is_refused(
    files: tuple[Path, Path], more: list[str], message: str
) -> None:
    ended = call(*words(files), *more)
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.parametrize(
    "more", ["--rows-in-order", "--key id", "--release-encoding cp1252", "--suppressed NA"]
)
@pytest.mark.parametrize("command", ["test", "audit"])
def test_what_is_said_of_a_release_needs_one(
    files: tuple[Path, Path], command: str, more: str
) -> None:
    ended = call(command, *words(files)[1:-2], *more.split())
    assert ended.code == 2
    assert f"{more.split()[0]} is said of a release made elsewhere" in ended.err


def test_the_release_is_never_overwritten(files: tuple[Path, Path]) -> None:
    ended = call(*words(files), "--records", files[1])
    assert ended.code == 2
    assert files[1].read_text() == RELEASE


def test_a_command_is_a_sanitizer_on_the_command_line(files: tuple[Path, Path]) -> None:
    ended = call(*words(files)[:-2], "--sanitizer", "command:cp {input} {output}", "--jobs", "1")
    assert ended.code == 1  # it copies the identifier, too
    assert first_reason(ended.out) == "the release has the identifier 'id', which names people"
    assert "command:cp {input} {output}" in ended.out
    failed = call(*words(files)[:-2], "--sanitizer", "command:false {input} {output}")
    assert failed.code == 2
    assert "ended with code 1 on 4 records. It said nothing." in failed.err


def test_the_encoding_of_the_data_is_the_releases_too_unless_it_has_its_own(
    files: tuple[Path, Path],
) -> None:
    data, release = files
    data.write_bytes(DATA.replace("yes", "grün").encode("cp1252"))
    release.write_bytes(RELEASE.replace("yes", "grün").encode("cp1252"))
    named = [*words(files), "--key", "id", "--encoding", "cp1252"]
    assert call(*named).code == 0
    release.write_bytes(RELEASE.replace("yes", "grün").encode())  # which nothing else could be
    assert call(*named).code == 0
    assert call(*named, "--release-encoding", "utf-8").code == 0
    release.write_bytes(RELEASE.replace("yes", "grün").encode("mac-roman"))
    assert call(*named).code == 2
    assert call(*named, "--release-encoding", "mac-roman").code == 0


def test_the_message_about_a_release_names_the_option_of_the_release(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    files[0].write_text(DATA.replace("yes", "grün"), encoding="utf-8")
    files[1].write_bytes("age,ill\n<40,grün\n<40,no\n>=40,no\n>=40,no\n".encode("cp1252"))
    for command in ("test", "audit"):
        given = words(files, command)
        given += ["--out", str(tmp_path / "report")] if command == "audit" else []
        ended = call(*given)
        assert ended.code == 2
        assert "give --release-encoding cp1252" in ended.err
        assert not (tmp_path / "report").exists()  # nor does an empty folder stay behind
        assert call(*given, "--release-encoding", "cp1252").code in (0, 3)
        for made in (tmp_path / "report").glob("*"):
            made.unlink()


def test_a_message_about_a_plan_names_its_keys(files: tuple[Path, Path], tmp_path: Path) -> None:
    data = tmp_path / "gaps.csv"
    data.write_text("age,ill\n31,yes\n,no\n40,no\n", encoding="utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text('[data]\npath = "gaps.csv"\nsensitive = ["ill"]\n', encoding="utf-8")
    ended = call("audit", str(plan), "--out", str(tmp_path / "report"))
    assert ended.code == 2
    assert 'missing = "drop" in [data] of the plan' in ended.err
    assert "--missing" not in ended.err


def test_some_records_are_a_lower_bound_even_of_an_approximation(files: tuple[Path, Path]) -> None:
    ended = call(*words(files), "--key", "id", "--targets", "3")
    flat = " ".join(ended.out.split())
    assert "3 of 4 records were measured: the largest of their distances is a lower bound" in flat


def test_the_adversary_may_know_something_beforehand(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("value,probability\nno,0.5\nyes,0.5\n")
    ended = call(*words(files), "--key", "id", "--prior", prior, "--known", "age")
    assert ended.code == 0
    flat = " ".join(ended.out.split())
    assert "a prior of the adversary's own (the same for all records) replaces" in flat
    assert "the adversary knows age alone of 1 columns" in flat
    assert "its share is 0.5" in flat


def test_suppression_may_be_written_as_blank_or_na(files: tuple[Path, Path]) -> None:
    data, release = files
    data.write_text(DATA.replace("c,47,no", "c,,no"))
    release.write_text("id,age,ill\nb,<40,yes\na,,no\nd,,no\nc,NA,no\n")
    read = [*words(files), "--missing", "split", "--key", "id"]
    refused = call(*read)
    assert refused.code == 2
    assert "column 'age', row 4: 'aa' is no number or interval" in refused.err
    assert "give --suppressed NA." in refused.err
    blank = call(*read, "--suppressed", "NA")
    assert blank.code == 0
    flat = " ".join(blank.out.split())
    assert "column 'age' has 2 blank cells in the release and 1 in the original" in flat
    assert "give --suppressed ''" in flat
    both = call(*read, "--suppressed", "NA", "--suppressed", "")
    assert "blank cells" not in both.out
    assert "no candidate     0 of 4" in both.out
    assert "no candidate     1 of 4" not in both.out


def test_suppressed_texts_need_a_release(files: tuple[Path, Path]) -> None:
    ended = call(*words(files)[:-2], "--suppressed", "NA")
    assert ended.code == 2
    assert "--suppressed is said of a release made elsewhere. Name its file" in ended.err


def test_cells_that_cannot_be_read_are_told_by_their_shape(files: tuple[Path, Path]) -> None:
    files[1].write_text(RELEASE.replace(">=40", "Aged 40"))
    for command in ("test", "audit"):
        ended = call(command, *words(files)[1:])
        assert ended.code == 2
        flat = " ".join(ended.err.split())
        assert "column 'age', row 3 and 1 more: 'aaaa 99' is no number or interval" in flat
        assert "--kind age=categorical" in flat
        assert "Aged" not in ended.err + ended.out


def test_an_audit_takes_suppressed_cells_and_no_hidden_column_for_an_identifier(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    files[1].write_text("id,age,ill\n*,NA,yes\n*,NA,no\n*,NA,no\n*,,no\n")
    out = tmp_path / "report"
    audit = ["audit", *words(files)[1:], "--out", str(out), "--limit", "k=2"]
    ended = call(*audit, "--suppressed", "NA", "--suppressed", "")
    document = json.loads((out / "report.json").read_text())
    assert "identifier" not in json.dumps(document["verdict"])
    assert ended.code == 0, ended.out + ended.err
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"[data]\npath = '{files[0]}'\nquasi = ['age']\nsensitive = 'ill'\nidentifier = 'id'\n"
        f"[release]\nfile = '{files[1]}'\nsuppressed = ['', 'NA']\n[limits]\nk = 2\n"
    )
    assert call("audit", plan, "--out", str(tmp_path / "again")).code == 0
    raw = call(*audit)
    assert raw.code == 2
    assert "--suppressed NA" in raw.err


def first_reason(out: str) -> str:
    return " ".join(out.split("Verdict: ")[1].split())


@pytest.mark.parametrize(
    ("column", "code", "reason"),
    [
        ("id,a,b,c,d", 1, "the release has the identifier 'id', which names people"),
        ("id,*,*,*,*", 0, "no limit was given"),
        ("who,a,b,c,d", 1, "names people: its column 'who' holds the values of the identifier"),
        ("index,0,1,2,3", 1, "names people: its column 'index' is the original's row number"),
        ("born,1970,1980,1980,1990", 3, "nothing was measured of columns that the release has: "),
    ],
)
@pytest.mark.parametrize("given", [["--identifier", "id"], []])
def test_every_column_of_a_release_is_judged_by_what_it_holds(
    tmp_path: Path, column: str, code: int, reason: str, given: list[str]
) -> None:
    """With --quasi the identifier is recognised, too, whether it is declared or not."""
    data, release = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text(DATA)
    rows = ["age,ill", "<40,no", "<40,yes", ">=40,no", ">=40,no"]
    cells = column.split(",")
    release.write_text("".join(f"{a},{b}\n" for a, b in zip(rows, cells, strict=True)))
    asked = ["--quasi", "age", "--sensitive", "ill", *given]
    ended = call("test", data, *asked, "--release", release)
    assert ended.code == code
    assert reason in first_reason(ended.out)


def test_an_audit_names_options_in_words_that_every_reader_knows(
    nameless: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "audit"
    given = ["audit", *words(nameless)[1:], "--limit", "delta=2", "--out", str(out)]
    ended = call(*given)
    assert ended.code == 3
    told = (out / "report.json").read_text() + (out / "report.md").read_text() + ended.out
    assert "with the option “key”" in " ".join(told.split())
    assert "key=" not in told
    assert "rows_in_order=" not in told

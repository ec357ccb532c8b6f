"""Makes the cases: a command that is accepted, with one of its inputs changed."""

# ruff: noqa: E501 - tables of options

from __future__ import annotations

import hashlib
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.strange import TEXTS, changed, near, nudged, separated, strength, written
from tests.fuzz.tables import FORMATS
from tests.fuzz.valid import (
    PLAN,
    POLICY,
    ROLES,
    arx_release,
    by_tens,
    grounds,
    hierarchy,
    people,
    priors,
    write_beside,
)  # fmt: skip

Words = list[str]
QUICK = ("--jobs", "1")

LIKELY: dict[str, tuple[str, ...]] = {
    "--quasi": ("age", "age,town,zip", "age,town,wage", "born,town", "zip"), "--sensitive": ("ill", "town", "wage > 1200", "ill,town"),
    "--identifier": ("id",), "--other": ("zip", "wage"), "--individual": ("id", "zip"), "--known": ("age", "town"),
    "--sanitizer": ("mondrian:k=2", "mondrian:l=2", "mondrian:k=2,t=0.5", "laplace:epsilon=1", "mondrian:recursive=3/2",
                    "gaussian:sigma=2", "recoding:k=2", "recoding:k=2,suppression=0.2", "randomized-response:epsilon=1", "mdav:k=3", "identity", "suppress", "mondrian:entropy_l=1.5",
                    "geometric:epsilon=0.1", "mondrian:k=3,regions=cut", "command:cp {input} {output}", "mondrian:k=99,unmet=generalize"),
    "--model": ("naive-bayes", "frequency", "tree", "logistic", "knn", "naive-bayes,tree", "tree:encoding=Scaling-Hot",
                "logistic:encoding=Binary-HotA", "tree:encoding=Bounds-Binary", "tree:encoding=QuantilesA-Hot"),
    "--distance": ("tv", "kl", "js", "hellinger", "max-divergence", "emd:numeric", "emd:ground.csv", "emd:places.csv", "emd:0/1",
                   "emd:ordinal", "coordinate-tv", "emd:hierarchy"),
    "--method": ("refit", "sampled", "leave-one-out", "closed-form", "auto"),
    "--kind": ("age=numeric", "age=ordinal", "town=ordinal", "ill=numeric", "wage=categorical", "zip=categorical", "born=categorical"),
    "--hierarchy": ("town=town.csv", "age=ages.csv", "ill=ills.csv"), "--prior": ("prior.csv",),
    "--release": ("people.csv", "arx.csv"), "--engine": ("duckdb", "in-process"), "--targets": ("3", "0-5", "1,2", "7-7"),
    "--missing": ("drop", "split"), "--jobs": ("1",), "--encoding": ("utf-8", "latin-1", "cp1252", "utf-16", "utf-7"),
    "--separator": (";", "\t", ","), "--limit": ("delta=0.1", "k=5", "mean=0.1", "itpr=0.5", "t=0.2", "l=2", "population.expected=9", "special.dis=0.1"),
    "--order": ("worst-first", "random", "town=town3,town2,town1,town0"), "--runs": ("3", "20"), "--confidence": ("0.5", "0.999"),
    "--bins": ("2", "18,65", "wage=3", "wage=0,1200,2000"), "--time": ("1s", "0.01s", "1m"), "--decimal": (".", ","),
    "--date-format": ("%Y-%m-%d", "born=%Y-%m-%d", "zip=excel", "zip=%y%m%d"), "--header-row": ("1", "2"), "--sheet": ("#0", "Sheet"),
    "--missing-token": ("town0", "20", "NA", "flu"), "--key": ("id",), "--suppressed": ("", "NA"), "--retries": ("0", "1"),
    "--seed": ("0", "1", "4294967296"), "--why": ("1", "3"), "--combinations": ("1", "2"), "--threads": ("1", "2"),
    "--special": ("1", "2", "3"), "--keys": ("age+town", "age,town+age"), "--sampling": ("0.1", "1"), "--population": ("5000", "people.csv"),
    "--weight": ("wage",), "--household": ("zip", "id"), "--memory-limit": ("200MB", "1GB"), "--task": ("ill", "town"), "--utility": ("ncp", "accuracy"), "--recommend": ("delta=1", "k=2"),
    "--worst": ("0", "3"), "--policy": ("ema-0070", "hipaa-safe-harbor", "policy.toml", "cell-11"), "--edges": ("age=10,20,70",),
    "--domain": ("town=town0,town1,town2,town3", "ill=flu,cold,gout"), "--min-cell": ("1", "20"), "--parameter": ("mondrian:k=2,3",),
    "--fix": ("delta=0.5",), "--budget": ("2", "0.1"), "--title": ("x",), "--markdown": ("out.md",), "--chart": ("out.svg", "out.html"),
    "--records": ("records.csv", "records.parquet"), "--write-release": ("made.csv",), "--release-encoding": ("utf-8", "cp1252"),
}  # fmt: skip
FLAGS = (
    "--rows-in-order",
    "--membership",
    "--joint",
    "--keep",
    "--show-values",
    "--no-details",
    "--no-joint",
)
OF = {
    "test": ("--individual --order --method --release --targets --runs --retries --why --records --time --key --rows-in-order --suppressed "
             "--release-encoding --membership --show-values --limit --model --distance --prior --known --confidence --jobs --sanitizer --seed --missing"),
    "risk": ("--individual --engine --combinations --threads --memory-limit --records --limit --policy --no-details --show-values "
             "--special --keys --sampling --population --weight --household"),
    "sanitize": "--edges --domain --keep --sanitizer --seed --missing",
    "compare": "--utility --recommend --task --markdown --chart --sanitizer --model --distance --prior --known --runs --confidence --jobs --seed --missing",
    "audit": ("--individual --policy --release --key --rows-in-order --suppressed --write-release --title --min-cell --show-values --worst --parameter --fix "
              "--budget --task --time --targets --method --model --distance --prior --known --runs --confidence --jobs --sanitizer --seed --missing --limit"),
}  # fmt: skip
READING = ["--quasi", "--sensitive", "--identifier", "--other", "--kind", "--hierarchy", "--bins", "--missing-token", "--decimal", "--date-format", "--header-row", "--encoding", "--separator", "--sheet", "--joint"]  # fmt: skip


def command(dice: random.Random, data: str, *more: str, only: tuple[str, ...] = ()) -> Words:
    """Return a command on a table that is accepted if the table is."""
    name = dice.choice(
        only or ("test", "test", "test", "risk", "risk", "audit", "sanitize", "compare")
    )
    words = [name, data, *ROLES]
    if name in ("test", "audit"):
        words += ["--targets", "0-4", *QUICK]
    match name:
        case "sanitize":
            words += ["--out", dice.choice(("out.csv", "out.parquet", "out.tsv"))]
        case "audit":
            words += ["--out", "report"]
        case "compare":
            words += ["--sanitizer", "mondrian:k=2,3", *QUICK]
        case _ if dice.random() < 0.3:
            words += ["--json", dice.choice(("out.json", "out.json", "-"))]
    return [*words, *more]


def put(words: Words, option: str, value: str) -> Words:
    """Give an option its value, instead of the one that it may have had."""
    if option in words:
        words[words.index(option) + 1] = value
        return words
    return [*words, option, value]


def options_case(dice: random.Random, folder: Path) -> Words:
    """Change the options of a command: mostly likely ones, sometimes any."""
    words = command(dice, "people.csv")
    own = [*OF[words[0]].split(), *READING]
    for option in dice.sample(own, dice.choice((1, 2, 2, 3, 4))):
        if option in FLAGS:
            words.append(option)
        else:
            value = dice.choice(LIKELY[option])
            if dice.random() < 0.3:
                value = (
                    dice.choice(TEXTS) if dice.random() < 0.5 else near(dice, value, [[value]], 0)
                )
            words = put(words, option, value)
    if dice.random() < 0.05:
        words[dice.randrange(len(words))] = dice.choice(TEXTS)
    return words


def table_case(form: str) -> Callable[[random.Random, Path], Words]:
    """Change the table."""

    def case(dice: random.Random, folder: Path) -> Words:
        words = command(dice, FORMATS[form](dice, folder))
        if dice.random() < 0.3:
            quasi, other = dice.choice(
                (("age,town,wage", "zip"), ("age,zip,born", "wage"), ("age", "town"))
            )
            words = put(put(words, "--quasi", quasi), "--other", other)
        if dice.random() < 0.1 and words[0] != "risk":
            words += ["--missing", dice.choice(("drop", "split"))]
        return words

    return case  # fmt: skip


def hierarchy_case(dice: random.Random, folder: Path) -> Words:
    """Change a hierarchy, of a quasi-identifier or of the sensitive values."""
    column = dice.choice(("town", "age", "ill"))
    rows = hierarchy(column)
    if dice.random() < 0.2:
        rows = [[column, "level1", "level2"], *rows]
    (folder / "side.csv").write_bytes(separated(dice, rows, dice.choice((";", ","))))
    only = ("test", "test", "audit", "sanitize", "compare", *(("risk",) if column == "ill" else ()))
    words = command(dice, "people.csv", "--hierarchy", f"{column}=side.csv", only=only)
    if column == "ill" and words[0] in ("test", "audit", "compare"):
        words += ["--distance", "emd:hierarchy"]
    if column == "age":
        words += ["--kind", "age=categorical"]
    return words


WAYS = (
    ("age", "--intervals", "5,10,20"), ("wage", "--intervals", "auto"), ("age", "--intervals", "10,20", "--start", "7"),
    ("born", "--dates", "month,year"), ("born", "--dates", "auto"), ("zip", "--mask", "right"), ("town", "--mask", "left"),
    ("zip", "--prefixes", "3,1"), ("ill", "--prefixes", "icd10"), ("town", "--groups", "2,4"), ("age", "--groups", "2,4,8"),
    ("ill", "--priorities", "2,1"), ("town", "--priorities", "3,2,1"), ("town", "--groups", "2", "--order", "town3,town2,town1,town0"),
)  # fmt: skip


def building_case(dice: random.Random, folder: Path) -> Words:
    """Build a hierarchy of a column in every way, from a changed table or with a changed way."""
    column, *way = dice.choice(WAYS)
    how = strength(dice)
    data = FORMATS[dice.choice(list(FORMATS))](dice, folder) if how == "wildly" else "people.csv"
    if how == "a little":
        way[-1] = dice.choice(TEXTS) if dice.random() < 0.3 else near(dice, way[-1], [[way[-1]]], 0)
        column = dice.choice((column, column, *("id", "age", "town", "zip", "born", "wage", "ill")))
    shown = ["--out", "built.csv"] if dice.random() < 0.5 else ["--show-values"]
    return ["hierarchy", column, "--from", data, *way, *shown]


def prior_case(dice: random.Random, folder: Path) -> Words:
    """Change a prior."""
    (folder / "side.csv").write_bytes(separated(dice, dice.choice(priors())))
    model = dice.choice(("naive-bayes", "frequency", "tree", "auto"))
    return command(
        dice,
        "people.csv",
        "--prior",
        "side.csv",
        "--model",
        model,
        only=("test", "test", "compare", "audit"),
    )


def ground_case(dice: random.Random, folder: Path) -> Words:
    """Change a file of ground distances."""
    (folder / "side.csv").write_bytes(separated(dice, dice.choice(grounds())))
    return command(
        dice, "people.csv", "--distance", "emd:side.csv", only=("test", "test", "compare", "audit")
    )


@cache
def our_release(sanitizer: str) -> tuple[tuple[str, ...], ...]:
    """Return a release that indiff writes."""
    import csv

    from tests.command_line import call

    assert (
        call(
            "sanitize",
            "people.csv",
            *ROLES,
            "--sanitizer",
            sanitizer,
            "--seed",
            "1",
            "--out",
            "ours.csv",
        ).code
        == 0
    )
    with Path("ours.csv").open() as file:
        return tuple(map(tuple, csv.reader(file)))


def release_case(dice: random.Random, folder: Path) -> Words:
    """Change a release that indiff made."""
    sanitizer = dice.choice(("mondrian:k=3", "mondrian:k=3,regions=cut", "suppress", "identity"))
    rows = [list(row) for row in our_release(sanitizer)]
    (folder / "side.csv").write_bytes(separated(dice, rows))
    more = dice.choice(
        ((), ("--rows-in-order",), ("--suppressed", "NA"), ("--model", "tree:encoding=Scaling-Hot"))
    )
    return command(
        dice, "people.csv", "--release", "side.csv", *more, only=("test", "test", "audit")
    )


def arx_case(dice: random.Random, folder: Path) -> Words:
    """Change a release as ARX exports it."""
    (folder / "side.csv").write_bytes(separated(dice, arx_release(), ";"))
    quasi, other = dice.choice(
        (
            ("age,town", "zip,born,wage"),
            ("age,zip", "town,born,wage"),
            ("age,town,born", "zip,wage"),
        )
    )
    more = dice.choice(
        (
            (),
            ("--rows-in-order",),
            ("--kind", "zip=categorical"),
            ("--suppressed", "NA"),
            ("--model", "frequency"),
        )
    )
    words = command(
        dice, "people.csv", "--release", "side.csv", *more, only=("test", "test", "audit")
    )
    return put(put(words, "--quasi", quasi), "--other", other)


def releases_case(dice: random.Random, folder: Path) -> Words:
    """Change one file of a folder of releases."""
    place = folder / "made"
    place.mkdir()
    rows = people()
    (place / "release.csv").write_bytes(written(by_tens(rows)))
    for record in range(4):
        without = by_tens([*rows[: record + 1], *rows[record + 2 :]])
        (place / f"without-{record}.csv").write_bytes(written(without))
    broken = dice.choice(sorted(place.iterdir()))
    how = strength(dice)
    if how != "nothing":
        broken.write_bytes(separated(dice, by_tens(rows)))
    if how == "wildly":
        broken.rename(
            place / dice.choice(("without-x.csv", "without-99.csv", "without-1-2.csv", "other.txt"))
        )
    words = [
        "test",
        "people.csv",
        *ROLES,
        "--sanitizer",
        "releases:made",
        "--targets",
        "0-3",
        *QUICK,
    ]
    return [*words, "--method", dice.choice(("refit", "auto"))]


def synthetic_case(dice: random.Random, folder: Path) -> Words:
    """Change a synthetic file, or the records that its generator never saw."""
    rows = people()
    (folder / "made.csv").write_bytes(written(rows))
    (folder / "side.csv").write_bytes(separated(dice, rows))
    words = ["test", "people.csv", *ROLES, "--synthetic", "--release"]
    ways = (
        ["side.csv"],
        ["side.csv", "--held-out", "made.csv"],
        ["made.csv", "--held-out", "side.csv"],
    )
    return [*words, *dice.choice(ways)]


def several_case(dice: random.Random, folder: Path) -> Words:
    """Change one of two releases, both made elsewhere or one published before."""
    (folder / "made.csv").write_bytes(written(by_tens(people())))
    (folder / "side.csv").write_bytes(separated(dice, by_tens(people())))
    both = ["--release", "made.csv", dice.choice(("--release", "--before")), "side.csv"]
    name = "audit" if "--before" in both else "test"
    return [name, "people.csv", *ROLES, *both, *(["--out", "report"] if name == "audit" else [])]


def project_case(dice: random.Random, folder: Path) -> Words:
    """Change a member of a project of ARX, or the archive itself."""
    from tests.audit.imports.test_arx import write_project

    path = write_project(folder / "project.deid")
    match strength(dice):
        case "wildly":
            path.write_bytes(changed(dice, path.read_bytes()))
        case "a little":
            with zipfile.ZipFile(path) as archive:
                name = dice.choice(archive.namelist())
                text = changed(dice, archive.read(name)).decode(errors="replace")
            write_project(path, members={name: text})
    return ["import", "project.deid", "--out", "imported"]


METADATA: tuple[dict[str, Any], ...] = (
    {"fields": [{"name": "id", "type": "string"}, {"name": "age", "type": "integer"}, {"name": "town", "type": "string", "categories": ["town3", "town2", "town1", "town0"], "categoriesOrdered": True}],
     "primaryKey": "id", "missingValues": ["", "NA"]},
    {"@context": "http://www.w3.org/ns/csvw", "url": "people.csv", "tableSchema": {"columns": [{"name": "id", "datatype": "string"}, {"name": "age", "datatype": "integer"}], "primaryKey": "id"}},
    {"columns": {"id": {"sdtype": "id"}, "age": {"sdtype": "numerical"}, "town": {"sdtype": "categorical"}}, "primary_key": "id"},
)  # fmt: skip


def metadata_case(dice: random.Random, folder: Path) -> Words:
    """Change the metadata of a table."""
    made = json.loads(json.dumps(dice.choice(METADATA)))
    how = strength(dice)
    for _ in range(dice.choice((1, 2)) if how == "a little" else 0):
        key = dice.choice(list(made))
        made[key] = values(dice, made[key])
    text = json.dumps(made).encode()
    (folder / "side.json").write_bytes(changed(dice, text) if how == "wildly" else text)
    words = ["--quasi", "age,town", "--other", "zip,born,wage", "--sensitive", "ill"]
    return ["risk", "people.csv", *words, "--metadata", "side.json"]


def values(dice: random.Random, old: Any) -> Any:
    """Return another value for a key."""
    match old:
        case str() if dice.random() < 0.6:
            return near(dice, old, [[old]], 0)
        case bool():
            return dice.choice((not old, 1, "true", []))
        case int() | float() if dice.random() < 0.6:
            return dice.choice(
                (
                    0,
                    -old,
                    old + 1,
                    old * 10,
                    old / 3,
                    float("inf"),
                    float("nan"),
                    str(old),
                    2**63 - 1,
                    1e-300,
                )
            )
        case list() if old and dice.random() < 0.7:
            return dice.choice(
                (old[:-1], [*old, old[-1]], [*old, dice.choice(TEXTS)], [old], old[0], [1])
            )
        case dict() if old and dice.random() < 0.7:
            key = dice.choice(list(old))
            return {**old, key: values(dice, old[key])}
    return dice.choice((dice.choice(TEXTS), [], {}, 0, -1, 1.5, True, ["a"], [[]], {"a": {"b": 1}}))


def settings(dice: random.Random, given: dict[str, Any], more: dict[str, dict[str, Any]]) -> bytes:
    """Return settings as TOML, one or two of them changed, gone or new."""
    import tomli_w

    made = json.loads(json.dumps(given))
    how = strength(dice)
    for _ in range(dice.choice((1, 1, 2)) if how == "a little" else 0):
        name = dice.choice(list(made))
        part = made[name] if isinstance(made[name], dict) and made[name] else made
        key = dice.choice(list(part))
        match dice.randrange(6):
            case 0:
                del part[key]
            case 1 if part is not made and more.get(name):
                new = dice.choice(list(more[name]))
                part[new] = more[name][new]
            case 2:
                part[dice.choice((key.upper(), "new", key + "s", "ä ö"))] = part[key]
            case _:
                part[key] = values(dice, part[key])
        if not made:
            break
    text = tomli_w.dumps(made).encode()
    return changed(dice, text) if how == "wildly" else text


MORE: dict[str, dict[str, Any]] = {
    "data": {"bins": {"wage": 3}, "missing": "split", "missing_tokens": ["", "town0"], "decimal": ".", "header_row": 1,
             "encoding": "utf-8", "separator": ",", "sheet": "x", "individual": "id", "orders": {"town": ["town1", "town0", "town3", "town2"]},
             "joint": True, "date_format": {"born": "%Y-%m-%d"}, "hierarchies": {"ill": "ills.csv"}},
    "release": {"file": "arx.csv", "suppressed": ["NA"], "rows_in_order": True, "key": "id", "encoding": "utf-8", "write": "made.csv"},
    "adversary": {"known": ["age"], "method": "refit", "runs": 3, "confidence": 0.9, "membership": False},
    "context": {"policy": "policy.toml", "controller": "we", "author": "I", "confirmed": ["board"], "confirmed_by": "I", "knowledge": "all"},
    "limits": {"itpr": 0.5, "t": 0.1, "inference.ill.itpr": 0.4, "mean": 0.2, "l": 2},
    "report": {"show_values": True, "task": "town"},
    "run": {"time": "1m"},
}  # fmt: skip


def plan_case(dice: random.Random, folder: Path) -> Words:
    """Change a plan."""
    (folder / "plan.toml").write_bytes(settings(dice, PLAN, MORE))
    return ["audit", "plan.toml", "--out", "report"]


def policy_case(dice: random.Random, folder: Path) -> Words:
    """Change a policy."""
    (folder / "policy.toml").write_bytes(settings(dice, POLICY, {}))
    return command(dice, "people.csv", "--policy", "policy.toml", only=("audit", "risk"))


def run_folder_case(dice: random.Random, folder: Path) -> Words:
    """Change the journal of a run, and let the run go on."""
    from tests.command_line import call

    method = dice.choice((("--method", "refit"), ("--method", "sampled", "--runs", "3")))
    words = [
        "test",
        "people.csv",
        *ROLES,
        *QUICK,
        "--sanitizer",
        "mondrian:k=3",
        "--model",
        "naive-bayes",
        "--run",
        "run",
        *method,
    ]
    assert call(*words, "--targets", "0-2").code == 0
    journal = folder / "run" / "journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    place = dice.randrange(len(lines))
    match strength(dice):
        case "nothing":
            pass
        case "wildly":
            lines = [changed(dice, b"".join(lines))]
        case _ if dice.random() < 0.4:
            dice.choice(
                (
                    lambda: lines.pop(place),
                    lambda: lines.insert(place, lines[place]),
                    lambda: dice.shuffle(lines),
                    lambda: lines.append(lines[-1][: len(lines[-1]) // 2]),
                    lambda: lines.insert(place, b"\n"),
                    lambda: lines.pop(),
                    lambda: lines.append(b"x\n"),
                )
            )()
        case _:
            entry = json.loads(lines[place].partition(b" ")[2])
            key = dice.choice(list(entry))
            if dice.random() < 0.2:
                del entry[key]
            else:
                entry[key] = values(dice, entry[key])
            text = json.dumps(entry).encode()
            lines[place] = (
                hashlib.blake2b(text, digest_size=8).hexdigest().encode() + b" " + text + b"\n"
            )
    journal.write_bytes(b"".join(lines))
    further = "0-2" if "sampled" in method else dice.choice(("0-2", "0-4", "1-1"))
    return [*words, "--targets", further]


@cache
def audited() -> tuple[bytes, bytes]:
    """Return the report of an audit and the release that it is about."""
    from tests.command_line import call

    words = (
        "audit",
        "people.csv",
        *ROLES,
        *QUICK,
        "--model",
        "naive-bayes",
        "--targets",
        "0-4",
        "--out",
        "first",
        "--write-release",
        "first.csv",
    )
    assert call(*words).code in (0, 3)
    return Path("first/report.json").read_bytes(), Path("first.csv").read_bytes()


def report_case(dice: random.Random, folder: Path) -> Words:
    """Change a report or its release, and ask whether they belong together."""
    report, release = audited()
    match strength(dice):
        case "wildly":
            report = changed(dice, report)
        case "a little" if dice.random() < 0.2:
            release = changed(dice, release)
        case "a little":
            document = json.loads(report)
            for _ in range(dice.choice((1, 2))):
                key = dice.choice(list(document))
                document[key] = values(dice, document[key])
            report = json.dumps(document).encode()
    (folder / "report.json").write_bytes(report)
    (folder / "release.csv").write_bytes(release)
    again = ["--data", "people.csv"] if dice.random() < 0.3 else []
    return ["verify", "report.json", "release.csv", *again]


EXPRESSIONS = (
    "wage > 1200", "age >= 30 and town = 'town0'", "case when wage > 1200 then 'a' else 'b' end", "upper(ill)", "wage / (age - 27)",
    "born > date '1980-01-01'", "substr(zip, 1, 3)", "age % 3", "ill in ('flu', 'cold')", "wage is null", "cast(wage as integer) % 2",
    "ln(age - 27)", "town || ill", "[age, 1]", "{'a': age}", "random() > 0.5", "count(*)", "age; select 1", "(select 1)", "repeat(ill, 3)",
)  # fmt: skip


def expression_case(dice: random.Random, folder: Path) -> Words:
    """Change an expression over columns as the sensitive attribute."""
    text = dice.choice(EXPRESSIONS)
    match strength(dice):
        case "wildly":
            text = changed(dice, text.encode()).decode(errors="replace").replace("\0", "")
        case "a little":
            words = nudged(
                dice,
                [text.split(" "), *(other.split(" ") for other in dice.sample(EXPRESSIONS, 2))],
            )
            text = " ".join(words[0]) if words else ""
    return put(command(dice, "people.csv"), "--sensitive", text)


KINDS: dict[str, Callable[[random.Random, Path], Words]] = {
    **{f"table, {form}": table_case(form) for form in FORMATS},
    "options": options_case, "hierarchy": hierarchy_case, "built hierarchy": building_case, "prior": prior_case, "ground distances": ground_case,
    "release, ours": release_case, "release, as ARX's": arx_case, "folder of releases": releases_case, "plan": plan_case,
    "policy": policy_case, "run folder": run_folder_case, "report": report_case, "expression": expression_case,
    "synthetic file": synthetic_case, "several releases": several_case, "project of ARX": project_case, "metadata": metadata_case,
}  # fmt: skip


def make(kind: str, dice: random.Random, folder: Path) -> Words:
    """Write the valid files into a folder, change one, and return the command; it is run there."""
    write_beside(folder)
    return [word.replace("\0", "") for word in KINDS[kind](dice, folder)]

"""The command line's adversaries: several, informed, explained, telling "in" from "out"."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest

import indiff
from tests.command_line import Ended, call

PEOPLE = "age,town,stage,ill\n" + "".join(
    f"{20 + row * 7 % 40},town{row % 5},{row % 4},"
    f"{('secret-a', 'secret-b', 'secret-c')[row * row % 7 % 3]}\n"
    for row in range(60)
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def run(people: Path, *words: str | Path, sensitive: str = "ill") -> Ended:
    other = "stage" if sensitive == "ill" else "ill"
    return call("test", people, "--sensitive", sensitive, "--other", other, *words)


def read(people: Path, sensitive: str = "ill", **options: Any) -> indiff.Table:
    other = "stage" if sensitive == "ill" else "ill"
    return indiff.read_table(people, sensitive=sensitive, other=other, **options)


def document(path: Path) -> Any:
    return json.loads(path.read_text())


def flat(ended: Ended) -> str:
    return " ".join(ended.out.split())


def test_several_models_are_judged_by_the_strongest(people: Path, tmp_path: Path) -> None:
    names = ["naive-bayes", "frequency", "tree:encoding=Scaling-Hot"]
    found = indiff.differential_test(read(people), "mondrian:k=5", model=names)
    between = (min(found.deltas.values()) + found.delta) / 2
    ended = run(people, "--model", ",".join(names), "--limit", f"delta={between}",
                "--json", tmp_path / "r.json", "--records", tmp_path / "r.csv")  # fmt: skip
    assert ended.code == 1
    assert f"delta of ill is {found.delta:.4g}, above" in flat(ended)
    assert f"{found.delta:.4g}, seen by {found.model}" in flat(ended)
    shown = flat(ended).partition("Each model")[2].partition("Result")[0]
    for name, delta in found.deltas.items():
        assert name[:20] in shown  # a long name is folded
        assert f" {delta:.4g} {found.results[name].mean:.4g} leave-one-out; exact" in shown
    written = document(tmp_path / "r.json")
    assert written["deltas"] == found.deltas
    assert written["limits"][0]["exceeded"] is True
    rows = pyarrow.csv.read_csv(tmp_path / "r.csv")
    assert rows["distance"].to_pylist() == pytest.approx(found.distances.tolist())
    assert rows["model"].to_pylist() == found.seen_by.tolist()
    assert run(people, "--model", ",".join(names), "--limit", f"delta={found.delta}").code == 0
    assert max(map(len, ended.out.splitlines())) <= 80


def test_mean_and_predictions_of_several_models_are_the_largest(people: Path) -> None:
    found = indiff.differential_test(read(people), "mondrian:k=5", model=["naive-bayes", "tree"])
    parts = found.results.values()
    assert found.mean_upper == found.mean >= max(result.mean for result in parts)
    either = [result.predictions_changed for result in parts]
    assert found.changed_predictions == pytest.approx(100 * np.maximum(*either).mean())
    ended = run(people, "--model", "naive-bayes,tree", "--limit", "mean=0.0001",
                "--limit", "changed_predictions=0.0001")  # fmt: skip
    assert ended.code == 1
    assert f"mean of ill is {found.mean:.4g}" in flat(ended)
    assert f"changed_predictions of ill is {found.changed_predictions:.4g}" in flat(ended)


def test_a_sampled_model_among_several_is_judged_by_its_upper_limit(
    people: Path, tmp_path: Path
) -> None:
    ended = run(people, "--model", "frequency,forest", "--runs", "3", "--targets", "0-0",
                "--limit", "delta=1.5", "--json", tmp_path / "r.json")  # fmt: skip
    assert ended.code == 1  # three runs say next to nothing
    written = document(tmp_path / "r.json")
    assert written["delta"] < 1.5 < written["delta_upper"]
    assert "delta of ill may be" in flat(ended)
    assert "confidence for all models together" not in flat(ended)  # of one record: no limits on δ


def test_an_interrupted_model_is_the_last(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import indiff.differential.refit.refit as refit

    make, seen = refit.Without.__call__, [0]

    def interrupted(*arguments: Any) -> Any:
        seen[0] += 1
        if seen[0] > 4:
            raise KeyboardInterrupt
        return make(*arguments)

    monkeypatch.setattr(refit.Without, "__call__", interrupted)
    words = ("--model", "frequency,naive-bayes", "--method", "refit", "--jobs", "1",
             "--why", "1", "--json", tmp_path / "r.json")  # fmt: skip
    ended = run(people, *words)
    assert ended.code == 130
    assert "not tried naive-bayes" in flat(ended)
    written = document(tmp_path / "r.json")
    assert (written["untried"], written["complete"]) == (["naive-bayes"], False)
    seen[0] = 0
    assert run(people, *words, "--limit", "delta=0.000001").code == 1


def test_a_prior_and_known_columns_reach_the_model(people: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("value,probability\nsecret-a,0.9\nsecret-b,0.05\nsecret-c,0.05\n")
    ended = run(people, "--prior", prior, "--known", "age", "--json", tmp_path / "r.json")
    assert ended.code == 0
    expected = indiff.differential_test(
        read(people), "mondrian:k=5", prior=str(prior), known=["age"]
    )
    assert document(tmp_path / "r.json")["delta"] == pytest.approx(expected.delta)
    plain = indiff.differential_test(read(people), "mondrian:k=5")
    assert expected.delta != pytest.approx(plain.delta)
    assert "the adversary knows age alone of 2 columns" in flat(ended)
    assert "a prior of the adversary's own" in flat(ended)


def test_ground_distances(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    assert run(people, "--distance", "emd:numeric", "--json", out,
               sensitive="stage").code == 0  # fmt: skip
    table = read(people, "stage")
    expected = indiff.differential_test(table, "mondrian:k=5", distance=indiff.Emd("numeric"))
    assert document(out)["delta"] == pytest.approx(expected.delta)
    assert document(out)["distance"] == "emd:numeric"

    costs = tmp_path / "costs.csv"
    costs.write_text(",0,1,2,3\n0,0,1,2,3\n1,1,0,1,2\n2,2,1,0,1\n3,3,2,1,0\n")
    ended = run(people, "--distance", f"emd:{costs}", "--json", out, sensitive="stage")
    assert ended.code == 0
    assert "emd:costs.csv, from 0 to 3" in ended.out
    assert document(out)["delta"] == pytest.approx(expected.delta)  # the same ground

    tree = tmp_path / "tree.csv"
    tree.write_text("secret-a;x;*\nsecret-b;x;*\nsecret-c;y;*\n")
    ended = run(people, "--distance", "emd:hierarchy", "--hierarchy", f"ill={tree}")
    assert ended.code == 0
    assert "emd:hierarchy, from 0 to 4" in ended.out


def test_why_shows_values_only_if_asked(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    ended = run(people, "--model", "naive-bayes", "--why", "2", "--json", out)
    assert ended.code == 0
    result = indiff.differential_test(read(people), "mondrian:k=5", model="naive-bayes")
    worst = [row["record"] for row in result.worst(2)]
    for why in indiff.explain(read(people), "mondrian:k=5", worst):
        assert str(why) in flat(ended)
    assert [why["record"] for why in document(out)["why"]] == worst
    for text in (ended.out, out.read_text()):
        assert "secret" not in text
        assert "town0" not in text
    ended = run(people, "--why", "2", "--show-values")
    assert "belief in 'secret-" in flat(ended)


def test_why_is_told_by_the_model_that_sees_the_record(people: Path, tmp_path: Path) -> None:
    names, out = ["naive-bayes", "frequency", "tree"], tmp_path / "r.json"
    found = indiff.differential_test(read(people), "mondrian:k=5", model=names)
    ended = run(people, "--model", ",".join(names), "--why", "3", "--json", out)
    for row, written in zip(found.worst(3), document(out)["why"], strict=True):
        (why,) = indiff.explain(read(people), "mondrian:k=5", row["record"], model=row["model"])
        assert f"{row['model']}: {why}" in flat(ended)
        assert written["model"] == row["model"]
        assert written["text"] == f"{row['model']}: {why}"
    alone = run(people, "--model", "tree", "--why", "1")
    assert "tree: without record" not in flat(alone)
    assert "the tree looks at" in flat(alone)
    assert "secret" not in alone.out


def test_why_has_the_knowledge_of_the_test(people: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("value,probability\nsecret-a,0.9\nsecret-b,0.05\nsecret-c,0.05\n")
    asked: dict[str, Any] = {"prior": prior, "known": ["age"]}
    ended = run(people, "--model", "naive-bayes", "--prior", prior, "--known", "age", "--why", "2")
    found = indiff.differential_test(read(people), "mondrian:k=5", model="naive-bayes", **asked)
    for row in found.worst(2):
        (why,) = indiff.explain(
            read(people), "mondrian:k=5", row["record"], prior=prior, known=["age"]
        )
        assert str(why) in flat(ended)
        assert [shift.name for shift in why.attributes] == ["age"]


def test_membership(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    ended = run(people, "--model", "naive-bayes,frequency", "--membership", "--seed", "3",
                "--confidence", "0.9", "--json", out)  # fmt: skip
    assert ended.code == 0
    for name in ("naive-bayes", "frequency"):
        result = indiff.differential_test(read(people), "mondrian:k=5", model=name)
        expected = indiff.membership_inference(result, confidence=0.9, seed=3).to_dict()
        assert document(out)["membership"][name] == expected
        assert f"Membership inference with {name}" in ended.out
    assert "by whoever holds both releases" in flat(ended)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "tree,trees"), "no model 'trees'"),
        (("--model", "tree:encoding=Nothing-Hot"), "no encoding "),
        (("--model", "tree,tree"), "models need names of their own; got tree, tree"),
        (("--distance", "emd:nothing"), "no ground distance 'nothing'"),
        (("--distance", "emdd"), "no distance 'emdd'"),
        (("--distance", "emd:numeric"), "'numeric' needs a number for every value of 'ill'"),
        (("--distance", "emd:hierarchy"), "has none. Give it: --hierarchy ill=file.csv."),
        (("--distance", "emd:absent.csv"), "cannot be read"),
        (("--prior", "absent.csv"), "cannot be read"),
        (("--known", "agee"), "no quasi-identifier 'agee'"),
        (("--why", "0"), "--why must be at least 1; got 0."),
        (("--why", "1", "--model", "tree,forest"), "got mondrian:k=5 and forest. Leave it out."),
        (("--why", "1", "--sanitizer", "laplace:epsilon=1"), "--why compares one release"),
        (("--confidence", "1"), "--confidence must be between 0 and 1; got 1.0."),
    ],
)
def test_bad_input_is_one_line(people: Path, words: tuple[str, ...], message: str) -> None:
    ended = run(people, *words)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_the_adversarys_files_are_not_overwritten(people: Path, tmp_path: Path) -> None:
    prior = tmp_path / "prior.csv"
    prior.write_text("value,probability\nsecret-a,1\nsecret-b,0\nsecret-c,0\n")
    ended = run(people, "--prior", prior, "--records", prior)
    assert (ended.code, "must be a file of its own" in ended.err) == (2, True)
    ended = run(people, "--distance", f"emd:{prior}", "--records", prior)
    assert (ended.code, "must be a file of its own" in ended.err) == (2, True)

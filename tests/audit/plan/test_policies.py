"""Files of policies: presets are whole, and what is wrong in one's own is told in one sentence."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import indiff
from indiff.audit.plan.policies import SCANS, preset_names, read_policy
from indiff.errors import UserError
from indiff.risk.identifying.kinds import KINDS

HEAD = 'title = "Ours"\ndocument = "House rules"\nyear = 2026\nsection = "2"\nverified = true\n'
LIMIT = (
    '[[limits]]\nmetric = "k"\nlabel = "Group"\nlimit = 5.0\nkind = "maximum"\nscope = "sample"\n'
)
POINT = '[[checklist]]\nitem = "Why"\n'
# From the sources: what must be there, and nothing else.
ASKED = {
    "ema-0070": {"prosecutor": 0.09}, "health-canada": {"prosecutor": 0.09},
    "ipc-low": {"prosecutor": 0.09}, "ipc-medium": {"prosecutor": 0.075},
    "ipc-high": {"prosecutor": 0.05}, "cell-3": {"k": 3}, "cell-5": {"k": 5}, "cell-10": {"k": 10},
    "cell-11": {"k": 11}, "cell-20": {"k": 20}, "hipaa-safe-harbor": {},
    "ico-motivated-intruder": {"singled_out": 0}, "nist-800-188": {}, "iso-27559": {},
}  # fmt: skip
CELLS = {"ipc-low": 11, "ipc-medium": 15, "ipc-high": 20}


@pytest.mark.parametrize("name", ASKED)
def test_presets_say_what_their_sources_say(name: str) -> None:
    policy = read_policy(name)
    assert {one.metric: one.limit for one in policy.limits} == ASKED[name]
    assert [one.cell for one in policy.limits if one.cell is not None] == [
        cell for cell in [CELLS.get(name)] if cell is not None
    ]
    assert policy.name == name
    assert str(policy.year) in policy.source
    if not policy.verified:
        assert "not" in policy.note  # what could not be confirmed


def test_no_preset_is_left_out() -> None:
    assert set(preset_names()) == set(ASKED)


def test_safe_harbor_has_the_eighteen_kinds_and_the_knowledge_of_those_who_publish() -> None:
    points = read_policy("hipaa-safe-harbor").checklist
    letters = [point.item[1] for point in points if point.scan is not None]
    assert letters == list("ABCDEFGHIJKLMNOPQR")
    assert tuple(point.scan for point in points if point.scan is not None) == SCANS == tuple(KINDS)
    assert [point.confirm for point in points if point.confirm] == ["no-actual-knowledge"]


def test_the_page_lists_every_preset_and_its_example_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "policies.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", page, re.MULTILINE))
    assert set(rows) == set(ASKED)
    for name, row in rows.items():
        policy = read_policy(name)
        for one in policy.limits:
            cells = row.split(" | ")
            assert one.kind in cells[1]
            assert one.scope in cells[2]
            assert f"{one.limit:g}" in cells[0] or one.metric == "singled_out"
        assert ("yes" in row.split(" | ")[-1] or "clauses by" in row) == (
            policy.verified or name == "nist-800-188"
        )
    example = page.split("## A file of your own")[1].split("```toml")[1].split("```")[0]
    place = tmp_path / "ours.toml"
    place.write_text(example)
    assert read_policy(str(place)).confirmable == ("emails", "board")
    plan = tomllib.loads(page.split("```toml")[1].split("```")[0])
    assert indiff.Plan(data={"sensitive": "ill"}, **plan).policy is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = \n", r"ours.toml is no TOML: .*line 1.* Correct that line"),
        (HEAD, "ours.toml: a policy has a limit or a point of a checklist; got none"),
        (LIMIT, "ours.toml, title is needed; add it"),
        (HEAD + 'sektion = "2"\n' + LIMIT, "no key 'sektion': did you mean 'section'"),
        (HEAD + LIMIT + 'skope = "x"\n', "no key 'skope': did you mean 'scope'.*Known: metric,"),
        (HEAD + LIMIT.replace('"k"', '"kk"'), "ours.toml, limits 1: no limit 'kk'"),
        (HEAD + LIMIT.replace("5.0", '"five"'), "limits 1 limit must be .*number; got 'five'"),
        (HEAD + LIMIT.replace("5.0", "true"), "limits 1 limit must be .*number; got True"),
        (HEAD + LIMIT.replace("5.0", "0.5"), "limits 1: a limit on k is a number of at least 1"),
        (HEAD + LIMIT.replace("maximum", "average"), "limits 1: k is of kind maximum; got average"),
        (HEAD + LIMIT.replace("sample", "world"), "scope must be 'sample' or 'population'; got"),
        (HEAD + LIMIT + "cell = 5\n", "limits 1: cell is said of a limit on prosecutor; got k"),
        (HEAD + "pr_attack = 0.0\n" + LIMIT, "pr_attack must be greater than 0; got 0.0"),
        (HEAD + "pr_attack = 1.5\n" + LIMIT, "pr_attack must be less than or equal to 1; got 1.5"),
        (
            HEAD + "pr_attack = 0.1\n" + LIMIT.replace('"k"', '"prosecutor"').replace("5.0", "0.2"),
            "ours.toml: a limit on prosecutor is a number from 0 to 1; got 2",
        ),
        (HEAD.replace("2026", '"old"') + LIMIT, "year must be a valid integer; got 'old'"),
        (HEAD.replace("verified = true\n", "") + LIMIT, "verified is needed; add it"),
        (HEAD + POINT, "checklist 1: a point is shown by exactly one of .*; got none"),
        (HEAD + POINT + 'scan = "mails"\n', "checklist 1: no scan 'mails': did you mean 'emails'"),
        (HEAD + POINT + 'context = ["purpos"]\n', "no key of .context. 'purpos': did you mean"),
        (HEAD + POINT + 'metrics = ["delte"]\n', "no limit 'delte': did you mean 'delta'"),
        (HEAD + POINT + 'confirm = "a"\nscan = "names"\n', "exactly one of .*; got scan, confirm"),
        (HEAD + '[[crosswalk]]\nclause = "1"\n' + LIMIT, "crosswalk 1 section is needed"),
    ],
)
def test_one_sentence_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "ours.toml"
    place.write_text(text)
    with pytest.raises(UserError, match=message) as raised:
        read_policy(str(place))
    assert "\n" not in str(raised.value)


def test_a_policy_of_ones_own_is_a_file_that_can_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a policy must be readable; 'none.toml' is not"):
        read_policy(str(tmp_path / "none.toml"))
    place = tmp_path / "latin.toml"
    place.write_bytes(HEAD.replace("Ours", "Ärzte").encode("latin-1"))
    with pytest.raises(UserError, match=r"a policy is UTF-8 text; 'latin.toml' is not"):
        read_policy(str(place))
    with pytest.raises(UserError, match="no policy 'ema-0071': did you mean 'ema-0070'"):
        read_policy("ema-0071")


def test_of_two_limits_on_a_number_the_stricter_counts(tmp_path: Path) -> None:
    place = tmp_path / "ours.toml"
    place.write_text(HEAD + LIMIT + LIMIT.replace("5.0", "7") + LIMIT.replace("5.0", "6.0"))
    assert read_policy(str(place)).limits_for(None) == {"k": 7.0}

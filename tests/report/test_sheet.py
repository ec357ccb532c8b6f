"""The filing sheet: ten lines, every limit with its source, everything said once."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from indiff.report import parts, sheet
from indiff.report.fingerprints import file_rows
from indiff.report.limits import limit_rows, policy_in_full, policy_lines
from indiff.report.markdown import render as markdown
from indiff.report.page.html import css_text, render
from tests.report.documents import bare, usual


def whole(document: dict[str, Any]) -> dict[str, Any]:
    for row in document["charts"]["worst"]:
        row["about"] = "diagnosis"
    for point in (document["charts"]["parameter"] or {"points": []})["points"]:
        point["reason"] = None
    return document


def lines(document: dict[str, Any]) -> dict[str, str]:
    return dict(sheet.ten_lines(document))


def test_ten_lines_answer_what_an_officer_asks() -> None:
    told = lines(usual())
    assert len(told) == 10
    assert told["What was audited"].startswith(
        "5,000 records of patients.csv, audited on 2026-01-01"
    )
    assert told["Result, and why"] == (
        "Failed: 2 of 6 limits exceeded, 1 not decided. Delta by naive-bayes is 1.934, and must be "
        "at most 0.1."
    )
    published = told["What is published"]
    assert (
        "Published in coarser form (in brackets what a typical cell may stand for): "
        "age (7 of 73 values), sex" in published
    )
    assert "Published as they are: diagnosis." in published
    assert "Left out of the release: patient_id." in published
    assert told["For whom, and what for"] == "A register; clinics."
    assert "known: age, sex, zip." in told["What an attacker may know"]
    assert "1.93" in told["Who is exposed"]
    tried = told["What was tried, and what not"]
    assert tried.startswith(
        "Adversaries: naive-bayes, tree. Not tried: 1 other, named in section 7."
    )
    assert "Numbers: 8 exact, 1 not measured; why is said in section 7." in tried
    assert "Every limit was checked on an exact number." in tried
    assert "other releases of the same people" in tried
    assert told["What it does not prove"].startswith(
        "A pass is no proof that nobody can be recognised."
    )
    assert told["What to do next"] != "Decide below."
    decides = told["Who decides, and until when"]
    assert decides.startswith("Nobody stated who chose the policy and the limits, or why.")
    assert "by whoever signs below. Nobody stated until when it holds" in decides


def test_every_limit_that_is_exceeded_is_said_of_who_is_exposed() -> None:
    made = usual()
    chance = next(one for one in made["findings"] if one["metric"] == "k")
    made["findings"].append(
        copy.deepcopy(chance)
        | {"id": "prosecutor", "metric": "prosecutor", "value": 0.2, "exceeded": True}
        | {"limit": {"name": "prosecutor", "rule": "at most", "value": 0.09}}
        | {"means": "Whoever knows them picks their record with a chance of up to one in 5. More."}
    )
    assert lines(made)["Who is exposed"].endswith("with a chance of up to one in 5.")
    made["findings"][-1]["exceeded"] = False
    assert "one in 5" not in lines(made)["Who is exposed"]


def test_that_nobody_is_above_the_limit_is_said_only_where_it_is_known() -> None:
    made = usual()
    for one in made["findings"]:
        if one["metric"] == "delta":
            one |= {"exceeded": False, "about": "diagnosis"}
            one["parameters"].pop("above_limit", None)
    nobody = "No adversary that was tried learns more about anybody's diagnosis than the limit on δ"
    assert lines(made)["Who is exposed"].startswith(f"{nobody} allows. One person's own record")
    for one in made["findings"]:
        if one["metric"] == "delta":
            one["exceeded"] = None  # some records were not tested, or there is no limit
    assert nobody not in lines(made)["Who is exposed"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("public", "A register; clinics; anybody may have it (public)."),
        (
            "controlled",
            "A register; clinics; only named recipients, under conditions (controlled).",
        ),
        ("internal", "A register; clinics; it stays in the house (internal)."),
    ],
)
def test_the_release_model_is_said_in_words(model: str, said: str) -> None:
    made = usual()
    made["context"]["release_model"] = model
    assert lines(made)["For whom, and what for"] == said


def test_further_reasons_are_counted_and_stand_above() -> None:
    made = usual()
    made["verdict"]["reasons"] = ["one is 2, above the limit 1", "two", "three"]
    told = lines(made)["Result, and why"]
    assert told.endswith("One is 2, above the limit 1 (and 2 more reasons, named above).")


def test_who_chose_the_limits_and_until_when_it_holds() -> None:
    made = usual()
    made["context"] |= {"limits_by": "the board, by its rule 7.", "review_by": "2027-12-31"}
    told = lines(made)["Who decides, and until when"]
    assert told.startswith("The limits were chosen by: the board, by its rule 7. indiff says")
    assert "looked at again by 2027-12-31, and before that when" in told
    assert "Nobody stated" not in told
    assert "the board" not in str(sheet.context_rows(made))  # what the ten lines say is said once
    made["policy"] = made["context"] = None
    told = lines(made)["Who decides, and until when"]
    assert told.startswith("Nobody stated who chose the limits, or why.")


def test_what_a_plan_leaves_open_is_said() -> None:
    made = bare()
    told = lines(made)
    assert told["For whom, and what for"].startswith("The plan does not say.")
    assert told["Who is exposed"] == "Smallest group (k) was not measured; why is said below."
    assert limit_rows(made) == []
    ((label, text),) = sheet.context_rows(made)
    assert label == "Not stated"
    assert "recipients (recipients)" in text
    assert "date of the next review (review_by); confidentiality (confidentiality). The" in text
    assert "[context]" in text
    assert sheet.marking(made) == "Confidential"
    assert file_rows(made) == []
    made["verdict"]["status"] = "pass"
    assert lines(made)["What to do next"].startswith("Decide, sign below")


def test_one_quasi_identifier_and_nine_other_columns_are_all_named() -> None:
    made = usual()
    others = [f"other-{place}" for place in range(9)]
    made["release"]["columns"] = [
        {"name": "age", "role": "quasi", "how": "coarser"},
        *({"name": one, "role": "other", "how": "left out"} for one in others),
    ]
    told = lines(made)["What is published"]
    assert all(one in told for one in others)
    del made["release"]["columns"]  # as an older report has it
    assert dict(sheet.columns(made))["Left out of the release"] == ["patient_id"]


def test_limits_of_the_policy_and_of_the_plan_with_their_source() -> None:
    rows = limit_rows(usual())
    assert [(one.source, one.outcome.partition(" (")[0]) for one in rows] == [
        ("Guide 0, 2020, section 4", "kept"),
        ("Guide 1, 2020, section 4", "exceeded"),
        ("Guide 2, 2020, section 4", "not decided"),
        ("this plan", "kept"),
        ("this plan", "kept"),
        ("this plan", "exceeded"),
    ]
    assert rows[0].limit == "at most 0.09, for everybody in the population"
    assert rows[2].measured == "—"
    assert (rows[5].limit, rows[5].measured) == ("at most 0.1", "1.934")
    made = usual()  # a limit of the policy that its finding has, too, is listed once
    made["policy"]["limits"][0] |= {"finding": "k", "limit": 5}
    assert [one.name for one in limit_rows(made)].count("Smallest group (k)") == 0
    told = dict(policy_lines(usual()))
    assert told["Policy"] == "The guide"
    assert "appendix A says what" in told["Not verified"]


def test_the_policy_is_told_in_full_in_the_appendix() -> None:
    told = dict(policy_in_full(usual()))
    assert told["Policy"] == "The guide"
    assert told["Checked against its source"] == "not fully: see the note"
    assert sum(label.startswith("Limit: ") for label in told) == 3
    assert policy_in_full(bare()) == policy_lines(bare()) == []
    made = usual()
    made["policy"] |= {"checklist": [], "crosswalk": []}
    for text in (render(whole(made)), markdown(whole(made))):
        assert "Checked against its source" in text


@pytest.mark.parametrize(
    ("removed", "status", "told"),
    [
        (0, "below", "Nobody had to be removed for a δ of at most 0.4."),
        (0, "budget", "did not lead to a δ of at most 0.4, so nobody was removed."),
        (1, "below", "1 record that stood out was removed for a δ of at most 0.4: no number here "
                     "is about that person."),
        (1200, "below", "1,200 records that stood out were removed for a δ of at most 0.4: no "
                        "number here is about those people."),
    ],
)  # fmt: skip
def test_the_people_who_were_removed_are_counted(removed: int, status: str, told: str) -> None:
    made = usual()
    made["fix"] = {"delta": 0.4, "budget": None, "status": status, "removed": removed}
    assert told in lines(made)["What was audited"]


def test_what_to_do_is_what_helps_and_not_what_does_not() -> None:
    made = usual()
    step: dict[str, Any] = {"options": {}, "command": None}
    no = {**step, "kind": "none", "text": "k = 9 does not help."}
    yes = {**step, "kind": "fix", "text": "Remove 1 record."}
    for found, told in (([no, yes], "Remove 1 record."), ([no], "k = 9 does not help.")):
        made["next_steps"] = found
        assert lines(made)["What to do next"] == f"Do not publish this release as it is. {told}"
    made["next_steps"], made["verdict"]["status"] = [], "incomplete"
    assert lines(made)["What to do next"].startswith("Settle what is named above")


def test_the_period_of_the_data_is_told_or_missed() -> None:
    made = usual()
    made["context"]["data_period"] = None
    assert "does not say which period" in lines(made)["What was audited"]
    made["context"]["data_period"] = "2019 to 2023"
    assert lines(made)["What was audited"].endswith("Period of the data: 2019 to 2023.")


@pytest.mark.parametrize(("missing", "told"), [(1, "in 1 record:"), (1000, "in 1,000 records:")])
def test_blank_sensitive_cells_have_a_note(missing: int, told: str) -> None:
    made = usual()
    before = parts.notes(made)
    for one in made["table"]["columns"]:
        one["missing"] = missing if one["role"] == "sensitive" else 7
    (note,) = [one for one in parts.notes(made) if one not in before]
    assert note.startswith(f"diagnosis is blank {told} blank counts as a value of its own")


def test_a_limit_that_was_not_measured_or_decided_is_not_kept() -> None:
    made = usual()
    limit = {"name": "advantage", "rule": "at most", "value": 0.1}
    made["findings"][-1]["limit"] = limit
    assert limit_rows(made)[-1].outcome == "not measured"
    made["findings"][-2] |= {"limit": limit, "exceeded": None}
    assert limit_rows(made)[-2].outcome == "not decided"


def test_a_reason_is_said_once() -> None:
    made = usual()
    reason = "nobody knows whose the rows of the release are"
    missed = made["findings"][-1] | {"reason": reason}
    made["findings"] = [{**missed, "id": f"{place}", "title": f"T{place}"} for place in range(10)]
    ((number, text, titles),) = parts.not_measured(made["findings"])
    assert (number, text, len(titles)) == (1, reason, 10)
    made["charts"] = bare()["charts"]
    for page in (render(made), markdown(made)):
        assert page.count(reason) == 1
        assert all(f"T{place}" in page for place in range(10))


def test_each_attribute_is_told_apart_in_files_and_exposure() -> None:
    made = usual()
    ((part, name, _, _),) = file_rows(made)[:1]
    assert (part, name) == (
        "the release that was judged",
        "kept in no file (audit --write-release FILE writes it)",
    )
    (file,) = made["files"]["release"]
    made["files"]["release"] = [{**file, "about": one} for one in ("ill", "poor")]
    rows = [(part, name) for part, name, _, _ in file_rows(made)[:2]]
    assert rows == [
        (f"the release for {one} that was judged", "not written") for one in ("ill", "poor")
    ]
    delta = made["findings"][6]
    made["findings"] += [
        {**delta, "id": f"delta:{about}", "about": about, "parameters": {"above_limit": above}}
        for about, above in (("ill", 25), ("poor", 0), ("old", 5000))
    ]
    told = lines(made)["Who is exposed"]
    assert told.startswith(
        "For 25 of 5,000 records (0.5%), an adversary learns more about ill than the limit on δ "
        "allows. For 5,000 of 5,000 records (100%), an adversary learns more about old than"
    )
    assert "more about poor" not in told


def test_notes_of_many_columns_are_one() -> None:
    made = usual()
    made["table"]["notes"] = [
        f"column 'c{place}' is read as numbers with a comma before the fraction: {place} of its "
        "150 values have such a sign"
        for place in range(11)
    ]
    ((note),) = parts.notes(made)
    assert note.startswith("each of the columns 'c0', 'c1', ")
    assert note.endswith("'c10' is read as numbers with a comma before the fraction")
    made["table"]["notes"] = made["table"]["notes"][:1] * 2
    assert parts.notes(made) == made["table"]["notes"][:1]


@pytest.mark.parametrize("document", [usual(), bare()])
def test_both_reports_have_the_whole_sheet(document: dict[str, Any]) -> None:
    made = whole(copy.deepcopy(document))
    page, text = render(made), markdown(made)
    for one in ("Decision", "Signature", "Place and date", "Glossary", "Not stated", "2026-01-01",
                "no proof that nobody can be recognised", "Confidential"):  # fmt: skip
        assert one in page, one
        assert one in text, one
    if made["files"]["release"]:
        assert "cd" * 32 in page
        assert "cd" * 32 in text
    first = page.index('id="sheet"')
    assert first < page.index('class="contents"') < page.index('id="singling-out"')
    assert page.index('id="reading"') < page.index('id="appendix"') < page.index('id="findings"')
    links = re.findall(r'<a href="#([^"]+)"', page)
    assert len(links) > 3
    assert all(f'id="{one}"' in page for one in links)


def test_margins_of_the_printed_page_say_what_it_is() -> None:
    made = usual()
    made["context"]["confidentiality"] = 'secret"; } body { display: none'
    page = render(made)
    assert f'@bottom-left {{ content: "{css_text(sheet.marking(made))}"; }}' in page
    assert "body { display" not in page.partition("</style>")[0]
    assert css_text("2026-01-01") in page
    assert f"{css_text('release SHA-256 ')}cdcdcdcd" in page
    made["show_values"] = True
    assert sheet.marking(made).endswith("contains values of the table")


@pytest.mark.parametrize(
    ("status", "first"),
    [
        ("pass", "release it as it was judged"),
        ("fail", "release it as it was judged, against the result of this audit"),
        ("incomplete", "release it as it was judged, though the audit is incomplete"),
    ],
)
def test_a_release_against_the_verdict_is_called_that(status: str, first: str) -> None:
    made = whole(usual())
    made["verdict"]["status"] = status
    assert sheet.decisions(made) == [first, *sheet.DECISIONS[1:]]
    for text in (render(made), markdown(made)):
        assert first in text
        assert sheet.UNSIGNED in text

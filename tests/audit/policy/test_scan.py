"""The scan: what each kind of identifier looks like, what is none, and that no value is told."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import indiff
from indiff.audit.findings.release import Subject
from indiff.audit.policy.scan import Scan
from indiff.risk.identifying.kinds import KINDS
from indiff.sanitizers.sanitizer import as_sanitizer
from tests.audit.policy.tables import groups_of


def scanned(kind: str, table: pa.Table, **data: Any) -> tuple[str, str]:
    quasi = [name for name in table.column_names if name != "ill"]
    read = indiff.read_table(table, **{"quasi": quasi, "sensitive": "ill", **data})
    release = as_sanitizer("identity").sanitize(read)
    return Scan([Subject(read, apart=False, release=release)])(kind)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("emails", "write to ann@example.org"),
        ("urls", "https://example.org/ann"),
        ("urls", "see www.example.org"),
        ("ip-addresses", "192.168.17.4"),
        ("ip-addresses", "2001:db8:0:0:1:0:0:1"),
        ("social-security", "123-45-6789"),
        ("phones", "(617) 555-0123"),
        ("phones", "617-555-0123"),
        ("phones", "+49 228 123456"),
        ("phones", "0228 1234567"),
        ("vehicles", "1HGBH41JXMN109186"),
        ("devices", "00:1A:2B:3C:4D:5E"),
        ("accounts", "DE89 3704 0044 0532 0130 00"),
        ("dates", "2019-05-03"),
        ("dates", "03.05.2019"),
        ("dates", "5/3/19"),
        ("dates", "05/2019"),
        ("dates", "2019-05"),
        ("dates", "3 May 2019"),
    ],
)
def test_a_cell_gives_a_kind_away(kind: str, cell: str) -> None:
    table = groups_of(5, note=[cell, "fine", "well", "good", "calm"])
    status, evidence = scanned(kind, table)
    assert status == "failed"
    assert "4 of 80 cells by content" in evidence  # once in each of four groups
    assert cell not in evidence
    for kind in KINDS:
        assert cell not in scanned(kind, table)[1]


@pytest.mark.parametrize(
    "cell",
    ["2019", "[20, 40]", "20-29", "12:30", "3.14", "C50.9", "10115", "1,234", "2019-2020", "a b",
     "1.2.3", "100 000", "[1970, 1980["],
)  # fmt: skip
def test_ordinary_cells_are_no_identifiers(cell: str) -> None:
    table = groups_of(5, note=[cell, "fine"])
    for kind in KINDS:
        assert scanned(kind, table)[0] == "passed", kind


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("names", "last_name"), ("names", "Nachname"), ("places", "city"), ("places", "Wohnort"),
        ("places", "PLZ"), ("phones", "mobilePhone"), ("faxes", "fax"), ("emails", "e-mail"),
        ("social-security", "SSN"), ("medical-records", "MRN"), ("health-plans", "beneficiary_no"),
        ("accounts", "Kontonummer"), ("licences", "driver_license"), ("vehicles", "plate"),
        ("devices", "device_serial"), ("urls", "homepage"), ("ip-addresses", "ip"),
        ("biometrics", "fingerprint"), ("photographs", "photo"), ("unique-codes", "pseudonym"),
    ],
)  # fmt: skip
def test_a_column_gives_a_kind_away_by_its_name(kind: str, column: str) -> None:
    table = groups_of(5, **{column: ["aaaa", "bbbb"]})
    status, evidence = scanned(kind, table)
    assert status == "failed"
    assert "1 of 4 released columns by name" in evidence


def test_what_the_release_leaves_out_is_counted_and_is_no_fault() -> None:
    table = groups_of(5, email=["ann@example.org", "bob@example.org"])
    status, evidence = scanned("emails", table, quasi=["years", "sex"], identifier="email")
    assert status == "passed"
    assert "1 of the table's columns with such a name left out" in evidence


@pytest.mark.parametrize(
    ("ages", "status"),
    [
        (["30", "89"], "passed"), (["30", "90"], "failed"), (["80-89", "90+"], "passed"),
        (["85-94", "30"], "failed"), (["30", "95+"], "failed"), (["30", "80+"], "passed"),
        (["*", "30"], "passed"),
    ],
)  # fmt: skip
def test_ages_over_89_are_told_as_90_or_older_alone(ages: list[str], status: str) -> None:
    table = groups_of(5, age=ages)
    assert scanned("dates", table, kinds={"age": "categorical"})[0] == status


def test_a_numeric_age_is_judged_by_its_region() -> None:
    table = pa.table({"age": [30, 40, 91, 93] * 5, "ill": ["yes", "no"] * 10})
    read = indiff.read_table(table, quasi=["age"], sensitive="ill")
    expected = {"identity": "failed", "mondrian:k=15": "failed", "suppress": "passed"}
    for text, status in expected.items():
        release = as_sanitizer(text).sanitize(read)
        assert Scan([Subject(read, apart=False, release=release)])("dates")[0] == status, text


@pytest.mark.parametrize(
    ("codes", "status"),
    [(["02139"], "failed"), (["021", "945"], "incomplete"), (["021**"], "incomplete")],
)  # fmt: skip
def test_a_postal_code_may_show_three_digits_where_enough_people_live(
    codes: list[str], status: str
) -> None:
    assert scanned("places", groups_of(5, zip=codes))[0] == status


def test_births_stay_open_and_free_text_is_for_people_to_read() -> None:
    assert scanned("dates", groups_of(5, birth_year=["1970", "1980"]))[0] == "incomplete"
    remarks = [f"The patient was seen on day {row} and felt rather well" for row in range(100)]
    status, evidence = scanned("names", groups_of(25, remark=remarks))
    assert (status, "1 columns of free text" in evidence) == ("incomplete", True)


def test_a_code_that_is_different_in_every_row_is_an_identifier() -> None:
    codes = [f"q{row * 7919 % 10007}" for row in range(80)]
    assert scanned("unique-codes", groups_of(20, batch=codes))[0] == "failed"
    assert scanned("unique-codes", groups_of(20, batch=["a", "b"]))[0] == "passed"


def test_without_a_release_nothing_is_known() -> None:
    read = indiff.read_table(groups_of(3), quasi=["years"], sensitive="ill")
    assert Scan([Subject(read, apart=False, reason="none")])("names")[0] == "incomplete"


def test_columns_of_a_joint_sensitive_attribute_are_looked_at_one_by_one() -> None:
    table = groups_of(5, mail=["ann@example.org", "bob@example.org"])
    data = {"quasi": ["years", "sex"], "sensitive": ["ill", "mail"], "joint": True}
    status, evidence = scanned("emails", table, **data)
    assert status == "failed"
    assert "20 of 80 cells by content" in evidence

"""The kinds of identifiers that a scan looks for: words in a column's name, shapes of its cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_AROUND = re.compile(r"\(\?<?[=!](?:\[[^]]*\]|[^()\[\]])*\)")  # (?<!…), (?!…), (?=…)
LONG_WORD = 6  # letters of a word that is one wherever it stands in a name: patientidnumber


@dataclass(frozen=True)
class Kind:
    """One kind: how its columns are called, and what its cells look like where a shape tells."""

    title: str
    words: tuple[str, ...]
    shape: str | None = None
    direct: bool = True
    """Whether a cell of this kind names one person, or what belongs to one."""

    def is_named(self, column: str) -> bool:
        """Tell whether a column's name speaks of this kind.

        >>> KINDS["names"].is_named("lastName"), KINDS["names"].is_named("renamed")
        (True, False)
        """
        words = words_of(column)
        whole = "".join(words)
        return any(
            word in words or (len(word) >= LONG_WORD and word in whole) for word in self.words
        )

    def shaped(self, texts: Sequence[str] | pa.Array) -> NDArray[np.bool_]:
        """Tell of each text whether it has the shape.

        What stands around a shape is not asked first: few texts remain that may have it.

        >>> KINDS["emails"].shaped(["ann@example.org", "ann at example.org"]).tolist()
        [True, False]
        """
        if self.shape is None or not len(texts):
            return np.zeros(len(texts), np.bool_)
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        without = _AROUND.sub("", self.shape)
        wide = pc.match_substring_regex(array, without, ignore_case=True)
        maybe = other = pc.invert(pc.string_is_ascii(array))  # digits of other scripts
        if without != self.shape:
            maybe = pc.or_(wide, other)
        found: NDArray[np.bool_] = pc.or_(wide, other).to_numpy(zero_copy_only=False)
        find = re.compile(self.shape, re.IGNORECASE).search
        asked = maybe.to_numpy(zero_copy_only=False)
        found[asked] = [find(text) is not None for text in array.filter(maybe).to_pylist()]
        return found


def words_of(column: str) -> list[str]:
    """Return the words of a column's name, without accents.

    >>> words_of("PLZ_Wohnort2"), words_of("dateOfBirth"), words_of("Straße")
    (['plz', 'wohnort'], ['date', 'of', 'birth'], ['strasse'])
    """
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", column)
    plain = unicodedata.normalize("NFKD", apart.casefold())
    return re.findall(r"[a-z]+", "".join(one for one in plain if not unicodedata.combining(one)))


_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
POSTAL = ("zip", "zipcode", "postcode", "postal", "plz")
AGES = ("age", "ages", "alter")
BIRTHS = ("birth", "born", "dob", "yob", "birthday", "birthdate", "geburt", "geburtsdatum")
# A day or a month, whatever sign stands between: a year alone is none.
FINER_THAN_A_YEAR = (
    r"(?<![\d.])\d{4}-\d{1,2}(?:-\d{1,2})?(?![\d.-])"
    r"|(?<![\d./])\d{1,2}[./]\d{1,2}[./]\d{2,4}(?![\d./])"
    r"|(?<![\d./])(?:0?[1-9]|1[0-2])[./]\d{4}(?![\d./])"
    r"|\b\d{1,2}[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[ -]\d{2,4}\b"
)

KINDS: dict[str, Kind] = {
    "names": Kind("names", (
        "name", "names", "surname", "lastname", "firstname", "forename", "fullname", "initials",
        "maiden", "vorname", "nachname", "nom", "prenom",
    )),
    "places": Kind("places", (
        *POSTAL, "city", "town", "county", "street", "address", "district", "precinct",
        "neighbourhood", "neighborhood", "village", "municipality", "parish", "tract", "geocode",
        "latitude", "longitude", "lat", "lon", "lng", "gps", "ort", "wohnort", "strasse",
        "adresse", "anschrift", "gemeinde", "ville",
    ), direct=False),
    "dates": Kind("dates finer than a year", (), FINER_THAN_A_YEAR, direct=False),
    "phones": Kind(
        "telephone numbers", ("phone", "telephone", "mobile", "tel", "telefon", "handy"),
        r"\+\d{1,3}[\d ()./-]{6,}\d|\(\d{3}\) ?\d{3}[-. ]\d{4}"
        r"|(?<![\d.-])\d{3}[-.]\d{3}[-.]\d{4}(?![\d.-])|(?<![\d.-])0\d{2,5}[ /-]\d{4,9}(?![\d.-])"
        r"|(?<![\d.-])0[1-9](?:[ .-]\d{2}){4}(?![\d.-])",
    ),
    "faxes": Kind("fax numbers", ("fax", "telefax")),
    "emails": Kind("e-mail addresses", ("email", "mail", "emails"), r"[^\s@]+@[^\s@]+\.[a-z]{2,}"),
    "social-security": Kind(
        "social security numbers", ("ssn", "socialsecurity", "sozialversicherung"),
        # Those of the United States, and the national insurance numbers of the United Kingdom.
        r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"
        r"|(?<![A-Z0-9])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D](?![A-Z0-9])",
    ),
    "medical-records": Kind("medical record numbers", (
        "mrn", "medicalrecord", "patientid", "patientnr", "patientnumber", "patientno", "caseid",
        "casenumber", "fallnummer", "patientennummer",
    )),
    "health-plans": Kind("health plan numbers", (
        "healthplan", "beneficiary", "insuranceid", "insurancenumber", "insuranceno",
        "policynumber", "memberid", "membernumber", "versichertennummer",
    )),
    "accounts": Kind(
        "account numbers", ("account", "accounts", "iban", "konto", "kontonummer"),
        r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])",
    ),
    "licences": Kind("certificate and licence numbers", (
        "licence", "license", "certificate", "passport", "permit", "fuehrerschein",
    )),
    "vehicles": Kind(
        "vehicle numbers", ("vin", "vehicle", "plate", "licenseplate", "kennzeichen"),
        r"(?<![A-Z0-9])(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}(?![A-Z0-9])",
    ),
    "devices": Kind(
        "device numbers", ("device", "serial", "imei", "udid", "macaddress"),
        r"(?<![0-9A-F:-])(?:[0-9A-F]{2}[:-]){5}[0-9A-F]{2}(?![0-9A-F:-])",
    ),
    "urls": Kind("web addresses", ("url", "urls", "website", "homepage"), r"https?://|\bwww\.\w"),
    "ip-addresses": Kind(
        "internet addresses", ("ip", "ipaddress"),
        rf"(?<![\d.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\d.])"
        r"|(?<![0-9A-F:])(?:[0-9A-F]{1,4}:){3,7}:?[0-9A-F]{1,4}(?![0-9A-F:])",
    ),
    "biometrics": Kind("biometric identifiers", (
        "biometric", "fingerprint", "voiceprint", "retina", "iris", "dna", "fingerabdruck",
    )),
    "photographs": Kind("photographs", (
        "photo", "photos", "photograph", "image", "picture", "portrait", "foto",
    )),
    "unique-codes": Kind("unique codes", ("id", "ids", "uuid", "guid", "identifier", "pseudonym")),
}  # fmt: skip

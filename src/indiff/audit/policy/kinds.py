"""The kinds of identifiers that a scan looks for: words in a column's name, shapes of its cells."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LONG_WORD = 6  # letters of a word that is one wherever it stands in a name: patientidnumber


@dataclass(frozen=True)
class Kind:
    """One kind: how its columns are called, and what its cells look like where a shape tells."""

    words: tuple[str, ...]
    shape: str | None = None

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

    def shaped(self, texts: list[str]) -> list[bool]:
        """Tell of each text whether it has the shape."""
        if self.shape is None:
            return [False] * len(texts)
        find = re.compile(self.shape, re.IGNORECASE).search
        return [find(text) is not None for text in texts]


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
    "names": Kind((
        "name", "names", "surname", "lastname", "firstname", "forename", "fullname", "initials",
        "maiden", "vorname", "nachname", "nom", "prenom",
    )),
    "places": Kind((
        *POSTAL, "city", "town", "county", "street", "address", "district", "precinct",
        "neighbourhood", "neighborhood", "village", "municipality", "parish", "tract", "geocode",
        "latitude", "longitude", "lat", "lon", "lng", "gps", "ort", "wohnort", "strasse",
        "adresse", "anschrift", "gemeinde", "ville",
    )),
    "dates": Kind((), FINER_THAN_A_YEAR),
    "phones": Kind(
        ("phone", "telephone", "mobile", "tel", "telefon", "handy"),
        r"\+\d{1,3}[\d ()./-]{6,}\d|\(\d{3}\) ?\d{3}[-. ]\d{4}"
        r"|(?<![\d.-])\d{3}[-.]\d{3}[-.]\d{4}(?![\d.-])|(?<![\d.-])0\d{2,5}[ /-]\d{4,8}(?![\d.-])",
    ),
    "faxes": Kind(("fax", "telefax")),
    "emails": Kind(("email", "mail", "emails"), r"[^\s@]+@[^\s@]+\.[a-z]{2,}"),
    "social-security": Kind(
        ("ssn", "socialsecurity", "sozialversicherung"),
        r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])",
    ),
    "medical-records": Kind((
        "mrn", "medicalrecord", "patientid", "patientnr", "patientnumber", "patientno", "caseid",
        "casenumber", "fallnummer", "patientennummer",
    )),
    "health-plans": Kind((
        "healthplan", "beneficiary", "insuranceid", "insurancenumber", "insuranceno",
        "policynumber", "memberid", "membernumber", "versichertennummer",
    )),
    "accounts": Kind(
        ("account", "accounts", "iban", "konto", "kontonummer"),
        r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])",
    ),
    "licences": Kind(("licence", "license", "certificate", "passport", "permit", "fuehrerschein")),
    "vehicles": Kind(
        ("vin", "vehicle", "plate", "licenseplate", "kennzeichen"),
        r"(?<![A-Z0-9])(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}(?![A-Z0-9])",
    ),
    "devices": Kind(
        ("device", "serial", "imei", "udid", "macaddress"),
        r"(?<![0-9A-F:-])(?:[0-9A-F]{2}[:-]){5}[0-9A-F]{2}(?![0-9A-F:-])",
    ),
    "urls": Kind(("url", "urls", "website", "homepage"), r"https?://|\bwww\.\w"),
    "ip-addresses": Kind(
        ("ip", "ipaddress"),
        rf"(?<![\d.])(?:{_OCTET}\.){{3}}{_OCTET}(?![\d.])"
        r"|(?<![0-9A-F:])(?:[0-9A-F]{1,4}:){3,7}:?[0-9A-F]{1,4}(?![0-9A-F:])",
    ),
    "biometrics": Kind(
        ("biometric", "fingerprint", "voiceprint", "retina", "iris", "dna", "fingerabdruck")
    ),
    "photographs": Kind(("photo", "photos", "photograph", "image", "picture", "portrait", "foto")),
    "unique-codes": Kind(("id", "ids", "uuid", "guid", "identifier", "pseudonym")),
}  # fmt: skip

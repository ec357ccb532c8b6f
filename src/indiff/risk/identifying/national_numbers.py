"""Recognises numbers of people, cards and devices by their check digits.

A check digit is right by chance in one of ten or so: a column has such numbers if it has more right
ones than chance would give, not because one of its cells is right. python-stdnum checks the digits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

CHECKED = 2_000  # different values of a column whose digits are checked, spread evenly over all
ENOUGH = 0.5  # of them: a column is of a kind if so many are
BY_CHANCE = 1e-5  # how unlikely so many right ones must be
_SEPARATORS = "[\\s./\u00a0-]"


@dataclass(frozen=True)
class Number:
    """A kind of number: what checks it, its form without separators, how often chance is right."""

    module: str
    title: str
    form: str
    chance: float = 0.1
    kind: str = "unique-codes"

    @property
    def is_valid(self) -> Callable[[str], bool]:
        """What checks the digits of a text."""
        check: Callable[[str], bool] = importlib.import_module(f"stdnum.{self.module}").is_valid
        return check


NUMBERS = (
    Number("de.idnr", "German tax numbers (IdNr)", r"\d{11}"),
    Number("fr.nir", "French social security numbers (NIR)", r"\d{5}[\dAB]{2}\d{8}", 1 / 97,
           "social-security"),
    Number("gb.nhs", "NHS numbers of the United Kingdom", r"\d{10}", 1 / 11, "health-plans"),
    Number("at.vnr", "Austrian social security numbers", r"\d{10}", 0.1, "social-security"),
    Number("ch.ssn", "Swiss social security numbers (AHV)", r"756\d{10}", 0.1, "social-security"),
    Number("nl.bsn", "Dutch citizen numbers (BSN)", r"\d{8,9}", 1 / 11),
    Number("be.nn", "Belgian national numbers", r"\d{11}", 1 / 97),
    Number("es.dni", "Spanish identity numbers (DNI)", r"\d{8}[A-Z]", 1 / 23),
    Number("es.nie", "Spanish numbers of foreigners (NIE)", r"[XYZ]\d{7}[A-Z]", 1 / 23),
    Number("it.codicefiscale", "Italian tax codes (codice fiscale)", r"[A-Z]{6}\w{9}[A-Z]", 1 / 26),
    Number("pt.cc", "Portuguese citizen card numbers", r"\d{9}[A-Z0-9]{2}\d"),
    Number("ie.pps", "Irish PPS numbers", r"\d{7}[A-W][A-IW]?", 1 / 23),
    Number("se.personnummer", "Swedish personal numbers", r"(?:\d{2})?\d{6}\+?\d{4}"),
    Number("no.fodselsnummer", "Norwegian birth numbers", r"\d{11}", 0.01),
    Number("dk.cpr", "Danish CPR numbers", r"\d{10}"),
    Number("fi.hetu", "Finnish personal codes", r"\d{6}[+A-FU-Y]?\d{3}[0-9A-Y]", 1 / 31),
    Number("pl.pesel", "Polish PESEL numbers", r"\d{11}"),
    Number("cz.rc", "Czech and Slovak birth numbers", r"\d{10}"),
    Number("ee.ik", "Estonian personal codes", r"\d{11}"),
    Number("lt.asmens", "Lithuanian personal codes", r"\d{11}"),
    Number("ro.cnp", "Romanian CNP numbers", r"\d{13}"),
    Number("bg.egn", "Bulgarian EGN numbers", r"\d{10}"),
    Number("hr.oib", "Croatian OIB numbers", r"\d{11}"),
    Number("si.emso", "EMŠO and JMBG numbers", r"\d{13}"),
    Number("gr.amka", "Greek AMKA numbers", r"\d{11}"),
    Number("tr.tckimlik", "Turkish identity numbers", r"[1-9]\d{10}", 0.01),
    Number("il.idnr", "Israeli identity numbers", r"\d{9}"),
    Number("za.idnr", "South African identity numbers", r"\d{13}"),
    Number("br.cpf", "Brazilian CPF numbers", r"\d{11}", 0.01),
    Number("mx.curp", "Mexican CURP codes", r"[A-Z]{4}\d{6}[A-Z]{6}[A-Z0-9]\d"),
    Number("ca.sin", "Canadian social insurance numbers", r"\d{9}", 0.1, "social-security"),
    Number("au.tfn", "Australian tax file numbers", r"\d{8,9}", 1 / 11),
    Number("in_.aadhaar", "Indian Aadhaar numbers", r"[2-9]\d{11}"),
    Number("cn.ric", "Chinese resident identity numbers", r"\d{17}[\dX]"),
    Number("kr.rrn", "Korean resident registration numbers", r"\d{13}"),
    Number("luhn", "payment card numbers", r"[3-6]\d{12,18}", 0.1, "accounts"),
    Number("imei", "device numbers (IMEI)", r"\d{15}", 0.1, "devices"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of one kind in a column: which of the texts looked at have right digits."""

    number: Number
    looked_at: NDArray[np.int64]
    valid: NDArray[np.bool_]


def numbers_in(texts: pa.Array) -> list[Numbers]:
    """Return the kinds of numbers that the different texts of a column are, the surest first.

    >>> right, wrong = ["943 476 5919", "401 023 2137"] * 3, ["943 476 5918"] * 6
    >>> numbers_in(pa.array(wrong)), [one.number.title for one in numbers_in(pa.array(right))]
    ([], ['NHS numbers of the United Kingdom'])
    """
    if not len(texts):
        return []
    plain = pc.utf8_upper(pc.replace_substring_regex(texts, _SEPARATORS, ""))
    looked_at = evenly(np.arange(len(texts)))
    few, found = plain.take(pa.array(looked_at)), []
    for number in NUMBERS:
        fits = pc.match_substring_regex(few, f"^(?:{number.form})$")
        valid = fits.to_numpy(zero_copy_only=False)
        if valid.mean() < ENOUGH:
            continue
        for place in np.flatnonzero(valid):
            valid[place] = number.is_valid(texts[int(looked_at[place])].as_py().strip())
        if is_beyond_chance(int(valid.sum()), len(valid), number.chance):
            found.append(Numbers(number, looked_at, valid))
    return sorted(found, key=lambda one: -int(one.valid.sum()))


def evenly(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all places, or of many so many, evenly spread.

    >>> evenly(np.arange(3)).tolist(), len(evenly(np.arange(5_999)))
    ([0, 1, 2], 2000)
    """
    if len(places) <= CHECKED:
        return places
    return places[np.arange(CHECKED) * len(places) // CHECKED]


def is_beyond_chance(valid: int, looked_at: int, chance: float) -> bool:
    """Tell whether so many right check digits are no accident.

    At least half must be right, and chance alone must give as many with a probability of less than
    one in 100,000 (a binomial tail).

    >>> is_beyond_chance(6, 6, 0.1), is_beyond_chance(4, 4, 0.1), is_beyond_chance(400, 1000, 0.1)
    (True, False, False)
    """
    from scipy.special import bdtrc

    if valid < ENOUGH * looked_at:
        return False
    return bool(bdtrc(valid - 1, looked_at, chance) < BY_CHANCE)

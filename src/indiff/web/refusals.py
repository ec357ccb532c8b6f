"""Words what was refused for its reader: JSON for a program, a page with links for a person."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from indiff.audit.metrics import METRICS
from indiff.audit.plan.limits import limit_names
from indiff.errors import Data, Option, UserError, option
from indiff.web.written import lettered_dates, written

if TYPE_CHECKING:
    from starlette.responses import Response

API = "/api/"
ID = "[0-9a-f]{16}"


class Refused(UserError):
    """A request that goes no further, with its HTTP status."""

    def __init__(self, status: int, rule: str, got: object = None, way_out: str = "") -> None:
        super().__init__(rule, got, way_out)
        self.status = status


class NotFoundError(Refused):
    """Something that is not, or is no longer, in the store."""

    def __init__(self, rule: str) -> None:
        super().__init__(404, rule)


DISK_FULL = Refused(
    507, "the disk that holds the data folder is full; delete runs or datasets, or make room on it."
)
DISK_FAILED = Refused(
    500, "the disk that holds the data folder failed, and this was not kept; see to it, try again."
)
NO_MEMORY = Refused(
    503, "the memory of this machine does not suffice for this; close other programs, try again."
)


def is_disk_full(error: BaseException | None) -> bool:
    """Tell a full disk, which the user can mend, from a bug.

    >>> is_disk_full(OSError(errno.ENOSPC, "")), is_disk_full(OSError(errno.EIO, ""))
    (True, False)
    """
    if isinstance(error, UserError):  # such as that a file cannot be written
        error = error.__context__
    if isinstance(error, sqlite3.OperationalError):
        return error.sqlite_errorcode in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def exhausted(error: Exception) -> Refused | None:
    """Say that disk or memory gave way; None where it was something else.

    >>> print(exhausted(MemoryError()), exhausted(ZeroDivisionError()), sep="|")
    the memory of this machine does not suffice for this; close other programs, try again.|None
    """
    if is_disk_full(error):
        return DISK_FULL
    cause = error.__context__ if isinstance(error, UserError) else error
    if isinstance(cause, sqlite3.OperationalError):
        failed = cause.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)
    else:
        failed = isinstance(cause, OSError) and cause.errno in (errno.EIO, errno.EROFS)
    if failed:
        return DISK_FAILED
    return NO_MEMORY if isinstance(cause, MemoryError) else None


class Field(NamedTuple):
    """Where a page asks for an option: its label, the step after ``/data/ID``, and the anchor."""

    label: str
    step: str = "/adversary"
    anchor: str | None = None


# One limit on two numbers.
BOTH_PLANES = {
    "itpr": "Re-identification and inference, worst group (ITPR)",
    "dr": "Re-identification and inference, average (DR)",
}


def limit_label(name: str) -> str:
    """Return what the pages call a limit.

    >>> limit_label("delta"), limit_label("k"), limit_label("inference.itpr")
    ('δ', 'k', 'Inference of the sensitive column, worst group (ITPR)')
    """
    known = {"delta": "δ", "mean": "mean distance", "l": "ℓ", **BOTH_PLANES}
    if name in known or name not in METRICS or len(name) == 1:
        return known.get(name, name)
    words = {"about": "the sensitive column", "model": "the adversary", "task": "the task"}
    return METRICS[name].title.format_map(words)


_COLUMNS = Field("What each column is", "", "h-columns")
_SANITIZER = Field("the sanitizer's text", "/release", "sanitizer")
# Labels as the pages show them; the templates take theirs from here.
FIELDS = {
    **dict.fromkeys(("quasi", "sensitive", "identifier", "other", "kinds", "orders"), _COLUMNS),
    **dict.fromkeys(("hierarchies", "hierarchy", "kind", "order"), _COLUMNS),
    "encoding": Field("How its letters are encoded", ""),
    "separator": Field("Sign between the fields", ""),
    "sheet": Field("Sheet of the workbook", ""),
    "missing_tokens": Field("Texts that mean “missing”", ""),
    "decimal": Field("Decimal sign", ""),
    "date_format": Field("How dates are written", ""),
    "header_row": Field("Row that names the columns", ""),
    "sanitizer": _SANITIZER,
    "rows_in_order": Field("Its rows are in the order of the table", "/release", "h-made"),
    "suppressed": Field("Texts of it that mean “suppressed”", "/release", "h-made"),
    "key": Field("Column that tells whose row is whose", "/release", "h-made"),
    "file": Field("A release made elsewhere", "/release", "h-made"),
    "models": Field("The adversary", anchor="h-models"),
    "model": Field("The adversary", anchor="h-models"),
    "known": Field("What the adversary knows about a person", anchor="h-models"),
    "limits": Field("The limits", anchor="h-limits"),
    **{f"limit-{name}": Field(limit_label(name)) for name in limit_names()},
    "distance": Field("Distance"),
    "missing": Field("Records with a blank", "", "h-blanks"),
    "title": Field("Title of the report"),
    "targets": Field("Records to test (all if empty)"),
    "runs": Field("Runs of a randomized sanitizer"),
    "confidence": Field("Confidence of estimates"),
    "worst": Field("Most exposed records to explain"),
    "min_cell": Field("Name a value if so many records hold it"),
    "task": Field("Column that an analyst predicts"),
    "seed": Field("Seed of everything random"),
    "membership": Field("Also ask whether beliefs tell who is in the table"),
    "joint": Field("Several sensitive columns count as one"),
    "policy": Field("Policy whose limits must hold, too"),
    "purpose": Field("What the release is for"),
    "recipients": Field("Who receives it"),
    "release_model": Field("How it is released"),
    "controller": Field("Who is responsible for the data"),
    "author": Field("Who makes this assessment"),
    "data_period": Field("When the data was collected"),
    "attackers": Field("Who might attack, and why"),
    "knowledge": Field("What they may know from elsewhere"),
    "limits_by": Field("Who chose the limits, and why"),
    "review_by": Field("Day by which this is looked at again"),
    "confidentiality": Field("How the report is marked"),
    "confirmed": Field("Points of the policy that you vouch for", anchor="policy"),
    "confirmed_by": Field("Who vouches for the points ticked above"),
    "show_values": Field(
        "Name every value in the report, which makes it as confidential as the table"
    ),
}
# Of a release made elsewhere, some fields are others than those of its table.
OF_RELEASE = {
    **FIELDS,
    "encoding": Field("How its letters are encoded", "/release", "h-made"),
}
# Values as the pages word them.
VALUES = {
    "missing": {
        "drop": "leave them out",
        "split": "keep them apart",
        "error": "stop",
    },
    "release_model": {
        "": "not said",
        "public": "public: anybody can have it",
        "controlled": "controlled: by agreement",
        "internal": "internal: stays in the house",
    },
    "decimal": {"": "as it seems", ".": "a point, as in 1.5", ",": "a comma, as in 1,5"},
    "separator": {
        "": "as the header shows",
        ",": "a comma ,",
        ";": "a semicolon ;",
        "\t": "a tab",
        "|": "a bar |",
    },
    "encoding": {
        "": "as it seems (UTF-8)",
        "cp1252": "Windows, Western (cp1252)",
        "latin-1": "Western, older (latin-1)",
        "iso-8859-15": "Western, € (iso-8859-15)",
        "cp1250": "Windows, Central (cp1250)",
        "cp1251": "Windows, Cyrillic (cp1251)",
        "cp1253": "Windows, Greek (cp1253)",
        "cp1254": "Windows, Turkish (cp1254)",
        "mac-roman": "old Macs (mac-roman)",
        "cp850": "MS-DOS, Western (cp850)",
        "utf-16-le": "Unicode by two (utf-16-le)",
        "gb18030": "Chinese (gb18030)",
        "shift_jis": "Japanese (Shift JIS)",
        "euc_kr": "Korean (EUC-KR)",
    },
}


_A_WORD = re.compile(r"(a|[a-z]{2,}) ")  # k and t are names, and so is what stands in quotes
_OF_READING = ("encoding", "separator", "sheet", "header_row", "decimal", "date_format")


def in_json(error: UserError, *, data: bool = True) -> str:
    """Word an error for a program: options as the request's JSON has them.

    >>> from indiff.errors import from_data, option
    >>> error = UserError("numbers only", from_data("4o"), f"Set {option('missing', 'drop')}")
    >>> print(in_json(error), in_json(error, data=False), sep="|")
    numbers only; got '4o'. Set "missing": "drop".|numbers only; got a value. Set "missing": "drop".
    """

    def assigned(part: Option) -> str:
        if part.of is not None:
            return f"{_assigned(part)} in {json.dumps(part.of)}"
        name = json.dumps(part.name)
        return name if part.value is None else f"{name}: {json.dumps(part.value)}"

    return error.worded(assigned, lambda part: part.text if data else "a value")


def on_page(
    error: UserError,
    dataset: str | None = None,
    *,
    data: bool = True,
    fields: Mapping[str, Field] = FIELDS,
) -> Markup:
    """Word an error for a page: an option is its field's label, with a link to the field.

    >>> from indiff.errors import option
    >>> print(on_page(UserError("no <value>", way_out=f"Set {option('seed', 3)}"), "0a"))
    No &lt;value&gt;. Set <a href="/data/0a/adversary#seed">Seed of everything random</a>: 3.
    """
    words = {
        Data: lambda part: escape(part.text if data else "a value"),
        Option: lambda part: _linked(part, dataset, fields),
        str: lambda part: escape(lettered_dates(part)),
    }
    first, *rest = error.parts
    if isinstance(first, str) and _A_WORD.match(first):  # a page begins a sentence as people do
        first = first[0].upper() + first[1:]
    told = Markup().join(words[type(part)](part) for part in (first, *rest))
    named = [part.of or part.name for part in error.parts if isinstance(part, Option)]
    if dataset is None or error.field is None or _field(error.field) is None or named:
        return told
    return told + Markup(" See {}.").format(_linked(Option(error.field), dataset, fields))


def answers(error: UserError) -> dict[str, str]:
    """Return the ways to read a file that an error proposes, as a form sends them, in words.

    >>> from indiff.errors import option
    >>> answers(UserError("no header", way_out=f"Give {option('header_row', 3)}"))
    {'header_row=3': 'Row that names the columns: 3'}
    """
    return {
        f"{part.name}={written(part.value)}": str(Markup(_linked(part, None, FIELDS)).unescape())
        for part in error.parts
        if isinstance(part, Option) and part.name in _OF_READING and part.value is not None
    }


def _field(name: str, fields: Mapping[str, Field] = FIELDS) -> Field | None:
    """Return where a page asks for an option; the value of a ticked sanitizer stands beside it."""
    if name.startswith("value-"):
        return Field("its value", "/release", name)
    return fields.get(name)


def _linked(part: Option, dataset: str | None, fields: Mapping[str, Field]) -> Markup:
    field = _field(part.of or part.name, fields)
    if field is None:
        return Markup("<code>{}</code> in a plan").format(_assigned(part))
    label: str = escape(field.label)
    if dataset is not None:
        address = f"/data/{dataset}{field.step}#{field.anchor or part.name}"
        label = Markup('<a href="{}">{}</a>').format(address, label)
    if part.value is None and part.of is None:
        return Markup(label)
    value = VALUES.get(part.name, {}).get(written(part.value), written(part.value))
    return Markup("{}: {}").format(label, _assigned(part) if part.of else value)


def _assigned(part: Option) -> str:
    return f"{part.name}={'' if part.value is None else part.value}"


# How a check by type says it, and how a person does.
_SAID = {
    "Input should be": "must be",
    "String should have": "must have",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
    "a valid integer": "a whole number",
    "a valid number": "a number",
}


def as_error(error: Exception) -> UserError:
    """Return any refusal as one error with its parts; what was sent is not repeated."""
    from fastapi.exceptions import RequestValidationError  # a worker process needs none of these
    from pydantic import ValidationError
    from starlette.exceptions import HTTPException

    if isinstance(error, RequestValidationError | ValidationError):
        first: Mapping[str, Any] = error.errors()[0]
        place = [str(part) for part in first["loc"] if part != "body"] or ["the request"]
        known = next((part for part in place if part in FIELDS), None)
        where = option(known) if known else ".".join(place)
        if known == "limits" and f"limit-{place[-1]}" in FIELDS:
            known = f"limit-{place[-1]}"
            where = f"a limit on {option(known)}"
        said = first["msg"].partition(", unable")[0]
        for theirs, ours in _SAID.items():
            said = said.replace(theirs, ours)
        sign = "" if said.startswith("must") else ":"
        return UserError(f"{where}{sign} {said}.", field=known or place[-1])
    if isinstance(error, HTTPException):
        return Refused(error.status_code, f"{error.detail}.")
    assert isinstance(error, UserError)
    return exhausted(error) or error


def status_of(error: UserError) -> int:
    """Return the HTTP status of a refusal."""
    return error.status if isinstance(error, Refused) else 422


def refusal(scope: MutableMapping[str, Any], problem: Exception) -> Response:
    """Return a refusal as JSON below ``/api/`` and as a page elsewhere.

    Values of a table are shown to a session alone, which can see the table, too.
    """
    from starlette.responses import Response

    error, path = as_error(problem), str(scope.get("path", ""))
    status = status_of(error)
    data = scope.get("state", {}).get("session") is not None
    if path.startswith(API):
        # Plain ASCII: a name with a broken surrogate could not be written otherwise.
        body = json.dumps({"error": in_json(error, data=data), "field": error.field}).encode()
        return Response(body, status, media_type="application/json")
    dataset = re.match(f"/data/({ID})(/|$)", path)
    shown = on_page(error, dataset[1] if dataset and data else None, data=data)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>indiff</title>'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="/static/indiff.css"></head>'
        '<body class="app"><header class="top"><div class="wrap"><p class="brand">'
        '<span class="mark" aria-hidden="true">δ</span> indiff</p></div></header>'
        f"<main><h1>{_HEADINGS.get(status, 'That did not work')}</h1>"
        f'<p class="problem" role="alert">{shown}</p>{_onward(scope)}</main></body></html>'
    )
    return Response(page.encode("utf-8", "replace"), status, media_type="text/html")


_HEADINGS = {401: "You are not signed in", 404: "Nothing is here"}


def _onward(scope: MutableMapping[str, Any]) -> str:
    """Offer what a person can open next; without a session the sentence above has said it."""
    state = scope.get("state", {})
    if state.get("session") is not None:
        found = re.match(f"/(data|runs)/{ID}", str(scope.get("path", "")))
        if scope.get("method") == "GET" or found is None:  # what is not there is not there again
            place, word = "/", "the start"
        else:
            place, word = found[0], {"data": "the table", "runs": "the result"}[found[1]]
        return f'<p><a href="{place}">Back to {word}</a></p>'
    return '<p><a href="/login">Sign in</a></p>' if state.get("way_in") else ""

"""Types the words of the HTTP interface: what goes in and what comes out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    StringConstraints,
    create_model,
)

from indiff.audit.plan import plan
from indiff.data.hierarchy_builders import PARTS, DatePart
from indiff.errors import UserError
from indiff.web.refusals import ID, in_json

Id = Annotated[str, StringConstraints(pattern=f"^{ID}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=500)]
RoleName = Literal["identifier", "quasi", "sensitive", "other"]
KindName = Literal["numeric", "categorical", "ordinal"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
Number = Annotated[float, Field(allow_inf_nan=False)]
Tokens = Annotated[list[str], Field(max_length=100)]
# An error in its parts, which the pages word themselves; for a program it is a sentence.
Told = PlainSerializer(lambda error: error and in_json(error), return_type=str | None)
Failure = Annotated[InstanceOf[UserError] | None, Told]


class Model(BaseModel):
    """Everything that comes in says exactly what is known."""

    model_config = ConfigDict(extra="forbid")


def _taken(section: type[BaseModel], *names: str, **narrower: Any) -> Any:
    """Take options as the plan declares them; ``narrower`` types are what a server allows."""
    annotated: Any = Annotated
    found: dict[str, Any] = {}
    for name in (*names, *narrower):
        option = section.model_fields[name]
        kind = narrower.get(name, option.annotation)
        found[name] = (annotated[(kind, Field(), *option.metadata)], option.default)
    return create_model(section.__name__, __base__=Model, **found)


class Problem(BaseModel):
    """Why a request was refused: the rule, the value received and the way out; the field's name."""

    error: str
    field: str | None = None


class SessionInfo(BaseModel):
    """What a script needs to know of its session."""

    csrf: str
    version: str


class ChosenFile(Model):
    """A table below the server's folder, by its path from there."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4000)]


_READING = _taken(
    plan.Data, "decimal", "header_row", "separator", encoding=Short | None, sheet=Short | None,
    missing_tokens=Tokens,
    date_format=Short | Annotated[dict[Name, Short], Field(max_length=1000)] | None,
)  # fmt: skip


class Reading(_READING):  # type: ignore[misc, valid-type]
    """How a file is read where its ending does not tell."""


class ColumnProfile(BaseModel):
    """What one column looks like, and what it was guessed to be."""

    name: str
    kind: KindName
    is_date: bool
    distinct: int
    missing: int
    guessed_role: RoleName
    reason: str


class Profile(BaseModel):
    """What a table looks like; ``preview`` has its first records as text."""

    records: int
    columns: list[ColumnProfile]
    preview: list[list[str | None]]
    notes: list[Failure]


class ColumnRole(Model):
    """A column's role, and its kind where it is not the one that its values suggest."""

    name: Name
    role: RoleName
    kind: KindName | None = None
    order: Annotated[list[str], Field(max_length=10_000)] | None = None


class Roles(Model):
    """The roles of some columns; the others keep theirs."""

    columns: Annotated[list[ColumnRole], Field(min_length=1, max_length=10_000)]


class LevelCount(BaseModel):
    """One level of a hierarchy: how many groups, their fewest and most records, the largest.

    ``merged_values`` are not by themselves any more, and ``merged_records`` hold them.
    """

    groups: int
    fewest: int
    most: int
    example: str
    merged_values: int = 0
    merged_records: int = 0


class ColumnState(BaseModel):
    """A column as it will be used; ``levels`` are those of its hierarchy, once it was counted."""

    name: str
    role: RoleName
    kind: KindName | None
    order: list[str] | None
    hierarchy: bool
    levels: list[LevelCount] | None = None


class FirstRows(BaseModel):
    """The first rows of a file as they are written, with their numbers, and how they were read."""

    rows: list[tuple[int, list[str]]]
    encoding: str | None
    guessed: bool
    separator: str | None
    sheets: list[str]
    sheet: str | None


class Dataset(BaseModel):
    """A table that the server knows."""

    id: str
    name: str
    origin: Literal["upload", "folder"]
    bytes: int
    created: str
    state: State
    problem: Failure
    reading: dict[str, Any]
    first_rows: FirstRows | None
    profile: Profile | None
    changes: list[str]
    columns: list[ColumnState]
    version: str


class Bands(Model):
    """Intervals of numbers, each width a multiple of the one before: 5, 10, 20."""

    build: Literal["bands"]
    column: Name
    widths: Annotated[
        list[Annotated[float, Field(gt=0, le=10**9)]], Field(min_length=1, max_length=10)
    ] = [5, 10, 20, 40]
    start: Annotated[int, Field(ge=-(10**9), le=10**9)] = 0


class Masks(Model):
    """Codes whose last characters are masked, one more on each level: 1234*, 123**."""

    build: Literal["masks"]
    column: Name


class Dates(Model):
    """Dates put together by parts of the calendar: month, quarter, year, decade."""

    build: Literal["dates"]
    column: Name
    parts: Annotated[list[DatePart], Field(min_length=1, max_length=4)] = [*PARTS]


_OF_FILE = _taken(
    plan.Release, "rows_in_order", suppressed=Tokens, key=Name | None, encoding=Short | None
)


class ReleaseChoice(_OF_FILE, Model):  # type: ignore[misc, valid-type]
    """One way to a release: exactly one of a built-in sanitizer, a file, a named command."""

    sanitizer: Short | None = None
    file: Id | None = None
    command: Short | None = None

    @property
    def of_file(self) -> dict[str, Any]:
        """What was said of a release made elsewhere."""
        return self.model_dump(include=set(_OF_FILE.model_fields), exclude_defaults=True)


class Choices(BaseModel):
    """What can be chosen: names, defaults and one sentence each."""

    sanitizers: list[dict[str, Any]]
    commands: list[str]
    models: list[dict[str, str]]
    distances: list[dict[str, str]]
    limits: list[dict[str, str]]
    policies: list[dict[str, Any]]


_ADVERSARY = _taken(
    plan.Adversary, "confidence", "membership", distance=Short,
    models=Annotated[list[Short], Field(max_length=8)],
    known=Annotated[list[Name], Field(max_length=1000)] | None,
    targets=Annotated[int, Field(ge=1, le=10**9)] | None,
    runs=Annotated[int, Field(le=100_000)],
)  # fmt: skip
_BINS = Annotated[dict[str, Annotated[int, Field(ge=2, le=50)]], Field(max_length=50)]
_DATA = _taken(plan.Data, "joint", "missing", bins=_BINS | None)
_REPORT = _taken(
    plan.Report, "show_values", "worst", title=Short | None, task=Name | None,
    min_cell=Annotated[int, Field(le=10**9)],
)  # fmt: skip
_TEXTS = (
    "policy", "purpose", "recipients", "controller", "author", "data_period", "attackers",
    "knowledge", "limits_by", "review_by", "confidentiality", "confirmed_by",
)  # fmt: skip
_CONTEXT = _taken(
    plan.Context, "release_model", confirmed=Annotated[list[Short], Field(max_length=50)],
    **dict.fromkeys(_TEXTS, Short | None),
)  # fmt: skip
_RUN = _taken(plan.Run, seed=Annotated[int, Field(le=2**31)])


class AdversaryChoice(_ADVERSARY):  # type: ignore[misc, valid-type]
    """Who learns from the release, and how the learning is measured."""


class Context(_CONTEXT):  # type: ignore[misc, valid-type]
    """Why the data is released, to whom and by whose rules; a policy is the name of a preset."""


class RunRequest(_DATA, _REPORT, _RUN, Model):  # type: ignore[misc, valid-type]
    """One or several releases of a dataset to audit with the same adversary and limits."""

    releases: Annotated[list[ReleaseChoice], Field(min_length=1, max_length=50)]
    adversary: AdversaryChoice = AdversaryChoice()
    context: Context = Context()
    limits: Annotated[dict[str, Number], Field(max_length=50)] = {}
    version: Annotated[
        Id | None, Field(description="The dataset's version; refused (409) if it is another now.")
    ] = None

    def options_of(self, section: str) -> dict[str, Any]:
        """Return the options of one of the plan's sections that were given or have a default."""
        kinds: dict[str, Any] = {"data": _DATA, "report": _REPORT, "run": _RUN}
        return self.model_dump(include=set(kinds[section].model_fields), exclude_none=True)


class Progress(BaseModel):
    """How far a run is."""

    step: str | None
    done: int | None
    total: int | None


class RunningCdf(BaseModel):
    """The distances known so far: ``y`` is the share of them at or below ``x``."""

    x: list[float]
    y: list[float]
    measured: int
    total: int


class Verdict(BaseModel):
    """How a finished run came out."""

    status: str
    reasons: list[str]
    delta: float | str | None


class Run(BaseModel):
    """One audit of one release."""

    id: str
    batch: str
    dataset: str
    title: Annotated[str, Field(description="The release: its sanitizer, file or command.")]
    report_title: str
    name: Annotated[str | None, Field(description="What somebody has called it since.")]
    note: str | None
    state: State
    progress: Progress
    running_cdf: RunningCdf | None
    problem: Failure
    verdict: Verdict | None
    fix: Annotated[
        dict[str, Any] | None, Field(description="What became of removing outliers, if asked.")
    ]
    created: str
    started: str | None
    ended: str | None


class Label(Model):
    """What somebody calls a run, and notes about it; an empty text takes it off."""

    name: Annotated[str, StringConstraints(max_length=200)] = ""
    note: Annotated[str, StringConstraints(max_length=4000)] = ""


class Fixing(Model):
    """Outliers to remove until δ is at most a limit: at most so many records, 5 % by default.

    With a ``sanitizer`` the release is made by that one instead of the run's own.
    """

    delta: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    budget: Annotated[int, Field(ge=0, le=10**9)] | None = None
    sanitizer: Short | None = None


class Event(BaseModel):
    """Something that happened to a run."""

    at: str
    text: str


class Estimate(BaseModel):
    """How long a run will take, from ``low`` to ``high`` seconds; poll until its state is done.

    ``high`` is null where nobody knows: a program that has not been run here takes its time.
    """

    id: str
    state: State
    seconds: float | None
    low: float | None
    high: float | None
    sentence: str | None
    problem: Failure


class Above(BaseModel):
    """How many records lie above a threshold."""

    finding: str
    threshold: float
    above: int
    records: int


class Worst(BaseModel):
    """The most exposed records, each with why."""

    records: list[dict[str, Any]]


class Download(BaseModel):
    """A file of a finished run."""

    name: str
    bytes: int
    address: str

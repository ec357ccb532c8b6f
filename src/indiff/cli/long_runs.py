"""What ``indiff test`` offers where calls of a sanitizer take long: folders, time, clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from indiff.errors import UserError, unknown

if TYPE_CHECKING:
    from indiff.data.table import Table

_PANEL = "Long runs"


def _option(name: str, help: str, metavar: str) -> Any:
    return typer.Option(
        name, help=help, rich_help_panel=_PANEL, metavar=metavar, show_default=metavar == "N"
    )


Run = Annotated[
    Path | None,
    _option("--run", "Keep every finished record here; the same command goes on.", "DIR"),
]
Time = Annotated[
    str | None, _option("--time", "Begin no record after 90s, 10m, 2h … of testing.", "SPAN")
]
Retries = Annotated[
    int, _option("--retries", "How often a failing call is repeated before it is given up.", "N")
]
Backend = Annotated[str, _option("--backend", "Where calls are made: loky or dask.", "B")]
Scheduler = Annotated[
    str | None, _option("--scheduler", "A Dask scheduler's address, tcp://host:8786.", "URL")
]
Individual = Annotated[
    str | None,
    typer.Option(
        "--individual", metavar="COLUMN", rich_help_panel="The table",
        help="The column whose equal values are one person, left out with all records.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class LongRun:
    """How a test is run, as it was asked for."""

    run: Path | None = None
    time: str | None = None
    retries: int = 2
    backend: str = "loky"
    scheduler: str | None = None
    individual: str | None = None
    order: str | None = None

    def check(self) -> None:
        """Refuse, before any file is read, what makes no sense."""
        from indiff.differential.targets.choice import ORDERS, seconds_of
        from indiff.differential.test import BACKENDS

        if self.time is not None:
            seconds_of(self.time)
        if self.retries < 0:
            raise UserError("--retries must be at least 0", self.retries)
        if self.backend not in BACKENDS:
            raise unknown("backend", self.backend, BACKENDS)
        if (self.backend == "dask") != (self.scheduler is not None):
            raise UserError(
                "--backend dask and --scheduler tcp://HOST:PORT belong together",
                f"only {'--backend' if self.scheduler is None else '--scheduler'}",
            )
        if self.order is not None and self.order not in ORDERS:
            raise unknown("order", self.order, ORDERS)

    def given(self) -> dict[str, bool]:
        """Return which options were given, by their names."""
        return {
            "--run": self.run is not None, "--time": self.time is not None,
            "--backend": self.backend != "loky", "--individual": self.individual is not None,
            "--order of targets": self.order is not None,
        }  # fmt: skip

    def settings(self) -> dict[str, Any]:
        """Return what a test needs; the time begins now, once for all attributes."""
        from indiff.differential.targets.choice import as_deadline

        return {
            "order": self.order, "individual": self.individual, "retries": self.retries,
            "backend": self.backend, "scheduler": self.scheduler,
            "time": as_deadline(self.time),
        }  # fmt: skip

    def folder(self, table: Table, place: int) -> Path | None:
        """Return the run folder of one sensitive attribute, as Python would name it."""
        from indiff.differential.test import part_of

        return self.run if len(table.sensitives) == 1 else part_of(self.run, "attribute", place)


def split_orders(texts: Sequence[str] | None) -> tuple[list[str], str | None]:
    """Tell the order of a column's values, which has an equals sign, from that of the targets.

    >>> split_orders(["size=small,large", "worst-first"])
    (['size=small,large'], 'worst-first')
    """
    columns = [text for text in texts or () if "=" in text]
    others = [text for text in texts or () if "=" not in text]
    if len(others) > 1:
        raise UserError("--order of the targets may be given once", ", ".join(others))
    return columns, others[0] if others else None


def names_people(
    individual: str | None, roles: Sequence[str], identifier: Sequence[str] | None
) -> list[str] | None:
    """Make the column that names people an identifier, unless it has another role.

    >>> names_people("patient", ["age", "ill"], None), names_people("age", ["age", "ill"], None)
    (['patient'], None)
    """
    named = list(identifier or ())
    if individual is None or individual in [*roles, *named]:
        return named or None
    return [*named, f'"{individual}"' if "," in individual else individual]

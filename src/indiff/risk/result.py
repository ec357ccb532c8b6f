"""Risk: every number that measure_risk found, with what is needed to repeat it."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from indiff.risk.columns import Combination, Contribution, Level
from indiff.risk.counted import ColumnsRisk
from indiff.risk.groups import GroupRisk
from indiff.risk.information import InformationRisk
from indiff.text import FORMAT, html, html_table, json_text, number


@dataclass(frozen=True)
class Method:
    """What was asked, of what, and by which versions."""

    source: str
    engine: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    individual: str | None
    missing_tokens: tuple[str, ...]
    kinds: dict[str, str]
    versions: dict[str, str]
    fingerprint: str
    """SHA-256 of the columns' names and roles and of all records' values in them, in any order.

    Equal for the same records on every engine. Types count: the number 1 is not the text 1, so a
    CSV file and a Parquet file of the same table differ. Floats count to about 10⁻⁶.
    """


@dataclass(frozen=True)
class Risk:
    """The risk metrics of a table, for all quasi-identifiers together and for each alone."""

    records: int
    reidentification: InformationRisk
    inference: dict[str, InformationRisk]
    groups: GroupRisk
    columns: dict[str, ColumnsRisk]
    contributions: tuple[Contribution, ...]
    levels: tuple[Level, ...]
    distinct_values: dict[str, int]
    combinations: tuple[Combination, ...]
    method: Method

    def _repr_html_(self) -> str:
        groups = self.groups
        about = f"Risk of {self.records:,} records: k = {groups.k}, {groups.singled_out:,} alone"
        parts = {"whose record it is": self.reidentification, **self.inference}
        rows = [
            (name, number(one.itpr), number(one.dr), number(one.mi))
            + (
                (number(groups.sensitive[name].l), number(groups.sensitive[name].t))
                if place
                else ("", "")
            )
            for place, (name, one) in enumerate(parts.items())
        ]
        heads = ("about", "ITPR (worst group)", "DR (average)", "MI", "ℓ", "t")
        return f"<div><h3>{html(about)}</h3>{html_table(heads, rows)}</div>"

    @property
    def outliers(self) -> tuple[Level, ...]:
        """The values flagged for cleaning (ITPR paper, Section 5.4)."""
        return tuple(level for level in self.levels if level.is_outlier)

    @property
    def singled_out_by_width(self) -> dict[int, int]:
        """The most records that any combination of so many columns singles out (if searched)."""
        most: dict[int, int] = {}
        for found in self.combinations:
            width = len(found.columns)
            most[width] = max(most.get(width, 0), found.singled_out)
        return dict(sorted(most.items()))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {"format": FORMAT, "kind": "risk", **plain(self)}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; infinite numbers are the text ``"Infinity"``."""
        return json_text(self.to_dict(), indent=1)


_DERIVED = (
    "l", "distinct_l", "entropy_l", "recursive", "alpha", "t", "beta", "beta_enhanced",
    "delta_disclosure",
)  # fmt: skip


def plain(value: Any) -> Any:
    """Turn results into plain values: dictionaries, lists, numbers and texts."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {
            field.name.rstrip("_"): plain(getattr(value, field.name)) for field in fields(value)
        }
        if isinstance(value, GroupRisk):
            found.update({name: plain(getattr(value, name)) for name in _DERIVED})
        return found
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)  # dates, decimals

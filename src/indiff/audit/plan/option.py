"""Says what a declared option is: its help, the name of its value, and where it is listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

TABLE, TEST, OUT, POPULATION = "The table", "The test", "Output", "The population"
BESIDE, LONG, CLAIM = "A release beside its original", "Long runs", "A claim of privacy"
AUDIT, COMPARISON, METRICS, ENGINE = "The audit", "The comparison", "The metrics", "The engine"


@dataclass(frozen=True)
class Option:
    """What an option says beside its type: its help, how its value is called, where it is listed.

    ``name`` is the shell's, where it is not the field's; ``typed`` is what the shell hands over
    where that is neither a list nor what the field holds. ``no`` names the opposite of a flag.
    """

    help: str
    metavar: str | None = None
    panel: str | None = None
    name: str | None = None
    typed: Any = None
    no: str | None = None

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        """Describe the field by its help wherever a schema of it is published."""
        return handler(schema) | {"description": self.help}


MOST_WORKERS = 1024  # more than any machine has cores: each would be started at once
Names = list[str]
Bins = int | list[float]
Count = Annotated[int, Ge(1)]
NotNegative = Annotated[int, Ge(0)]
REQUIRED: Any = ...

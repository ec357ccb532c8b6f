"""Column names: text, not blank, each one once."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.errors import UserError


def checked_names(names: Sequence[object], where: str) -> tuple[list[str], list[str]]:
    """Return the names without the blanks around them, and a note on each that had some.

    >>> checked_names([" age", "sex"], "'people.csv'")
    (['age', 'sex'], ["column ' age' is called 'age': blanks around a name are removed"])
    """
    if not names:
        raise UserError(f"a table needs at least one column; {where} has none: add a column.")
    clean: list[str] = []
    notes: list[str] = []
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise UserError(
                f"column names must be text; column {position} of {where} is called {name!r}: "
                "rename it, in pandas with frame.columns = frame.columns.map(str)."
            )
        stripped = name.strip()
        if not stripped:
            raise UserError(
                f"every column needs a name; column {position} of {where} has none: name it, or "
                "leave out the row index when writing the file (in pandas: index=False)."
            )
        if not _is_unicode(stripped):
            raise UserError(
                f"column names must be valid Unicode; column {position} of {where} is called "
                f"{name!r}: rename it."
            )
        if stripped in clean:
            raise UserError(
                f"column names must differ; {where} has two columns called {stripped!r} "
                f"(columns {clean.index(stripped) + 1} and {position}): rename one of them."
            )
        if stripped != name:
            notes.append(
                f"column {name!r} is called {stripped!r}: blanks around a name are removed"
            )
        clean.append(stripped)
    return clean, notes


def _is_unicode(text: str) -> bool:
    """Lone surrogates are Python strings that no file or Arrow column can hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)

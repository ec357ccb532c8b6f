"""``indiff columns``: says which columns identify people, alone and together."""

from __future__ import annotations

from pathlib import Path

from indiff.audit.plan.recipe import Recipe
from indiff.audit.plan.shell import worded_for_shell
from indiff.files import check_places, write_text


def command(recipe: Recipe) -> None:
    """Say which columns identify people, alone and together; shows counts, never a value."""
    from indiff.report.terminal import tables as terminal
    from indiff.report.terminal.columns import show_columns
    from indiff.risk.identifying.columns import identifying_columns

    reading = recipe.section("data")
    data = reading.pop("path")
    check_places({"--json": recipe["json"]}, [Path(data)], frames=())
    found = identifying_columns(data, share=recipe["share"], size=recipe["size"], **reading)
    if recipe["json"] is not None:
        write_text(recipe["json"], found.to_json())
    notes = [worded_for_shell(note) for note in found.notes]
    show_columns(terminal.open_console(), found, data, notes)

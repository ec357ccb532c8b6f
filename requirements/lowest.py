"""Prints the oldest version of every library that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

TOOLS = "dev"  # what only checks and tests may be as new as it likes


def lowest(project: dict[str, object]) -> list[str]:
    """Return ``name==version`` for every requirement of a project and of its extras.

    >>> lowest({"dependencies": ["numpy>=2.0"], "optional-dependencies": {"dev": ["mypy>=1.10"]}})
    ['numpy==2.0']
    """
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(one for e in extras if e != TOOLS for one in extras[e])]
    return [re.fullmatch(r"([\w-]+)>=([\d.]+)", one).expand(r"\1==\2") for one in named]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join([*lowest(tomllib.loads(text)["project"]), ""]))

"""Keeps libraries out of the command line that others look for at start-up and it does not need.

PyArrow loads pandas, where it is installed, before it converts its first number; numba loads
SciPy's linear algebra, which no kernel calls, coverage, and YAML for settings of its own. Each
takes longer than many a run. A process of a user's own loads what it likes: only the program
``indiff`` does this.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

# What is looked for, and by whom; anyone else gets it, and a frame of pandas is read as ever.
_UNASKED = {
    "pandas": ("pyarrow", "indiff"),  # PyArrow's own code is compiled: its caller is seen
    "scipy.linalg": ("numba",),
    "coverage": ("numba",),
    "yaml": ("numba",),
}


class _Unasked:
    """A finder that finds nothing, and refuses what is not needed to those who only look for it."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name in _UNASKED and _importer() in _UNASKED[name]:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)


def _importer() -> str:
    """Return the package whose code imports a module right now."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def keep_out_unasked() -> None:
    """Refuse from now on, in this process, what libraries look for without need."""
    sys.meta_path.insert(0, _Unasked())

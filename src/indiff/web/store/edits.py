"""Forms that are sent again and again while they are filled in: the newest state counts."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

MOST_FORMS = 1_000  # that are remembered; a request cannot be under way for as long as so many


@dataclass
class Edits:
    """The number of the newest state that came of each form, in this server's memory.

    A browser sends each change by a connection of its own choice, so that an earlier state can
    come later. It is called from the server's one event loop: asking and writing what was asked
    for is one step.
    """

    _newest: OrderedDict[str, int] = field(default_factory=OrderedDict)

    def is_newest(self, form: str, edit: int) -> bool:
        """Note a state of a form; tell whether no newer one of it has come before.

        >>> edits = Edits()
        >>> [edits.is_newest("a", edit) for edit in (0, 2, 1, 2)], edits.is_newest("b", 1)
        ([True, True, False, True], True)
        """
        if edit < self._newest.get(form, edit):
            return False
        self._newest[form] = edit
        self._newest.move_to_end(form)
        while len(self._newest) > MOST_FORMS:
            self._newest.popitem(last=False)
        return True

"""Messages in the words of the shell: ``--missing drop`` for ``missing='drop'``."""

from __future__ import annotations

import re

# Messages are written for Python; a shell user is told of options instead.
_OPTIONS = (
    "quasi|sensitive|other|bins|missing|method|targets|encoding|sheet|jobs|runs|"
    "engine|individual|master|threads|key|run|time|retries|backend|scheduler"
)
_IN_SHELL_WORDS = (
    (r"\bjoint=True", "--joint"),
    (r"\bdownload=True", "--download"),
    (r" \(or folder=\)", ""),
    (r"\brows_in_order=(True)?", "--rows-in-order"),
    (r"[Pp]ass unmet=\"generalize\"", "add unmet=generalize to --sanitizer"),
    (r"\bhierarchies=\{'(.*?)': '(.*?)'\}", r"--hierarchy \1=\2"),
    (r"\bbins=\{'(.*?)': (\d+)\}", r"--bins \1=\2"),
    (r"\borders=\{'(.*?)': \[(.*?), (.*?), (.*?)\]\}", r"--order \1=\2,\3,\4"),
    (rf"(?<!\S)({_OPTIONS})='?([\w-]+)'?", r"--\1 \2"),
    (rf"(?<!\S)({_OPTIONS})=", r"--\1"),
    (r"\bmissing_tokens=\S+", "--missing-token TEXT"),
    (r"(?<!\S)memory_limit\b", "--memory-limit"),
    (r"(?<!\S)combinations(?= must be)", "--combinations"),
    (r"\bedges= or domains=", "--edges or --domain"),
)


def in_shell_words(message: str) -> str:
    """Write a message's Python options as the shell's.

    >>> in_shell_words("Pass missing='drop' to leave those records out.")
    'Pass --missing drop to leave those records out.'
    >>> in_shell_words("epsilon cannot be 'x' in 'laplace:epsilon=x,bins=3'")  # as it was typed
    "epsilon cannot be 'x' in 'laplace:epsilon=x,bins=3'"
    """
    for pattern, words in _IN_SHELL_WORDS:
        message = re.sub(pattern, words, message)
    return message

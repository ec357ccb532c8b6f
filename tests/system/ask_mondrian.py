"""A program that starts at once: ``ask_mondrian.py SOCKET WORD …`` asks a running service."""

from __future__ import annotations

import json
import socket
import sys


def ask(path: str, words: list[str]) -> str:
    """Send the words; what comes back is what went wrong."""
    with socket.socket(socket.AF_UNIX) as place:
        place.connect(path)
        place.sendall(json.dumps(words).encode() + b"\n")
        complaint = b""
        while piece := place.recv(1 << 16):
            complaint += piece
    return complaint.decode()


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], sys.argv[2:]) or 0)

"""A program that starts at once: ``ask_mondrian.py SOCKET WORD …`` asks a running service."""

from __future__ import annotations

import json
import socket
import sys

with socket.socket(socket.AF_UNIX) as place:
    place.connect(sys.argv[1])
    place.sendall(json.dumps(sys.argv[2:]).encode() + b"\n")
    complaint = b""
    while piece := place.recv(1 << 16):
        complaint += piece
sys.exit(complaint.decode() or 0)

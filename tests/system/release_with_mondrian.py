"""Our own Mondrian as a program, alone or as a service that starts only once.

release_with_mondrian.py INPUT OUTPUT SENSITIVE K    reads a table and writes its release
release_with_mondrian.py SOCKET                      does so for whoever asks at the socket
"""

from __future__ import annotations

import json
import socketserver
import sys
import traceback

from indiff.data.table import read_table
from indiff.files import write_frame
from indiff.sanitizers.mondrian.mondrian import Mondrian


def release(given: str, made: str, sensitive: str, k: str) -> None:
    table = read_table(given, sensitive=sensitive)
    # Of D⁻ⁱ too: where the constraint cannot be met, everything is generalized.
    write_frame(Mondrian(k=int(k), unmet="generalize").sanitize(table).to_arrow(), made)


class Service(socketserver.StreamRequestHandler):
    """Answers each line of words with what went wrong: nothing, if all is well."""

    def handle(self) -> None:
        try:
            release(*json.loads(self.rfile.readline()))
        except Exception:  # noqa: BLE001 - whoever asked is told
            self.wfile.write(traceback.format_exc().encode())


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) == 1:
        with socketserver.UnixStreamServer(words[0], Service) as server:
            server.serve_forever()
    release(*words)

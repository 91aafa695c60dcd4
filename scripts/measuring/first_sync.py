"""One gate's first sync, in a process of its own, so that its memory can be told: prints what it took."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from gate_app.app import home_at, http_wire, real_world
from gate_app.commands import sync_once
from gate_app.lodge import opened
from gate_app.sync.client import Letter, Reply, Wire


class CountingWire:
    """The real wire, and how many bytes of answers it brought."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.received = 0

    def carry(self, letter: Letter) -> Reply:
        """One request, one answer."""
        reply = self._wire.carry(letter)
        self.received += len(reply.body)
        return reply


def main(home: Path) -> None:
    """Sync the enrolled gate at `home` and tell what it took."""
    with opened(home_at(home), real_world(), "measure") as lodge:
        wire = CountingWire(http_wire(lodge.config))
        begun = time.perf_counter()
        told = sync_once(lodge, *lodge.sync(wire, 0))
        seconds = time.perf_counter() - begun
        tickets = sum(book.tickets_held() for book in lodge.roster.books.values())
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "bytes": wire.received, "megabytes": megabytes, "tickets": tickets, **told}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

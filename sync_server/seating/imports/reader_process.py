"""The process that reads one file: compressed parts come in, lines of JSON with rows go out.

Reading a stadium takes seconds of processor time and hundreds of megabytes. In the process of the server every guest
would wait for that; here it costs nobody anything, and the kernel ends it when it takes too much.
"""

from __future__ import annotations

import os
import resource
import sys
from typing import Any, Final

import orjson
import zstandard

from shared.errors import GatehouseError
from sync_server.seating.imports.reading import read_plan
from sync_server.seating.layout_rows import LayoutKey, batches, columns, prepare
from sync_server.seating.schemas import ImportQuery

MOST_SECONDS: Final = 600
"""Of processor time: more than ten times what the largest layout takes."""
MOST_BYTES: Final = 4 * 1024**3
"""Of memory."""


def main(told: dict[str, Any]) -> None:
    """Read the file on standard input; write the layout, its rows in batches, and an end."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    with zstandard.ZstdDecompressor().stream_reader(sys.stdin.buffer, read_across_frames=True) as file:
        body = file.read()
    try:
        query = ImportQuery(**told["query"])
        prepared = prepare(query.placed(read_plan(body, query.format, query.name)))
    except GatehouseError as problem:
        say({"problem": {"code": problem.error_code, "message": problem.message, "details": problem.details}})
        return
    plan = prepared.plan
    rows = len(plan.zones) + len(plan.groups) + sum(1 for _ in plan.seats())
    say({"layout": columns(prepared), "zone_types": [kind.value for kind in plan.zone_types], "rows_in_all": rows})
    for kind, some in batches(LayoutKey(**told["key"]), prepared, size=told["size"]):
        say({"kind": kind, "rows": some})
    say({"end": True})


def say(message: dict[str, Any]) -> None:
    """Write a line for the parent; where that has gone, this process ends."""
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(orjson.loads(sys.argv[1]))

"""Makes docs/api-reference.md from the description that the server gives of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

FILE = "docs/api-reference.md"
METHODS = ("get", "post", "put", "patch", "delete")

HEAD = """\
# Every address of the server's API

Made by `scripts/check --fix` from what `gatehouse-server openapi` prints. A running server shows it with all fields at
`/docs` and as OpenAPI 3.1 at `/openapi.json`; `docs/api.md` says how to sign in and what errors look like.
"""


def text() -> str:
    """The whole page."""
    rooms = groupby(sorted(_addresses(_description())), key=itemgetter(0))
    return HEAD + "".join(_room(tag, list(rows)) for tag, rows in rooms)


def _description() -> dict[str, Any]:
    """Asked in a folder of its own, so that no database of this machine is opened."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-api-") as folder:
        own = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
        settings = {**own, "GATEHOUSE_DATABASE_URL": f"sqlite:///{folder}/gatehouse.db"}
        command = [sys.executable, "-m", "sync_server", "openapi"]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the server did not describe itself: {done.stderr.strip()}")
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def _addresses(described: dict[str, Any]) -> Iterator[tuple[str, str, int, str]]:
    for path, operations in described["paths"].items():
        for method in METHODS:
            if asked := operations.get(method):
                yield (
                    asked.get("tags", ["Other"])[0],
                    path,
                    METHODS.index(method),
                    asked.get("description", asked["summary"]),
                )


def _room(tag: str, rows: list[tuple[str, str, int, str]]) -> str:
    lines = (f"| `{METHODS[method].upper()} {path}` | {' '.join(words.split())} |\n" for _, path, method, words in rows)
    return f"\n## {tag}\n\n| address | does |\n|---|---|\n" + "".join(lines)

"""Makes docs/roles.md from the table of roles, and from what every address asks for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from werkzeug.routing import Rule

from sync_server.accounts.doors import DOORS, OPEN_TOO
from sync_server.accounts.rules import GUEST, POLICY
from sync_server.app import create_app
from sync_server.config import check
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import asked_for

FILE = "docs/roles.md"
HEAD = Path(__file__).with_name("roles.head.md")
COLUMNS = {**POLICY, "guest": GUEST}
LEFT_OUT = frozenset({"HEAD", "OPTIONS"})


def text() -> str:
    """The whole page."""
    app = _app()
    addresses = sorted(_addresses(app.url_map.iter_rules()))
    asked = [(asked_for(app.view_functions[endpoint]), endpoint, words) for words, endpoint in addresses]
    closed = [(action, _marked(words, endpoint)) for action, endpoint, words in asked if action]
    others = [(words, endpoint) for action, endpoint, words in asked if action is None]
    return HEAD.read_text(encoding="utf-8") + _matrix() + _by_address(closed) + _doors(others)


def _app() -> Any:
    """A server that answers nobody: only its addresses are read."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-roles-") as folder:
        (Path(folder) / "master.key").write_text("00" * 32)
        return create_app(check({"database_url": f"sqlite:///{folder}/gatehouse.db", "log_level": "error"}))


def _addresses(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for method in sorted((rule.methods or set()) - LEFT_OUT):
            yield f"{rule.rule} {method}", rule.endpoint


def _matrix() -> str:
    head = f"## The table\n\n| may | {' | '.join(f'`{role}`' for role in COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + "".join(map(_row, Action))


def _row(action: Action) -> str:
    return f"| `{action.value}` | {_cells(action)} |\n"


def _cells(action: Action) -> str:
    return " | ".join("yes" if action in allowed else "no" for allowed in COLUMNS.values())


def _by_address(rows: list[tuple[Action, str]]) -> str:
    """Every address with what it asks for, and whom that lets in."""
    titles = " | ".join(COLUMNS)
    head = f"\n## Every address\n\n| address | asks for | {titles} |\n|---|---|{'---|' * len(COLUMNS)}\n"
    return head + "".join(f"| {words} | `{action.value}` | {_cells(action)} |\n" for action, words in rows)


def _marked(words: str, endpoint: str) -> str:
    return f"`{_turned(words)}`" + (" (without a login: the public programme)" if endpoint in OPEN_TOO else "")


def _doors(others: list[tuple[str, str]]) -> str:
    lines = (f"| `{_turned(words)}` | {_who(endpoint)} |\n" for words, endpoint in others)
    return "\n## Addresses that ask for no role\n\n| address | gets in | why |\n|---|---|---|\n" + "".join(lines)


def _who(endpoint: str) -> str:
    door = DOORS.get(endpoint)
    return f"{door.who} | {door.why}" if door else "not said | not said"


def _turned(words: str) -> str:
    path, method = words.split(" ")
    return f"{method} {path.replace('<int:', '<')}"

"""Generates docs/roles.md from the table of roles and the actions that endpoints require."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from werkzeug.routing import Rule

from sync_server.accounts.public_routes import PARTLY_PUBLIC, PUBLIC_ROUTES
from sync_server.accounts.rules import GUEST_ACTIONS, POLICY
from sync_server.app import create_app
from sync_server.config import check
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import required_action

FILE = "docs/roles.md"
HEAD = Path(__file__).with_name("roles.head.md")
COLUMNS = {**POLICY, "guest": GUEST_ACTIONS}
IGNORED_METHODS = frozenset({"HEAD", "OPTIONS"})


def text() -> str:
    """The whole page."""
    app = _app()
    routes = sorted(_routes(app.url_map.iter_rules()))
    required = [(required_action(app.view_functions[endpoint]), endpoint, route) for route, endpoint in routes]
    restricted = [(action, _marked(route, endpoint)) for action, endpoint, route in required if action]
    others = [(route, endpoint) for action, endpoint, route in required if action is None]
    return HEAD.read_text(encoding="utf-8") + _matrix() + _by_endpoint(restricted) + _without_role(others)


def _app() -> Any:
    """An app that is never served: only its routes are read."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-roles-") as folder:
        (Path(folder) / "master.key").write_text("00" * 32)
        return create_app(check({"database_url": f"sqlite:///{folder}/gatehouse.db", "log_level": "error"}))


def _routes(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        for method in sorted((rule.methods or set()) - IGNORED_METHODS):
            yield f"{rule.rule} {method}", rule.endpoint


def _matrix() -> str:
    head = f"## The table\n\n| may | {' | '.join(f'`{role}`' for role in COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + "".join(map(_row, Action))


def _row(action: Action) -> str:
    return f"| `{action.value}` | {_cells(action)} |\n"


def _cells(action: Action) -> str:
    return " | ".join("yes" if action in allowed else "no" for allowed in COLUMNS.values())


def _by_endpoint(rows: list[tuple[Action, str]]) -> str:
    """Every endpoint with its required action and the roles that have it."""
    titles = " | ".join(COLUMNS)
    head = f"\n## Every endpoint\n\n| endpoint | requires | {titles} |\n|---|---|{'---|' * len(COLUMNS)}\n"
    return head + "".join(f"| {route} | `{action.value}` | {_cells(action)} |\n" for action, route in rows)


def _marked(route: str, endpoint: str) -> str:
    return f"`{_method_first(route)}`" + (" (without a login: public listings)" if endpoint in PARTLY_PUBLIC else "")


def _without_role(others: list[tuple[str, str]]) -> str:
    lines = (f"| `{_method_first(route)}` | {_who(endpoint)} |\n" for route, endpoint in others)
    return "\n## Endpoints without a role\n\n| endpoint | open to | why |\n|---|---|---|\n" + "".join(lines)


def _who(endpoint: str) -> str:
    public_route = PUBLIC_ROUTES.get(endpoint)
    return f"{public_route.who} | {public_route.why}" if public_route else "unknown | unknown"


def _method_first(route: str) -> str:
    path, method = route.split(" ")
    return f"{method} {path.replace('<int:', '<')}"

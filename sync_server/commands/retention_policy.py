"""Shows and changes how long an organisation keeps what."""

from __future__ import annotations

from shared.errors import InvalidRequest
from sync_server.archives import policy
from sync_server.archives.rules import KEPT
from sync_server.commands.console import echo, open_runtime, operator_context, print_json
from sync_server.commands.people import organisation_id

FOR_EVER = "forever"


def show(org: str) -> None:
    """Print the policy, and for people what each kind is."""
    with open_runtime() as runtime, runtime.parts.database.reading() as session:
        days = policy.days(session, organisation_id(session, org))
    print_json({"organisation": org, "days": dict(days)})
    for kind, kept in days.items():
        echo(f"{kind:13} {FOR_EVER if kept is None else f'{kept} days':9} {KEPT[kind].what}")


def change(org: str, kind: str, days: str) -> None:
    """Change one kind, and print the policy."""
    if days != FOR_EVER and not (days.isdecimal() and len(days) < 6):
        raise InvalidRequest(f"{days!r} is not a number of days. Write a number, or {FOR_EVER}.")
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        wanted = {kind: None if days == FOR_EVER else int(days)}
        found = policy.change(session, organisation_id(session, org), wanted, operator_context(runtime))
    print_json({"organisation": org, "days": dict(found)})

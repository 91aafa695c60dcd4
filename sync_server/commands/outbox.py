"""Facts on their way, as the operator handles them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shared.errors import InvalidRequest
from sync_server.commands.ground import deed, ground, say, tell
from sync_server.outbox.rules import State

if TYPE_CHECKING:
    from sync_server.app import Ground

PAGE = 500

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Facts on their way to the house and the broker.")


@app.command("list")
def listed(
    state: Annotated[State, typer.Option(help="What became of them.")] = State.DEAD,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
) -> None:
    """Print facts that were laid aside after failing too often, or are in another state; the oldest first."""
    from sync_server.outbox import queries, schemas

    with ground() as here, here.parts.database.reading() as session:
        for row in queries.listed(session, state, limit=limit)[:limit]:
            tell(schemas.FactView.of(row).model_dump(mode="json"))


@app.command()
def replay(
    message_ids: Annotated[list[str] | None, typer.Argument(help="As `list` prints them.")] = None,
    every: Annotated[State | None, typer.Option(help="All in this state: dead or unrouted.")] = None,
) -> None:
    """Let facts go once more, under the ids they had: consumers that have seen one skip it."""
    if every not in {None, State.DEAD, State.UNROUTED}:
        raise InvalidRequest("Only dead or unrouted facts go once more all together.")
    if bool(message_ids) == (every is not None):
        raise InvalidRequest("Name facts by their message ids, or say --every dead or --every unrouted.")
    with ground() as here:
        many = _replay_named(here, message_ids or []) if every is None else _replay_all(here, every)
    say(f"{many} facts go once more." if many != 1 else "One fact goes once more.")


def _replay_named(here: Ground, message_ids: list[str]) -> int:
    from sync_server.outbox import queries, service

    with here.parts.database.writing() as session:
        ids = [queries.fact(session, message_id).id for message_id in message_ids]
        return service.replay(session, ids, deed(here))


def _replay_all(here: Ground, state: State) -> int:
    """Page by page, each fact once: one that fails again meanwhile is left for the next time."""
    from sync_server.outbox import queries, service

    total = last = 0
    while True:
        with here.parts.database.writing() as session:
            rows = queries.listed(session, state, after=last, limit=PAGE)[:PAGE]
            total += service.replay(session, [row.id for row in rows], deed(here))
        if len(rows) < PAGE:
            return total
        last = rows[-1].id

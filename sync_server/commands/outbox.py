"""Commands of the outbox: list and replay facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shared.ids import NIL_ID, as_id
from sync_server.commands.console import echo, open_runtime, operator_context, print_json
from sync_server.outbox.rules import State

if TYPE_CHECKING:
    from sync_server.runtime import ServerRuntime

PAGE = 500

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Facts to be delivered to subscribers and the broker."
)


@app.command("list")
def list_facts(
    state: Annotated[State, typer.Option(help="The delivery state.")] = State.DEAD,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
) -> None:
    """Print facts in a delivery state, oldest first. `dead` facts have failed too often."""
    from sync_server.outbox import queries, schemas

    with open_runtime() as runtime, runtime.parts.database.reading() as session:
        for fact in queries.list_facts(session, state, limit=limit)[:limit]:
            print_json(schemas.FactView.of(fact).model_dump(mode="json"))


@app.command()
def replay(
    message_ids: Annotated[list[str] | None, typer.Argument(help="Message ids, as printed by `list`.")] = None,
    every: Annotated[State | None, typer.Option(help="All facts in this state: dead or unrouted.")] = None,
) -> None:
    """Deliver facts again with the same message ids; consumers skip those they have already seen."""
    if every not in {None, State.DEAD, State.UNROUTED}:
        raise typer.BadParameter("--every takes dead or unrouted.")
    if bool(message_ids) == (every is not None):
        raise typer.BadParameter("Give message ids, or --every dead, or --every unrouted.")
    with open_runtime() as runtime:
        count = _replay_named(runtime, message_ids or []) if every is None else _replay_all(runtime, every)
    echo(f"{count} facts will be delivered again." if count != 1 else "1 fact will be delivered again.")


def _replay_named(runtime: ServerRuntime, message_ids: list[str]) -> int:
    from sync_server.outbox import queries, service

    with runtime.parts.database.writing() as session:
        facts = [queries.fact(session, as_id(message_id)) for message_id in message_ids]
        return service.replay(session, facts, operator_context(runtime))


def _replay_all(runtime: ServerRuntime, state: State) -> int:
    """Replay page by page, each fact once: those that fail again meanwhile are not repeated."""
    from sync_server.outbox import queries, service

    total, last = 0, NIL_ID
    while True:
        with runtime.parts.database.writing() as session:
            facts = queries.list_facts(session, state, after=last, limit=PAGE)[:PAGE]
            total += service.replay(session, facts, operator_context(runtime))
        if len(facts) < PAGE:
            return total
        last = facts[-1].row.message_id

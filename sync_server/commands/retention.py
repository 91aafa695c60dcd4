"""Commands of the retention policy: show and change it."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="How long an organisation keeps what.")

Org = Annotated[str, typer.Option("--org", help="The organisation's slug.")]


@app.command("show")
def show(org: Org) -> None:
    """Print how many days the organisation keeps each kind of record."""
    from sync_server.commands import retention_policy

    retention_policy.show(org)


@app.command("set")
def change(
    kind: Annotated[str, typer.Argument(help="Such as names or events; `show` lists them.")],
    days: Annotated[str, typer.Argument(help="A number of days, or `forever`.")],
    org: Org,
) -> None:
    """Keep one kind of record so many days from now on."""
    from sync_server.commands import retention_policy

    retention_policy.change(org, kind, days)

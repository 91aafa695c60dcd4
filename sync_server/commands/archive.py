"""Commands of archives: put an event away, verify a sealed file, bring an event back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

PUT_AWAY = "event"


class _EventsByName(TyperGroup):
    """`archive NIGHT` is `archive event NIGHT`: whatever is no command of this group names an event."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of these arguments."""
        known = args and (args[0] in self.commands or args[0].startswith("-"))
        return super().resolve_command(ctx, args if known else [PUT_AWAY, *args])


app = typer.Typer(
    cls=_EventsByName, no_args_is_help=True, rich_markup_mode=None, help="Events that are over, as sealed files."
)

File = Annotated[Path, typer.Argument(help="A sealed file.")]


@app.command(PUT_AWAY)
def put_away(
    event: Annotated[str, typer.Argument(help="The event's slug, number or id.")],
    org: Annotated[str, typer.Option("--org", help="The organisation's slug.")],
    reason: Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")] = "",
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Do it although something is not settled; needs a reason.")
    ] = False,
) -> None:
    """Put an event away: write its sealed file, verify it, and remove its rows from the tables."""
    from sync_server.commands import archive_files

    archive_files.put_away(event, org, reason, confirm=confirm)


@app.command("verify")
def verify(
    file: File,
    public_key: Annotated[
        str | None, typer.Option(help="The server's public key, which must have signed the file.")
    ] = None,
) -> None:
    """Verify a sealed file, without a database or settings."""
    from sync_server.commands import archive_check

    if not archive_check.verify(file, public_key):
        raise typer.Exit(1)


@app.command("restore")
def restore(
    file: File,
    reason: Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")],
) -> None:
    """Bring an event back into the tables from its sealed file."""
    from sync_server.commands import archive_files

    archive_files.restore(file, reason)

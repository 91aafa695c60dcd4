"""The audit log as the operator handles it: proved, taken away, and rid of a person's values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The audit log.")

Org = Annotated[str | None, typer.Option("--org", help="The organisation's slug.")]
Noted = Annotated[
    list[str] | None, typer.Option("--noted", help="SEQ:SEAL that you noted earlier; it must lie in the chain.")
]
Why = Annotated[str, typer.Option(help="Why; it stands in the audit log.")]


@app.command("verify")
def verify(org: Org = None, noted: Noted = None) -> None:
    """Follow every chain, or one organisation's; say how far it is sealed and which line is the first broken one."""
    from sync_server.commands import audit_log

    if not audit_log.verify(org, noted or ()):
        raise typer.Exit(1)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="What `audit export` or the API gave.")],
    public_key: Annotated[
        str | None, typer.Option(help="The server's public key: the head must be signed by it.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="SEQ:SEAL where the export before this one ended.")] = None,
    noted: Noted = None,
) -> None:
    """Follow an exported file; it needs neither database nor settings."""
    from sync_server.commands import audit_file

    if not audit_file.check(file, public_key, after, noted or ()):
        raise typer.Exit(1)


@app.command("export")
def take_away(
    org: Org = None, after_seq: Annotated[int, typer.Option(min=0, help="What was sealed after this line only.")] = 0
) -> None:
    """Print the sealed log of an organisation, or of the installation, as JSON lines with the head last."""
    from sync_server.commands import audit_log

    audit_log.take_away(org, after_seq)


@app.command("erase")
def erase(
    reason: Why,
    user: Annotated[str | None, typer.Option(help="Somebody of the staff, by id or e-mail address.")] = None,
    person: Annotated[str | None, typer.Option(help="Anybody as KIND:ID, as lines name them: supervisor:3.")] = None,
    older_than_days: Annotated[int | None, typer.Option(min=1, help="Everybody, in lines older than this.")] = None,
    org: Org = None,
) -> None:
    """Erase addresses, names and the like from the log; lines and seals stay whole. There is no way back."""
    from sync_server.commands import audit_log

    audit_log.erase(audit_log.Whose(user, person, older_than_days), org, reason)

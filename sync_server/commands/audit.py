"""Commands of the audit log: verify, check, export and erase."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The audit log.")

Org = Annotated[str | None, typer.Option("--org", help="The organisation's slug.")]
Noted = Annotated[
    list[str] | None, typer.Option("--noted", help="SEQ:SEAL that you noted earlier; the chain must contain it.")
]
Why = Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")]


@app.command("verify")
def verify(org: Org = None, noted: Noted = None) -> None:
    """Verify every chain, or one organisation's: how far it is sealed, and where it is broken."""
    from sync_server.commands import audit_log

    if not audit_log.verify(org, noted or ()):
        raise typer.Exit(1)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="A file from `audit export` or the API.")],
    public_key: Annotated[
        str | None, typer.Option(help="The server's public key, to verify the signature of the head.")
    ] = None,
    after: Annotated[str | None, typer.Option(help="SEQ:SEAL where the previous export ended.")] = None,
    noted: Noted = None,
) -> None:
    """Verify an exported file, without a database or settings."""
    from sync_server.commands import audit_file

    if not audit_file.check(file, public_key, after, noted or ()):
        raise typer.Exit(1)


@app.command("export")
def export(
    org: Org = None, after_seq: Annotated[int, typer.Option(min=0, help="Export only lines sealed after this one.")] = 0
) -> None:
    """Print the sealed log of an organisation, or of the installation, as JSON lines; the head comes last."""
    from sync_server.commands import audit_log

    audit_log.export_log(org, after_seq)


@app.command("erase")
def erase(
    reason: Why,
    user: Annotated[str | None, typer.Option(help="A member of staff, by id or e-mail address.")] = None,
    person: Annotated[str | None, typer.Option(help="Anybody, as KIND:ID from the log, such as supervisor:3.")] = None,
    older_than_days: Annotated[
        int | None, typer.Option(min=1, help="Everybody, in lines older than this many days.")
    ] = None,
    org: Org = None,
) -> None:
    """Erase names, addresses and other personal values from the log for good. Lines and seals stay intact."""
    from sync_server.commands import audit_log

    audit_log.erase(audit_log.ErasureTarget(user, person, older_than_days), org, reason)


@app.command("archive")
def archive(
    older_than_days: Annotated[int, typer.Option(min=30, help="Lines older than this many days.")], org: Org = None
) -> None:
    """Move old sealed lines of an organisation, or of the installation, from the database into sealed files."""
    from sync_server.commands import audit_log

    audit_log.put_away(org, older_than_days)


@app.command("restore")
def restore(org: Org = None) -> None:
    """Bring the lines of the newest sealed file back into the database; the file stays."""
    from sync_server.commands import audit_log

    audit_log.restore(org)

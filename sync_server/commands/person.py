"""Commands about a person: export and erase what is stored."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What is stored about a person.")

Org = Annotated[str, typer.Option("--org", help="The organisation's slug.")]
Email = Annotated[str, typer.Option(help="Their e-mail address.")]
Membership = Annotated[str, typer.Option(help="The id of their membership.")]
Ticket = Annotated[str, typer.Option(help="The id of their ticket.")]


@app.command("export")
def export(org: Org, email: Email = "", membership: Membership = "", ticket: Ticket = "") -> None:
    """Print everything that an organisation stores about a person, as one JSON object."""
    from sync_server.commands import person_records

    person_records.export_person(org, email, membership, ticket)


@app.command("erase")
def erase(
    *,
    org: Org,
    reason: Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")],
    email: Email = "",
    membership: Membership = "",
    ticket: Ticket = "",
    login: Annotated[bool, typer.Option("--login", help="Also their login, in all organisations, for good.")] = False,
) -> None:
    """Erase a person's names and addresses wherever they stand; tickets, sales and scans stay without them."""
    from sync_server.commands import person_records

    person_records.erase_person(org, person_records.named(email, membership, ticket), reason, login=login)

"""The command line of the server: gatehouse-server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sync_server.commands import audit, outbox
from sync_server.commands.ground import MISTAKEN, explain, ground, say, tell

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="The server.",
)
users = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Logins of the staff.")
orgs = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Organisations.")
signing = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keys that sign tickets.")
app.add_typer(users, name="user")
app.add_typer(orgs, name="org")
app.add_typer(signing, name="key")
app.add_typer(audit.app, name="audit")
app.add_typer(outbox.app, name="outbox")

Org = Annotated[str, typer.Option("--org", help="The organisation's slug.")]
PasswordFd = Annotated[int | None, typer.Option("--password-fd", help="Read the password from this file descriptor.")]


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib import metadata

        print(metadata.version("gatehouse"))
        raise typer.Exit


@app.callback()
def everywhere(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_tell_version)
    ] = False,
) -> None:
    """The server."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    processes: Annotated[int, typer.Option(min=1, max=64, help="With PostgreSQL only.")] = 2,
) -> None:
    """Answer requests until told to stop."""
    from sync_server.commands import serving

    serving.serve(host, port, processes)


@app.command()
def worker(
    metrics: Annotated[str | None, typer.Option(help="HOST:PORT for its measures, instead of the setting.")] = None,
) -> None:
    """Deliver facts and do the periodic jobs until told to stop; on SQLite `serve` does this itself."""
    from sync_server.commands import serving

    serving.work(metrics)


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    from sync_server.app import prepare
    from sync_server.migrations import schema

    with ground(prepared=False) as here:
        schema.upgrade(here.parts.database.engine)
        prepare(here)
    say(f"The schema is {schema.newest()}.")


@app.command()
def demo(json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False) -> None:
    """Make a demo organisation and print its ids, logins, API token and a device code."""
    from sync_server.commands.demo import make

    with ground() as here:
        made = make(here)
    if json:
        tell(made)
        return
    login = made["login"]
    say(f"Sign in as {login['email']} with {login['password']}; supervisor PIN {made['supervisor']['pin']}.")
    say(f"Enrol a gate with {made['device_code']}; the API token is {made['api_token']}.")


@users.command("add")
def user_add(
    email: str,
    name: Annotated[str, typer.Option(help="What people call them.")],
    org: Annotated[str | None, typer.Option("--org", help="The organisation's slug.")] = None,
    role: Annotated[str, typer.Option(help="owner, admin, staff, super_admin or tenant_manager.")] = "staff",
    password_fd: PasswordFd = None,
) -> None:
    """Make a login; the password is asked for."""
    from sync_server.commands import people

    tell(people.add_user(email, name, org, role, lambda: people.asked_password(password_fd)))


@users.command("password")
def user_password(email: str, password_fd: PasswordFd = None) -> None:
    """Set a new password; it is asked for."""
    from sync_server.commands import people

    people.change_password(email, people.asked_password(password_fd))
    say("The password is changed, and the user is signed out everywhere.")


@users.command("role")
def user_role(email: str, role: str, org: Org) -> None:
    """Give a user a role in an organisation."""
    from sync_server.commands import people

    people.change_role(email, org, role)
    say(f"{email} is {role} now.")


@orgs.command("add")
def org_add(
    slug: str,
    name: Annotated[str, typer.Option(help="Its full name.")],
    currency: Annotated[str, typer.Option(help="Three letters.")] = "EUR",
) -> None:
    """Make an organisation."""
    from sync_server.commands import people

    tell(people.add_organisation(slug, name, currency))


@orgs.command("list")
def org_list() -> None:
    """List the organisations."""
    from sync_server.commands import people

    for organisation in people.list_organisations():
        tell(organisation)


@signing.command("list")
def key_list(org: Org) -> None:
    """List an organisation's keys, with the number of tickets each signed."""
    from sync_server.commands import keys

    for key in keys.list_keys(org):
        tell(key)


@signing.command("rotate")
def key_rotate(
    org: Org,
    at_once: Annotated[bool, typer.Option("--at-once", help="Do not wait a day for gates to hear of it.")] = False,
) -> None:
    """Make a new signing key."""
    from sync_server.commands import keys

    tell(keys.rotate(org, at_once=at_once))


@signing.command("revoke")
def key_revoke(
    key_id: Annotated[int, typer.Argument(min=1, max=65_535)],
    org: Org,
    kills: Annotated[int | None, typer.Option(help="How many good tickets that may kill.")] = None,
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit log.")] = "",
    reissue: Annotated[bool, typer.Option("--reissue", help="Give those tickets new codes.")] = False,
) -> None:
    """Let nothing that a key signed be good; first says how many tickets that kills."""
    from sync_server.commands import keys

    tell(keys.revoke(org, key_id, kills=kills, reason=reason, reissue=reissue))


@signing.command("master")
def key_master() -> None:
    """Make the installation's master key, once."""
    from sync_server.commands import keys

    say(f"The master key is in {keys.make_master(os.urandom)}. Keep a copy of it apart from the backups.")


@app.command()
def backup(file: Path) -> None:
    """Write the whole database into one file; the master key is not in it."""
    from sync_server.commands import safety

    safety.backup(file)
    say(f"The backup is in {file}. The master key is not: keep it apart.")


@app.command()
def restore(file: Path) -> None:
    """Put a backup in the place of the database; gates take everything anew."""
    from sync_server.commands import safety

    safety.restore(file)
    say("Restored. Gates will take a full snapshot, and deliver again what this backup has not seen.")


@app.command()
def openapi() -> None:
    """Print the description of the API."""
    import json

    from sync_server.app import web_of

    with ground(prepared=False) as here:
        print(json.dumps(web_of(here).spec, indent=1, sort_keys=True, ensure_ascii=False))


@app.command()
def doctor() -> None:
    """Look at settings, key, database, schema, outbox and disk, and say what to do."""
    from sync_server.commands import doctor as doctors

    findings = doctors.examine()
    for finding in findings:
        tell(finding)
        say(f"{'fine ' if finding['ok'] else 'WRONG'} {finding['part']}  {finding['problem'] or ''}".rstrip())
    if not all(finding["ok"] for finding in findings):
        raise typer.Exit(1)


def main() -> None:
    """Run a command; mistakes are told in words, never with a traceback."""
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as mistake:
        say(_told(mistake))
        sys.exit(MISTAKEN)
    except typer.Abort:
        sys.exit(130)
    except Exception as problem:  # what was not foreseen is raised again there
        sys.exit(explain(problem))
    sys.exit(status if isinstance(status, int) else 0)


def _told(mistake: typer.TyperException) -> str:
    words = str(mistake.format_message())
    return words if words.startswith("Usage:") else f"gatehouse-server: {' '.join(words.split())} Try --help."


if __name__ == "__main__":
    main()

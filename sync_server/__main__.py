"""The command line of the server: gatehouse-server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from shared.garbage import seldom_collect
from shared.words.mistakes import usage_line
from sync_server.commands import archive, audit, outbox, person, retention
from sync_server.commands.console import EXIT_USAGE, echo, open_runtime, print_json, report_failure
from sync_server.plumbing.private_files import OWNER_ONLY

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Runs and maintains a Gatehouse server.",
)
seats = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Seats of events.")
users = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Logins of staff.")
orgs = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Organisations.")
signing = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Signing keys of tickets, and the master key.")
app.add_typer(users, name="user")
app.add_typer(orgs, name="org")
app.add_typer(signing, name="key")
app.add_typer(archive.app, name="archive")
app.add_typer(seats, name="seats")
app.add_typer(audit.app, name="audit")
app.add_typer(outbox.app, name="outbox")
app.add_typer(person.app, name="person")
app.add_typer(retention.app, name="retention")

Saved = Annotated[Path, typer.Argument(exists=True, dir_okay=False)]


def _member_role(role: str) -> str:
    from sync_server.accounts.rules import ROLES

    return _one_of(role, ROLES)


def _any_role(role: str) -> str:
    from sync_server.accounts.rules import PLATFORM_ROLES, ROLES

    return _one_of(role, (*ROLES, *PLATFORM_ROLES))


def _one_of(role: str, roles: tuple[str, ...]) -> str:
    if role not in roles:
        raise typer.BadParameter(f"{role} is not a role; choose one of {', '.join(roles)}.")
    return role


Org = Annotated[str, typer.Option("--org", help="The organisation's slug.")]


def _print_version(requested: bool) -> None:
    if requested:
        from importlib import metadata

        from shared.release import DISTRIBUTION

        print(metadata.version(DISTRIBUTION))
        raise typer.Exit


def _listen_address(text: str | None) -> str | None:
    from sync_server.config import host_and_port_or_off

    try:
        return text if text is None else (host_and_port_or_off(text) or text)
    except ValueError as why:
        raise typer.BadParameter(f"“{text}” {why}.") from None


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Runs and maintains a Gatehouse server."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    processes: Annotated[int, typer.Option(min=1, max=64, help="With PostgreSQL only.")] = 2,
    streams: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT for live streams, by default the next port; off: another process.", callback=_listen_address
        ),
    ] = None,
) -> None:
    """Run the server until stopped."""
    from sync_server.commands import serving

    serving.serve(host, port, processes, streams)


@app.command()
def streams(
    address: Annotated[
        str, typer.Argument(help="HOST:PORT to listen on.", callback=_listen_address)
    ] = "127.0.0.1:8001",
) -> None:
    """Hold live streams and gates' long polls in a process of its own, beside `serve --streams off`."""
    from sync_server.commands import serving

    serving.hold_streams(address)


@app.command()
def worker(
    metrics: Annotated[str | None, typer.Option(help="HOST:PORT for metrics; overrides the setting.")] = None,
) -> None:
    """Deliver facts and run periodic jobs until stopped. On SQLite, `serve` does this itself."""
    from sync_server.commands import serving

    serving.work(metrics)


@app.command()
def migrate(
    contracting: Annotated[
        bool,
        typer.Option("--contracting", help="Even if servers of earlier releases cannot continue: stop those first."),
    ] = False,
) -> None:
    """Upgrade the database to the current schema; servers of the release before go on meanwhile."""
    from sync_server.migrations import schema
    from sync_server.runtime import prepare_database

    with open_runtime(prepared=False) as runtime:
        database = runtime.parts.database
        schema.upgrade(database.engine, contracting=contracting or database.embedded)
        schema.require_declared(runtime.parts.database.engine)
        prepare_database(runtime)
        version = schema.current(database.engine)  # a later release may have been here
    echo(f"The schema is at version {version}.")


@app.command()
def demo(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")] = False,
) -> None:
    """Create a demo organisation and print its ids, login, API token and a device code."""
    from sync_server.commands.demo import make_demo

    with open_runtime() as runtime:
        made = make_demo(runtime)
    if json:
        print_json(made)
        return
    login = made["login"]
    echo(f"Sign in as {login['email']} with {login['password']}; supervisor PIN {made['supervisor']['pin']}.")
    echo(f"Enrol a gate with {made['device_code']}; the API token is {made['api_token']}.")


@app.command()
def invite(
    email: str,
    org: Annotated[str | None, typer.Option("--org", help="The organisation's slug.")] = None,
    role: Annotated[
        str, typer.Option(help="owner, admin, staff, super_admin or tenant_manager.", callback=_any_role)
    ] = "staff",
    name: Annotated[str, typer.Option(help="The display name, of platform staff.")] = "",
) -> None:
    """Print a link by which somebody becomes a member of an organisation, or joins the platform's staff."""
    from sync_server.commands import people

    print_json(people.invite(email, org, role, name))
    echo("Give this link to that person only. It works once and replaces any earlier one.")


@app.command("mail-bounced")
def mail_bounced(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="The notification, or - for standard input.")],
) -> None:
    """Note that a mail came back: reads one delivery status notification, as a mail server's pipe delivers it."""
    from sync_server.commands import people

    print_json(people.note_bounce(file))


@app.command("reset-link")
def reset_link(email: str) -> None:
    """Print a link by which the owner of a login chooses a new password within two hours."""
    from sync_server.commands import people

    print_json(people.reset_link(email))
    echo("Give this link to that person only. It works once; the new password ends all sessions.")


@users.command("drop-second-factor")
def user_drop_second_factor(email: str) -> None:
    """Let somebody who lost app and recovery codes sign in with the password alone."""
    from sync_server.commands import people

    people.drop_second_factor(email)
    echo(f"{email} is no longer asked for a second factor.")


@users.command("role")
def user_role(email: str, role: Annotated[str, typer.Argument(callback=_member_role)], org: Org) -> None:
    """Set a user's role in an organisation."""
    from sync_server.commands import people

    people.change_role(email, org, role)
    echo(f"{email} now has the role {role}.")


@orgs.command("add")
def org_add(
    slug: str,
    name: Annotated[str, typer.Option(help="The full name.")],
    currency: Annotated[str, typer.Option(help="Three letters, such as EUR.")] = "EUR",
    language: Annotated[str, typer.Option(help="The language of its mails: en, de, fr, af or es.")] = "en",
) -> None:
    """Create an organisation."""
    from sync_server.commands import people

    print_json(people.add_organisation(slug, name, currency, language))


@orgs.command("list")
def org_list() -> None:
    """List the organisations."""
    from sync_server.commands import people

    for organisation in people.list_organisations():
        print_json(organisation)


@seats.command("stranded")
def seats_stranded(event: str, org: Org) -> None:
    """List the single seats of an event that nobody has, and what keeps the public from each."""
    from sync_server.commands import seats as commands

    for seat in commands.list_stranded(org, event):
        print_json(seat)


@seats.command("release")
def seats_release(
    event: str,
    org: Org,
    reason: Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")],
    seat: Annotated[list[str] | None, typer.Argument(help="Seats by name; by default, all stranded ones.")] = None,
) -> None:
    """Put stranded seats on sale to anybody, outside of all seating rules."""
    from sync_server.commands import seats as commands

    released = commands.release_stranded(org, event, seat or [], reason)
    print_json({"released": released})
    echo(f"Released: {', '.join(released) or 'nothing, no seat is stranded'}.")


@signing.command("list")
def key_list(org: Org) -> None:
    """List an organisation's signing keys, with the number of tickets each has signed."""
    from sync_server.commands import keys

    for key in keys.list_keys(org):
        print_json(key)


@signing.command("rotate")
def key_rotate(
    org: Org,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Use the new key at once, without giving gates a day to receive it.")
    ] = False,
) -> None:
    """Create a new signing key."""
    from sync_server.commands import keys

    print_json(keys.rotate(org, at_once=at_once))


@signing.command("revoke")
def key_revoke(
    key_id: Annotated[int, typer.Argument(min=1, max=65_535)],
    org: Org,
    kills: Annotated[int | None, typer.Option(help="Confirms the number of valid tickets that become invalid.")] = None,
    reason: Annotated[str, typer.Option(help="The reason, which is recorded in the audit log.")] = "",
    reissue: Annotated[bool, typer.Option("--reissue", help="Issue new codes for those tickets.")] = False,
) -> None:
    """Revoke a signing key, so that its tickets are refused; without --kills, only says how many."""
    from sync_server.commands import keys

    print_json(keys.revoke(org, key_id, kills=kills, reason=reason, reissue=reissue))


@signing.command("master")
def key_master() -> None:
    """Create the installation's master key, once."""
    from sync_server.commands import keys

    echo(f"The master key is in {keys.make_master(os.urandom)}. Keep a copy, separate from the backups.")


@app.command()
def backup(file: Path) -> None:
    """Write the whole database to a file, without the master key."""
    from sync_server.commands import backups

    backups.backup(file)
    echo(f"Backup written to {file}. It does not contain the master key: keep a copy of that separately.")


@app.command()
def restore(file: Saved) -> None:
    """Replace the database by a backup; gates then load everything again."""
    from sync_server.commands import backups

    backups.restore(file)
    echo("Restored. Gates will load a full snapshot and upload the entries missing from this backup again.")


@app.command()
def openapi() -> None:
    """Print the OpenAPI description of the API."""
    import json

    from sync_server.app import web_app

    with open_runtime(prepared=False) as runtime:
        print(json.dumps(web_app(runtime).spec, indent=1, sort_keys=True, ensure_ascii=False))


@app.command()
def doctor() -> None:
    """Check settings, master key, database, schema, outbox and disk, and say what to do."""
    from sync_server.commands import doctor as checks

    findings = checks.examine()
    for finding in findings:
        print_json(finding)
        said = finding["problem"] or finding.get("note", "")
        echo(f"{'ok  ' if finding['ok'] else 'FAIL'} {finding['part']}  {said}".rstrip())
    if not all(finding["ok"] for finding in findings):
        raise typer.Exit(1)


def main() -> None:
    """Run a command; expected errors are printed as messages, without a traceback."""
    os.umask(OWNER_ONLY)
    seldom_collect()
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as error:
        echo(_usage_message(error))
        sys.exit(EXIT_USAGE)
    except typer.Abort:
        sys.exit(130)
    except Exception as error:  # report_failure raises unexpected errors again
        sys.exit(report_failure(error))
    sys.exit(status if isinstance(status, int) else 0)


def _usage_message(error: typer.TyperException) -> str:
    message = str(error.format_message())
    return message if message.startswith("Usage:") else usage_line("gatehouse-server", message)


if __name__ == "__main__":
    main()

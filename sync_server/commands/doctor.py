"""Checks the installation without changing anything."""

from __future__ import annotations

import shutil
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from shared.errors import GatehouseError
from sync_server import config as settings
from sync_server.checkout import shop_checks
from sync_server.checkout.payments.stripe import access as stripe_access
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.commands.console import describe_unreachable, open_runtime
from sync_server.config import Config
from sync_server.customers import queries as customers
from sync_server.devices import identity
from sync_server.mail.smtp import MailServer, Unreachable
from sync_server.migrations import schema
from sync_server.monitoring import service as monitoring
from sync_server.monitoring import sum_checks
from sync_server.outbox import queries as outbox
from sync_server.plumbing.api import proxies
from sync_server.plumbing.database import Database
from sync_server.plumbing.messaging.postgres_transport import NotHeardError, PostgresTransport
from sync_server.plumbing.private_files import readable_by_others
from sync_server.runtime import ServerRuntime

Finding = dict[str, Any]
MANY_GUESTS = 50


def examine() -> list[Finding]:
    """Check each part of the installation: whether it is in order, and what to do if it is not."""
    try:
        config = settings.from_environment()
    except GatehouseError as error:
        return [_finding("settings", error.message)]
    findings = [_finding("settings", None), _disk(config), _metrics(config)]
    if config.embedded and not config.database_file.exists():
        problem = (
            f"There is none at {config.database_file.absolute()} yet. Run `gatehouse-server migrate`, or start it."
        )
        return [*findings, _finding("database", problem)]
    if config.embedded:
        findings.append(_private(config))
    if not config.key_file.exists():
        problem = f"There is none at {config.key_file.absolute()}. Restore your copy of it."
        hint = "For a new installation, run `gatehouse-server key master`."
        return [*findings, _finding("master key", f"{problem} {hint}")]
    try:
        with open_runtime(config, prepared=False) as runtime:
            return [*findings, *_database(runtime)]
    except (GatehouseError, OSError) as error:
        return [*findings, _finding("master key", str(error))]


def _database(runtime: ServerRuntime) -> list[Finding]:
    database = runtime.parts.database
    try:
        with database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as error:
        return [_finding("database", describe_unreachable(error))]
    try:
        schema.require_declared(database.engine)
    except GatehouseError as error:
        return [_finding("database", None), _finding("schema", error.message)]
    findings = [_finding("database", None), _finding("schema", None)]
    config = runtime.parts.config
    return [
        *findings,
        _key(runtime),
        _outbox(database),
        *_pooler(database),
        *_bus(config),
        _mail(config),
        *_stripe(runtime),
        *_shops(database),
        _proxies(config, database),
        _tenant_mismatches(database),
        _sums(database),
    ]


def _key(runtime: ServerRuntime) -> Finding:
    """Whether the master key decrypts the server's private key. A server that never started has none yet."""
    try:
        with runtime.parts.database.reading() as session:
            identity.public_key(session, runtime.parts.sealer)
    except GatehouseError as error:
        return _finding("master key", error.message)
    return _finding("master key", None)


def _tenant_mismatches(database: Database) -> Finding:
    """References across organisations, checked now instead of read from the last nightly check."""
    with database.reading() as session:
        found = list(monitoring.find_all(session, database.clock()))
    rows = "; ".join(f"{one.place} of {one.row}" for one in found[:5])
    problem = f"{len(found)} rows refer to another organisation ({rows}). Find what writes them, and report the bug."
    return _finding("organisations apart", problem if found else None)


def _sums(database: Database) -> Finding:
    """Sums that are not those of their rows, compared now instead of read from the last nightly check."""
    found = list(sum_checks.wrong(database))
    places = "; ".join(f"{name} of {event.event_id}" for event, name in found[:5])
    problem = (
        f"{len(found)} sums differ from their rows ({places}). The worker puts them right at night. Report the bug."
    )
    return _finding("sums", problem if found else None)


def _pooler(database: Database) -> list[Finding]:
    """Whether the settings say truly what stands between this server and PostgreSQL."""
    if database.autocommit is None:
        return []
    try:
        database.autocommit.probe()
    except (psycopg.errors.DuplicatePreparedStatement, psycopg.errors.InvalidSqlStatementName):
        problem = (
            "The pooler loses prepared statements. Use PgBouncer 1.21 or later and set its max_prepared_statements, "
            "or set GATEHOUSE_DATABASE_POOLER=transaction_unprepared, which is slower."
        )
    except psycopg.OperationalError as error:
        if "startup parameter" not in str(error):
            return [_finding("pooler", describe_unreachable(error))]
        problem = "The database is reached through a pooler. Set GATEHOUSE_DATABASE_POOLER=transaction."
    else:
        return [_finding("pooler", None)]
    return [_finding("pooler", problem)]


def _bus(config: Config) -> list[Finding]:
    """Whether processes hear each other through PostgreSQL, where there is no Redis for it."""
    if config.listen_url is None or config.redis_url is not None:
        return []
    transport = PostgresTransport(config.listen_url)
    try:
        with transport.connect():
            return [_finding("bus", None)]
    except NotHeardError:
        problem = (
            "Notifications of PostgreSQL do not arrive, as through a pooler that shares connections. Set "
            "GATEHOUSE_LISTEN_DATABASE_URL to the URL of PostgreSQL itself, or GATEHOUSE_REDIS_URL."
        )
    except transport.errors as error:
        problem = f"Cannot listen to PostgreSQL ({type(error).__name__}). Is GATEHOUSE_LISTEN_DATABASE_URL right?"
    return [_finding("bus", problem)]


def _mail(config: Config) -> Finding:
    """Whether the mail server lets us in; nothing is sent."""
    if config.mail_url is None:
        return _finding("mail", None) | {"note": "none is set up: links are handed over by command"}
    try:
        with MailServer(config).connected() as connection:
            connection.noop()
    except Unreachable as problem:
        return _finding("mail", f"Invitations and links cannot be sent. {problem}")
    return _finding("mail", None)


def _stripe(runtime: ServerRuntime) -> list[Finding]:
    """Whether Stripe accepts the keys of each organisation that takes payments by it; nothing is charged."""
    found = stripe_access.problems(StripeAccess.of(runtime.parts))
    return [_finding(f"stripe of {slug}", problem) for slug, problem in found.items()]


def _shops(database: Database) -> list[Finding]:
    """What keeps buyers from paying: for the organiser to decide, and so no fault of the installation."""
    found = shop_checks.all_warnings(database)
    return [_finding(f"shop of {slug}", None) | {"note": warning.message} for slug in found for warning in found[slug]]


def _proxies(config: Config, database: Database) -> Finding:
    """Whether limits per client address see clients, and not one proxy for all of them."""
    now = database.clock()
    with database.reading() as session:
        noticed = proxies.was_noticed(session, config.trusted_proxies, now - proxies.KEEP_MS)
        guests, addresses = customers.guests_and_addresses(session, now - 24 * 3_600_000)
    count = f"GATEHOUSE_TRUSTED_PROXIES is {config.trusted_proxies}"
    if noticed:
        return _finding(
            "proxies",
            f"Requests come through a proxy on this network that names their clients (X-Forwarded-For), and {count}: "
            "all visitors share its address and its limits. Set it to the number of proxies that each request passes.",
        )
    if guests >= MANY_GUESTS and addresses == 1:
        return _finding(
            "proxies",
            f"All {guests} guests of the last minutes came from one address, and {count}. If a proxy stands in front, "
            "set it to the number of proxies that each request passes, and let each of them set X-Forwarded-For.",
        )
    return _finding("proxies", None)


def _outbox(database: Database) -> Finding:
    with database.reading() as session:
        waiting = outbox.pending_count(session)
    problem = (
        f"{waiting} facts are waiting for delivery. Is a worker running? Start one with `gatehouse-server worker`."
    )
    return _finding("outbox", problem if waiting > 1_000 else None)


def _disk(config: Config) -> Finding:
    folder = config.database_file.parent if config.embedded else Path.cwd()
    free = shutil.disk_usage(folder if folder.exists() else Path.cwd()).free // 1_000_000
    return _finding("disk", f"Only {free} MB are free. Free some space." if free < 500 else None)


def _private(config: Config) -> Finding:
    names = ", ".join(file.name for file in readable_by_others(config.database_file))
    problem = (
        f"Other accounts of this machine may read {names}. The server corrects that when it starts; or: chmod 600."
    )
    return _finding("private files", problem if names else None)


def _metrics(config: Config) -> Finding:
    """Metrics require no login, so they belong on this machine or a private network."""
    host = config.metrics_endpoint[0] if config.metrics_endpoint else "localhost"
    try:
        address = ip_address(host)
    except ValueError:
        return _finding("metrics", None)  # a name: whoever gave it one knows its network
    problem = (
        f"They are served at {host}, where everybody may read them. Set GATEHOUSE_METRICS_ADDRESS to one of this "
        "machine or of its private network."
    )
    return _finding("metrics", problem if address.is_unspecified or address.is_global else None)


def _finding(part: str, problem: str | None) -> Finding:
    return {"part": part, "ok": problem is None, "problem": problem}

"""The composition root: the only place that picks the server's real parts and wires one floor to another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apiflask import APIFlask

from shared.clock import Clock, MonotonicClock, monotonic_clock, wall_clock
from shared.ids import Entropy
from sync_server.accounts import routes as accounts_routes
from sync_server.accounts import rules as accounts_rules
from sync_server.admin import routes as admin_routes
from sync_server.audit import routes as audit_routes
from sync_server.config import Config
from sync_server.customers import routes as customers_routes
from sync_server.customers import wiring as customers_wiring
from sync_server.devices import identity
from sync_server.devices import routes as devices_routes
from sync_server.devices import wiring as devices_wiring
from sync_server.events import routes as events_routes
from sync_server.events import wiring as events_wiring
from sync_server.holds import routes as holds_routes
from sync_server.holds import wiring as holds_wiring
from sync_server.house_plan import routes as house_plan_routes
from sync_server.house_plan import wiring as house_plan_wiring
from sync_server.live import routes as live_routes
from sync_server.migrations import schema
from sync_server.outbox import routes as outbox_routes
from sync_server.outbox import wiring as outbox_wiring
from sync_server.pictures import routes as pictures_routes
from sync_server.plumbing import docs, health, logs, sealing, web
from sync_server.plumbing.database import Database, open_engine
from sync_server.plumbing.metrics import Metrics
from sync_server.plumbing.parts import EXTENSION, Parts
from sync_server.plumbing.redis_or_not import choose
from sync_server.plumbing.sealing import Sealer
from sync_server.programme import routes as programme_routes
from sync_server.programme import wiring as programme_wiring
from sync_server.reseating import routes as reseating_routes
from sync_server.reseating import wiring as reseating_wiring
from sync_server.revisions import access, queries, service
from sync_server.revisions.bell import Bell, Seen
from sync_server.scans import routes as scans_routes
from sync_server.scans import wiring as scans_wiring
from sync_server.seating import routes as seating_routes
from sync_server.seating import wiring as seating_wiring
from sync_server.sync import routes as sync_routes
from sync_server.tickets import routes as tickets_routes
from sync_server.tickets import wiring as tickets_wiring
from sync_server.venues import routes as venues_routes
from sync_server.watch import routes as watch_routes
from sync_server.watch import wiring as watch_wiring

DESCRIPTION = (
    "Ticketing and admission: organisers' API. Times are ISO-8601 in UTC; money is whole cents with a currency."
)

# In the order of their floors.
WIRINGS = (
    outbox_wiring.wire,
    customers_wiring.wire,
    events_wiring.wire,
    seating_wiring.wire,
    holds_wiring.wire,
    tickets_wiring.wire,
    reseating_wiring.wire,
    devices_wiring.wire,
    programme_wiring.wire,
    house_plan_wiring.wire,
    scans_wiring.wire,
    watch_wiring.wire,
)
BLUEPRINTS = (
    health.bp,
    docs.bp,
    audit_routes.bp,
    outbox_routes.bp,
    accounts_routes.bp,
    customers_routes.bp,
    pictures_routes.bp,
    venues_routes.bp,
    events_routes.bp,
    seating_routes.bp,
    holds_routes.bp,
    tickets_routes.bp,
    devices_routes.bp,
    scans_routes.bp,
    reseating_routes.bp,
    programme_routes.bp,
    house_plan_routes.bp,
    sync_routes.bp,
    live_routes.bp,
    watch_routes.bp,
    admin_routes.bp,
)


@dataclass(frozen=True, slots=True)
class Ground:
    """The wired parts of a server, and the bell that rings with its commits."""

    parts: Parts
    bell: Bell

    def close(self) -> None:
        """Wake who waits, and give the database back."""
        self.parts.stop.set()
        self.bell.wake_all()
        self.parts.nearby.close()
        self.parts.database.close()


def build(
    config: Config,
    *,
    clock: Clock = wall_clock,
    entropy: Entropy = os.urandom,
    monotonic: MonotonicClock = monotonic_clock,
) -> Ground:
    """Everything but the web: what the worker, the command line and the web application stand on."""
    logs.set_up(config.log_level)
    key = sealing.load_or_make(config.key_file, entropy, may_make=config.new)
    engine = open_engine(config.database_url, connections=config.database_connections)
    database = Database(engine, clock=clock, entropy=entropy)
    bell = Bell(lambda events: _heads(database, events), monotonic)
    service.wire(database, bell)
    metrics = Metrics()
    nearby = choose(config.redis_url, config.redis_prefix, monotonic, entropy, metrics.count_lookup)
    parts = Parts(
        config, database, clock, entropy, Sealer(key, entropy), accounts_rules.may, metrics, nearby, monotonic
    )
    for wire in WIRINGS:
        wire(parts)
    return Ground(parts, bell)


def _heads(database: Database, events: Iterable[int]) -> Mapping[int, Seen]:
    with database.reading() as session:
        return queries.heads(session, events)


def create_app(
    config: Config,
    *,
    clock: Clock = wall_clock,
    entropy: Entropy = os.urandom,
    monotonic: MonotonicClock = monotonic_clock,
) -> APIFlask:
    """A whole server for these settings; it opens the database's file or pool, and starts nothing."""
    return web_of(build(config, clock=clock, entropy=entropy, monotonic=monotonic))


def web_of(ground: Ground) -> APIFlask:
    """The web application over this ground."""
    parts = ground.parts
    app = APIFlask(
        "sync_server", title="Gatehouse", version="1", docs_path=None, spec_path="/openapi.json", json_errors=False
    )
    _configure(app, parts.config)
    app.extensions[EXTENSION] = parts
    access.hang(app, ground.bell)
    web.install(app)
    app.before_request(customers_routes.identify)
    app.before_request(accounts_routes.identify)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app


def prepare(ground: Ground) -> None:
    """Make sure the schema fits: an embedded database is brought up to date, a shared one must be."""
    parts = ground.parts
    if parts.config.embedded:
        schema.upgrade(parts.database.engine)
    else:
        schema.require_current(parts.database.engine)
    with parts.database.writing() as session:
        service.ensure_lineage(session, parts.entropy, parts.clock())
        # Made now and not at the first gate: otherwise a restored early backup would be a stranger to every gate.
        identity.private_key(session, parts.sealer)


def _configure(app: APIFlask, config: Config) -> None:
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        DESCRIPTION=DESCRIPTION,
        VALIDATION_ERROR_STATUS_CODE=400,
        MAX_CONTENT_LENGTH=config.max_body_bytes,
        AUTO_404_RESPONSE=False,
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]  # Flask's default provider has it
    if config.trusted_proxies:
        _behind_proxies(app, config.trusted_proxies)


def _behind_proxies(app: APIFlask, count: int) -> None:
    from werkzeug.middleware.proxy_fix import ProxyFix

    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]

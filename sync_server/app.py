"""The composition root: builds the server's parts, and wires its packages to one another."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, cast

from apiflask import APIFlask
from flask import request

from shared.clock import Clock, MonotonicClock, monotonic_clock, wall_clock
from shared.ids import Entropy
from sync_server.accounts import invitation_routes, own_organisation, staff_policy
from sync_server.accounts import routes as accounts_routes
from sync_server.accounts import rules as accounts_rules
from sync_server.accounts.public_routes import PUBLIC_ROUTES, Audience
from sync_server.accounts.sign_in import login_routes, passkey_routes
from sync_server.admin import page as admin_page
from sync_server.admin import routes as admin_routes
from sync_server.appearance import routes as appearance_routes
from sync_server.archives import routes as archives_routes
from sync_server.archives import wiring as archives_wiring
from sync_server.audit import routes as audit_routes
from sync_server.cancellations import routes as cancellations_routes
from sync_server.cancellations import wiring as cancellations_wiring
from sync_server.checkout import queries as checkout_queries
from sync_server.checkout import routes as checkout_routes
from sync_server.checkout import wiring as checkout_wiring
from sync_server.checkout.codes import presales
from sync_server.checkout.sessions import queries as checkout_slots
from sync_server.config import Config
from sync_server.customers import account_routes as customer_account_routes
from sync_server.customers import routes as customers_routes
from sync_server.customers import wiring as customers_wiring
from sync_server.devices import event_handlers as devices_handlers
from sync_server.devices import identity
from sync_server.devices import routes as devices_routes
from sync_server.devices import wiring as devices_wiring
from sync_server.events import queries as events_queries
from sync_server.events import routes as events_routes
from sync_server.events import wiring as events_wiring
from sync_server.events.dependents import EventPorts
from sync_server.exports import routes as exports_routes
from sync_server.holds import occupancy
from sync_server.holds import queries as holds_queries
from sync_server.holds import routes as holds_routes
from sync_server.holds import wiring as holds_wiring
from sync_server.holds.ports import HoldPorts
from sync_server.images import routes as images_routes
from sync_server.listings import routes as listings_routes
from sync_server.listings import wiring as listings_wiring
from sync_server.live import routes as live_routes
from sync_server.migrations import schema
from sync_server.monitoring import routes as monitoring_routes
from sync_server.monitoring import wiring as monitoring_wiring
from sync_server.order_mails import routes as order_mails_routes
from sync_server.order_mails import wiring as order_mails_wiring
from sync_server.outbox import routes as outbox_routes
from sync_server.outbox import wiring as outbox_wiring
from sync_server.plumbing import sealing, sums, web
from sync_server.plumbing.api import api_docs, description, health, locations, proxies
from sync_server.plumbing.backends import choose_backends
from sync_server.plumbing.database import Database, open_engine
from sync_server.plumbing.parts import EXTENSION, Parts
from sync_server.plumbing.private_files import make_private
from sync_server.plumbing.requests import error_pages
from sync_server.plumbing.requests.request_bodies import BodyDeadlines, BodyReads
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.autocommit import Pooler
from sync_server.plumbing.sql.connecting import NO_LIMITS, Limits
from sync_server.plumbing.telemetry import logs
from sync_server.plumbing.telemetry.metrics import Metrics
from sync_server.plumbing.telemetry.span_export import choose_spans
from sync_server.privacy import own_routes as own_data_routes
from sync_server.privacy import routes as privacy_routes
from sync_server.queueing import queries as queueing_queries
from sync_server.queueing import routes as queueing_routes
from sync_server.queueing import wiring as queueing_wiring
from sync_server.queueing.ports import QueuePorts
from sync_server.reports import routes as reports_routes
from sync_server.reseating import routes as reseating_routes
from sync_server.reseating import wiring as reseating_wiring
from sync_server.revisions import service
from sync_server.scans import routes as scans_routes
from sync_server.scans import wiring as scans_wiring
from sync_server.seat_maps import routes as seat_maps_routes
from sync_server.seat_maps import wiring as seat_maps_wiring
from sync_server.seat_maps.seat_changes import seat_changes
from sync_server.seating import event_handlers as seating_handlers
from sync_server.seating import routes as seating_routes
from sync_server.seating import wiring as seating_wiring
from sync_server.seating.taken import SeatingPorts, count_taken
from sync_server.self_service import routes as self_service_routes
from sync_server.self_service import wiring as self_service_wiring
from sync_server.storefront import page as shop_page
from sync_server.storefront import routes as storefront_routes
from sync_server.sync import routes as sync_routes
from sync_server.ticket_files import routes as ticket_files_routes
from sync_server.ticket_files import wiring as ticket_files_wiring
from sync_server.tickets import queries as tickets_queries
from sync_server.tickets import routes as tickets_routes
from sync_server.tickets import wiring as tickets_wiring
from sync_server.venues import routes as venues_routes
from sync_server.venues.ports import VenuePorts
from sync_server.waiting_list import routes as waiting_list_routes
from sync_server.waiting_list import wiring as waiting_list_wiring
from sync_server.webhooks import routes as webhooks_routes
from sync_server.webhooks import wiring as webhooks_wiring

DESCRIPTION = (
    "Ticketing and admission: organisers' API. Times are ISO-8601 in UTC; money is whole cents with a currency."
)

_BY_AUDIENCE = {
    Audience.ANYBODY: description.NOBODY,
    Audience.GUEST: description.GUEST,
    Audience.CUSTOMER: description.CUSTOMER,
    Audience.SIGNED_IN: description.STAFF,
}
_STAFF_OR_GUEST = (
    [f"holds.{view}" for view in ("reserve", "hold", "preview", "release", "extend", "mine")]
    + ["checkout.create", "checkout.mine", "codes.offers"]
    + [f"checkout_sessions.{view}" for view in ("enter", "show", "leave")]
)
_SECURITY = {
    name: _BY_AUDIENCE[route.who] for name, route in PUBLIC_ROUTES.items() if route.who in _BY_AUDIENCE
} | dict.fromkeys(_STAFF_OR_GUEST, (*description.STAFF, *description.GUEST))
"""Who may call what, as the description of the API says it; where nothing is named, staff and tokens."""

SAME_FOR_EVERYBODY = ("/api/public/", "/api/meta/", "/accents/")

# From the lowest layer to the highest, which is also the order in which the handlers of one signal run.
WIRINGS = (
    outbox_wiring.wire,
    webhooks_wiring.wire,
    customers_wiring.wire,
    events_wiring.wire,
    seating_wiring.wire,
    holds_wiring.wire,
    queueing_wiring.wire,
    tickets_wiring.wire,
    checkout_wiring.wire,
    ticket_files_wiring.wire,
    order_mails_wiring.wire,
    cancellations_wiring.wire,
    reseating_wiring.wire,
    devices_wiring.wire,
    listings_wiring.wire,
    seat_maps_wiring.wire,
    scans_wiring.wire,
    self_service_wiring.wire,
    waiting_list_wiring.wire,
    monitoring_wiring.wire,
    archives_wiring.wire,
)
ERROR_PAGES = {"/admin": admin_page.error_page, "/o": shop_page.error_page, "": shop_page.error_page}
"""Who shows errors as pages: the desk its own, the shop its own and those of unknown addresses."""
BLUEPRINTS = (
    health.bp,
    api_docs.bp,
    audit_routes.bp,
    outbox_routes.bp,
    accounts_routes.bp,
    invitation_routes.bp,
    login_routes.bp,
    passkey_routes.bp,
    staff_policy.bp,
    own_organisation.bp,
    webhooks_routes.bp,
    customers_routes.bp,
    customer_account_routes.bp,
    self_service_routes.bp,
    waiting_list_routes.bp,
    self_service_routes.settings_bp,
    images_routes.bp,
    venues_routes.bp,
    events_routes.bp,
    seating_routes.bp,
    holds_routes.bp,
    queueing_routes.bp,
    tickets_routes.bp,
    checkout_routes.bp,
    checkout_routes.shop_bp,
    ticket_files_routes.bp,
    ticket_files_routes.batches_bp,
    ticket_files_routes.page_bp,
    exports_routes.bp,
    reports_routes.bp,
    order_mails_routes.bp,
    order_mails_routes.shop_bp,
    order_mails_routes.page_bp,
    ticket_files_routes.shop_bp,
    checkout_routes.sessions_bp,
    checkout_routes.stripe_bp,
    checkout_routes.codes_bp,
    checkout_routes.bank_bp,
    cancellations_routes.bp,
    cancellations_routes.shop_bp,
    devices_routes.bp,
    scans_routes.bp,
    reseating_routes.bp,
    listings_routes.bp,
    seat_maps_routes.bp,
    seat_maps_routes.public_bp,
    sync_routes.bp,
    live_routes.bp,
    monitoring_routes.bp,
    archives_routes.bp,
    own_data_routes.bp,
    privacy_routes.bp,
    appearance_routes.bp,
    storefront_routes.bp,
    admin_routes.bp,
)


@dataclass(frozen=True, slots=True)
class ServerRuntime:
    """The wired parts of a server."""

    parts: Parts

    def close(self) -> None:
        """End what waits, then close the backends and the database."""
        self.parts.stop.set()
        self.parts.backends.close()
        self.parts.spans.close()
        self.parts.database.close()


def build_runtime(
    config: Config,
    *,
    clock: Clock = wall_clock,
    entropy: Entropy = os.urandom,
    monotonic: MonotonicClock = monotonic_clock,
    limits: Limits = NO_LIMITS,
) -> ServerRuntime:
    """Everything except the web application: shared by the server, the worker and the command line."""
    logs.set_up(config.log_level)
    key = sealing.load_or_make(config.key_file, entropy, may_make=config.is_new_installation)
    pooler = Pooler(config.database_pooler)
    engine = open_engine(config.database_url, connections=config.database_connections, pooler=pooler, limits=limits)
    database = Database(engine, clock=clock, entropy=entropy, pooler=pooler, limits=limits)
    database.record(choose_spans(config.otlp_url, entropy))
    metrics = Metrics()
    backends = choose_backends(
        config.redis_url, config.redis_prefix, monotonic, entropy, metrics.count_lookup, listen_url=config.listen_url
    )
    service.wire(database, backends.bus)
    sums.wire(database)
    parts = Parts(
        config,
        database,
        clock,
        entropy,
        Sealer(key, entropy),
        accounts_rules.may,
        metrics,
        backends,
        monotonic,
        database.spans,
    )
    _connect_ports(parts)
    for wire in WIRINGS:
        wire(parts)
    return ServerRuntime(parts)


def _connect_ports(parts: Parts) -> None:
    """Who answers the questions that lower packages ask."""
    database = parts.database
    database.ports.connect(
        VenuePorts(
            uses={"events": events_queries.count_at_venue, "layouts": seating_handlers.count_layouts},
            layout_capacities=seating_handlers.planned_capacity,
        )
    )
    database.ports.connect(
        EventPorts(
            dependents={
                "layouts": seating_handlers.count_event_layouts,
                "holds, old ones among them": holds_queries.count_ever,
                "ticket types": tickets_queries.count_types,
                "orders": checkout_queries.count_at_event,
                "devices": devices_handlers.count_assigned,
            },
            count_taken=count_taken,
            naming_days={
                "tickets": tickets_queries.count_naming_days,
                "holds": holds_queries.count_naming_days,
                "ticket types": tickets_queries.count_types_naming_days,
            },
        )
    )
    database.ports.connect(
        HoldPorts(
            days_of_membership=tickets_queries.days_of_membership,
            is_queued=queueing_queries.is_queued,
            queue_refusal=queueing_wiring.refusal,
            opens_sale=presales.opener(parts),
            is_presale=presales.is_on,
        )
    )
    database.ports.connect(QueuePorts(free_slots=checkout_slots.free_slots))
    database.ports.connect(
        SeatingPorts(
            taken=holds_queries.taken,
            taken_seats=occupancy.taken_until,
            taken_places=occupancy.place_counts,
            seat_changes=seat_changes,
        )
    )


def create_app(
    config: Config,
    *,
    clock: Clock = wall_clock,
    entropy: Entropy = os.urandom,
    monotonic: MonotonicClock = monotonic_clock,
) -> APIFlask:
    """The WSGI application for these settings. Opens the database, and starts no threads."""
    return web_app(build_runtime(config, clock=clock, entropy=entropy, monotonic=monotonic))


def web_app(runtime: ServerRuntime) -> APIFlask:
    """The web application for a runtime."""
    parts = runtime.parts
    app = APIFlask(
        "sync_server", title="Gatehouse", version="1", docs_path=None, spec_path="/openapi.json", json_errors=False
    )
    _configure(app, parts.config)
    _with_deadlines(app, parts)
    app.extensions[EXTENSION] = parts
    app.extensions[error_pages.EXTENSION] = ERROR_PAGES
    web.install(app)
    locations.install(app)
    app.before_request(_identify)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.spec_processor(lambda spec: _described(cast(dict[str, Any], spec), app))
    return app


def _described(spec: dict[str, Any], app: APIFlask) -> dict[str, Any]:
    return description.complete(spec, app, _SECURITY, listings_routes.FOR_VISITORS)


def _identify() -> None:
    """Find out who asks, except where the answer is the same for everybody: shared caches keep it.

    Pages of the shop ask for themselves: some are for everybody, and none is for staff.
    """
    if not request.path.startswith(SAME_FOR_EVERYBODY) and request.blueprint != storefront_routes.bp.name:
        proxies.look()
        customers_routes.identify()
        accounts_routes.identify()


def prepare_database(runtime: ServerRuntime) -> None:
    """Upgrade the schema of an embedded database; require that this program can serve a shared one."""
    parts = runtime.parts
    if parts.config.embedded:
        make_private(parts.config.database_file)
        schema.upgrade(parts.database.engine)
    else:
        schema.require_usable(parts.database.engine)
    with parts.database.writing() as session:
        service.ensure_lineage(session, parts.entropy, parts.clock())
        # Created now, not when the first gate connects: a backup restored from before then would have
        # a different identity, and every gate would reject it.
        identity.private_key(session, parts.sealer)


def _configure(app: APIFlask, config: Config) -> None:
    app.config.update(
        OPENAPI_VERSION="3.1.0",
        INFO={"description": DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        SERVERS=[{"url": "/", "description": "The server that shows this"}],
        VALIDATION_ERROR_STATUS_CODE=400,
        MAX_CONTENT_LENGTH=config.max_body_bytes,
        AUTO_404_RESPONSE=False,
    )
    if config.trusted_proxies:
        _behind_proxies(app, config.trusted_proxies)


def _with_deadlines(app: APIFlask, parts: Parts) -> None:
    """Outermost: the address of a connection counts, not the one that a proxy forwards."""
    reads = BodyReads(parts.config.blocking_threads, parts.config.body_seconds, parts.monotonic)
    app.wsgi_app = BodyDeadlines(app.wsgi_app, reads)  # type: ignore[method-assign]
    parts.loops.append(reads.watch)


def _behind_proxies(app: APIFlask, count: int) -> None:
    from werkzeug.middleware.proxy_fix import ProxyFix

    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]

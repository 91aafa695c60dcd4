"""The web application: every package's routes on one runtime."""

from __future__ import annotations

import os
from typing import Any, cast

from apiflask import APIFlask

from shared.clock import Clock, MonotonicClock, monotonic_clock, wall_clock
from shared.ids import Entropy
from sync_server.accounts import invitation_routes, own_organisation, staff_policy
from sync_server.accounts import routes as accounts_routes
from sync_server.accounts.public_routes import PUBLIC_ROUTES, Audience
from sync_server.accounts.sign_in import login_routes, passkey_routes
from sync_server.admin import page as admin_page
from sync_server.admin import routes as admin_routes
from sync_server.appearance import routes as appearance_routes
from sync_server.archives import routes as archives_routes
from sync_server.audit import routes as audit_routes
from sync_server.cancellations import routes as cancellations_routes
from sync_server.checkout import routes as checkout_routes
from sync_server.config import Config
from sync_server.customers import account_routes as customer_account_routes
from sync_server.customers import routes as customers_routes
from sync_server.devices import routes as devices_routes
from sync_server.events import routes as events_routes
from sync_server.exports import routes as exports_routes
from sync_server.holds import routes as holds_routes
from sync_server.images import routes as images_routes
from sync_server.listings import routes as listings_routes
from sync_server.live import routes as live_routes
from sync_server.monitoring import routes as monitoring_routes
from sync_server.order_mails import routes as order_mails_routes
from sync_server.outbox import routes as outbox_routes
from sync_server.plumbing import web
from sync_server.plumbing.api import api_docs, description, health, locations, proxies
from sync_server.plumbing.parts import EXTENSION, Parts
from sync_server.plumbing.requests import error_pages
from sync_server.plumbing.requests.request_bodies import BodyDeadlines, BodyReads
from sync_server.privacy import own_routes as own_data_routes
from sync_server.privacy import routes as privacy_routes
from sync_server.queueing import routes as queueing_routes
from sync_server.reports import routes as reports_routes
from sync_server.reseating import routes as reseating_routes
from sync_server.runtime import ServerRuntime, build_runtime
from sync_server.scans import routes as scans_routes
from sync_server.seat_maps import routes as seat_maps_routes
from sync_server.seating import routes as seating_routes
from sync_server.self_service import routes as self_service_routes
from sync_server.storefront import page as shop_page
from sync_server.storefront import routes as storefront_routes
from sync_server.sync import routes as sync_routes
from sync_server.ticket_files import routes as ticket_files_routes
from sync_server.tickets import routes as tickets_routes
from sync_server.venues import routes as venues_routes
from sync_server.waiting_list import routes as waiting_list_routes
from sync_server.webhooks import routes as webhooks_routes

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
    current = web.current_request()
    if not current.path.startswith(SAME_FOR_EVERYBODY) and current.blueprint != storefront_routes.bp.name:
        proxies.look(current)
        customers_routes.identify()
        accounts_routes.identify()


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

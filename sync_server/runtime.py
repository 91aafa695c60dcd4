"""The composition root: builds the server's parts, and wires its packages to one another; no web application."""

from __future__ import annotations

import os
from dataclasses import dataclass

from shared.clock import Clock, MonotonicClock, monotonic_clock, wall_clock
from shared.ids import Entropy
from sync_server.accounts import rules as accounts_rules
from sync_server.archives import wiring as archives_wiring
from sync_server.cancellations import wiring as cancellations_wiring
from sync_server.checkout import queries as checkout_queries
from sync_server.checkout import wiring as checkout_wiring
from sync_server.checkout.codes import presales
from sync_server.checkout.sessions import queries as checkout_slots
from sync_server.config import Config
from sync_server.customers import wiring as customers_wiring
from sync_server.devices import event_handlers as devices_handlers
from sync_server.devices import identity
from sync_server.devices import wiring as devices_wiring
from sync_server.events import queries as events_queries
from sync_server.events import wiring as events_wiring
from sync_server.events.dependents import EventPorts
from sync_server.holds import occupancy
from sync_server.holds import queries as holds_queries
from sync_server.holds import wiring as holds_wiring
from sync_server.holds.ports import HoldPorts
from sync_server.listings import wiring as listings_wiring
from sync_server.migrations import schema
from sync_server.monitoring import wiring as monitoring_wiring
from sync_server.order_mails import wiring as order_mails_wiring
from sync_server.outbox import wiring as outbox_wiring
from sync_server.plumbing import sealing, sums, waking
from sync_server.plumbing.backends import choose_backends
from sync_server.plumbing.database import Database, open_engine
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.private_files import make_private
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.autocommit import Pooler
from sync_server.plumbing.sql.connecting import NO_LIMITS, Limits
from sync_server.plumbing.telemetry import logs
from sync_server.plumbing.telemetry.metrics import Metrics
from sync_server.plumbing.telemetry.span_export import choose_spans
from sync_server.queueing import queries as queueing_queries
from sync_server.queueing import wiring as queueing_wiring
from sync_server.queueing.ports import QueuePorts
from sync_server.reseating import wiring as reseating_wiring
from sync_server.revisions import service
from sync_server.scans import wiring as scans_wiring
from sync_server.seat_maps import wiring as seat_maps_wiring
from sync_server.seat_maps.seat_changes import seat_changes
from sync_server.seating import event_handlers as seating_handlers
from sync_server.seating import wiring as seating_wiring
from sync_server.seating.taken import SeatingPorts, count_taken
from sync_server.self_service import wiring as self_service_wiring
from sync_server.ticket_files import wiring as ticket_files_wiring
from sync_server.tickets import queries as tickets_queries
from sync_server.tickets import wiring as tickets_wiring
from sync_server.tickets.types import in_lists
from sync_server.venues.ports import VenuePorts
from sync_server.waiting_list import wiring as waiting_list_wiring
from sync_server.webhooks import wiring as webhooks_wiring

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
    waking.wire(database, backends)
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
            for_sale=in_lists.for_sale,
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

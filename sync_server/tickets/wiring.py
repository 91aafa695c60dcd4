"""Lets keys and tickets follow what happens to organisations and events."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.events.copying import COPIED
from sync_server.events.hanging import ASKED as HANGING
from sync_server.events.hanging import Hanging
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import issues, queries, service, signing
from sync_server.tickets.copying import copy_types


def wire(parts: Parts) -> None:
    """Act inside the transactions of lower floors."""

    def organisation_created(session: Session, row: Any, now: Millis) -> None:
        signing.make_key(session, row.id, parts.sealer, Deed(SYSTEM, now, parts.entropy), at_once=True)

    def times_moved(session: Session, subject: Any, now: Millis) -> None:
        organisation_id, event_id, distance = subject
        service.move_times(session, organisation_id, event_id, distance, Deed(SYSTEM, now, parts.entropy))

    def revision_rises(session: Session, subject: Any, _now: Millis) -> None:
        event_number, settled_at = subject
        issues.not_older_than(session, event_number, settled_at)

    parts.database.when("organisation_created", organisation_created)
    parts.database.when("revision_rises", revision_rises)
    parts.database.when("event_created", _event_created)
    parts.database.when(COPIED, copy_types)
    parts.database.when(HANGING, _count_types)
    parts.database.when("event_times_moved", times_moved)
    parts.database.when("name_checks_changed", _name_checks_changed)


def _count_types(session: Session, asked: Hanging, _now: Millis) -> None:
    asked.uses["ticket types"] = len(queries.ticket_types(session, asked.event_id))


def _event_created(session: Session, subject: Any, _now: Millis) -> None:
    organisation_id, number = subject
    revisions.put(session, number, signing.key_rows(session, organisation_id))


def _name_checks_changed(session: Session, subject: Any, _now: Millis) -> None:
    event_id, name_checks = subject
    service.show_names(session, event_id, name_checks=name_checks)

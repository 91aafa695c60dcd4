"""A demo organisation with everything an event needs: venue, gates, tickets, a login and a device to enrol."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.accounts import members
from sync_server.accounts import queries as accounts
from sync_server.accounts import service as people
from sync_server.accounts import tokens as api_tokens
from sync_server.accounts.sign_in import logins
from sync_server.commands import demo_venue
from sync_server.commands.console import operator_context
from sync_server.devices import enrolment
from sync_server.devices import service as devices
from sync_server.devices.event_assignments import event_assignment
from sync_server.devices.identity import ServerKey
from sync_server.events import schemas as event_schemas
from sync_server.events import service as events
from sync_server.events.lifecycle import status
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.runtime import ServerRuntime
from sync_server.tickets import rules
from sync_server.tickets import schemas as ticket_schemas
from sync_server.tickets import service as tickets
from sync_server.tickets.keys import codes
from sync_server.tickets.queries import public_id
from sync_server.tickets.types import type_service
from sync_server.venues import schemas as venue_schemas
from sync_server.venues import service as venues

HOUR: Millis = 3_600_000
SLUG = "demo"
FREE_TYPE = "Neighbours"
EMAIL = "owner@demo.example"
TIMEZONE = "Europe/Berlin"


def make_demo(runtime: ServerRuntime) -> dict[str, Any]:
    """Create the demo in one transaction. Another call adds an event, token and device, and sets a new password."""
    parts = runtime.parts
    server_public = ServerKey(parts.database, parts.sealer).public
    with parts.database.writing() as session:
        context = operator_context(runtime)
        organisation_id = _organisation(session, context)
        venue_id, gates = _venue(session, organisation_id, context)
        event = _event(session, organisation_id, venue_id, context)
        made = {
            "organisation": {"id": organisation_id, "slug": SLUG},
            "venue": {"id": venue_id},
            "gates": gates,
            "event": event,
            "tickets": _tickets(session, runtime, organisation_id, event["id"], context),
            "login": _login(session, organisation_id, context),
            "api_token": _token(session, organisation_id, context),
            "supervisor": _supervisor(session, organisation_id, context),
        }
        return made | _device(session, runtime, organisation_id, event["id"], server_public)


def _organisation(session: Session, context: ActionContext) -> str:
    row = accounts.organisation_by_slug(session, SLUG)
    if row is None:
        row = people.create_organisation(session, name="Demo Concerts", slug=SLUG, currency="EUR", context=context)
    return row.id


def _venue(session: Session, organisation_id: str, context: ActionContext) -> tuple[str, list[dict[str, Any]]]:
    venue_fields = venue_schemas.NewVenue(
        name="Harbour Hall",
        timezone=TIMEZONE,
        city="Hamburg",
        country="DE",
        address="Hafenstraße 1, 20457 Hamburg",
    )
    venue = venues.create_venue(session, organisation_id, venue_fields.model_dump(), context)
    gates = []
    for code, name, step_free in (("A", "Main entrance", False), ("B", "Quay side", True)):
        gate = venue_schemas.NewGate(code=code, name=name, step_free=step_free)
        row = venues.add_gate(session, organisation_id, venue.id, gate.model_dump(), context)
        gates.append({"number": row.number, "code": row.code, "name": row.name})
    return venue.id, gates


def _event(session: Session, organisation_id: str, venue_id: str, context: ActionContext) -> dict[str, Any]:
    fields = event_schemas.NewEvent(
        venue_id=venue_id,
        name="Night Music",
        description="Choirs and brass in the dark, from dusk to dawn.",
        start_at=context.now + HOUR,
        end_at=context.now + 13 * HOUR,
        cutover_hour=_cutover_hour(context.now),
        capacity=2_000,
    )
    row = events.create_event(session, organisation_id, fields.model_dump(), context)
    demo_venue.set_up_seating(session, organisation_id, venue_id, row.id, context)
    for target in (EventStatus.PUBLISHED, EventStatus.LIVE):
        status.change_status(session, organisation_id, row.id, target, context)
    return {
        "id": row.id,
        "number": row.number,
        "code": row.code,
        "slug": row.slug,
        "name": row.name,
        "status": row.status,
    }


def _cutover_hour(now: Millis) -> int:
    """Whenever the demo is made, its one event day begins before now, and ends after the event."""
    return (datetime.fromtimestamp(now / 1000, ZoneInfo(TIMEZONE)).hour + 15) % 24


def _tickets(
    session: Session, runtime: ServerRuntime, organisation_id: str, event_id: str, context: ActionContext
) -> list[dict[str, Any]]:
    types = (
        ticket_schemas.NewTicketType(name="Standing", price_cents=3500, quantity=1_450, zone=1),
        ticket_schemas.NewTicketType(
            name="Come and go", price_cents=4500, quantity=400, zone=1, entitlement="unlimited_reentry"
        ),
        ticket_schemas.NewTicketType(name="Stalls", price_cents=5500, quantity=100, zone=2),
        ticket_schemas.NewTicketType(name=FREE_TYPE, price_cents=0, quantity=50, zone=1, max_per_order=4),
    )
    made = []
    for new_type in types:
        ticket_type = type_service.create_type(session, organisation_id, event_id, new_type.model_dump(), context)
        if new_type.name == FREE_TYPE:
            continue  # for the shop: whoever tries it needs no way to pay
        seats = [rules.Seat(seat_id=name) for name in demo_venue.BEST_SEATS] if new_type.name == "Stalls" else []
        request = tickets.IssueRequest(ticket_type.number, count=0 if seats else 5, seats=seats)
        issued = tickets.issue(session, organisation_id, event_id, request, context)
        texts = codes.code_texts(session, list(issued), runtime.parts.sealer)
        for row, code in zip(issued, texts, strict=True):
            made.append(
                {
                    "id": public_id(row.id),
                    "number": row.number,
                    "type": ticket_type.name,
                    "seat": row.seat_id,
                    "code": code,
                }
            )
    return made


def _login(session: Session, organisation_id: str, context: ActionContext) -> dict[str, str]:
    password = "-".join(context.entropy(2).hex() for _ in range(4))
    user = accounts.user_by_email(session, EMAIL)
    if user is None:
        user = logins.create_login(session, email=EMAIL, name="Demo Owner", context=context)
        members.give_role(session, organisation_id, user.id, "owner", context)
    logins.choose_password(session, user, password, context)  # nobody owns this login but who reads what is printed
    return {"email": EMAIL, "password": password}


def _token(session: Session, organisation_id: str, context: ActionContext) -> str:
    scopes = [action.value for action in Action]
    _, text = api_tokens.make_token(
        session, organisation_id, name="demo", scopes=scopes, ends_at=None, by=None, context=context
    )
    return text


def _supervisor(session: Session, organisation_id: str, context: ActionContext) -> dict[str, Any]:
    pin = _pin(context)
    name = f"Sam {len(accounts.supervisors(session, organisation_id)) + 1}"
    row = people.add_supervisor(session, organisation_id, name, pin, context)
    return {"number": row.number, "name": row.name, "pin": pin}


def _pin(context: ActionContext) -> str:
    """Six random digits; numbers that are easy to guess are replaced."""
    digits = 100_000 + int.from_bytes(context.entropy(4), "big") % 900_000
    return f"{digits}" if len(set(f"{digits}")) > 3 else "402815"


def _device(
    session: Session, runtime: ServerRuntime, organisation_id: str, event_id: str, public: bytes
) -> dict[str, Any]:
    context = operator_context(runtime)
    device = devices.create(session, organisation_id, "Demo gate", "gate", context)
    work = event_assignment(session, organisation_id, event_id, gate=1, gates_allowed=(2,))
    devices.assign(session, device, [work], context)
    code = enrolment.new_code(session, device, public, runtime.parts.sealer, context)
    return {"device": {"id": device.id, "number": device.number, "name": device.name}, "device_code": code.text}

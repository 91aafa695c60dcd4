"""A demo organisation with everything an evening needs: house, gates, tickets, logins and a device to enrol."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.lifecycle import EventStatus
from sync_server.accounts import queries as accounts
from sync_server.accounts import service as people
from sync_server.accounts import signing_in
from sync_server.app import Ground
from sync_server.commands import demo_house
from sync_server.commands.ground import OPERATOR, deed
from sync_server.devices import enrolment
from sync_server.devices import service as devices
from sync_server.devices.identity import ServerKey
from sync_server.devices.work import work_at
from sync_server.events import schemas as event_shapes
from sync_server.events import service as events
from sync_server.events import status
from sync_server.plumbing.principals import Action, Deed
from sync_server.tickets import codes, rules, types
from sync_server.tickets import schemas as ticket_shapes
from sync_server.tickets import service as tickets
from sync_server.tickets.queries import public_id
from sync_server.venues import schemas as venue_shapes
from sync_server.venues import service as venues

HOUR: Millis = 3_600_000
SLUG = "demo"
EMAIL = "owner@demo.example"


def make(here: Ground) -> dict[str, Any]:
    """The demo, in one transaction; a second call adds a fresh event, token and device, and a new password."""
    parts = here.parts
    server_public = ServerKey(parts.database, parts.sealer).public
    with parts.database.writing() as session:
        act = deed(here)
        organisation_id = _organisation(session, act)
        venue_id, gates = _house(session, organisation_id, act)
        event = _event(session, organisation_id, venue_id, act)
        made = {
            "organisation": {"id": organisation_id, "slug": SLUG},
            "venue": {"id": venue_id},
            "gates": gates,
            "event": event,
            "tickets": _tickets(session, here, organisation_id, event["id"], act),
            "login": _login(session, organisation_id, act),
            "api_token": _token(session, organisation_id, act),
            "supervisor": _supervisor(session, organisation_id, act),
        }
        return made | _device(session, here, organisation_id, event["id"], server_public)


def _organisation(session: Session, act: Deed) -> str:
    row = accounts.organisation_by_slug(session, SLUG)
    if row is None:
        row = people.create_organisation(
            session, name="Demo Concerts", slug=SLUG, currency="EUR", actor=act.actor, now=act.now, entropy=act.entropy
        )
    return row.id


def _house(session: Session, organisation_id: str, act: Deed) -> tuple[str, list[dict[str, Any]]]:
    words = venue_shapes.NewVenue(
        name="Harbour Hall",
        timezone="Europe/Berlin",
        city="Hamburg",
        country="DE",
        address="Hafenstraße 1, 20457 Hamburg",
    )
    venue = venues.create_venue(session, organisation_id, words.model_dump(), act)
    gates = []
    for code, name, step_free in (("A", "Main entrance", False), ("B", "Quay side", True)):
        shape = venue_shapes.NewGate(code=code, name=name, step_free=step_free)
        row = venues.add_gate(session, organisation_id, venue.id, shape.model_dump(), act)
        gates.append({"number": row.number, "code": row.code, "name": row.name})
    return venue.id, gates


def _event(session: Session, organisation_id: str, venue_id: str, act: Deed) -> dict[str, Any]:
    words = event_shapes.NewEvent(
        venue_id=venue_id,
        name="Night Music",
        description="Choirs and brass in the dark, from dusk to dawn.",
        start_at=act.now + HOUR,
        end_at=act.now + 13 * HOUR,
        capacity=2_000,
    )
    row = events.create_event(session, organisation_id, words.model_dump(), act)
    demo_house.lay_out(session, organisation_id, venue_id, row.id, act)
    for target in (EventStatus.PUBLISHED, EventStatus.LIVE):
        status.walk(session, organisation_id, row.id, target, act)
    return {
        "id": row.id,
        "number": row.number,
        "code": row.code,
        "slug": row.slug,
        "name": row.name,
        "status": row.status,
    }


def _tickets(session: Session, here: Ground, organisation_id: str, event_id: str, act: Deed) -> list[dict[str, Any]]:
    shapes = (
        ticket_shapes.NewTicketType(name="Standing", price_cents=3500, quantity=1_500, zone=1),
        ticket_shapes.NewTicketType(
            name="Come and go", price_cents=4500, quantity=400, zone=1, entitlement="unlimited_reentry"
        ),
        ticket_shapes.NewTicketType(name="Stalls", price_cents=5500, quantity=100, zone=2),
    )
    made = []
    for shape in shapes:
        kind = types.create_type(session, organisation_id, event_id, shape.model_dump(), act)
        seats = [rules.Seat(seat_id=name) for name in demo_house.BEST] if shape.name == "Stalls" else []
        wish = tickets.Wish(kind.number, count=0 if seats else 5, seats=seats)
        issued = tickets.issue(session, organisation_id, event_id, wish, act)
        texts = codes.texts_of(session, list(issued), here.parts.sealer)
        for row, code in zip(issued, texts, strict=True):
            made.append(
                {"id": public_id(row.id), "number": row.number, "type": kind.name, "seat": row.seat_id, "code": code}
            )
    return made


def _login(session: Session, organisation_id: str, act: Deed) -> dict[str, str]:
    password = "-".join(act.entropy(2).hex() for _ in range(4))
    user = accounts.user_by_email(session, EMAIL)
    if user is None:
        user = people.add_user(
            session,
            email=EMAIL,
            name="Demo Owner",
            password=password,
            actor=act.actor,
            now=act.now,
            entropy=act.entropy,
        )
        people.give_role(session, organisation_id, user.id, "owner", giver=None, actor=act.actor, now=act.now)
    else:
        people.set_password(session, user, password, actor=act.actor, now=act.now, entropy=act.entropy)
    return {"email": EMAIL, "password": password}


def _token(session: Session, organisation_id: str, act: Deed) -> str:
    scopes = [action.value for action in Action]
    _, text = signing_in.make_token(
        session,
        organisation_id,
        name="demo",
        scopes=scopes,
        ends_at=None,
        by=None,
        actor=act.actor,
        now=act.now,
        entropy=act.entropy,
    )
    return text


def _supervisor(session: Session, organisation_id: str, act: Deed) -> dict[str, Any]:
    pin = _pin(act)
    name = f"Sam {len(accounts.supervisors(session, organisation_id)) + 1}"
    row = people.add_supervisor(
        session, organisation_id, name=name, pin=pin, actor=act.actor, now=act.now, entropy=act.entropy
    )
    return {"number": row.number, "name": row.name, "pin": pin}


def _pin(act: Deed) -> str:
    """Six digits; the few that anybody would try first are replaced."""
    digits = 100_000 + int.from_bytes(act.entropy(4), "big") % 900_000
    return f"{digits}" if len(set(f"{digits}")) > 3 else "402815"


def _device(
    session: Session, here: Ground, organisation_id: str, event_id: str, server_public: bytes
) -> dict[str, Any]:
    now = here.parts.clock()
    device = devices.create(session, organisation_id, "Demo gate", "gate", actor=OPERATOR, now=now)
    work = work_at(session, organisation_id, event_id, gate=1, gates_allowed=(2,))
    devices.assign(session, device, [work], actor=OPERATOR, now=now)
    code = enrolment.new_code(session, device, server_public, here.parts.sealer, actor=OPERATOR, now=now)
    return {"device": {"id": device.id, "number": device.number, "name": device.name}, "device_code": code.text}

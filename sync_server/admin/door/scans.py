"""The page of scans: the latest of an event, as gates upload them, and those that somebody looks for."""

from __future__ import annotations

from typing import Final

from flask import request
from sqlalchemy.orm import Session

from shared.reasons import Reason
from shared.words.numerals import whole
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page
from sync_server.devices import queries as devices
from sync_server.events import queries
from sync_server.events.queries import Event
from sync_server.plumbing.parts import parts
from sync_server.scans import queries as scans
from sync_server.scans.event_history import ticket_numbers
from sync_server.scans.queries import ScanFilter
from sync_server.tickets import queries as tickets
from sync_server.tickets.queries import TicketFilter

PAGE_SIZE: Final = 100
_NO_TICKET: Final = 0
_VERDICTS: Final = {"admitted": True, "refused": False}
_TESTS: Final = {"only": True, "none": False}


@bp.get("/events/<event_id>/scans")
@page()
def event_scans(event_id: str) -> str:
    """The latest scans uploaded by gates: all, or those at a gate, of a ticket, with an answer, of a time."""
    with parts().database.reading() as session:
        row = queries.event(session, current_organisation(), event_id)
        chosen = _chosen(session, row)
        found = scans.recent(session, row.key, PAGE_SIZE, chosen)
        gates = {gate.number: gate for gate in queries.gate_rows(session, row)}
        shown: dict[str, object] = {
            "names": devices.names(session, current_organisation()),
            "numbers": ticket_numbers(session, row.key, {scan.ticket for scan in found}),
        }
    shown |= {"gates": gates, "reasons": [reason.value for reason in Reason], "chosen": chosen != ScanFilter()}
    return render_page("door/scans.html", event=row, scans=found, most=PAGE_SIZE, **shown)


def _chosen(session: Session, event: Event) -> ScanFilter:
    """What the filters of the page say; a filter that says nothing known is of no matter."""
    reason = request.args.get("reason", "")
    return ScanFilter(
        gate=whole(request.args.get("gate", ""), 65_535),
        admitted=_VERDICTS.get(request.args.get("verdict", "")),
        reason=reason if reason in set(Reason) else None,
        ticket=_ticket(session, event, request.args.get("ticket", "").strip()[:24]),
        test=_TESTS.get(request.args.get("tests", "")),
        since=forms.moment_of(request.args.get("since", ""), event.timezone),
        until=forms.moment_of(request.args.get("until", ""), event.timezone),
    )


def _ticket(session: Session, event: Event, number: str) -> int | None:
    """The ticket with this printed number; one that does not exist was never scanned."""
    if not number:
        return None
    wanted = TicketFilter(number=number.upper())
    found = tickets.tickets(session, event.organisation_id, event.id, wanted, limit=1, after=None).items
    return found[0].id if found else _NO_TICKET

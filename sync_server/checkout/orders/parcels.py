"""Turns the admissions of an order into requests to issue tickets: one for all seats, one for each hold of places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from sqlalchemy.orm import Session

from sync_server.checkout.models import OrderRow
from sync_server.events.days.chosen_days import ChosenDays
from sync_server.holds.ordering import Held
from sync_server.plumbing.sealing import Sealer
from sync_server.seating.rules import Visitor
from sync_server.seating.zone_access.entitlements import Bearer, GuestIdKind, GuestKey
from sync_server.tickets.issuance.bearers import Issuer, MembershipReference
from sync_server.tickets.issuance.issue_request import IssueRequest, Member, TicketBatch
from sync_server.tickets.rules import Seat


class Admission(Protocol):
    """What a request to issue a ticket needs to know of one admission."""

    @property
    def ticket_type(self) -> int:
        """0 lets the seat decide."""

    @property
    def seat_name(self) -> str:
        """Empty for a place without a number."""

    @property
    def holder_name(self) -> str:
        """Who comes, where somebody was named."""

    @property
    def hold_id(self) -> str | None:
        """The hold that has it until it is sold."""

    @property
    def membership_id(self) -> str:
        """Whose card was shown."""

    @property
    def valid_days(self) -> int:
        """The bitmap of event days."""


@dataclass(frozen=True, slots=True)
class Access:
    """What opens zones to the buyer: roles, the keyed hash of an invitation, or the reason for an override."""

    roles: Sequence[str] = ()
    invitation: str = ""
    override: str = ""

    @classmethod
    def of(cls, order: OrderRow) -> Access:
        """As it was shown when the order was made."""
        return cls(**order.access)

    def stored(self) -> dict[str, Any]:
        """As the order keeps it."""
        return {"roles": list(self.roles), "invitation": self.invitation, "override": self.override}

    @property
    def names(self) -> frozenset[GuestKey]:
        """Under which guest lists may have the buyer."""
        return frozenset({(GuestIdKind.CODE, self.invitation)} if self.invitation else ())


@dataclass(frozen=True, slots=True)
class Parcel:
    """Admissions whose tickets are issued together, by their indexes in the order."""

    indexes: Sequence[int]
    request: IssueRequest


class PlannedParcel(NamedTuple):
    """The same, and what issuing will make of them."""

    parcel: Parcel
    batches: Sequence[TicketBatch]


@dataclass(frozen=True, slots=True)
class Buyers:
    """For whom tickets are, by the membership that was shown; those are locked, and so resolved before the event."""

    access: Access
    found: Mapping[str, tuple[Bearer, Member | None]]

    @classmethod
    def resolve(
        cls,
        session: Session,
        organisation_id: str,
        sealer: Sealer,
        now: int,
        access: Access,
        *,
        memberships: Collection[str],
        signed_in: bool,
    ) -> Buyers:
        """Read and lock these memberships."""
        issuer = Issuer(session, organisation_id, frozenset(access.roles), sealer, now)
        plain = Bearer(Visitor(signed_in, roles=frozenset(access.roles)), access.names), None
        shown = {id: issuer.bearer(MembershipReference(id), access.names) for id in sorted(memberships) if id}
        return cls(access, {"": plain} | shown)

    def parcels(
        self, admissions: Sequence[Admission], holds: Collection[Held], dates: tuple[str, ...] = ()
    ) -> list[Parcel]:
        """The requests for these admissions, which convert those of these holds that are theirs.

        With the dates of the event their days are asked for; without, those of the holds count, or of the types.
        """
        alike: dict[tuple[object, ...], list[int]] = {}
        for index, each in enumerate(admissions):
            kind = ("seat",) if each.seat_name else ("place", each.hold_id, each.ticket_type)
            alike.setdefault((each.valid_days, *kind), []).append(index)
        return [
            self._parcel(indexes, [admissions[index] for index in indexes], holds, dates) for indexes in alike.values()
        ]

    def _parcel(
        self, indexes: Sequence[int], admissions: Sequence[Admission], holds: Collection[Held], dates: tuple[str, ...]
    ) -> Parcel:
        seated, first = bool(admissions[0].seat_name), admissions[0]
        request = self._seats(admissions) if seated else self._places(admissions)
        chosen = ChosenDays(dates, first.valid_days).names if dates and first.valid_days else ()
        held = _of(admissions, holds)
        theirs: dict[str, Any] = {"holds": [hold.id for hold in held], "held": held}
        return Parcel(indexes, replace(request, **theirs, dates=chosen, override=self.access.override))

    def _seats(self, seated: Sequence[Admission]) -> IssueRequest:
        return IssueRequest(
            0,
            seats=[Seat(seat_id=each.seat_name, holder_name=each.holder_name) for each in seated],
            types=dict(enumerate(each.ticket_type for each in seated)),
            bearers=dict(enumerate(self.found[each.membership_id] for each in seated)),
        )

    def _places(self, places: Sequence[Admission]) -> IssueRequest:
        first, (bearer, member) = places[0], self.found[places[0].membership_id]
        return IssueRequest(
            first.ticket_type, count=len(places), holder_name=first.holder_name, bearer=bearer, member=member
        )


def _of(admissions: Sequence[Admission], holds: Collection[Held]) -> list[Held]:
    named = {each.hold_id for each in admissions}
    return sorted((hold for hold in holds if hold.id in named), key=lambda hold: hold.id)

"""Requests and responses about waiting lists."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from sync_server.events.rules import Mark
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import Date, IsoTime, RequestBody, View
from sync_server.waiting_list.rules import Wish


class SetWaitingList(RequestBody):
    """Whether parties may join the list of an event, and for how long an offer is kept for them."""

    open: bool
    offer_minutes: Annotated[int, Field(ge=5, le=7 * 24 * 60)] | None = None


class WaitingListView(EditedView):
    """The list of an event; `parties` says how many are in which state."""

    unedited: ClassVar[frozenset[str]] = frozenset({"parties"})

    open: bool
    offer_minutes: int
    parties: dict[str, int]


class JoinWaitingList(RequestBody):
    """A party: so many people, who get places for all of them or wait on.

    Empty wishes mean any; `together` is in one row, where seats are numbered.
    """

    size: Annotated[int, Field(ge=1, le=200)]
    email: Annotated[str, Field(min_length=3, max_length=254)]
    locale: Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")] | None = None
    together: bool = True
    zone_ids: Annotated[list[Annotated[str, Field(max_length=36)]], Field(max_length=50)] = Field(default_factory=list)
    ticket_types: Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(max_length=50)] = Field(
        default_factory=list
    )
    days: Annotated[list[Date], Field(max_length=60)] = Field(default_factory=list)

    def wish(self) -> Wish:
        """What the party wants."""
        zones, types = tuple(dict.fromkeys(self.zone_ids)), tuple(dict.fromkeys(self.ticket_types))
        return Wish(self.size, self.together, zones, types, tuple(sorted(set(self.days))))


class OfferOfPlaces(View):
    """Places that are held for the party until then."""

    id: str
    ticket_type: int
    ticket_type_name: str
    zone_name: str
    seats: list[str]
    ends_at: IsoTime


class PartyView(View):
    """A party. `position` is how far it is from the front while it waits; `passed_over` how often somebody behind it
    got what did not fit it. `secret`, sent as `X-Waiting-Secret`, opens it in any browser.
    """

    id: str
    event_id: str
    event_mark: Mark | None  # cancelled, postponed or rescheduled
    secret: str
    state: str
    position: int | None
    passed_over: int
    size: int
    together: bool
    zone_ids: list[str]
    ticket_types: list[int]
    days: list[str]
    joined_at: IsoTime
    offer: OfferOfPlaces | None


class TakenHold(View):
    """A hold that the guest session now has."""

    hold_id: str
    quantity: int
    held_until: IsoTime


class TakenView(View):
    """What was taken: order these holds before they run out."""

    event_id: str
    ticket_type: int
    holds: list[TakenHold]


class ListedParty(View):
    """A party, as the organiser sees it."""

    id: str
    seq: int
    state: str
    size: int
    together: bool
    zone_ids: list[str]
    ticket_types: list[int]
    days: list[str]
    passed_over: int
    joined_at: IsoTime


class ListedParties(View):
    """The parties that wait or have an offer, in their order."""

    items: list[ListedParty]
    next: str | None


class ListedOffer(View):
    """An offer, and why it went to this party: `passed` has, by reason, the stretches of `seq` that it did not fit."""

    id: str
    party_id: str
    seq: int
    size: int
    ticket_type: int
    state: str
    passed: dict[str, list[list[int]]]
    created_at: IsoTime
    ends_at: IsoTime
    done_at: IsoTime | None


class ListedOffers(View):
    """The offers from a list, the latest first."""

    items: list[ListedOffer]
    next: str | None

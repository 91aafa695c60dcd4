"""The tickets of a party, as screens list them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gate_app.display.announcement import Notice, Tone, notices_of, seat_of, spent_of, title_of, tone_of
from gate_app.display.json_fields import JsonObject, mapping, number, sequence, text
from gate_app.words import say
from shared.words.wording import joined


@dataclass(frozen=True, slots=True)
class MemberView:
    """One ticket of a party."""

    ticket: str
    """By which it is chosen."""
    label: str
    more: str
    standing: str
    ticked: bool
    """Whether it is among all, where somebody chooses."""
    says: str
    tone: Tone
    spent: str
    notices: tuple[Notice, ...]
    holder: str


@dataclass(frozen=True, slots=True)
class PartyView:
    """A party at the gate."""

    number: int
    heading: str
    progress: str
    asks: bool
    may: int
    members: tuple[MemberView, ...]


def party_view(party: JsonObject) -> PartyView:
    """The list for screens."""
    members = [mapping(one) for one in sequence(party.get("members"))]
    of, n = len(members), round(number(party, "admitted") or 0)
    leaving = text(party, "direction") == "exit"
    progress = say("party.are_out" if leaving else "party.are_in", n=n, of=of) if party.get("going") is True else ""
    return PartyView(
        round(number(party, "number") or 0),
        say("party.heading", n=of),
        progress,
        party.get("asks") is True,
        sum(_ticked(one) for one in members),
        tuple(_member(one, leaving=leaving) for one in members),
    )


def lasts(party: PartyView) -> bool:
    """Whether the list says more than the verdict: as long as not everything of it is decided."""
    undecided = any(one.standing in {"going", "chosen"} for one in party.members)
    return party.asks or not party.progress or undecided


def for_guests(party: PartyView) -> PartyView:
    """What everybody may see: where to sit and how it stands, and nothing of anybody."""
    members = (replace(one, more="", notices=(), holder="") for one in party.members)
    return replace(party, members=tuple(members))


def without_names(party: PartyView) -> PartyView:
    """What a screen shows that may be in anybody's hands."""
    return replace(party, members=tuple(_nameless(one) for one in party.members))


def each_of(scan: JsonObject) -> list[JsonObject]:
    """The answers in a scan: of a party one for each ticket that was judged, else the one."""
    members = [mapping(one) for one in sequence(mapping(scan.get("party")).get("members"))]
    return [{**scan, **one, "party": None} for one in members if one.get("seq") is not None] or [scan]


def _nameless(one: MemberView) -> MemberView:
    return replace(one, holder="", notices=tuple(notice for notice in one.notices if not notice.private))


MAY, REFUSED = "may", "refused"
_SAYS = {MAY: "party.may", "going": "party.going", "in": "party.in", "taken_back": "title.taken_back"}


def _member(one: JsonObject, *, leaving: bool) -> MemberView:
    ticket, standing = mapping(one.get("ticket")), text(one, "standing")
    seat = seat_of(ticket) or text(ticket, "zone") or text(ticket, "type")
    return MemberView(
        ticket=text(one, "id"),
        label=seat or text(ticket, "number") or say("party.ticket"),
        more=joined(text(ticket, "type"), text(ticket, "number"), by=" · "),
        standing="chosen" if one.get("chosen") is True and standing == MAY else standing,
        ticked=_ticked(one),
        says=_says(one, standing, leaving=leaving),
        tone=Tone.LOOK if standing == "taken_back" else tone_of(one),
        spent=spent_of(one),
        # Only what somebody must do: the list has little room, and the verdict says the rest.
        notices=tuple(notice for notice in notices_of(one) if notice.act) if standing != REFUSED else (),
        holder=text(ticket, "name"),
    )


def _ticked(one: JsonObject) -> bool:
    return text(one, "standing") == MAY and one.get("left_out") is not True


def _says(one: JsonObject, standing: str, *, leaving: bool) -> str:
    if standing == "in" or one.get("left_out") is True:
        return say("party.out" if leaving else "party.in")
    key = _SAYS.get(standing)
    return say(key) if key else title_of(one)

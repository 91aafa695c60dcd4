"""How a party stands: each of its tickets with its answer, and the line that is printed and shown of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from gate_app.scanning.gate import Presentation, ScanResult
from gate_app.words import say


class Standing(StrEnum):
    """How one ticket of a party stands."""

    MAY = "may"
    REFUSED = "refused"
    GOING = "going"
    """Recorded, and the barrier is open for it."""
    IN = "in"
    TAKEN_BACK = "taken_back"
    """Nobody went through, so the admission was annulled."""


@dataclass(frozen=True, slots=True)
class PartyMember:
    """One ticket of a party, and its last answer: what it would be, or what it was."""

    ticket_id: int
    result: ScanResult
    standing: Standing
    owed: bool = False
    """Whether it was admitted just before the gate was interrupted."""
    went: bool = False
    """Whether it went this way a moment ago and may again: not with the others, unless it is chosen."""

    @property
    def may(self) -> bool:
        """Whether it may come in."""
        return self.standing is Standing.MAY

    @property
    def place(self) -> tuple[str, int]:
        """Its place in the list: by number, as its guests have them."""
        ticket = self.result["ticket"] or {}
        return str(ticket.get("number") or "~"), self.ticket_id


@dataclass(frozen=True, slots=True)
class PartyState:
    """A party at a reader."""

    number: int
    """Tells one list from the next."""
    code: bytes
    """The hash of its code."""
    presentation: Presentation
    members: tuple[PartyMember, ...]
    asks: bool = False
    """Whether it waits for somebody to choose."""
    wanted: frozenset[int] = frozenset()
    """The tickets that were chosen."""
    over: bool = False
    """Whether nobody else of them comes in: who did not go through ends it for those behind."""

    @property
    def going(self) -> list[PartyMember]:
        """Those that were chosen: first those that will be refused, so that nothing comes between those who come in.

        Then who was let through when the gate was interrupted, and stands in the barrier.
        """
        chosen = (one for one in self.members if one.ticket_id in self.wanted)
        return sorted(chosen, key=lambda one: (one.may, not one.owed))

    @property
    def left_out(self) -> frozenset[int]:
        """The tickets that come in only if they are chosen: who has just gone in, while others have not."""
        went = frozenset(one.ticket_id for one in self.members if one.may and one.went)
        return went if any(one.may and not one.went for one in self.members) else frozenset()

    @property
    def admitted(self) -> list[PartyMember]:
        """Those who have come in."""
        return [one for one in self.members if one.standing is Standing.IN]

    def with_member(self, changed: PartyMember) -> PartyState:
        """With another standing of one of them."""
        members = tuple(changed if one.ticket_id == changed.ticket_id else one for one in self.members)
        return replace(self, members=members)


def line_of(state: PartyState) -> ScanResult:
    """What is printed of a party: the answer of one ticket, and all of them in `party`."""
    admitted = state.admitted
    may = admitted or [one for one in state.members if one.may]
    first = (may or state.members)[0].result
    seqs = [one.result["seq"] for one in state.members if one.result["seq"] is not None]
    leaving = first["direction"] == "exit"
    many = {"n": len(may), "of": len(state.members)}
    message = say("party.left" if leaving else "party.came_in", **many) if may else first["message"]
    return first | {
        "verdict": "admit" if may else "deny",
        "message": message,
        "notices": _together(may),
        "ticket": None,
        "history": [],
        "seq": max(seqs, default=None),
        "committed": bool(seqs),
        "again": False,
        "party": {
            "code": state.code.hex(),
            "size": len(state.members),
            "admitted": len(admitted),
            "members": [_member_line(one) for one in state.members],
        },
    }


def shown_of(state: PartyState) -> dict[str, Any]:
    """What screens show of a party."""
    return {
        "number": state.number,
        "reader": state.presentation.reader,
        "asks": state.asks,
        "going": bool(state.wanted),
        "admitted": len(state.admitted),
        "direction": state.members[0].result["direction"],
        "members": [
            one.result
            | {
                "id": f"{one.ticket_id:016x}",
                "standing": str(one.standing),
                "chosen": one.ticket_id in state.wanted and not state.over,
                "left_out": one.ticket_id in state.left_out,
            }
            for one in state.members
        ],
    }


def repeat_of(result: ScanResult) -> ScanResult:
    """The answer again, for the same code a moment later."""
    return result | {"again": True}


def _together(members: list[PartyMember]) -> list[str]:
    return list(dict.fromkeys(notice for one in members for notice in one.result["notices"]))


def _member_line(one: PartyMember) -> dict[str, Any]:
    names = ("verdict", "reason", "message", "notices", "ticket", "seq")
    return {"standing": str(one.standing)} | {name: one.result[name] for name in names}

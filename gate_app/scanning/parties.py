"""One scan for a party: its tickets are listed, all or some are chosen, and each is judged and recorded by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from gate_app.scanning.gate import Gate, Lamp, Presentation, ScanResult
from gate_app.scanning.party_state import PartyMember, PartyState, Standing, line_of, repeat_of, shown_of
from gate_app.scanning.turns import Turns
from gate_app.words import say
from shared.admission import Mode, Verdict
from shared.errors import Conflict
from shared.reasons import Reason
from shared.tickets import ReadParty

CHOICE_MS = 60_000
"""How long a list waits for somebody to choose."""
SEEN_MS = 8_000
"""How long it is still shown when it is over."""

Show = Callable[[dict[str, Any] | None], None]
"""Shows the tickets of a party on all screens; None: the list is over."""


class Dark:
    """The lamp for tickets of a party that are judged and recorded before anything lights."""

    def show(self, result: ScanResult, verdict: Verdict, mode: Mode) -> None:
        """Nothing lights."""

    def repeat(self, result: ScanResult) -> None:
        """Likewise."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """The party that was last let in at a reader."""

    code: bytes
    at: int  # monotonic ms
    result: ScanResult


class Parties:
    """What is presented at a gate's readers: single tickets go to the gate at once, parties through a list."""

    def __init__(
        self,
        gate: Gate,
        monotonic_ms: Callable[[], int],
        *,
        asks: bool = False,
        turns: Turns | None = None,
        show: Show = lambda _state: None,
        stop: threading.Event | None = None,
    ) -> None:
        """`asks`: whether somebody chooses who comes in. `turns`: of the barrier that opens for each, if any."""
        self._gate = gate
        self._monotonic_ms = monotonic_ms
        self._asks = asks
        self._turns = turns
        self._show = show
        self._stop = stop or threading.Event()
        self._number = 0
        self._going_in = threading.Lock()
        self._state: PartyState | None = None
        self._until = 0
        self._remembered: dict[str, Remembered] = {}

    @property
    def busy(self) -> bool:
        """Whether a party is going in, so that nobody else may."""
        return self._going_in.locked()

    def require_free(self) -> None:
        """Raises Conflict while a party is going in."""
        if self.busy:
            raise Conflict(say("party.wait"), code="party_going_in")

    def present(self, presentation: Presentation, lamp: Lamp) -> ScanResult:
        """A code at a reader. Raises Conflict while a party is going in."""
        self.require_free()
        party = None if presentation.by_hand else self._gate.party_of(presentation.text)
        if party is None:
            self._remembered.pop(presentation.reader, None)
            return self._gate.handle(presentation, lamp)
        again = self._again(party, presentation)
        if again is not None:
            lamp.repeat(again)
            return again
        state = self._listed(party, presentation)
        if self._asks and any(member.may for member in state.members):
            self._keep(replace(state, asks=True), CHOICE_MS)
            return line_of(state)
        return self._let_in(state, {member.ticket_id for member in state.members} - state.left_out, lamp)

    def look(self, presentation: Presentation) -> ScanResult:
        """What the answer would be, for a single ticket or for each of a party."""
        party = self._gate.party_of(presentation.text)
        if party is None:
            return self._gate.look(presentation)
        state = self._listed(party, presentation)
        self._keep(state, SEEN_MS)
        return line_of(state) | {"looked": True}

    @property
    def takes_turns(self) -> bool:
        """Whether letting a party in takes as long as its people need."""
        return self._turns is not None

    @property
    def listed(self) -> dict[str, Any] | None:
        """The party whose tickets are listed now, as screens show it."""
        return shown_of(self._state) if self._state else None

    def chosen(self, number: int, tickets: Collection[int] | None, lamp: Lamp) -> Callable[[], ScanResult]:
        """Lets the chosen tickets of the list in, when it is called; None: all that may.

        Raises Conflict for a list that is over.
        """
        self.require_free()
        state = self._state
        if state is None or state.number != number or not state.asks:
            raise Conflict(say("party.over"), code="party_over")
        may = {member.ticket_id for member in state.members if member.may}
        wanted = may - state.left_out if tickets is None else may & set(tickets)
        if not wanted:
            raise Conflict(say("party.nobody_chosen"), code="nobody_chosen")
        # Nobody else can choose from this list any more.
        self._state = replace(state, asks=False)
        return lambda: self._let_in(state, wanted, lamp)

    def dismiss(self, number: int) -> None:
        """Takes the list away; nobody of it was let in."""
        if self._state is not None and self._state.number == number and not self.busy:
            self._clear()

    def tidy(self) -> None:
        """Takes away a list that nobody has chosen from, or that is over."""
        if self._state is not None and not self.busy and self._monotonic_ms() >= self._until:
            self._clear()

    def _again(self, party: ReadParty, presentation: Presentation) -> ScanResult | None:
        before = self._remembered.get(presentation.reader)
        if before is None or before.code != party.code_hash or presentation.options.override is not None:
            return None
        if self._monotonic_ms() - before.at >= self._gate.repeat_window():
            return None
        return repeat_of(before.result)

    def _listed(self, party: ReadParty, presentation: Presentation) -> PartyState:
        self._number += 1
        members = (self._looked_at(structs.replace(presentation, member=one.ticket_id)) for one in party.members)
        return PartyState(
            self._number, party.code_hash, presentation, tuple(sorted(members, key=lambda member: member.place))
        )

    def _looked_at(self, one: Presentation) -> PartyMember:
        result = {name: value for name, value in self._gate.look(one).items() if name != "looked"}
        owed = self._gate.is_owed(one)
        may = owed or result["verdict"] == "admit"
        went = may and not owed and self._gate.just_went(one)
        return PartyMember(one.member, result, Standing.MAY if may else Standing.REFUSED, owed, went)

    def _let_in(self, state: PartyState, wanted: Collection[int], lamp: Lamp) -> ScanResult:
        if not self._going_in.acquire(blocking=False):
            raise Conflict(say("party.wait"), code="party_going_in")
        try:
            state = replace(state, asks=False, wanted=frozenset(wanted))
            self._keep(state, SEEN_MS)
            state = self._one_by_one(state, lamp) if self._turns else self._at_once(state, lamp)
            state = replace(state, over=True)
            result = line_of(state)
            at = self._monotonic_ms()
            self._remembered[state.presentation.reader] = Remembered(state.code, at, result)
            self._keep(state, SEEN_MS)
            return result
        finally:
            self._going_in.release()

    def _at_once(self, state: PartyState, lamp: Lamp) -> PartyState:
        """Without a barrier: everybody is recorded, and then the lamp lights once."""
        with self._gate.one_at_a_time:
            for member in state.going:
                state = state.with_member(self._judged(state, member, Dark()))
            self._signal(state, lamp)
            if state.admitted:
                self._gate.shown(max(member.result["seq"] or 0 for member in state.admitted))
        return state

    def _one_by_one(self, state: PartyState, lamp: Lamp) -> PartyState:
        """At a barrier: the next is recorded and let through when the one before has gone through."""
        for member in state.going:
            if self._stop.is_set():
                break
            # Who is refused lights no lamp between two who come in.
            judged = self._judged(state, member, lamp if member.may else Dark())
            if judged.standing is Standing.IN:
                self._keep(state.with_member(replace(judged, standing=Standing.GOING)), SEEN_MS)
                judged = self._gone_through(judged)
            state = state.with_member(judged)
            self._keep(state, SEEN_MS)
            if judged.standing is Standing.TAKEN_BACK:
                break
        if not state.admitted and not any(member.standing is Standing.TAKEN_BACK for member in state.members):
            self._signal(state, lamp)
        return state

    def _gone_through(self, member: PartyMember) -> PartyMember:
        seq, turns = member.result["seq"], self._turns
        # In test mode, and where the barrier failed to open, nobody is waited for.
        went = turns.wait(seq, self._stop) if turns else None
        if turns and turns.is_awaited(seq):
            # The gate is stopped: after its next start this admission is still owed.
            return replace(member, standing=Standing.GOING)
        self._gate.shown(seq)
        return replace(member, standing=Standing.TAKEN_BACK) if went is False else member

    def _judged(self, state: PartyState, member: PartyMember, lamp: Lamp) -> PartyMember:
        result = self._gate.handle(structs.replace(state.presentation, member=member.ticket_id, shown_later=True), lamp)
        # What is owed after an interruption says no more of the ticket than its id.
        result = result | {"ticket": member.result["ticket"] or result["ticket"]}
        admitted = result["verdict"] == "admit" and result["seq"] is not None
        return replace(member, result=result, standing=Standing.IN if admitted else Standing.REFUSED)

    def _signal(self, state: PartyState, lamp: Lamp) -> None:
        result = line_of(state)
        verdict = Verdict(Reason(result["reason"]), result["message"], tuple(result["notices"]))
        lamp.show(result, verdict, Mode(result["mode"]))

    def _keep(self, state: PartyState, for_ms: int) -> None:
        self._state, self._until = state, self._monotonic_ms() + for_ms
        self._show(shown_of(state))

    def _clear(self) -> None:
        self._state = None
        self._show(None)

"""Cases of a party: one code for several tickets, each of which is judged by itself, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from gate_app.whatif.case_attempt import attempt_of_member, code_of_party
from gate_app.whatif.case_format import Case, PartyTicket
from gate_app.words import say
from shared.admission import Verdict, decide
from shared.tickets import Refusal


@dataclass(frozen=True, slots=True)
class PartyVerdict:
    """What a gate answers to a party whose tickets all come along."""

    admitted: bool
    first: Verdict
    """The answer of one that may, or of the first."""
    message: str
    notices: tuple[str, ...]
    members: tuple[Verdict, ...]
    """Of each of its tickets; none where the code itself is refused."""


def decide_party(case: Case, party: tuple[PartyTicket, ...]) -> PartyVerdict:
    """Decides all tickets of a party in their order. Raises InvalidRequest for an impossible case."""
    code = code_of_party(case, party)
    verdicts: list[Verdict] = []
    for nth, one in enumerate(party):
        alone = replace(case, ticket=one.ticket, history=one.history, party=None)
        verdict = decide(attempt_of_member(alone, code, nth))
        verdicts.append(verdict)
        if verdict.admitted:
            case = _one_further(case)
    may = [verdict for verdict in verdicts if verdict.admitted]
    first = (may or verdicts)[0]
    words = "party.left" if case.direction == "exit" else "party.came_in"
    return PartyVerdict(
        admitted=bool(may),
        first=first,
        message=say(words, n=len(may), of=len(party)) if may else first.message,
        notices=tuple(dict.fromkeys(notice for verdict in may or verdicts[:1] for notice in verdict.notices)),
        members=() if isinstance(code, Refusal) else tuple(verdicts),
    )


def _one_further(case: Case) -> Case:
    """The case for the next of them: one guest more is inside, or one fewer. Tests count nobody."""
    if case.mode == "test":
        return case
    more = -1 if case.direction == "exit" else 1
    zone = replace(case.zone, inside=max(0, case.zone.inside + more)) if case.zone else None
    return replace(case, zone=zone, gate=replace(case.gate, inside=max(0, case.gate.inside + more)))

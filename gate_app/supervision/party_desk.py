"""What is done at the desk with the party whose tickets are listed."""

from __future__ import annotations

import threading
from typing import Protocol

from gate_app.scanning.gate import Lamp
from gate_app.scanning.parties import Parties
from gate_app.supervision.fields import Answer, Fields, hexadecimal, number_of
from gate_app.supervision.screens import Screen
from gate_app.words import say
from shared.errors import NotFound


class PartyDesk(Protocol):
    """What of the desk this needs."""

    parties: Parties
    lamp: Lamp

    def seen(self, scan: Answer, screen: Screen) -> Answer:
        """What this screen may see of a scan."""
        ...


def listed(desk: PartyDesk, _fields: Fields, screen: Screen) -> Answer:
    """The tickets of the party that is listed now."""
    found = desk.parties.listed
    if found is None:
        raise NotFound(say("party.over"), code="party_over")
    return {"party": found | {"members": [desk.seen(one, screen) for one in found["members"]]}}


def choose(desk: PartyDesk, fields: Fields, screen: Screen) -> Answer:
    """Lets all or some of them in. At a barrier it answers at once: that takes as long as the people need."""
    named = fields.get("tickets")
    tickets = [hexadecimal(one) for one in named if isinstance(one, str)] if isinstance(named, list) else None
    let_in = desk.parties.chosen(number_of(fields, "party"), tickets, desk.lamp)
    if not desk.parties.takes_turns:
        return {"scan": desk.seen(let_in(), screen)}
    threading.Thread(target=let_in, name="party", daemon=True).start()
    return {"party": desk.parties.listed}


def dismiss(desk: PartyDesk, fields: Fields, _screen: Screen) -> Answer:
    """Takes the list away."""
    desk.parties.dismiss(number_of(fields, "party"))
    return {}

"""Addresses that ask for no action of a role: who gets in there, and why that is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Who(StrEnum):
    """Who gets in without holding a role."""

    ANYBODY = "anybody"
    GUEST = "a buyer's own session"
    KNOWN = "anybody signed in, whatever the role"
    GATE = "a gate that signs with its device's key"


@dataclass(frozen=True, slots=True)
class Door:
    """Who gets in at an address, and why no role is asked for."""

    who: Who
    why: str


_MONITOR: Final = Door(Who.ANYBODY, "Watching programs ask without a login; keep it off the public side of the proxy.")
_PAGES: Final = Door(Who.ANYBODY, "Nothing but what this program is made of.")
_FRAME: Final = Door(Who.ANYBODY, "Pages of signing in; what lies behind them asks for a role.")
_OWN: Final = Door(Who.KNOWN, "Concerns only whoever asks.")
_CHOOSING: Final = Door(Who.KNOWN, "Only one's own organisations; the platform's staff may choose any.")
_PROGRAMME: Final = Door(Who.ANYBODY, "What every visitor may see of published events.")
_HOUSE: Final = Door(Who.ANYBODY, "Seats of published events, and never who has them; of others for organisers only.")
_GUEST: Final = Door(Who.GUEST, "Concerns only the basket of this browser.")
_SYNC: Final = Door(Who.GATE, "Gates have keys of their own instead of roles.")

DOORS: Final[Mapping[str, Door]] = {
    "health.alive": _MONITOR,
    "health.ready": _MONITOR,
    "health.metrics": _MONITOR,
    "static": _PAGES,
    "docs.page": _PAGES,
    "openapi.spec": _PAGES,
    "accounts.sign_in": Door(Who.ANYBODY, "Signing in; guesses are counted and slowed down."),
    "accounts.who_am_i": _OWN,
    "accounts.sign_out": _OWN,
    "accounts.choose_organisation": _CHOOSING,
    "admin.front": _FRAME,
    "admin.login": _FRAME,
    "admin.sign_in": _FRAME,
    "admin.sign_out": _OWN,
    "admin.choose": _OWN,
    "admin.chosen": _CHOOSING,
    "pictures.show": Door(Who.ANYBODY, "Covers of events, for whoever knows a picture's name."),
    "programme.feed": _PROGRAMME,
    "programme.page": _PROGRAMME,
    "programme.cities": _PROGRAMME,
    "house_plan.whole": _HOUSE,
    "house_plan.plan": _HOUSE,
    "house_plan.state": _HOUSE,
    "house_plan.bits": _HOUSE,
    "house_plan.changes": _HOUSE,
    "house_plan.occupancy": _HOUSE,
    "customers.come_in": Door(Who.ANYBODY, "Shops are open to everybody; guests of one address are counted."),
    "customers.who_am_i": _GUEST,
    "customers.leave": _GUEST,
    "live.live_for_anybody": _PROGRAMME,
    "sync.enrol": Door(Who.GATE, "Proves an enrolment code; with it the gate's key becomes known."),
    "sync.say_hello": _SYNC,
    "sync.snapshot": _SYNC,
    "sync.changes": _SYNC,
    "sync.journal": _SYNC,
}
"""By endpoint. An address that is neither here nor asks for an action fails the test of roles."""

OPEN_TOO: Final[frozenset[str]] = frozenset({"events.listing", "events.show"})
"""These ask for an action of whoever is known; strangers see there what the public programme shows."""

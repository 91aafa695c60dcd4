"""The columns of the catalogue: what is known of one kind of fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, NamedTuple

Schema = Mapping[str, Any]


class Topic(StrEnum):
    """The topics of the bus that hear of a fact."""

    EVENT = "event"
    ORGANISATION = "organisation"
    """Facts of this topic change what lists of events show."""
    OCCUPANCY = "occupancy"


class Group(StrEnum):
    """What a fact is about; receivers outside choose facts by these."""

    VENUE = "venue"
    EVENT = "event"
    TICKET = "ticket"
    HOLD = "hold"
    ORDER = "order"
    WAITING = "waiting"
    MEMBERSHIP = "membership"
    LAYOUT = "layout"
    DEVICE = "device"
    SCAN = "scan"
    KEY = "key"


class Seats(Enum):
    """The seats whose state on the seat map a fact changes."""

    NONE = ""
    MAP = "whether and which map is shown"
    NAMED = "those in the payload, or places of a zone"
    TICKET = "that of the ticket"
    ALL = "any"


class Outcome(NamedTuple):
    """What became of what was held, as a metric counts it, and the field with the number of seats or places."""

    became: str
    quantity: str = "quantity"


class Interest(NamedTuple):
    """What a fact adds to the trending score of its event, for each one in a field of the payload."""

    weight: int
    per: str = ""


@dataclass(frozen=True, slots=True)
class FactKind:
    """One kind of fact. Adding a field keeps the version; removing one or changing its meaning raises it."""

    description: str
    group: Group
    subjects: Mapping[str, Schema] = field(default_factory=dict)
    payload: Mapping[str, Schema] = field(default_factory=dict)
    version: int = 1
    routing_key: str = ""  # "" if it follows from the name
    action: str = ""  # of the audit line; "" if it is the name
    topics: frozenset[Topic] = frozenset()
    organisers: tuple[str, ...] = ()  # fields of a status in the streams of organisers
    public: tuple[str, ...] = ()  # and in those of visitors
    seats: Seats = Seats.NONE
    occupancy: bool = False  # whether it changes how full an event is
    page: bool = False  # whether it changes what the public page of its event shows, and no list of events
    outcome: Outcome | None = None
    interest: Interest | None = None
    buyers: str = ""  # the message that buyers get: of their order, or of their event; "": none
    logged: tuple[str, ...] | None = None  # fields in the log line: ids and numbers, never names; None: no line
    look: str = ""  # in the history of an order: "money" that came, "bad" news; "": neither
    told: tuple[str, ...] = ()  # fields in the line that the change itself logs, which says who made it

    def effects(self) -> dict[str, Any]:
        """What the installation makes of such a fact, by name; empty columns are left out."""
        columns = {
            "audit action": self.action,
            "topics": sorted(self.topics),
            "organisers": self.organisers,
            "public": self.public,
            "seats": self.seats.value,
            "occupancy": self.occupancy,
            "page": self.page,
            "outcome": self.outcome and self.outcome._asdict(),
            "interest": self.interest and self.interest._asdict(),
            "buyers": self.buyers,
            "look": self.look,
            "logged": self.logged,
            "told": self.told,
        }
        return {name: value for name, value in columns.items() if value}

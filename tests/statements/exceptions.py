"""The statements of the server that may leave the organisation out, each with its reason."""

from __future__ import annotations

from typing import Final

_SIGN_IN: Final = "who signs in is known by the address or the secret; the organisation follows from it"
_OPERATOR: Final = "an operator of the installation looks at all organisations"
_DEVICE: Final = "a machine is known by its number or its code; the organisation follows from it"
_DUE: Final = "one question for all that is due; each organisation is then worked on by itself"

SHARED_TABLES: Final[dict[str, str]] = {
    "listings": "the public directory is one for all organisations; a listing is written by its event's number",
    "sessions": "a session belongs to its user, who may change the organisation",
}
"""Tables whose rows are not an organisation's although they have its column."""

EXCEPTIONS: Final[dict[str, str]] = {
    "accounts.queries.organisations_of": _SIGN_IN,
    "accounts.queries.session_principal": _SIGN_IN,
    "accounts.queries.token_principal": _SIGN_IN,
    "audit.erasure._erase": "which organisations store values of a person; each is then worked on by itself",
    "audit.queries.chains": _OPERATOR,
    "audit.sealer._waiting_chains": _DUE,
    "devices.enrolment._locked": _DEVICE,
    "devices.queries.by_number": _DEVICE,
    "devices.queries.holder_of_key": "no two devices of any organisations may have one key",
    "devices.service._free_number": "a device's number stands on the wire and is unique in the installation",
    "plumbing.due.anything_due": _DUE,
    "plumbing.due.organisations_due": _DUE,
    "revisions.queries.arrivals": _DUE,
    "revisions.queries.heads": "one question for all events that gates wait for",
}
"""By function, without `sync_server`. One that no statement uses any more fails the run of all tests."""

UNFINISHED: Final = frozenset(
    {
        "accounts",
        "customers",
        "events",
        "holds",
        "images",
        "listings",
        "live",
        "monitoring",
        "outbox",
        "reseating",
        "seat_maps",
        "seating",
        "tickets",
        "venues",
        "workers",
    }
)
"""Packages whose statements do not name it yet."""

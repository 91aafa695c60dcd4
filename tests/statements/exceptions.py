"""The statements of the server that may leave the organisation out, each with its reason."""

from __future__ import annotations

from typing import Final

_SIGN_IN: Final = "who signs in is known by the address or the secret; the organisation follows from it"
_DUE: Final = "one question for all that is due; each organisation is then worked on by itself"

EXCEPTIONS: Final[dict[str, str]] = {
    "accounts.queries.organisations_of": _SIGN_IN,
    "accounts.queries.session_principal": _SIGN_IN,
    "accounts.queries.token_principal": _SIGN_IN,
    "audit.sealer._anything_waiting": _DUE,
    "audit.sealer._waiting_chains": _DUE,
}
"""By function, without `sync_server`. One that no statement uses any more fails the run of all tests."""

UNFINISHED: Final = frozenset(
    {
        "accounts",
        "audit",
        "customers",
        "devices",
        "events",
        "holds",
        "images",
        "listings",
        "live",
        "monitoring",
        "outbox",
        "plumbing",
        "reseating",
        "revisions",
        "scans",
        "seat_maps",
        "seating",
        "sync",
        "tickets",
        "venues",
        "workers",
    }
)
"""Packages whose statements do not name it yet."""

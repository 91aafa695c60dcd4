"""Slows down who guesses codes: counted for the network before a code is looked at, and taken back if it was right."""

from __future__ import annotations

from collections.abc import Sequence

from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.checkout.codes import rules, signing
from sync_server.plumbing.database import Database
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

MESSAGE = "Too many wrong codes from here. Wait {seconds} seconds, or order without a code."


def require_codes(
    database: Database, sealer: Sealer, event: EventKey, texts: Sequence[str], context: ActionContext
) -> None:
    """NotFound for a text that is no code of this event, TooMany while whoever guesses has to wait."""
    if not texts:
        return
    tried = Tried(rules.GUESSES, network_of(context.actor.ip))
    throttling.check(database, [tried], context.now, MESSAGE)
    if any(signing.read(sealer, event, text) is None for text in texts):
        raise rules.unknown()
    with database.writing() as session:
        throttling.take_back(session, tried)

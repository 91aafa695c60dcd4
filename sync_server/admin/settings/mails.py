"""What buyers are told by mail: every message in every language, filled in as if for an order of an own event."""

from __future__ import annotations

from typing import Final

from flask import request

from sync_server.accounts import queries as accounts
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import render_settings
from sync_server.events import queries as events
from sync_server.events.queries import EventFilter
from sync_server.order_mails import messages
from sync_server.order_mails.messages import LANGUAGES, Message, Written
from sync_server.order_mails.values import Reader, sample_values
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action

_FIRST: Final = Message.TICKETS


@bp.get("/settings/mails")
@page(Action.READ)
def mails_page() -> str:
    """One message as its reader gets it, and the choice of the others."""
    wanted = request.args.get("message", "")
    message = Message(wanted) if wanted in set(Message) else _FIRST
    with parts().database.reading() as session:
        organisation = accounts.organisation(session, current_organisation())
        asked = request.args.get("language", organisation.language)
        language = asked if asked in LANGUAGES else LANGUAGES[0]
        latest = events.events(
            session, organisation.id, EventFilter(archived=True, newest_first=True), limit=1, after=None
        )
        written: Written | None = None
        for event in latest.items:
            reader = Reader.of(session, EventKey(organisation.id, event.id), language)
            values = sample_values(parts(), session, reader, organisation.currency)
            link = "https://…" if message in messages.OPTIONAL else ""
            written = messages.write(message, language, values, unsubscribe_link=link)
    chosen = {"message": message.value, "language": language, "all_messages": [each.value for each in Message]}
    sent = parts().config.mail_url is not None
    return render_settings("mails.html", "mails", written=written, languages=LANGUAGES, sent=sent, **chosen)

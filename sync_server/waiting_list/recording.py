"""Records what happens on waiting lists: an audit line and a fact, without anything about who waits."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.events import queries as events
from sync_server.outbox.service import Fact, Subject, record_change
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.waiting_list.models import WaitingPartyRow


def record_party(session: Session, row: WaitingPartyRow, name: str, context: ActionContext, **payload: object) -> None:
    """Record a change of a party."""
    number = events.event(session, row.organisation_id, row.event_id).number
    after = {"state": row.state, "size": row.size, "seq": row.seq, **payload}
    subjects = {"party": row.id, "event": row.event_id, "event_number": number}
    fact = Fact(name, row.organisation_id, context.now, subjects, after)
    record_change(session, context, Subject("waiting_party", row.id, None, after), fact)

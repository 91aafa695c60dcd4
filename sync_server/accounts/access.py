"""Whether somebody who was let in may still read: for streams that outlast the check at their opening."""

from __future__ import annotations

from sync_server.accounts import queries
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import current_principal, organisation
from sync_server.waiting.handing_over import Access


def still_allowed() -> Access:
    """A check whether the client of this request may still read in the organisation that it acts for."""
    here, who, organisation_id = parts(), current_principal(), organisation()

    def allowed() -> bool:
        with here.database.reading() as session:
            now = queries.refreshed_principal(session, who, here.clock())
        return now is not None and now.organisation_id == organisation_id and here.may(now, Action.READ)

    return Access((who.kind, who.id, who.session_id, organisation_id), allowed)

"""/api/o/{slug}/events/…/waiting and /api/o/{slug}/waiting for guests, /api/events/…/waiting-list for organisers."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import NotSignedIn
from sync_server.accounts import queries as accounts
from sync_server.events import queries as events
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.pagination import PageQuery
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, maybe_principal, organisation, requires, signed_in
from sync_server.waiting_list import links, queries, schemas, service, views
from sync_server.waiting_list.service import Joining

bp = APIBlueprint("waiting_list", __name__, url_prefix="/api", tag="Waiting list")
LINK_HEADER = "X-Waiting-Secret"


@bp.after_request
def no_store(response: Response) -> Response:
    """A place in the list changes from moment to moment: nothing here may be cached."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.put("/events/<event_id>/waiting-list")
@requires(Action.EDIT_EVENTS)
@bp.input(schemas.SetWaitingList)
@bp.output(schemas.WaitingListView)
@bp.doc(summary="Open or close the waiting list of an event")
def set_list(event_id: str, json_data: schemas.SetWaitingList) -> schemas.WaitingListView:
    """Let parties wait for places that come back, or let no more join. Those who wait stay."""
    event = EventKey(organisation(), event_id)
    with parts().database.writing() as session:
        events.event(session, *event, lock=True)
        check_unchanged(lambda: views.list_view(session, event, queries.waiting_list(session, event)))
        minutes = json_data.offer_minutes
        row = service.set_list(session, event, context(), opened=json_data.open, offer_minutes=minutes)
        return tagged(views.list_view(session, event, row))


@bp.get("/events/<event_id>/waiting-list")
@requires(Action.READ)
@bp.output(schemas.WaitingListView)
@bp.doc(summary="Show the waiting list of an event")
def show_list(event_id: str) -> schemas.WaitingListView:
    """Whether the list is open, and how many parties are in which state."""
    event = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        events.event(session, *event)
        return tagged(views.list_view(session, event, queries.waiting_list(session, event)))


@bp.get("/events/<event_id>/waiting-list/parties")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.ListedParties)
@bp.doc(summary="List who waits")
def list_parties(event_id: str, query_data: PageQuery) -> schemas.ListedParties:
    """The parties that wait or have an offer, in their order, without addresses."""
    event = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        events.event(session, *event)
        return views.listed_parties(session, event, limit=query_data.limit, after=query_data.after)


@bp.get("/events/<event_id>/waiting-list/offers")
@requires(Action.READ)
@bp.input(PageQuery, location="query")
@bp.output(schemas.ListedOffers)
@bp.doc(summary="List who was offered what, and who was passed over")
def list_offers(event_id: str, query_data: PageQuery) -> schemas.ListedOffers:
    """The offers, the latest first, each with those before it in the list whom it did not fit, and why."""
    event = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        events.event(session, *event)
        return views.listed_offers(session, event, limit=query_data.limit, after=query_data.after)


@bp.post("/o/<slug>/events/<event_id>/waiting")
@signed_in
@bp.input(schemas.JoinWaitingList)
@bp.output(schemas.PartyView, status_code=201)
@bp.doc(summary="Join the waiting list")
def join(slug: str, event_id: str, json_data: schemas.JoinWaitingList) -> schemas.PartyView:
    """Join the waiting list of an event as a party. What fits it is held for it when its turn comes."""
    organisation_id, guest_id = _guest(slug)
    joining = Joining(guest_id, json_data.email, json_data.locale or "", json_data.wish())
    with parts().database.writing() as session:
        row = service.join(session, EventKey(organisation_id, event_id), joining, context())
        return views.party_view(session, row, parts().sealer)


@bp.get("/o/<slug>/waiting/<party_id>")
@bp.output(schemas.PartyView)
@bp.doc(summary="Show a party's place and offer")
def show(slug: str, party_id: str) -> schemas.PartyView:
    """Show a party to the session that has joined, or to whoever has its secret."""
    organisation_id = _identify(slug, party_id)
    with parts().database.reading() as session:
        return views.party_view(session, queries.party(session, organisation_id, party_id), parts().sealer)


@bp.delete("/o/<slug>/waiting/<party_id>")
@bp.doc(summary="Leave the waiting list", responses={204: "Left"})
def leave(slug: str, party_id: str) -> tuple[str, int]:
    """Leave the list; what was offered goes to the next. Leaving again changes nothing."""
    organisation_id = _identify(slug, party_id)
    with parts().database.writing() as session:
        service.leave(session, organisation_id, party_id, context())
    return "", 204


@bp.post("/o/<slug>/waiting/<party_id>/take")
@signed_in
@bp.output(schemas.TakenView)
@bp.doc(summary="Take what was offered", responses={200: "Held by your session"})
def take(slug: str, party_id: str) -> schemas.TakenView:
    """Let this guest session hold what was offered; order it as any holds, within a quarter of an hour at least."""
    _, guest_id = _guest(slug)
    organisation_id = _identify(slug, party_id)
    with parts().database.writing() as session:
        row = queries.party(session, organisation_id, party_id)
        offer = queries.open_offer(session, organisation_id, party_id)
        held = service.take(session, organisation_id, party_id, guest_id, context())
        holds = [schemas.TakenHold.of(hold, hold_id=hold.id) for hold in held]
        return schemas.TakenView(
            event_id=row.event_id, ticket_type=offer.ticket_type if offer is not None else 0, holds=holds
        )


def _guest(slug: str) -> tuple[str, str]:
    """The organisation and the guest of this request, whose session must be one of this shop."""
    principal = current_principal()
    with parts().database.reading() as session:
        shop = accounts.organisation_by_slug(session, slug)
    if principal.kind != "guest" or shop is None or shop.id != principal.organisation_id:
        raise NotSignedIn("Start a guest session of this shop first.", code="no_session")
    return principal.organisation_id, principal.id


def _identify(slug: str, party_id: str) -> str:
    """The organisation of a party that is the caller's: by its secret, or by the session that has joined."""
    secret, principal = request.headers.get(LINK_HEADER, ""), maybe_principal()
    if not secret and principal is None:
        raise NotSignedIn("Open the link of your place in the list.", code="no_session")
    with parts().database.reading() as session:
        shop = accounts.organisation_by_slug(session, slug)
        if shop is None:
            raise queries.no_such_party()
        row = queries.party(session, shop.id, party_id)
    by_secret = bool(secret) and links.opens(parts().sealer, shop.id, row.id, secret)
    by_session = principal is not None and ("guest", row.bearer_id) == (principal.kind, principal.id)
    if not by_secret and not by_session:
        raise queries.no_such_party()
    return shop.id

"""/api/…/mails: previews, who is told, and tickets by mail once more; /o/{slug}/unsubscribe: no more offers."""

from __future__ import annotations

from typing import Final

from apiflask import APIBlueprint
from flask import Response, render_template, request

from shared.errors import NotFound
from sync_server.accounts import queries as accounts
from sync_server.checkout.payments.paying import OrderKey
from sync_server.checkout.shop import for_buyer
from sync_server.mail import letters
from sync_server.mail.letters import Letter
from sync_server.order_mails import messages, opting_out, queries, resending, schemas
from sync_server.order_mails.news import told_of_events
from sync_server.order_mails.values import Reader, sample_values
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.ticket_files.words import language_of

bp = APIBlueprint("order_mails", __name__, url_prefix="/api", tag="Mails to buyers")
shop_bp = APIBlueprint("own_mails", __name__, url_prefix="/api/o/<slug>", tag="Buying")
page_bp = APIBlueprint("opting_out", __name__, url_prefix="/o", template_folder="templates", enable_openapi=False)


@bp.post("/events/<event_id>/mails/preview")
@requires(Action.READ)
@bp.input(schemas.PreviewMail)
@bp.output(schemas.MailPreview)
def preview(event_id: str, json_data: schemas.PreviewMail) -> schemas.MailPreview:
    """Show a message to buyers of this event, filled in with an order that does not exist."""
    key = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        reader = Reader.of(session, key, json_data.language)
        currency = accounts.organisation(session, key.organisation_id).currency
        values = sample_values(parts(), session, reader, currency)
    link = "https://…/unsubscribe/…" if json_data.message in messages.OPTIONAL else ""
    written = messages.write(json_data.message, reader.language, values, unsubscribe_link=link)
    shown = letters.rendered(Letter(messages.TEMPLATE, "", written.values(), reader.language))
    return schemas.MailPreview(subject=shown.subject, text=shown.text, html=shown.html)


@bp.get("/events/<event_id>/mails/recipients")
@requires(Action.READ)
@bp.output(schemas.RecipientsView)
def recipients(event_id: str) -> schemas.RecipientsView:
    """Count who is written to when this event is cancelled, postponed, moved or gets its new date."""
    key = EventKey(organisation(), event_id)
    with parts().database.reading() as session:
        queries.require_event(session, key)
        found = queries.buyers(parts(), session, key)
    return schemas.RecipientsView.of(found, messages=[message.value for message in told_of_events()])


@bp.get("/events/<event_id>/mails")
@requires(Action.READ)
@bp.output(schemas.EventNewsView)
def told(event_id: str) -> schemas.EventNewsView:
    """List what the buyers of this event were told, and how many of them."""
    with parts().database.reading() as session:
        rows = queries.news(session, EventKey(organisation(), event_id))
        return schemas.EventNewsView(items=[schemas.NewsView.of(row) for row in rows])


@bp.post("/orders/<order_id>/mails")
@requires(Action.ISSUE_TICKETS)
@bp.output(schemas.SentView, status_code=202)
@bp.doc(responses={409: "No tickets, no address, or no mail on this server", 429: "Sent a short time ago"})
def resend(order_id: str) -> schemas.SentView:
    """Mail the tickets of an order to its buyer once more."""
    return _resend(OrderKey(organisation(), order_id))


@shop_bp.post("/orders/<order_id>/mails")
@for_buyer
@shop_bp.output(schemas.SentView, status_code=202)
@shop_bp.doc(responses={409: "No tickets, no address, or no mail on this server", 429: "Sent a short time ago"})
def resend_own(key: OrderKey) -> schemas.SentView:
    """Mail the tickets of an order to the address of the order once more."""
    return _resend(key)


def _resend(key: OrderKey) -> schemas.SentView:
    resending.resend(parts(), key, context())
    return schemas.SentView()


@page_bp.get("/<slug>/unsubscribe/<token>")
def ask(slug: str, token: str) -> Response:
    """Ask whether to send no more offers: programs that look at links in mails must not answer for people."""
    _address(slug, token)
    return _page("ask")


@page_bp.post("/<slug>/unsubscribe/<token>")
def opt_out(slug: str, token: str) -> Response:
    """Send no more offers to the address in the link: one click in a mail program, or the button of the page."""
    organisation_id, address = _address(slug, token)
    with parts().database.writing() as session:
        opting_out.opt_out(session, parts().sealer, organisation_id, address, parts().clock())
    return _page("done")


def _address(slug: str, token: str) -> tuple[str, str]:
    with parts().database.reading() as session:
        found = accounts.organisation_by_slug(session, slug)
    if found is None:
        raise NotFound("There is no organisation with this slug.", code="organisation_not_found")
    return found.id, opting_out.address_in(parts().sealer, found.id, token)


_WORDS: Final = {
    "en": (
        "No more offers?",
        "Send no more",
        "Done: we send you no more offers. Mails about your own orders still come.",
    ),
    "de": (
        "Keine Angebote mehr?",
        "Nichts mehr senden",
        "Erledigt: Wir senden Ihnen keine Angebote mehr. Über Ihre eigenen Bestellungen schreiben wir weiterhin.",
    ),
    "fr": (
        "Plus d’offres ?",
        "Ne plus rien envoyer",
        "C’est fait : nous ne vous envoyons plus d’offres. Les messages sur vos commandes continuent.",
    ),
    "af": (
        "Nie meer aanbiedinge nie?",
        "Stuur nie meer nie",
        "Klaar: ons stuur u nie meer aanbiedinge nie. E-posse oor u eie bestellings kom steeds.",
    ),
    "es": (
        "¿No más ofertas?",
        "No enviar más",
        "Hecho: no le enviaremos más ofertas. Seguirá recibiendo los correos sobre sus pedidos.",
    ),
}


def _page(what: str) -> Response:
    language = language_of(request.accept_languages.best_match([*_WORDS], default=""))
    question, button, done = _WORDS[language]
    page = render_template(
        "order_mails/opting_out.html", language=language, question=question, button=button, done=done, what=what
    )
    response = Response(page, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response

"""Routes that require no permission: who may call each, and why that is safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Audience(StrEnum):
    """Who may call a route without a role."""

    ANYBODY = "anybody"
    GUEST = "a guest with their own session"
    CUSTOMER = "a customer signed in at the shop"
    SIGNED_IN = "anybody signed in, with any role"
    GATE = "a gate that signs with its device key"


@dataclass(frozen=True, slots=True)
class PublicRoute:
    """Who may call a route, and why it requires no role."""

    who: Audience
    why: str


_MONITOR: Final = PublicRoute(
    Audience.ANYBODY, "Monitoring tools have no login; do not expose it through the public proxy."
)
_STATIC: Final = PublicRoute(Audience.ANYBODY, "Static content of the application, the same for everybody.")
_SIGN_IN: Final = PublicRoute(Audience.ANYBODY, "Sign-in pages; the pages behind them require a role.")
_OWN: Final = PublicRoute(Audience.SIGNED_IN, "Affects only the caller.")
_BY_LINK: Final = PublicRoute(
    Audience.ANYBODY, "Requires the code of a one-time link: 256 random bits that only its address received."
)
_ASK: Final = PublicRoute(
    Audience.ANYBODY, "Mails a link to the owner of the address; says the same for any address, and is rate limited."
)
_WALL: Final = PublicRoute(
    Audience.ANYBODY, "Requires a sealed link that organisers make and end; shows figures and nobody's name."
)
_PASSKEY: Final = PublicRoute(Audience.ANYBODY, "Signing in with a passkey; its signature cannot be guessed.")
_CHOOSING: Final = PublicRoute(
    Audience.SIGNED_IN, "Users may choose only their own organisations; platform staff may choose any."
)
_LISTING: Final = PublicRoute(Audience.ANYBODY, "Public details of published events.")
_SEAT_MAP: Final = PublicRoute(
    Audience.ANYBODY, "Seats of published events, without their holders; other events are visible to organisers only."
)
_GUEST: Final = PublicRoute(Audience.GUEST, "Affects only the seats held by this browser.")
_OWN_PLACE: Final = PublicRoute(Audience.GUEST, "Affects only this browser's place in the queue.")
_OWN_WAIT: Final = PublicRoute(Audience.GUEST, "Affects only the caller's own party, by their session or its secret.")
_DRAW: Final = PublicRoute(Audience.ANYBODY, "Whoever doubts a draw may recompute it; its entries name nobody.")
_ORDER: Final = PublicRoute(
    Audience.GUEST, "Affects only orders of the caller's own session, or the one order whose link they have."
)
_LOGIN_OF_CUSTOMER: Final = PublicRoute(
    Audience.ANYBODY, "Signing in at a shop; says the same for any address, and attempts are rate limited."
)
_CUSTOMER: Final = PublicRoute(Audience.CUSTOMER, "Affects only what belongs to the customer.")
_SHOP: Final = PublicRoute(Audience.ANYBODY, "A page of the shop for everybody; what it starts is the browser's own.")
_OWN_PAGE: Final = PublicRoute(
    Audience.GUEST, "Shows and changes only what this browser's guest session or its customer has; forms carry a token."
)
_SYNC: Final = PublicRoute(Audience.GATE, "Gates authenticate with their own keys instead of roles.")

PUBLIC_ROUTES: Final[Mapping[str, PublicRoute]] = {
    "health.alive": _MONITOR,
    "health.ready": _MONITOR,
    "static": _STATIC,
    "docs.page": _STATIC,
    "openapi.spec": _STATIC,
    "accounts.sign_in": PublicRoute(Audience.ANYBODY, "Signing in; failed attempts are rate limited."),
    "invitations.preview": _BY_LINK,
    "invitations.accept": _BY_LINK,
    "logins.choose_by_link": _BY_LINK,
    "logins.ask_for_link": _ASK,
    "logins.change_password": _OWN,
    "passkeys.listing": _OWN,
    "passkeys.options": _OWN,
    "passkeys.register": _OWN,
    "passkeys.remove": _OWN,
    "passkeys.sign_in_options": _PASSKEY,
    "passkeys.sign_in": _PASSKEY,
    "logins.sessions": _OWN,
    "logins.end_session": _OWN,
    "logins.end_other_sessions": _OWN,
    "logins.second_factor": _OWN,
    "logins.begin_second_factor": _OWN,
    "logins.confirm_second_factor": _OWN,
    "logins.turn_second_factor_off": _OWN,
    "accounts.who_am_i": _OWN,
    "accounts.sign_out": _OWN,
    "accounts.choose_organisation": _CHOOSING,
    "admin.home": _SIGN_IN,
    "admin.login": _SIGN_IN,
    "admin.sign_in": _SIGN_IN,
    "admin.invitation": _BY_LINK,
    "admin.open_invitation": _BY_LINK,
    "admin.accept_invitation": _BY_LINK,
    "admin.forgotten": _ASK,
    "admin.ask_for_link": _ASK,
    "admin.password": _BY_LINK,
    "admin.choose_password": _BY_LINK,
    "admin.wall_of_screen": _WALL,
    "admin.open_wall": _WALL,
    "admin.sign_out": _OWN,
    "admin.organisations": _OWN,
    "admin.account": _OWN,
    "admin.change_password": _OWN,
    "admin.end_other_browsers": _OWN,
    "admin.end_browser": _OWN,
    "admin.ask_to_remove_passkey": _OWN,
    "admin.remove_passkey": _OWN,
    "admin.second_factor": _OWN,
    "admin.begin_second_factor": _OWN,
    "admin.confirm_second_factor": _OWN,
    "admin.ask_to_turn_off": _OWN,
    "admin.turn_second_factor_off": _OWN,
    "admin.switch_organisation": _CHOOSING,
    "images.show": PublicRoute(Audience.ANYBODY, "Cover images of events, for anybody with the URL."),
    "listings.feed": _LISTING,
    "listings.page": _LISTING,
    "listings.similar": _LISTING,
    "listings.cities": _LISTING,
    "seat_maps.full_map": _SEAT_MAP,
    "seat_maps.plan": _SEAT_MAP,
    "seat_maps.state": _SEAT_MAP,
    "seat_maps.bits": _SEAT_MAP,
    "seat_maps.changes": _SEAT_MAP,
    "seat_maps.occupancy": _SEAT_MAP,
    "public_seat_maps.full_map": _SEAT_MAP,
    "public_seat_maps.plan": _SEAT_MAP,
    "public_seat_maps.state": _SEAT_MAP,
    "public_seat_maps.occupancy": _SEAT_MAP,
    "customers.start_session": PublicRoute(
        Audience.ANYBODY, "Shops are open to everybody; new sessions are limited per address."
    ),
    "customers.who_am_i": _GUEST,
    "customers.end_session": _GUEST,
    "account.ask_for_link": _ASK,
    "account.sign_in_by_link": _BY_LINK,
    "account.sign_in_by_password": _LOGIN_OF_CUSTOMER,
    "account.passkey_options": _PASSKEY,
    "account.sign_in_by_passkey": _PASSKEY,
    "account.sign_out": _CUSTOMER,
    "account.show": _CUSTOMER,
    "account.change": _CUSTOMER,
    "account.choose_password": _CUSTOMER,
    "account.list_passkeys": _CUSTOMER,
    "account.new_passkey_options": _CUSTOMER,
    "account.register_passkey": _CUSTOMER,
    "account.remove_passkey": _CUSTOMER,
    "account.list_sessions": _CUSTOMER,
    "account.end_session": _CUSTOMER,
    "own_data.export": _CUSTOMER,
    "own_data.preview": _CUSTOMER,
    "own_data.erase": _CUSTOMER,
    "my.my_orders": _CUSTOMER,
    "my.my_tickets": _CUSTOMER,
    "my.my_code": _CUSTOMER,
    "my.my_pdf": _CUSTOMER,
    "my.offer_mine": _CUSTOMER,
    "my.withdraw_mine": _CUSTOMER,
    "my.link_membership": _CUSTOMER,
    "my.unlink_membership": _CUSTOMER,
    "my.offer": _ORDER,
    "my.withdraw": _ORDER,
    "my.cancel": _ORDER,
    "my.preview": _BY_LINK,
    "my.accept": _BY_LINK,
    "my.decline": _BY_LINK,
    "my.received_code": PublicRoute(
        Audience.ANYBODY, "Requires the secret of the ticket, which only whoever has accepted it has."
    ),
    "waiting_list.join": _OWN_WAIT,
    "waiting_list.show": _OWN_WAIT,
    "waiting_list.leave": _OWN_WAIT,
    "waiting_list.take": _OWN_WAIT,
    "queue.join": _OWN_PLACE,
    "queue.place": _OWN_PLACE,
    "queue.leave": _OWN_PLACE,
    "queue.take_pass": _OWN_PLACE,
    "queue.receipt": _OWN_PLACE,
    "queue.show_draw": _DRAW,
    "queue.draw_entries": _DRAW,
    "checkout.show": _ORDER,
    "checkout.link": _ORDER,
    "checkout.transfer_code": _ORDER,
    "checkout.pay": _ORDER,
    "checkout.cancel": _ORDER,
    "checkout.code": _ORDER,
    "own_mails.resend_own": _ORDER,
    "opting_out.ask": PublicRoute(Audience.ANYBODY, "Requires a sealed link that only its address received."),
    "opting_out.opt_out": PublicRoute(Audience.ANYBODY, "Requires a sealed link that only its address received."),
    "tickets_in_hand.calendar": _ORDER,
    "tickets_in_hand.pdf": _ORDER,
    "new_dates.offer": _ORDER,
    "new_dates.answer": _ORDER,
    "stripe.tell": PublicRoute(Audience.ANYBODY, "Requires Stripe's signature with the organisation's webhook secret."),
    "tickets_in_hand.show": _ORDER,
    "ticket_page.show": PublicRoute(
        Audience.ANYBODY, "The same for everybody: its script asks for the tickets with the secret of the link."
    ),
    "ticket_page.worker": _STATIC,
    "appearance.accent": _STATIC,
    "storefront.feed": _LISTING,
    "storefront.made_cover": PublicRoute(
        Audience.ANYBODY, "Requires an address that is made of all that the picture says: nobody learns more by it."
    ),
    "storefront.shared_cover": PublicRoute(
        Audience.ANYBODY, "Requires an address that is made of all that the picture says: nobody learns more by it."
    ),
    "storefront.logo": _LISTING,
    "storefront.embed_script": _LISTING,
    "storefront.not_found": _LISTING,
    "storefront.event": _SHOP,
    "storefront.seats": _SHOP,
    "storefront.queue": _SHOP,
    "storefront.join_queue": _SHOP,
    "storefront.calendar": _SHOP,
    "storefront.choose": _SHOP,
    "storefront.join_waiting_list": _SHOP,
    "storefront.sign_in": _SHOP,
    "storefront.ask_for_link": _ASK,
    "storefront.sign_in_by_link": _BY_LINK,
    "storefront.offered": _BY_LINK,
    "storefront.show_offer": _BY_LINK,
    "storefront.accept_offer": _BY_LINK,
    "storefront.decline_offer": _BY_LINK,
    "storefront.waiting_place": _BY_LINK,
    "storefront.show_waiting_place": _BY_LINK,
    "storefront.leave_waiting_list": _BY_LINK,
    "storefront.take_offered_places": _BY_LINK,
    "storefront.tickets": _OWN_PAGE,
    "storefront.checkout": _OWN_PAGE,
    "storefront.place_order": _OWN_PAGE,
    "storefront.extend_holds": _OWN_PAGE,
    "storefront.leave_checkout": _OWN_PAGE,
    "storefront.methods": _OWN_PAGE,
    "storefront.choose_method": _OWN_PAGE,
    "storefront.pay_by_card": _OWN_PAGE,
    "storefront.cancel_order": _OWN_PAGE,
    "storefront.confirmation": _OWN_PAGE,
    "storefront.tickets_pdf": _OWN_PAGE,
    "storefront.order_calendar": _OWN_PAGE,
    "storefront.account": _OWN_PAGE,
    "storefront.own_ticket": _OWN_PAGE,
    "storefront.remove_passkey": _OWN_PAGE,
    "storefront.pass_on": _OWN_PAGE,
    "storefront.offer_ticket": _OWN_PAGE,
    "storefront.withdraw_offer": _OWN_PAGE,
    "storefront.give_back": _OWN_PAGE,
    "storefront.give_back_now": _OWN_PAGE,
    "storefront.own_party": _OWN_PAGE,
    "storefront.sign_out": _OWN_PAGE,
    "live.live_for_anybody": _LISTING,
    "sync.enrol": PublicRoute(Audience.GATE, "Requires an enrolment code, and registers the gate's key."),
    "sync.say_hello": _SYNC,
    "sync.snapshot": _SYNC,
    "sync.changes": _SYNC,
    "sync.journal": _SYNC,
}
"""By endpoint. A route that neither is listed here nor requires an action fails the role tests."""

PARTLY_PUBLIC: Final[frozenset[str]] = frozenset({"events.listing", "events.show"})
"""By endpoint. These require an action of signed-in callers, and show everybody else the public listing."""

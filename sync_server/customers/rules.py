"""Names of cookies, how long links and sessions of customers last, and how often something may be tried."""

from __future__ import annotations

from typing import Final

from sync_server.accounts.rules import Limit

ADDRESS_WINDOW_MS: Final = 5 * 60 * 1000
"""New guests of one client address are counted for this long. A whole audience may share one address."""
COOKIE_PREFIX: Final = "gatehouse_guest_"


def cookie_name(slug: str) -> str:
    """The cookie of one organisation, so that a visitor may hold seats in two shops at once."""
    return COOKIE_PREFIX + slug.replace("-", "_")


CUSTOMER_COOKIE_PREFIX: Final = "gatehouse_customer_"
SIGN_IN_LINK_MS: Final = 30 * 60_000
SESSION_MS: Final = 30 * 24 * 3_600_000
"""How long a customer stays signed in."""
FRESH_MS: Final = 15 * 60_000
"""A session that began so recently by a link may set a password or passkey without the old password."""
LAST_SEEN_INTERVAL_MS: Final = 60_000

ASKED_LINKS: Final = Limit("customer links from", 10, 10_000, 15 * 60_000, 3_600_000)
"""Asked for from one client address."""
MAILED_LINKS: Final = Limit("customer link of", 4, 5 * 60_000, 12 * 3_600_000, 24 * 3_600_000)
"""To one mailbox: whoever asks beyond that is told the same, and no mail is sent."""
# As for staff, no limit is of a login alone: others could keep its owner out by guessing.
GUESSES_OF_LOGIN: Final = Limit("customer sign-ins to a login from", 5, 5_000, 15 * 60_000, 24 * 3_600_000)
GUESSES: Final = Limit("customer sign-ins from", 20, 1_000, 60_000, 3_600_000)
GUESSES_OF_BROWSER: Final = Limit("customer sign-ins of a known browser", 10, 5_000, 15 * 60_000, 24 * 3_600_000)
OWN_PASSWORD: Final = Limit("own password of customer", 5, 5_000, 15 * 60_000, 24 * 3_600_000)
MEMBERSHIP_PROOFS: Final = Limit("membership proofs of customer", 5, 10_000, 3_600_000, 24 * 3_600_000)
"""Numbers of members may be guessed one by one; the proof needs the address as well."""


def customer_cookie_name(slug: str) -> str:
    """The cookie of a signed-in customer of one organisation."""
    return CUSTOMER_COOKIE_PREFIX + slug.replace("-", "_")


def login_name(organisation_id: str, email: str) -> str:
    """One customer's login, as limits and known browsers tell logins apart."""
    return f"customer {organisation_id} {email}"

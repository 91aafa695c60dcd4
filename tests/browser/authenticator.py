"""A browser that checks its owner, as a phone or a laptop with a fingerprint does: Chromium's virtual authenticator."""

from __future__ import annotations

from playwright.sync_api import Page

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def checks_its_owner(page: Page) -> None:
    """Let this page's browser make and use passkeys, its owner always being the right one."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
